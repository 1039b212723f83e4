"""A gradient penalty in mixed precision, against autograd.grad() of the loss without a scaler."""

import torch

SETTINGS = ("plain", "tied", "frozen norm", "accumulation", "short last batch")
REQUIRES = ">=2.3"


def train(t, penalized, scaler=None):
    parameters = [p for p in t.model.parameters() if p.requires_grad]
    for step, (x, y) in enumerate(t.batches):
        with t.autocast():
            loss = t.loss(t.model(x), y) / t.setting.window
        loss = penalized(loss, parameters)
        (scaler.scale(loss) if scaler else loss).backward()
        if step % t.setting.window == t.setting.window - 1:
            if scaler:
                scaler.step(t.optimizer)
                scaler.update()
            else:
                t.optimizer.step()
            t.optimizer.zero_grad()
    return t.model.state_dict()


def place(t):
    scaler = torch.amp.GradScaler("cpu", growth_interval=2)  # the scale changes on the way

    def penalized(loss, parameters):
        paste
        return loss

    return train(t, penalized, scaler)


def reference(t):
    def penalized(loss, parameters):
        grads = torch.autograd.grad(loss, parameters, create_graph=True)
        return loss + torch.cat([g.flatten() for g in grads]).norm().square()

    return train(t, penalized)
