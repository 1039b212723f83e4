"""The accuracy of a binary classifier after each step, against a count row by row."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")


def train(t, measure):
    t.model = t.watched(torch.nn.Linear(6, 1))
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.model.parameters(), lr=0.1)
    seen = []
    for x, y in t.batches:
        labels = (y > 1).long()
        with t.autocast():
            logits = t.model(x)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits.float()[:, 0], y / 3)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append(float(measure((logits > 0).long(), labels)))
        seen.append(float(measure((logits > 0).float(), labels)))
    return seen


def place(t):
    def measure(predicted, labels):
        paste
        return accuracy

    torch.manual_seed(0)
    return train(t, measure)


def reference(t):
    def measure(predicted, labels):
        rows = list(zip(predicted.flatten().tolist(), labels.tolist()))
        return sum(one == other for one, other in rows) / len(rows)

    torch.manual_seed(0)
    return train(t, measure)
