"""A memory of features, with some elements replaced in each step, in a deterministic run."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16")


def train(t, write):
    bank = torch.zeros(5, 4, dtype=t.setting.dtype)
    generator = torch.Generator().manual_seed(0)
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            output = t.model(x)
            loss = t.loss(output + bank.mean(0), y)
        loss.backward()
        t.optimizer.step()
        index = torch.randperm(20, generator=generator)[:4].view(2, 2)
        write(bank, index, output.detach()[0].to(bank.dtype))
    modes = [torch.are_deterministic_algorithms_enabled()]
    modes += [torch.is_deterministic_algorithms_warn_only_enabled()]
    return [modes, bank, t.model.state_dict()]


def place(t):
    def write(weight, index, rows):
        paste

    torch.use_deterministic_algorithms(True)
    try:
        return train(t, write)
    finally:
        torch.use_deterministic_algorithms(False)


def reference(t):
    def write(weight, index, rows):
        for number, value in zip(index.flatten().tolist(), rows.flatten()):
            weight[number // 4, number % 4] = value

    _, *result = train(t, write)
    return [[True, False], *result]
