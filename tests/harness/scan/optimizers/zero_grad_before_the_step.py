from torch import optim


def cleared_too_early(model, loader, optimizer):
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        optimizer.zero_grad()  # finds zero_grad_before_the_step
        print(loss.item())
        optimizer.step()


def cleared_before_the_scaler_steps(model, x, scaler):
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    scaler.scale(model(x).mean()).backward()
    model.zero_grad()  # finds zero_grad_before_the_step
    scaler.step(optimizer)
    scaler.update()


def another_optimizer(generator, critic, z, optimizer_g, optimizer_d):
    critic(generator(z)).mean().backward()
    optimizer_d.zero_grad()
    optimizer_g.step()


def a_second_backward(critic, real, fake, optimizer):
    critic(fake).mean().backward()
    optimizer.zero_grad()
    (-critic(real).mean()).backward()
    optimizer.step()


def with_a_closure(model, x, optimizer):
    def closure():
        loss = model(x).mean()
        loss.backward()
        return loss

    model(x).mean().backward()
    optimizer.zero_grad()
    optimizer.step(closure)


def gradients_put_back_by_another(model, x, optimizer, reducer):
    model(x).mean().backward()
    reducer.append(model)
    optimizer.zero_grad()
    reducer.update()
    optimizer.step()


def gradients_put_back(model, x, optimizer, kept):
    model(x).mean().backward()
    optimizer.zero_grad()
    for p, grad in zip(model.parameters(), kept):
        p.grad = grad
    optimizer.step()


def backward_elsewhere(trainer, loss, optimizer):
    loss.backward()
    optimizer.zero_grad()
    trainer.second_pass(loss)
    optimizer.step()
