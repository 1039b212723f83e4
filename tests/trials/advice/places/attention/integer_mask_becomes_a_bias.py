"""Attention of a language model over padded batches, with the softmax by hand as reference."""

import torch

REQUIRES = ">=2.0"
SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")


def train(t, attend):
    t.model = t.watched(
        torch.nn.ModuleList([torch.nn.Embedding(20, 8), torch.nn.Linear(8, 24, bias=False)])
    )
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.model.parameters(), lr=0.05)
    outputs = []
    for tokens in (5, 3, 4):  # 3 rows of 3 tokens: the mask is square then
        ids = torch.randint(0, 20, (3, tokens))
        attention_mask = (torch.arange(tokens) < torch.tensor([[2], [tokens], [1]])).long()
        optimizer.zero_grad()
        with t.autocast():
            parts = t.model[1](t.model[0](ids)).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
            y = attend(*parts, attention_mask)
        loss = (y.float() * attention_mask[:, None, :, None]).square().sum()
        loss.backward()
        optimizer.step()
        outputs.append(y.float())
    return [t.model.state_dict(), outputs]


def place(t):
    def attend(q, k, v, attention_mask):
        paste
        return y

    return train(t, attend)


def reference(t):
    def attend(q, k, v, attention_mask):
        with torch.autocast("cpu", enabled=False):
            scores = q.double() @ k.double().mT / 2
            scores = scores.masked_fill(attention_mask[:, None, None] == 0, -float("inf"))
            return (scores.softmax(-1) @ v.double()).to(v.dtype)

    return train(t, attend)


def same(seen, expected):
    for (name, one), other in zip(seen[0].items(), expected[0].values()):
        if not torch.allclose(one, other, atol=0.02):
            return f"{name} is off by {(one - other).abs().max():.3g}"
    for one, other in zip(seen[1], expected[1]):
        if not torch.allclose(one, other, atol=0.02, rtol=0.02):
            return f"the output is off by {(one - other).abs().max():.3g}"
