# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Losses gathered into torch.tensor([...]) lose their graph"
# kind = "error"
# symptom = "element 0 of tensors does not require grad"
# messages = ["element \\d{1,9} of tensors does not require grad and does not have a grad_fn"]
# origin = "design"
# reports = [
#     "https://github.com/laekov/fastmoe/issues/49",
#     "https://github.com/MRsources/pulseq-zero/issues/20",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.tensor.html",
#     "https://github.com/speechbrain/speechbrain/issues/735",
# ]
# wrong = '''
# loss = torch.tensor(losses).mean()
# loss.backward()
# '''
# right = '''
# loss = sum(losses) / len(losses)
# loss.backward()
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""torch.tensor() copies the losses' values into a new leaf (docs: torch.tensor). If this leaf is
the whole loss, backward() rejects it. If the leaf is one term of a sum, the term trains nothing
(laekov/fastmoe#49). Adding the losses keeps their graphs (control). The sum may include plain
numbers and losses of shape [1], which torch.stack() rejects. For a dict, use list(losses.values()).
If the list is empty, the division raises ZeroDivisionError.

Passing requires_grad=True, or using Variable(loss, requires_grad=True)
(speechbrain/speechbrain#735), silences the error but trains nothing (popular fix).
"""

import warnings

import torch


def train(device, gather):
    weight = torch.ones(1, device=device, requires_grad=True)
    losses = [weight.square().sum(), (weight - 4).square(), 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer ones warn of the conversion
        try:
            gather(losses)
        except RuntimeError as error:
            return str(error)
    if weight.grad is None:
        return "backward() is quiet, and no parameter has a gradient"
    if not torch.allclose(weight.grad, (2 * weight + 2 * (weight - 4)) / 3):
        return f"the gradient is {weight.grad.item()}"


def by_tensor(losses):
    loss = torch.tensor(losses).mean()
    loss.backward()


def by_sum(losses):
    loss = sum(losses) / len(losses)
    loss.backward()


def by_leaf(losses):
    loss = torch.tensor(losses, requires_grad=True).mean()
    loss.backward()


def reproduce(device):
    return train(device, by_tensor)


def control(device):
    return train(device, by_sum)


def popular_fix(device):
    return train(device, by_leaf)


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
