from torch import autocast


def another_backward_after_unscale(scaler, optimizer, first, second):
    scaler.scale(first).backward()
    scaler.unscale_(optimizer)
    scaler.scale(second).backward()  # finds backward_after_unscale
    scaler.step(optimizer)
    scaler.update()


def a_penalty_after_unscale(scaler, optimizer, loss, model):
    with autocast("cuda"):
        scaler.scale(loss).backward(retain_graph=True)
    scaler.unscale_(optimizer)
    penalty = scaler.scale(model.penalty())
    penalty.backward()  # finds backward_after_unscale
    scaler.step(optimizer)


def two_optimizers(scaler, d_optimizer, g_optimizer, d_loss, g_loss):
    scaler.scale(d_loss).backward()
    scaler.unscale_(d_optimizer)
    scaler.step(d_optimizer)
    scaler.scale(g_loss).backward()
    scaler.unscale_(g_optimizer)
    scaler.step(g_optimizer)
    scaler.update()
