"""Two folds of a cross-validation, each with a new model, compared with SGD written out."""

import torch

SETTINGS = ("plain", "short last batch")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = torch.nn.Linear(6, 8), torch.nn.Linear(8, 4)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def place(t):
    device, loss_fn, states = "cpu", t.loss, []
    (x, y), *rest = t.batches
    model = Net()
    for _ in range(2):
        paste
        for more_x, more_y in rest:
            optimizer.zero_grad()
            loss_fn(model(more_x), more_y).backward()
            optimizer.step()
        states.append(model.state_dict())
    return states


def reference(t):
    states = []
    Net()
    for _ in range(2):
        model = Net()
        for x, y in t.batches:
            gradients = torch.autograd.grad(t.loss(model(x), y), list(model.parameters()))
            with torch.no_grad():
                for parameter, gradient in zip(model.parameters(), gradients):
                    parameter -= 0.1 * gradient
        states.append(model.state_dict())
    return states
