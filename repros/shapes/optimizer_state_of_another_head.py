# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The first step after loading an optimizer's checkpoint fails because a layer was replaced"
# kind = "error"
# symptom = "The size of tensor a \\(4\\) must match the size of tensor b \\(2\\) at non-singleton dimension 0"
# messages = [
#     "The size of tensor a \\(\\d{1,9}\\) must match the size of tensor b \\(\\d{1,9}\\) at non-singleton dimension \\d",
# ]
# origin = "design"
# reports = [
#     "https://github.com/facebookresearch/SlowFast/issues/400",
#     "https://github.com/facebookresearch/SlowFast/issues/435",
# ]
# documents = [
#     "https://github.com/neuralmagic/sparseml/pull/1358",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/optimizer.py",
# ]
# wrong = '''
# optimizer.load_state_dict(checkpoint)
# '''
# right = '''
# optimizer.load_state_dict(checkpoint)
# for parameter, state in optimizer.state.items():
#     tensors = [value for value in state.values() if isinstance(value, torch.Tensor)]
#     if any(value.dim() > 0 and value.shape != parameter.shape for value in tensors):
#         state.clear()  # of another layer: it starts again
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A pretrained model's weights are loaded without its head, but its optimizer state is loaded too.
The first optimizer.step() then raises an error with the two numbers of classes.

An optimizer's load_state_dict() compares the number of parameters in each group, but not their
shapes (torch/optim/optimizer.py). The old head's momentum is therefore assigned to the new head,
and the first step cannot add the gradient to this momentum (aten/src/ATen/ExpandUtils.cpp).

Clear the state of the parameters whose shape differs: they start afresh, and the others keep their
momentum. A new layer of the old shape gets the old momentum. load_state_dict() also restores the
learning rates and other options of the checkpoint (torch/optim/optimizer.py). For a different task,
do not load the optimizer's checkpoint at all (neuralmagic/sparseml#1358). Do not load it for
Adafactor and LBFGS either, which keep state of other shapes (torch/optim/_adafactor.py,
torch/optim/lbfgs.py). The same applies to fused SGD, and to Adagrad on older releases. These two
raise another error if only some parameters have state. If the error occurs although no layer was
replaced, the new model's parameters may be in a different order.

Fused Adam and SGD do not compare the shapes either. Without the corrected lines, they raise no
error. If the new layer is larger, they then write beyond the memory of the state. If the old or the
new head has only one class, the error is "output with shape [...] doesn't match the broadcast
shape".
"""

import copy

import torch
from torch.nn import Linear, Sequential


def build(device, classes):
    model = Sequential(Linear(3, 3), Linear(3, classes)).to(device)
    return model, torch.optim.Adam(model.parameters(), lr=0.1)


def step(device, model, optimizer):
    optimizer.zero_grad()
    model(torch.ones(2, 3, device=device)).square().sum().backward()
    optimizer.step()


def load_all(optimizer, checkpoint):
    optimizer.load_state_dict(checkpoint)


def load_what_fits(optimizer, checkpoint):
    optimizer.load_state_dict(checkpoint)
    for parameter, state in optimizer.state.items():
        tensors = [value for value in state.values() if isinstance(value, torch.Tensor)]
        if any(value.dim() > 0 and value.shape != parameter.shape for value in tensors):
            state.clear()  # of another layer: it starts again


def check(device, load):
    old, optimizer = build(device, 4)
    step(device, old, optimizer)
    checkpoint = copy.deepcopy(optimizer.state_dict())  # as a file
    old_means = [state["exp_avg"].clone() for state in checkpoint["state"].values()]
    model, optimizer = build(device, 2)
    load(optimizer, checkpoint)
    try:
        step(device, model, optimizer)
    except RuntimeError as error:
        return str(error)
    for n, (name, parameter) in enumerate(model.named_parameters()):
        start = 0 if name.startswith("1.") else old_means[n]
        mean = optimizer.state[parameter]["exp_avg"]
        if not torch.allclose(mean, 0.9 * start + 0.1 * parameter.grad, atol=1e-5):
            return f"{name} has another momentum"


def reproduce(device):
    return check(device, load_all)


def control(device):
    return check(device, load_what_fits)


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
