"""A training loop whose model has a hook that scales its input and one that keeps its output."""

import torch

SETTINGS = ("plain", "AdamW", "dropout", "bfloat16")


def train(t, predict):
    kept = []
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            loss = t.loss(predict(x, kept), y)
        loss.backward()
        t.optimizer.step()
    return [kept, t.model.state_dict()]


def place(t):
    model, outputs = t.model, []
    model.register_forward_pre_hook(lambda module, args: (2 * args[0],))
    model.register_forward_hook(lambda module, args, output: outputs.append(output.mean().item()))

    def predict(x, kept):
        paste
        kept[:] = outputs
        return output

    return train(t, predict)


def reference(t):
    def predict(x, kept):
        output = type(t.model).forward(t.model, 2 * x)
        kept.append(output.mean().item())
        return output

    return train(t, predict)
