"""Attention in a module, in both modes, against attention by hand with the same dropout."""

import torch

REQUIRES = ">=2.0"
SETTINGS = ("plain", "AdamW")


def train(t, forward):
    attention = torch.nn.Module()
    attention.dropout, t.model = 0.5, t.watched(torch.nn.Linear(6, 24, bias=False))
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.model.parameters(), lr=0.01)
    outputs = []
    for _ in range(3):
        attention.eval()
        for mode in (attention.eval, attention.train):
            mode()
            q, k, v = t.model(torch.randn(2, 4, 6)).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
            y = forward(attention, q, k, v)
            if attention.training:
                outputs.append((y.detach() == 0).all(-1).any())  # queries that see nothing
            else:
                outputs.append(y.detach())
                optimizer.zero_grad()
                y.square().sum().backward()
                optimizer.step()
    return [t.model.state_dict(), outputs]


def place(t):
    def forward(self, q, k, v):
        paste
        return y

    torch.manual_seed(0)
    return train(t, forward)


def reference(t):
    def forward(self, q, k, v):
        weights = (q @ k.mT / 2).softmax(-1)
        if self.training:
            weights = torch.nn.functional.dropout(weights, self.dropout)
        return weights @ v

    torch.manual_seed(0)
    return train(t, forward)


def same(seen, expected):
    for one, other in zip([*seen[0].values(), *seen[1]], [*expected[0].values(), *expected[1]]):
        if not torch.allclose(one.float(), other.float(), atol=1e-4):
            return f"off by {(one.float() - other.float()).abs().max():.3g}"
