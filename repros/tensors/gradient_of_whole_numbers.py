# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.tensor([1, 2], requires_grad=True) fails, because whole numbers become int64"
# kind = "error"
# symptom = "Only Tensors of floating point and complex dtype can require gradients"
# messages = ["only Tensors of floating point (?:and complex )?dtype can require gradients"]
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/53466"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.tensor.html",
#     "https://github.com/yunjey/pytorch-tutorial/pull/128",
# ]
# wrong = '''
# x = torch.tensor(values, requires_grad=True)
# '''
# right = '''
# x = torch.tensor(values, dtype=torch.float32, requires_grad=True)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A first autograd example fails if its numbers are written without a decimal point
(pytorch#53466).

torch.tensor() infers the dtype from its data (docs: torch.tensor), so [1, 2] becomes int64 and
[1.0, 2] becomes float32. An integer cannot change by a small amount, so it has no gradient
(torch/csrc/autograd/variable.h). The functions arange() and randint(), and nn.Parameter() of
integers, fail in the same way. An integer parameter that should not train, such as a mask, belongs
in register_buffer().

Predicted classes are integers too. After a conversion to float, they accept requires_grad, but no
gradient reaches the model (popular fix). Compute the loss from the model's outputs instead.
"""

import torch


def as_they_are(values):
    x = torch.tensor(values, requires_grad=True)
    return x


def as_float32(values):
    x = torch.tensor(values, dtype=torch.float32, requires_grad=True)
    return x


def check(device, read):
    try:
        x = read([1, 2])
    except RuntimeError as error:
        return str(error)
    (x.to(device) ** 3).sum().backward()
    if not x.is_leaf or x.grad.tolist() != [3, 12]:
        return f"the gradient is {x.grad}"


def reproduce(device):
    return check(device, as_they_are)


def control(device):
    return check(device, as_float32)


def messages(device):
    texts = []
    for function in (torch.nn.Parameter, torch.Tensor.requires_grad_):
        try:
            function(torch.arange(3, device=device))
        except RuntimeError as error:
            texts.append(str(error))
    return "\n".join(texts)


def popular_fix(device):
    layer = torch.nn.Linear(2, 2).to(device)
    classes = layer(torch.eye(2, device=device)).argmax(1)
    classes.float().requires_grad_().sum().backward()
    if layer.weight.grad is None:
        return "the weight has no gradient"


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
