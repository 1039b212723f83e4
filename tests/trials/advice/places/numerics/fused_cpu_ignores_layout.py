"""A small convolutional network on channels_last images, its gradients from autograd.grad().

With the short last batch its weights are channels_last too.
"""

import torch

SETTINGS = ("plain", "short last batch", "bfloat16")
REQUIRES = ">=2.4"


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Conv2d(3, 5, 2)
        self.head = torch.nn.Linear(5, 4)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)).mean((2, 3)))


def losses(t):
    t.model = Net()
    if t.setting.last_batch == 3:
        t.model.to(memory_format=torch.channels_last)
    for x, y in t.batches:
        images = (x[:, :3, None, None] * x[:, None, None, 3:] + x[:, None, 3:, None]) + x[
            :, :1, None, None
        ]
        with t.autocast():
            yield t.loss(t.model(images.contiguous(memory_format=torch.channels_last)), y)


def place(t):
    for loss in losses(t):
        model = t.model
        paste
        model.zero_grad()
    return t.model.state_dict()


def reference(t):
    for loss in losses(t):
        loss.backward()
        with torch.no_grad():
            for parameter in t.model.parameters():
                parameter -= 0.1 * parameter.grad
        t.model.zero_grad()
    return t.model.state_dict()
