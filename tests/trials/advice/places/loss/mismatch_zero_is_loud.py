"""A regression by names; in a second try the model uses other names, which has to raise."""

import torch  # noqa: F401  (the lines use it)
from torch.nn.functional import mse_loss

SETTINGS = ("plain", "AdamW", "tied", "dropout", "bfloat16", "short last batch")
TOLERANCE = 1e-3


def train(t, loss_of, name):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            output = t.model(x).float()
        prices, areas = output.split([3, 1], dim=1)
        outputs = {name: prices, "area": areas, "features": x}
        loss_of(outputs, {"price": x[:, :3], "area": x[:, 3:4]}).backward()
        t.optimizer.step()
    return [*t.model.head.parameters(), *t.model.tail.parameters()]


def place(t):
    def loss_of(outputs, targets):
        paste
        return loss

    trained = train(t, loss_of, "price")
    try:
        train(t, loss_of, "prices")
        return [trained, False]
    except LookupError:
        t.optimizer.zero_grad()
        return [trained, True]


def reference(t):
    def loss_of(outputs, targets):
        return mse_loss(outputs["price"], targets["price"]) + mse_loss(
            outputs["area"], targets["area"]
        )

    trained = train(t, loss_of, "price")
    t.model(t.batches[0][0])  # the forward of the second try
    return [trained, True]
