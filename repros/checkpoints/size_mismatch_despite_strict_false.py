# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "load_state_dict raises size mismatch for another number of classes, also with strict=False"
# kind = "error"
# symptom = "size mismatch for weight"
# messages = [
#     'size mismatch for \S{1,200}: copying a param(?:eter)? (?:with shape|of) ',
#     'While copying the parameter named .{1,200}?, whose dimensions in the model are',
# ]
# keywords = [
#     "different number of classes pretrained weights",
#     "change num_classes and load checkpoint",
#     "strict=False still size mismatch",
#     "position embedding of another length",
#     "vocabulary size differs from the checkpoint",
#     "load pretrained weights except the last layer",
#     "pretrained on 1000 classes, I have 10",
#     "use pretrained weights for a different number of labels",
#     "checkpoint vocabulary is larger than my model's",
#     "ignore the last layer when loading weights",
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
# model = torch.nn.Linear(4, 10)
# model.load_state_dict(state)  # of a model with 1000 classes
# '''
# right = '''
# model = torch.nn.Linear(4, 1000)
# model.load_state_dict(state)
# '''
# fix = "checkpoints.load_matching"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The model has another number of classes, another vocabulary or another length than the
one that was saved.

strict is about names: it decides on keys that only one side has. A key that both have
is copied, and a shape that differs is an error in either mode (pytorch#154597;
torch/nn/modules/module.py).
"""

import torch


def load(device, classes, strict=True):
    state = torch.nn.Linear(4, 1000).to(device).state_dict()
    model = torch.nn.Linear(4, classes).to(device)
    try:
        model.load_state_dict(state, strict=strict)
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return load(device, classes=10)


def control(device):
    return load(device, classes=1000)


def popular_fix(device):
    return load(device, classes=10, strict=False)


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
