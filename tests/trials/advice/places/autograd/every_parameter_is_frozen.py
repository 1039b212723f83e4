"""Fine-tuning of a head, compared with a model whose other layers run under no_grad()."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout", "accumulation", "short last batch")


def train(t, forward):
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.model.parameters(), lr=0.1)
    for number, (x, y) in enumerate(t.batches):
        t.loss(forward(x), y).backward()
        if (number + 1) % t.setting.window == 0:
            optimizer.step()
            optimizer.zero_grad()
    return t.model.state_dict()


def place(t):
    model = t.model
    paste
    return train(t, model)


def reference(t):
    model = t.model

    def forward(x):
        with torch.no_grad():
            hidden = model.dropout(torch.relu(model.norm(model.body(x))))
        tail = model.tail.weight if t.setting.tied else model.tail.weight.detach()
        return model.head(hidden) + hidden @ tail.T

    for name, parameter in model.named_parameters():
        if not name.startswith("head"):
            parameter.requires_grad = False
    return train(t, forward)
