# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An optimizer raises TypeError for a list of layers instead of their parameters"
# kind = "error"
# symptom = "optimizer can only optimize Tensors, but one of the params is"
# messages = ['optimizer can only optimize Tensors, but one of the params is [\w.]{1,80}']
# elsewhere = ['optimizer can only optimize Variables, but one of the params is [\w.]{1,80}']
# origin = "design"
# reports = [
#     "https://github.com/lezcano/geotorch/issues/7",
#     "https://github.com/EternalEvan/FlowIE/issues/11",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/optim.html",
#     "https://github.com/pytorch/pytorch/issues/48778",
#     "https://github.com/zju-bmi-lab/SpikingNeRF/issues/5",
# ]
# wrong = '''
# optimizer = torch.optim.SGD([backbone, head], lr=0.1)
# '''
# right = '''
# optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.1)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The message names the type of the element that is not a tensor. The necessary change depends on
this type.

An optimizer reads its argument once, without looking into its elements (torch/optim/optimizer.py).
For a layer (lezcano/geotorch#7), take its parameters(). Module.parameters is a generator inside a
list (EternalEvan/FlowIE#11), and needs an asterisk, as in the corrected line. If the message names
str, the argument was a dictionary, whose elements are its keys (pytorch#48778). A parameter group,
{"params": ...}, belongs in a list. Other dictionaries need values(), except a state_dict(): its
values are detached tensors, which never receive a gradient. If the message names a tuple,
named_parameters() was passed on a release that does not accept names (zju-bmi-lab/SpikingNeRF#5).

For two learning rates, pass [{"params": backbone.parameters(), "lr": 0.01}, {"params":
head.parameters()}] and lr=0.1, which then applies to the head. If both share a parameter, list it
only once: a duplicate within one list only causes a warning, and SGD then applies the parameter's
step twice.
"""

import torch


def layers(device):
    return torch.nn.Linear(2, 3).to(device), torch.nn.Linear(3, 1).to(device)


def reproduce(device):
    backbone, head = layers(device)
    try:
        torch.optim.SGD([backbone, head], lr=0.1)
    except TypeError as error:
        return str(error)


def control(device):
    backbone, head = layers(device)
    optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.1)
    model = torch.nn.Sequential(backbone, head)
    before = [p.detach().clone() for p in model.parameters()]
    model(torch.ones(4, 2, device=device)).sum().backward()
    optimizer.step()
    for p, old in zip(model.parameters(), before):
        if not torch.allclose(p, old - 0.1 * p.grad):
            return "a parameter did not take the step"


def messages(device):
    texts, layer = [], layers(device)[0]
    for params in ([layer.parameters()], dict(layer.named_parameters())):
        try:
            torch.optim.SGD(params, lr=0.1)
        except TypeError as error:
            texts.append(str(error))
    return "\n".join(texts)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
