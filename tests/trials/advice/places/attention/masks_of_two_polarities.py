"""Attention with padding on the right, against each sample without its padding."""

import torch

REQUIRES = ">=2.0"
SETTINGS = ("plain", "AdamW", "bfloat16")


def train(t, attend):
    t.model = t.watched(torch.nn.Linear(6, 24, bias=False))
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.model.parameters(), lr=0.01)
    outputs = []
    for lengths in ([4, 2], [1, 4], [3, 3]):
        padding = torch.arange(4) >= torch.tensor(lengths)[:, None]
        with t.autocast():
            q, k, v = t.model(torch.randn(2, 4, 6)).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
            y = attend(q, k, v, padding)
        optimizer.zero_grad()
        y.float().square().sum().backward()
        optimizer.step()
        outputs.append(y.float())
    return [t.model.state_dict(), outputs]


def place(t):
    def attend(q, k, v, padding):
        paste
        return y

    return train(t, attend)


def reference(t):
    def attend(q, k, v, padding):
        y = []
        for sample, hidden in enumerate(padding):
            keys, values = k[sample][:, ~hidden], v[sample][:, ~hidden]
            y.append((q[sample].float() @ keys.float().mT / 2).softmax(-1) @ values.float())
        return torch.stack(y)

    return train(t, attend)


def same(seen, expected):
    for one, other in zip([*seen[0].values(), *seen[1]], [*expected[0].values(), *expected[1]]):
        if not torch.allclose(one, other, atol=0.05):
            return f"off by {(one - other).abs().max():.3g}"
