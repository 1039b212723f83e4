"""A backbone and a head, trained together."""

import torch

SETTINGS = ("plain", "bfloat16", "short last batch")


def train(t, make):
    torch.manual_seed(0)
    backbone, head = torch.nn.Linear(6, 5), torch.nn.Linear(5, 4)
    step = make(backbone, head)
    for x, y in t.batches:
        with t.autocast():
            loss = t.loss(head(backbone(x).relu()).float(), y)
        loss.backward()
        step()
        backbone.zero_grad()
        head.zero_grad()
    return [backbone.weight, backbone.bias, head.weight, head.bias]


def place(t):
    def make(backbone, head):
        paste
        return optimizer.step

    return train(t, make)


def reference(t):
    def make(backbone, head):
        def step():
            for p in (backbone.weight, backbone.bias, head.weight, head.bias):
                p.data.sub_(0.1 * p.grad)

        return step

    return train(t, make)
