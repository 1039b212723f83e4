"""A backbone in autocast and a head in float32, trained, compared with all in float32.

The backbone has to have computed in 16 bits.
"""

import torch

SETTINGS = ("plain", "tied", "dropout", "frozen norm")
TOLERANCE = 0.05


def train(t, forward):
    outputs, kinds = [], []
    for x, y in t.batches:
        output, kind = forward(t.model.body, t.model.head, x)
        outputs.append(output.detach())
        kinds.append(str(kind))
        t.optimizer.zero_grad()
        t.loss(output, y).backward()
        t.optimizer.step()
    return [outputs, kinds, [str(each.dtype) for each in outputs], t.model.state_dict()]


def place(t):
    def forward(backbone, head, x):
        paste
        return output, features.dtype

    return train(t, forward)


def reference(t):
    return train(t, lambda backbone, head, x: (head(backbone(x)), torch.bfloat16))
