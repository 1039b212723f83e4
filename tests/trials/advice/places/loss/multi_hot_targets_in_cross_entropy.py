"""A model with two labels per row, against the loss of each label by hand."""

import torch

SETTINGS = ("plain", "frozen norm", "tied", "bfloat16", "accumulation", "short last batch")


def train(t, loss_of):
    losses = []
    for number, (x, y) in enumerate(t.batches, 1):
        targets = torch.nn.functional.one_hot(y, 4) + torch.nn.functional.one_hot((y + 1) % 4, 4)
        logits = t.model(x)
        with t.autocast():
            loss = loss_of(logits, targets.float())
        loss.backward()
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
        losses.append(loss.detach().clone())
    return [t.model.state_dict(), losses]


def place(t):
    def loss_of(logits, targets):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    def loss_of(logits, targets):
        right = torch.where(targets == 1, logits, -logits)
        return (1 + (-right).exp()).log().mean()

    return train(t, loss_of)
