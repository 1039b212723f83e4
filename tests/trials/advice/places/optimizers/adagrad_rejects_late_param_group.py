"""A backbone that is unfrozen after two batches, against Adagrad written out."""

import torch

SETTINGS = ("plain", "short last batch")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone, self.head = torch.nn.Linear(6, 8), torch.nn.Linear(8, 4)

    def forward(self, x):
        return self.head(torch.relu(self.backbone(x)))


def train(t, model, update):
    for number, (x, y) in enumerate(t.batches):
        if number == 2:
            model.backbone.requires_grad_(True)
        model.zero_grad()
        t.loss(model(x), y).backward()
        update()
    return model.state_dict()


def place(t):
    model = t.model = t.watched(Net())
    head, backbone = model.head, model.backbone
    paste
    return train(t, model, lambda: optimizer.step())


def reference(t):
    model = t.model = t.watched(Net())
    model.backbone.requires_grad_(False)
    sums = [torch.zeros_like(parameter) for parameter in model.parameters()]

    def update():
        with torch.no_grad():
            for parameter, total in zip(model.parameters(), sums):
                if parameter.grad is not None:
                    total += parameter.grad.square()
                    parameter -= 0.01 * parameter.grad / (total.sqrt() + 1e-10)

    return train(t, model, update)
