# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.cat() of losses or distances fails, because a tensor without dimensions has no rows"
# kind = "error"
# symptom = "zero-dimensional tensor \\(at position 0\\) cannot be concatenated"
# messages = ["zero-dimensional tensor \\(at position \\d{1,9}\\) cannot be concatenated"]
# origin = "design"
# reports = [
#     "https://github.com/Cysu/open-reid/issues/69",
#     "https://github.com/wengong-jin/icml18-jtnn/issues/6",
#     "https://github.com/kuaikuaikim/dface/issues/27",
#     "https://github.com/huanghoujing/beyond-part-models/issues/22",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.stack.html",
#     "https://github.com/yuanenming/mb-str/issues/3",
# ]
# wrong = '''
# loss = torch.cat(losses).mean()
# '''
# right = '''
# loss = torch.stack(losses).mean()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A list of losses, distances or accuracies cannot be joined, often in code for torch 0.3, where a
loss had one dimension (wengong-jin/icml18-jtnn#6).

cat() joins tensors along an existing dimension, but a loss, a max() or a vector's x[i] has none
(ATen/native/TensorShape.h). stack() joins along a new dimension and keeps the gradient. If only
some tensors have no dimension, use torch.cat([x.reshape(-1) for x in losses]).

For a log, torch.tensor([loss]) for each loss, as in yuanenming/mb-str#3, is fine. For training, it
cuts the graph: backward() raises an error or, if other losses are added, ignores these losses.
"""

import torch


def by_cat(losses):
    loss = torch.cat(losses).mean()
    return loss


def by_stack(losses):
    loss = torch.stack(losses).mean()
    return loss


def by_copies(losses):
    return torch.cat([torch.tensor([loss]) for loss in losses]).mean()


def train(device, join):
    layer = torch.nn.Linear(1, 1, bias=False).to(device)
    torch.nn.init.ones_(layer.weight)
    inputs = torch.tensor([[[1.0]], [[2.0]], [[3.0]]], device=device)
    try:
        loss = join([layer(x).square().mean() for x in inputs])
        loss.backward()
    except RuntimeError as error:
        return str(error)
    if not torch.allclose(layer.weight.grad.cpu(), torch.tensor(28 / 3)):
        return f"the gradient is {layer.weight.grad.item()}"


def reproduce(device):
    return train(device, by_cat)


def control(device):
    losses = [torch.tensor(1.0, device=device), torch.tensor([2.0, 3.0], device=device)]
    if torch.cat([x.reshape(-1) for x in losses]).tolist() != [1, 2, 3]:
        return "the values of both losses are not joined"
    return train(device, by_stack)


def popular_fix(device):
    return train(device, by_copies)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
