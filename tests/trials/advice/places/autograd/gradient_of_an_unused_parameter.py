"""The inner loop of MAML on a model with an unused layer, compared with one without it."""

import torch

SETTINGS = ("plain", "tied", "frozen norm", "short last batch")


def trained(model):
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def train(t, differentiate):
    results = []
    for x, y in t.batches:
        loss = t.loss(t.model(x), y)
        adapted = differentiate(t.model, loss)
        results.append({name: value.detach().clone() for name, value in adapted.items()})
        t.loss(t.model(x) + adapted["head.weight"].sum(), y).backward()
        t.optimizer.step()
        t.optimizer.zero_grad()
    return [results, t.model.state_dict()]


def place(t):
    t.model.pooler = torch.nn.Linear(8, 8)

    def differentiate(model, loss):
        paste
        named = trained(model)
        return {name: p - 0.1 * g for (name, p), g in zip(named.items(), gradients)}

    return train(t, differentiate)


def reference(t):
    t.model.pooler = torch.nn.Linear(8, 8)

    def differentiate(model, loss):
        for p in model.parameters():
            p.grad = None
        loss.backward()
        named = trained(model)
        grads = {name: 0 if p.grad is None else p.grad.clone() for name, p in named.items()}
        t.optimizer.zero_grad()
        return {name: p - 0.1 * grads[name] for name, p in named.items()}

    return train(t, differentiate)
