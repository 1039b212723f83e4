"""A trainer written for two GPUs, on a machine with none, one or two."""

from unittest.mock import Mock, patch

import torch

SETTINGS = ("plain", "AdamW", "tied")


def train(t, device):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x.to(device)), y.to(device)).backward()
        t.optimizer.step()
    return t.model.state_dict()


def place(t):
    def move(model, index):
        paste
        return device

    state, asked = train(t, move(t.model, 1)), []
    for gpus in (1, 2):
        model = Mock()
        with patch("torch.cuda.device_count", return_value=gpus):
            device = move(model, 1)
        asked += [str(device), [str(call.args[0]) for call in model.to.call_args_list]]
    return [state, asked]


def reference(t):
    t.model
    return [train(t, "cpu"), ["cuda:0", ["cuda:0"], "cuda:1", ["cuda:1"]]]
