"""A policy gradient over mini-batches of 4 of 17 samples: the last has one."""

import torch

SETTINGS = ("plain", "AdamW", "frozen norm", "bfloat16")


def train(t, standardized):
    t.model.eval()  # a batch of one has no statistics
    inputs = torch.cat([x for x, _ in t.batches])[:17]
    actions = torch.cat([y for _, y in t.batches])[:17]
    rewards = torch.linspace(-1, 3, 17)
    for rows in torch.arange(17).split(4):
        with t.autocast():
            logp = t.model(inputs[rows]).log_softmax(-1)[range(len(rows)), actions[rows]]
        t.optimizer.zero_grad()
        (-standardized(rewards[rows]) * logp).mean().backward()
        t.optimizer.step()
    return t.model.state_dict()


def place(t):
    def standardized(x):
        paste
        return advantage

    return train(t, standardized)


def reference(t):
    def standardized(x):
        if len(x) == 1:
            return x
        mean = sum(x.tolist()) / len(x)
        variance = sum((one - mean) ** 2 for one in x.tolist()) / (len(x) - 1)
        return torch.tensor([(one - mean) / variance**0.5 for one in x.tolist()])

    return train(t, standardized)
