import torch


def one_of_two_losses_is_scaled(scaler, first, second, optimizer):
    scaler.scale(first).backward(retain_graph=True)
    second.backward()  # finds unscale_divides_by_65536
    scaler.step(optimizer)
    scaler.update()


def second_loss_of_the_loop_is_not_scaled(scaler, model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        scaled = scaler.scale(model(x))
        scaled.backward()
        model.penalty().backward()  # finds unscale_divides_by_65536
        scaler.step(optimizer)
        scaler.update()


def both_are_scaled(scaler, first, second, optimizer):
    scaler.scale(first).backward()
    scaler.scale(second).backward()
    scaler.step(optimizer)


def another_optimizer_without_scaler(scaler, d_loss, g_loss, d_optimizer, g_optimizer):
    g_loss.backward()
    g_optimizer.step()
    scaler.scale(d_loss).backward()
    scaler.step(d_optimizer)
