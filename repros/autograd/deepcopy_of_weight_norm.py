# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "copy.deepcopy() fails for a model with torch.nn.utils.weight_norm, except after a forward pass without gradients"
# kind = "error"
# symptom = "support the deepcopy protocol"
# messages = [
#     "Only Tensors created explicitly by the user \\(graph leaves\\) support the deepcopy protocol",
# ]
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/28594",
#     "https://github.com/pytorch/pytorch/issues/102981",
#     "https://github.com/descriptinc/descript-audio-codec/issues/81",
#     "https://github.com/skorch-dev/skorch/issues/741",
# ]
# documents = ["https://github.com/pytorch/pytorch/pull/103001"]
# wrong = '''
# layer = torch.nn.utils.weight_norm(layer)
# '''
# right = '''
# layer = torch.nn.utils.parametrizations.weight_norm(layer)  # save its state_dict(), not the layer
# '''
# right_requires = ">=2.1"
# requires_on = { mps = ">=2.2" }
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=2.2" }
# ///
"""A grid search (skorch-dev/skorch#741), an EMA or an ensemble fails when it copies the model.

weight_norm() computes the weight from two parameters and stores the result, a tensor with a
history, as an attribute of the layer (torch/nn/utils/weight_norm.py, pytorch#28594). A forward pass
under no_grad() computes a weight without a history, so the copy works until the next forward pass
in training. The parametrization of the same name, which replaced weight_norm() in 2.1, does not
fail (pytorch#103001). The exception is an LSTM or GRU after a forward pass in training: run a
forward pass under no_grad() before you copy this layer. The parametrization loads checkpoints with
weight_g and weight_v, but its own state_dict has different names (right), which the old
weight_norm() cannot load. Calling remove_weight_norm() on the parametrization raises an error, so
call torch.nn.utils.parametrize.remove_parametrizations(layer, "weight") instead. If you call
remove_parametrizations() on a copy, the original loses its weight, and the reverse is also true.
Code that reads layer.weight_g fails too, because the new name is
layer.parametrizations.weight.original0.

The new layer cannot be pickled, not even after remove_parametrizations(). Both torch.save(model)
and a search that sends the model to other processes fail, but torch.save(model.state_dict()) works.
Before 2.1, or if the model has to be pickled, keep the old function and run a forward pass under
no_grad() before the copy. By contrast, remove_weight_norm() creates a new weight, which an existing
optimizer does not train.
"""

import copy
import warnings

import torch


def start(device):
    layer = torch.nn.Linear(2, 2).to(device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the one of torch.nn.utils is deprecated
        return torch.nn.utils.weight_norm(layer)


def clone(layer):
    try:
        copy.deepcopy(layer)
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return clone(start(device))


def control(device):
    return clone(torch.nn.utils.remove_weight_norm(start(device)))


def right(device):
    saved, layer = start(device), torch.nn.Linear(2, 2).to(device)
    layer = torch.nn.utils.parametrizations.weight_norm(layer)
    layer.load_state_dict(saved.state_dict())
    layer(torch.ones(1, 2, device=device)).sum().backward()
    if not torch.allclose(copy.deepcopy(layer).weight, saved.weight):
        return "the copy has another weight"
    if any(p.grad is None for p in layer.parameters()):
        return "a parameter is not trained"
    torch.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    if not torch.allclose(layer.weight, saved.weight):
        return "without the norm the weight is another"


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, right):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
