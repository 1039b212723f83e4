import torch

from tests.diagnose.trainers import Net, trainer


class TwoHeads(Net):
    def __init__(self):
        super().__init__()
        self.other = torch.nn.Linear(32, 4)

    def forward(self, x):
        features = self.body(x)
        return self.head(features) + 0 * self.other(features)


def part_is_frozen():
    names = trainer()
    names["model"].head.requires_grad_(False)
    return names


def rate_is_zero():
    names = trainer()
    for group in names["optimizer"].param_groups:
        group["lr"] = 0.0

    def train_step(x, y):
        names["model"].eval()
        names["train_step"](x, y)

    return names | {"train_step": train_step}


def loss_has_a_weight_of_zero():
    model = TwoHeads()
    return trainer(model=model, optimizer=torch.optim.AdamW(model.parameters(), lr=0.01))


def momentum_moves_a_frozen_layer():
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    names = trainer(model=model, optimizer=optimizer)
    names["train_step"](*next(iter(names["loader"])))
    model.head.requires_grad_(False)

    def train_step(x, y):
        optimizer.zero_grad(set_to_none=False)
        names["loss_fn"](model(x), y).backward()
        optimizer.step()

    return names | {"train_step": train_step}


def frozen_batchnorm():
    names = trainer()
    names["model"].body.requires_grad_(False)
    return names


OUTCOMES = [
    [trainer, part_is_frozen],
    [rate_is_zero],
    [loss_has_a_weight_of_zero, momentum_moves_a_frozen_layer],
    [frozen_batchnorm],
]
