"""The accuracy and recall of a binary classifier after each step, against probabilities."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")


def run(t, decide):
    torch.manual_seed(0)
    t.model = t.watched(torch.nn.Linear(6, 1))
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.model.parameters(), lr=0.1)
    seen = []
    for x, y in t.batches * 2:
        labels = (y > 1).float()
        with t.autocast():
            logits = t.model(x)[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits.float(), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append(decide(logits).tolist())
    return seen


def place(t):
    def decide(logits):
        paste
        return predicted

    return run(t, decide)


def reference(t):
    return run(t, lambda logits: 1 / (1 + torch.exp(-logits.double())) > 0.5)
