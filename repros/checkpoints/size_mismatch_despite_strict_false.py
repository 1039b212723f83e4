# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "load_state_dict reports a size mismatch for a different number of classes, even with strict=False"
# kind = "error"
# symptom = 'size mismatch for 1\.weight'
# messages = ['size mismatch for \S{1,200}: copying a param with shape ']
# elsewhere = [
#     'size mismatch for \S{1,200}: copying a param of ',
#     'Error\(s\) in loading state_dict for \w{1,60}: size mismatch for ',
#     "While copying the parameter named .{1,200}?, whose dimensions in the model are",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/154597",
#     "https://github.com/Zhongdao/Towards-Realtime-MOT/issues/130",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/module.py",
#     "https://leyaa.ai/codefly/learn/pytorch/qna/how-to-fix-state-dict-key-mismatch-in-pytorch",
# ]
# wrong = '''
# model.load_state_dict(state, strict=False)  # of a model with more classes
# '''
# right = '''
# import copy
# shapes = {key: getattr(value, "shape", None) for key, value in model.state_dict().items()}
# fitting = copy.copy(state)
# for key, value in state.items():
#     if key in shapes and getattr(value, "shape", None) != shapes[key]:
#         del fitting[key]
# print(model.load_state_dict(fitting, strict=False))
# '''
# fix = "checkpoints.load_matching"
# use = '''
# from checkpoints import load_matching
# print(load_matching(model, state))
# '''
# choice = "Use the lines without the fix if only the last layer differs, or if a hook of the model translates keys; use the fix if prefixes differ too, if the model has lazy layers, or if a state without any matching entry should raise an error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The model differs from the saved model in its number of classes, its vocabulary or its sequence
length.

The strict argument is about names: it controls how keys that only the file or only the model has
are handled. A key that both have is copied, and a different shape is an error in either mode
(pytorch#154597; torch/nn/modules/module.py). The exception, before 2.10, is a vector that is loaded
into a scalar. Therefore, strict=False, which tutorials recommend (leyaa.ai), does not help. The
corrected code drops the keys whose shapes differ and loads the rest. The printed result names the
layers that keep their initial weights and have to be trained. An embedding is among these layers
even if only some of its rows are new, so copy the other rows by hand. Keys without a counterpart in
the model stay in the dict, because a hook may translate them. For example, the hook of weight_norm
does so (torch/nn/utils/parametrizations.py).
"""

import contextlib
import copy
import io

import torch


def start(device):
    state = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1000)).state_dict()
    return state, torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 10)).to(device)


def reproduce(device):
    state, model = start(device)
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        return str(error)


def control(device):
    state, model = start(device)
    expected = state["0.weight"], state["0.bias"], model[1].weight.clone()

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        shapes = {key: getattr(value, "shape", None) for key, value in model.state_dict().items()}
        fitting = copy.copy(state)
        for key, value in state.items():
            if key in shapes and getattr(value, "shape", None) != shapes[key]:
                del fitting[key]
        print(model.load_state_dict(fitting, strict=False))
    if "1.weight" not in printed.getvalue():
        return "nothing names the layer that was left out"
    loaded = model[0].weight, model[0].bias, model[1].weight
    if not all(torch.equal(one.to(device), other) for one, other in zip(expected, loaded)):
        return "the weights are not those of the state and of the fresh last layer"


def popular_fix(device):
    state, model = start(device)
    try:
        model.load_state_dict(state, strict=False)
    except RuntimeError as error:
        return str(error)


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
