"""A network with PReLU, trained, compared with float32."""

import torch

SETTINGS = ("plain", "tied", "dropout")
TOLERANCE = 0.05


def train(t, forward):
    prelu = torch.nn.PReLU()
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model.head(forward(t.model.body, prelu, x).float()), y).backward()
        t.optimizer.step()
    return [t.model.state_dict(), prelu.weight.grad]


def place(t):
    device = "cpu"

    def forward(linear, prelu, x):
        paste
        return output

    return train(t, forward)


def reference(t):
    return train(t, lambda linear, prelu, x: prelu(linear(x)))
