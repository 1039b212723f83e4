"""Causal attention with padding on the left, against each query over the keys that it sees."""

import torch

REQUIRES = ">=2.0"
SETTINGS = ("plain", "AdamW", "bfloat16")


def train(t, attend):
    t.model = t.watched(torch.nn.Linear(6, 24, bias=False))
    optimizer, outputs = (
        getattr(torch.optim, t.setting.optimizer)(t.model.parameters(), lr=0.01),
        [],
    )
    for left in ([0, 2], [4, 1], [0, 0]):
        keep = torch.arange(4) >= torch.tensor(left)[:, None]
        mask = keep[:, None, None, :] & torch.ones(4, 4, dtype=torch.bool).tril()
        with t.autocast():
            q, k, v = t.model(torch.randn(2, 4, 6)).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
            y = attend(q, k, v, mask)
        optimizer.zero_grad()
        y.float().square().sum().backward()
        optimizer.step()
        outputs.append(y.float())
    return [t.model.state_dict(), outputs]


def place(t):
    def attend(q, k, v, mask):
        paste
        return y

    return train(t, attend)


def reference(t):
    def attend(q, k, v, mask):
        y = []
        for sample in range(2):
            for n in range(4):
                seen = mask[sample, 0, n]
                scores = q[sample, :, n : n + 1].float() @ k[sample][:, seen].float().mT / 2
                y.append(scores.softmax(-1) @ v[sample][:, seen].float())
        return torch.cat(y, 1).unflatten(1, (2, 4)).transpose(0, 1)

    return train(t, attend)


def same(seen, expected):
    for one, other in zip([*seen[0].values(), *seen[1]], [*expected[0].values(), *expected[1]]):
        if not torch.allclose(one, other, atol=0.05):
            return f"off by {(one - other).abs().max():.3g}"
