"""A multi-label classifier; its predictions are those of one sigmoid."""

from torch.nn.functional import binary_cross_entropy_with_logits, one_hot  # noqa: F401  (lines)

SETTINGS = ("plain", "AdamW", "tied", "dropout", "accumulation", "bfloat16", "short last batch")
TOLERANCE = 1e-2


def train(t, loss_of):
    losses = []
    for number, (x, y) in enumerate(t.batches, 1):
        with t.autocast():
            logits = t.model(x)
            loss = loss_of(logits, one_hot(y, 4).float())
        losses.append(loss.detach().float())
        (loss / t.setting.window).backward()
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return [losses, logits.detach().float().sigmoid(), list(t.model.head.parameters())]


def place(t):
    def loss_of(logits, target):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    def loss_of(logits, target):
        p = logits.double().sigmoid()
        return -(target * p.log() + (1 - target) * (1 - p).log()).mean().float()

    return train(t, loss_of)
