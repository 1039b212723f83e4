# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "load_state_dict() of a whole checkpoint misses every key and finds epoch and state_dict"
# kind = "error"
# symptom = "Unexpected key\\(s\\) in state_dict: \"epoch\", \"state_dict\""
# messages = [
#     'Missing key\(s\) in state_dict: ".{1,200}?"',
#     'Unexpected key\(s\) in state_dict: ".{1,200}?"',
#     'unexpected key ".{1,200}?" in state_dict',
#     'missing keys in state_dict: ".{1,200}?"',
#     'Unexpected key\(s\) in state_dict: .{0,60}?"(?:epoch|step|iter|global_step|state_dict|model|model_state_dict|net|optimizer|args|meta)"',
# ]
# keywords = [
#     "unexpected key epoch optimizer state_dict",
#     "unexpected keys pytorch-lightning_version state_dict callbacks optimizer_states",
#     "load a Lightning checkpoint into a plain model",
#     "checkpoint['state_dict'] or checkpoint['model']",
#     "missing keys although the model is the same",
#     "downloaded checkpoint has other keys than my model",
#     "load only the weights from a training checkpoint",
#     "cannot load my lightning ckpt in plain pytorch",
#     "how to get the weights out of a checkpoint",
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
# checkpoint = {"epoch": 9, "state_dict": trained.state_dict()}
# model.load_state_dict(checkpoint)
# '''
# right = '''
# checkpoint = {"epoch": 9, "state_dict": trained.state_dict()}
# model.load_state_dict(checkpoint["state_dict"])
# '''
# fix = "checkpoints.load_matching"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The file holds more than the weights: the epoch, the optimizer, and the weights as one
entry among them, named state_dict, model, model_state_dict, net or the like.

load_state_dict() takes the names of these entries for names of parameters. strict=False,
which tutorials advise for keys that differ (leyaa.ai), loads nothing and says nothing.
"""

import torch


def load(device, part, strict=True):
    trained, model = torch.nn.Linear(2, 2).to(device), torch.nn.Linear(2, 2).to(device)
    checkpoint = {"epoch": 9, "state_dict": trained.state_dict()}
    try:
        model.load_state_dict(part(checkpoint), strict=strict)
    except RuntimeError as error:
        return str(error)
    if not torch.equal(model.weight, trained.weight):
        return "the weights are not those of the checkpoint, and nobody said so"


def reproduce(device):
    return load(device, lambda checkpoint: checkpoint)


def control(device):
    return load(device, lambda checkpoint: checkpoint["state_dict"])


def popular_fix(device):
    return load(device, lambda checkpoint: checkpoint, strict=False)


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
