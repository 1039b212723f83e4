"""A bfloat16 model that is resumed after four batches, against an optimizer that goes on."""

import copy

import torch

SETTINGS = ("plain", "short last batch")


class Momentum(torch.optim.Optimizer):
    """SGD with a momentum in float32."""

    def __init__(self, groups):
        super().__init__(groups, {"lr": 0.1})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["mean"] = torch.zeros_like(p, dtype=torch.float32)
                state["mean"].mul_(0.99).add_(p.grad.to(state["mean"].dtype))
                p.sub_(group["lr"] * state["mean"])


def run(t, resume):
    torch.manual_seed(0)
    t.model = t.watched(torch.nn.Linear(6, 4).bfloat16())
    groups = [{"params": [p], "lr": lr} for p, lr in zip(t.model.parameters(), (0.01, 0.02))]
    optimizer = Momentum(groups)
    for number, (x, y) in enumerate(t.batches * 4):
        if number == 4:
            optimizer = resume(optimizer)
        t.model.zero_grad()
        t.loss(t.model(x.bfloat16()).float(), y).backward()
        optimizer.step()
    means = [optimizer.state[p]["mean"] for p in t.model.parameters()]
    return [t.model.state_dict(), means]


def place(t):
    def resume(optimizer):
        state = copy.deepcopy(optimizer.state_dict())
        optimizer = Momentum([{"params": [p]} for p in t.model.parameters()])
        paste
        return optimizer

    return run(t, resume)


def reference(t):
    return run(t, lambda optimizer: optimizer)
