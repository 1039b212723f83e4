# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Adagrad raises KeyError for parameters that were added with add_param_group"
# kind = "error"
# symptom = "KeyError\\('sum'\\)"
# messages = ["state_sums\\.append\\(.{0,200}?KeyError: 'sum'"]
# keywords = [
#     "Adagrad add_param_group KeyError sum",
#     "Adagrad unfreeze layers KeyError",
#     "Adagrad crashes when I add new layers later",
#     "gradual unfreezing with Adagrad fails",
#     "adding parameters during training breaks Adagrad",
#     "Adam works with added parameters, Adagrad does not",
# ]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/53712"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/177672",
#     "https://github.com/pytorch/pytorch/pull/53692",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/adagrad.py",
# ]
# fixed_by = "pytorch#177672"
# wrong = '''
# optimizer = torch.optim.Adagrad([head])
# optimizer.add_param_group({"params": [backbone]})
# '''
# right = '''
# optimizer = torch.optim.Adagrad([head, backbone])
# '''
# affected = { cpu = "<2.12", cuda = "<2.12", mps = "<2.12" }
# ///
"""step() raises once Adagrad was given more parameters, as when layers are unfrozen.

Adagrad alone made its state in the constructor (pytorch#53692), and none for a group
that came later; now step() makes what is missing (torch/optim/adagrad.py).
"""

import torch


def parameters(device):
    head = torch.ones(2, device=device, requires_grad=True)
    backbone = torch.ones(2, device=device, requires_grad=True)
    (head + backbone).sum().backward()
    return head, backbone


def reproduce(device):
    head, backbone = parameters(device)
    optimizer = torch.optim.Adagrad([head])
    optimizer.add_param_group({"params": [backbone]})
    try:
        optimizer.step()
    except KeyError as error:
        return repr(error)


def control(device):
    head, backbone = parameters(device)
    optimizer = torch.optim.Adagrad([head, backbone])
    optimizer.step()


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
