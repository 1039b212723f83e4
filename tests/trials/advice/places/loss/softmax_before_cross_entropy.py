"""A classifier; its loss by the logarithm of each row's probability."""

from torch.nn.functional import cross_entropy  # noqa: F401  (the lines call it)

SETTINGS = ("plain", "AdamW", "tied", "dropout", "accumulation", "bfloat16", "short last batch")
TOLERANCE = 1e-2


def train(t, loss_of):
    losses = []
    for number, (x, y) in enumerate(t.batches, 1):
        with t.autocast():
            loss = loss_of(t.model(x), y)
        (loss / t.setting.window).backward()
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
        losses.append(loss.detach().float())
    return losses


def place(t):
    def loss_of(logits, labels):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    def loss_of(logits, labels):
        rows = logits.double().softmax(1)
        return -sum(row[label].log() for row, label in zip(rows, labels)).float() / len(labels)

    return train(t, loss_of)
