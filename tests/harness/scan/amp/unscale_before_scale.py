import torch


def never_scaled(model, loader, optimizer):
    scaler = torch.amp.GradScaler("cuda")
    for x in loader:
        loss = model(x)
        loss.backward()
        scaler.step(optimizer)  # finds unscale_before_scale
        scaler.update()


def never_scaled_in_one_line(scaler, model, x, optimizer):
    model(x).sum().backward()
    scaler.step(optimizer)  # finds unscale_before_scale


def scaled_by_a_helper(scaler, model, x, optimizer):
    compute(model(x), scaler=scaler).backward()
    scaler.step(optimizer)


def scaled_or_not(scaler, loss, optimizer, amp):
    if amp:
        scaler.scale(loss).backward()
        scaler.step(optimizer)
    else:
        loss.backward()
        optimizer.step()


def stepped_elsewhere(scaler, loss, optimizer):
    loss.backward()
    scaler.update()


def scaled_by_another(model, x, scaler):
    return scaler.scale(model(x).mean())


def steps_on_it(model, optimizer, scaler, loader):
    for x in loader:
        optimizer.zero_grad()
        loss = scaled_by_another(model, x, scaler)
        loss.backward()
        scaler.step(optimizer)
        scaler.update()


def in_float32_for_another(scaler, optimizer, auxiliary, model, x):
    scaler.scale(model(x)).backward()
    model.auxiliary_loss().backward()
    scaler.step(optimizer)
    auxiliary_optimizer.step()
    scaler.update()


class ScalesElsewhere:
    def step(self, loss):
        if self.scaler is not None:
            self.before_backward(loss)
        else:
            loss.backward()
        if self.scaler is not None:
            self.scaler.unscale_(self.optimizer)
            self.scaler.step(self.optimizer)
        else:
            self.optimizer.step()
