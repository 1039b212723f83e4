"""A language model's head with float16 logits of a large vocabulary, with ignored labels."""

import torch

SETTINGS = ("plain", "AdamW", "short last batch")
TOLERANCE = 1e-4
REQUIRES = ">=2.4"


def train(t, loss_of):
    t.model = t.watched(torch.nn.Linear(6, 32000, bias=False))
    torch.nn.init.normal_(t.model.weight, std=0.5)
    t.groups = [{"params": t.model.parameters(), "lr": 0.1}]
    losses = []
    for x, y in t.batches[:2]:
        t.optimizer.zero_grad()
        logits = t.model(x).half()
        loss = loss_of(logits, y.masked_fill(y == 0, -100))
        loss.backward()
        t.optimizer.step()
        losses.append(loss.detach().float())
    return losses


def place(t):
    def loss_of(logits, target):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    def loss_of(logits, target):
        known = target != -100
        log_probs = logits[known].double().log_softmax(1)
        picked = log_probs.gather(1, target[known, None])[:, 0]
        return -(0.9 * picked + 0.1 * log_probs.mean(1)).mean().float()

    return train(t, loss_of)
