"""A regression on two parameter groups, with targets [N]; and of a series, with targets [N, T]."""

from torch.nn.functional import mse_loss  # noqa: F401  (the lines call it)

SETTINGS = ("plain", "AdamW", "tied", "dropout", "bfloat16", "short last batch")
TOLERANCE = 1e-2


def train(t, loss_of):
    losses = []
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            output = t.model(x)
        price, rest = output.float().split([1, 3], dim=1)
        one, three = loss_of(price, y.float()), loss_of(rest[..., None], x[:, :3])
        (one + three).backward()
        t.optimizer.step()
        losses.append([one.detach(), three.detach()])
    return [losses, t.model.state_dict()]


def place(t):
    def loss_of(prediction, target):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    def loss_of(prediction, target):
        pairs = list(zip(prediction.flatten(), target.flatten()))
        return sum((a - b) ** 2 for a, b in pairs) / len(pairs)

    return train(t, loss_of)
