# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model with torch.nn.utils.weight_norm cannot be copied by copy.deepcopy()"
# kind = "error"
# symptom = "support the deepcopy protocol"
# messages = [
#     "Only Tensors created explicitly by the user \\(graph leaves\\) support the deepcopy protocol",
# ]
# keywords = [
#     "weight_norm cannot be deepcopied",
#     "EMA copy of the model fails",
#     "deepcopy wav2vec2",
#     "Only Tensors created explicitly by the user support the deepcopy protocol",
#     "GridSearch or ensemble copy of a weight normalized model",
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
# copy.deepcopy(layer)
# '''
# right = '''
# layer = torch.nn.utils.parametrizations.weight_norm(layer)
# copy.deepcopy(layer)
# '''
# requires = ">=2.1"
# affected = { cpu = ">=2.1", cuda = ">=2.1", mps = ">=2.2" }
# ///
"""A grid search (skorch-dev/skorch#741), an EMA or an ensemble copies the model, and the copy
raises.

weight_norm() computes the weight from two parameters and keeps it as an attribute of the
layer, a tensor with a history (torch/nn/utils/weight_norm.py, pytorch#28594). The
parametrization of the same name, which replaced it, does not (pytorch#103001).
"""

import copy
import warnings

import torch


def clone(device, weight_norm):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the one of torch.nn.utils is deprecated
        layer = weight_norm(torch.nn.Linear(2, 2).to(device))
    try:
        copy.deepcopy(layer)
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return clone(device, torch.nn.utils.weight_norm)


def control(device):
    return clone(device, torch.nn.utils.parametrizations.weight_norm)


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
