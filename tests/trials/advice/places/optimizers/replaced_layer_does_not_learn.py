"""Fine-tuning with a new head and a schedule of the rate, compared with SGD written out."""

import torch

SETTINGS = ("plain", "short last batch")


def train(t, update):
    losses = []
    for number, (x, y) in enumerate(t.batches * 4):
        t.model.zero_grad()
        loss = t.loss(t.model(x[:, :2]), y % 3)
        loss.backward()
        update(number)
        losses.append(loss.detach())
    return losses, t.model.state_dict()


def place(t):
    device = "cpu"
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    paste
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    t.model = t.watched(model)

    def update(number):
        optimizer.step()
        scheduler.step()

    return train(t, update)


def reference(t):
    first, _, head = (torch.nn.Linear(2, n) for n in (2, 2, 3))
    t.model = t.watched(torch.nn.Sequential(first, head))

    def update(number):
        with torch.no_grad():
            for parameter in t.model.parameters():
                parameter -= 0.1 * 0.1 ** (number // 3) * parameter.grad

    return train(t, update)
