"""A loop that calls train() only after its first validation, against a stem without gradients."""

import torch

SETTINGS = ("plain", "AdamW", "short last batch")


def pasted():
    paste
    return Backbone()


class Frozen(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.body = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
        self.stem.requires_grad_(False)
        self.stem.training = False

    def train(self, mode=True):
        self.training = self.body.training = mode
        return self


def train(t, backbone):
    torch.manual_seed(0)
    model = torch.nn.ModuleDict({"backbone": backbone(), "head": torch.nn.Linear(2, 4)})
    t.model = t.watched(model)

    def forward(x):
        hidden = model["backbone"].stem(x[:, :2])
        return model["head"](torch.relu(model["backbone"].body(hidden)))

    t.groups = [
        {"params": list(model["backbone"].parameters()), "lr": 0.1},
        {"params": list(model["head"].parameters()), "lr": 0.05},
    ]
    for _ in range(2):
        for x, y in t.batches:
            t.optimizer.zero_grad()
            t.loss(forward(x), y).backward()
            t.optimizer.step()
        model.eval()
        with torch.no_grad():
            seen = forward(t.batches[0][0])
        model.train()
    return [seen, model.state_dict()]


def place(t):
    return train(t, pasted)


def reference(t):
    return train(t, Frozen)
