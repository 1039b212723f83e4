"""Training and validation in turns, in a function that is called within no_grad() once, too."""

import weakref

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout", "bfloat16", "workers")


def train(t, predict):
    alive, seen = [], []
    t.model.body.register_forward_hook(lambda *call: alive.append(weakref.ref(call[2])))
    loader = torch.utils.data.DataLoader(
        t.batches, None, num_workers=t.setting.workers, generator=torch.Generator()
    )
    for x, y in t.batches[:2]:
        t.model.train()
        t.optimizer.zero_grad()
        with t.autocast():
            loss = t.loss(t.model(x), y)
        loss.backward()
        t.optimizer.step()
        alive.clear()
        outputs = predict(t.model, loader)
        seen.append([torch.cat(outputs).detach().float(), sum(one() is not None for one in alive)])
    with torch.no_grad():
        predict(t.model, loader)
        seen.append(torch.is_grad_enabled())
    return [seen, t.model.state_dict()]


def place(t):
    def predict(model, loader):
        outputs = []
        paste
        return outputs

    return train(t, predict)


def reference(t):
    def predict(model, loader):
        model.train(False)
        return [torch.tensor(model(x).tolist()) for x, _ in loader]

    return train(t, predict)
