# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "load_state_dict() reports every key as missing if it gets the whole checkpoint"
# kind = "error"
# symptom = "Unexpected key\\(s\\) in state_dict: \"epoch\", \"state_dict\""
# messages = [
#     'Missing key\(s\) in state_dict: ".{1,200}?"',
#     'Unexpected key\(s\) in state_dict: ".{1,200}?"',
#     'Unexpected key\(s\) in state_dict: .{0,60}?"(?:epoch|state_dict|model|model_state_dict|net|optimizer|args|meta)"',
# ]
# elsewhere = [
#     "unexpected key \".{1,200}?\" in state_dict",
#     "missing keys in state_dict: \".{1,200}?\"",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/mingcv/DSRNet/issues/12",
#     "https://github.com/LiheYoung/UniMatch/issues/31",
# ]
# documents = [
#     "https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html",
#     "https://leyaa.ai/codefly/learn/pytorch/qna/how-to-fix-state-dict-key-mismatch-in-pytorch",
# ]
# wrong = '''
# checkpoint = torch.load(path)  # {"epoch": ..., "state_dict": ...}
# model.load_state_dict(checkpoint)
# '''
# right = '''
# checkpoint = torch.load(path)  # {"epoch": ..., "state_dict": ...}
# model.load_state_dict(checkpoint["state_dict"])
# '''
# fix = "checkpoints.load_matching"
# use = '''
# from checkpoints import load_matching
# checkpoint = torch.load(path)  # {"epoch": ..., "state_dict": ...}
# print(load_matching(model, checkpoint))
# '''
# choice = "Use the lines without the fix if print(checkpoint.keys()) shows the name of the entry with the weights; use the fix for a Lightning checkpoint, or to load files from different programs"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The file contains more than the weights: the epoch, the optimizer, and the weights as one entry
named state_dict, model, model_state_dict, net or similar.

load_state_dict() treats the names of these entries as parameter names. Tutorials recommend
strict=False if keys differ (leyaa.ai), but load_state_dict() then loads nothing and raises no
error.

In the state_dict of a Lightning checkpoint, each name begins with the name of an attribute of the
LightningModule, as in model.weight. The corrected code raises an error for a Lightning checkpoint,
but load_matching() loads the weights. For an attribute other than model or net, pass the name, as
in load_matching(model, checkpoint, prefix="encoder").
"""

import io

import torch

NAMES = (
    *("epoch", "step", "iter", "global_step", "state_dict", "model", "model_state_dict", "net"),
    *("optimizer", "args", "meta"),
)


def start(device):
    trained, path = torch.nn.Linear(2, 2).to(device), io.BytesIO()
    torch.save({"epoch": 9, "state_dict": trained.state_dict()}, path)
    path.seek(0)
    return trained, path, torch.nn.Linear(2, 2).to(device)


def check(model, trained):
    if not torch.equal(model.weight, trained.weight):
        return "the weights are not those of the checkpoint, and nobody said so"


def reproduce(device):
    trained, path, model = start(device)
    try:
        checkpoint = torch.load(path)  # {"epoch": ..., "state_dict": ...}
        model.load_state_dict(checkpoint)
    except RuntimeError as error:
        return str(error)
    return check(model, trained)


def control(device):
    trained, path, model = start(device)
    checkpoint = torch.load(path)  # {"epoch": ..., "state_dict": ...}
    model.load_state_dict(checkpoint["state_dict"])
    return check(model, trained)


def messages(device):
    texts = []
    for name in NAMES:
        try:
            torch.nn.Linear(2, 2).load_state_dict({name: {}})
        except RuntimeError as error:
            texts.append(str(error))
    return "\n".join(texts)


def popular_fix(device):
    trained, path, model = start(device)
    model.load_state_dict(torch.load(path), strict=False)
    return check(model, trained)


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
