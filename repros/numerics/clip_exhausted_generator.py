# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A second use of one model.parameters() generator clips nothing"
# kind = "silent"
# symptom = "norm 0, gradient still 2000"
# keywords = ["clip_grad_norm_ has no effect"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/148259", "https://github.com/pytorch/pytorch/issues/151529", "https://github.com/PixArt-alpha/PixArt-alpha/issues/160"]
# wrong = '''
# TODO
# '''
# fix = "numerics.clip_or_skip"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""parameters() returns a generator: once it has been walked, for logging or by the
optimizer, it is empty and the norm of nothing is 0.

Newer releases warn about an empty generator. Pass list(model.parameters()), or call
parameters() anew.
"""

import warnings

import torch


def clip(device, parameters_of):
    model = torch.nn.Linear(4, 1, bias=False).to(device)
    parameters = parameters_of(model)
    sum(parameter.numel() for parameter in parameters)  # "training 4 parameters"
    model.weight.grad = torch.full_like(model.weight, 1000.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        norm = torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    if model.weight.grad.norm() > 1.1:
        return f"norm {norm:g}, gradient still {model.weight.grad.norm():g}"


def reproduce(device):
    return clip(device, lambda model: model.parameters())


def control(device):
    return clip(device, lambda model: list(model.parameters()))


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
