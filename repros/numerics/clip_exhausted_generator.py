# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "clip_grad_norm_() clips nothing if its iterator of parameters is exhausted"
# kind = "silent"
# symptom = "nothing was clipped: the gradient is 2000 long"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/148259"]
# documents = [
#     "https://github.com/PixArt-alpha/PixArt-alpha/pull/160",
#     "https://github.com/pytorch/pytorch/pull/151529",
#     "https://github.com/pytorch/torchtitan/pull/1258",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/utils/clip_grad.py",
# ]
# wrong = '''
# parameters = filter(lambda p: p.requires_grad, model.parameters())
# optimizer = torch.optim.SGD(parameters, lr=0.1)
# for x, y in batches:
#     optimizer.zero_grad()
#     criterion(model(x), y).backward()
#     torch.nn.utils.clip_grad_norm_(parameters, 1.0)
#     optimizer.step()
# '''
# right = '''
# parameters = list(filter(lambda p: p.requires_grad, model.parameters()))
# optimizer = torch.optim.SGD(parameters, lr=0.1)
# for x, y in batches:
#     optimizer.zero_grad()
#     criterion(model(x), y).backward()
#     torch.nn.utils.clip_grad_norm_(parameters, 1.0)
#     optimizer.step()
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The gradients stay unchanged and clip_grad_norm_() returns 0. The optimizer has already consumed
the iterator, so no gradients are left to clip.

The iterator may come from filter() (PixArt-alpha/PixArt-alpha#160) or directly from parameters(),
which is a generator (pytorch#148259). Newer releases warn about an exhausted generator
(pytorch#151529), but not about filter(), map() or itertools.chain(), because they check only for
types.GeneratorType (torch/nn/utils/clip_grad.py). If you unfreeze layers later, add their
parameters to the list: otherwise, they stay unclipped. Passing error_if_nonfinite=True does not
detect the failure, because 0 is finite. With such an iterator, clip_grad_value_() clips nothing on
1.13 either; on 2.3 and 2.15 it fails with "Expected !nested_tensorlist[0].empty() to be true".
"""

import warnings

import torch


def start(device):
    model = torch.nn.Linear(4, 1, bias=False).to(device)
    ones = torch.full((1, 4), 1000.0, device=device)
    return model, [(ones, -1.0), (ones, 1.0)]


def criterion(output, y):
    return y * output.sum()


def check(model, warned):
    if warned:
        return f"a warning: {warned[0].message}"
    length = model.weight.grad.norm().item()
    if length > 1.1:
        return f"nothing was clipped: the gradient is {length:.0f} long"
    if not torch.allclose(model.weight.grad, torch.full_like(model.weight, 0.5), atol=1e-4):
        return f"the clipped gradient is {model.weight.grad.tolist()}"


def reproduce(device):
    model, batches = start(device)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        parameters = filter(lambda p: p.requires_grad, model.parameters())
        optimizer = torch.optim.SGD(parameters, lr=0.1)
        for x, y in batches:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
    return check(model, warned)


def control(device):
    model, batches = start(device)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        parameters = list(filter(lambda p: p.requires_grad, model.parameters()))
        optimizer = torch.optim.SGD(parameters, lr=0.1)
        for x, y in batches:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
    return check(model, warned)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
