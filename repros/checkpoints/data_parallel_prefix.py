# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A checkpoint of a DataParallel model does not load: every key begins with module."
# kind = "error"
# symptom = "Missing key\\(s\\) in state_dict"
# messages = [
#     'Missing key\(s\) in state_dict: ".{1,200}?"',
#     'Unexpected key\(s\) in state_dict: ".{1,200}?"',
#     'unexpected key ".{1,200}?" in state_dict',
#     'missing keys in state_dict: ".{1,200}?"',
# ]
# keywords = [
#     "missing keys module. prefix",
#     "remove module from the state_dict keys",
#     "load a multi GPU checkpoint on one GPU or CPU",
#     "model saved with nn.DataParallel or DistributedDataParallel",
#     "strict=False makes the error go away and the accuracy is random",
#     "trained on several gpus, cannot load on one",
#     "weights from multi-gpu training do not load for inference",
#     "all layer names in the file start with module",
#     "no layer matches although the architecture is the same",
# ]
# origin = "design"
# reports = [
#     "https://github.com/sgvaze/osr_closed_set_all_you_need/issues/14",
#     "https://github.com/menzelab/implicit-shape-reconstruction/issues/2",
#     "https://github.com/samuelschen/DSB2018/issues/2",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
#     "https://leyaa.ai/codefly/learn/pytorch/qna/how-to-fix-state-dict-key-mismatch-in-pytorch",
# ]
# wrong = '''
# state = torch.nn.DataParallel(trained).state_dict()
# model.load_state_dict(state)
# '''
# right = '''
# state = torch.nn.DataParallel(trained).module.state_dict()
# model.load_state_dict(state)
# '''
# fix = "checkpoints.load_matching"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""load_state_dict() misses every key of the model, and expects none of those in the file.

DataParallel and DistributedDataParallel hold the model as their attribute `module`, so
its name stands in front of every key. strict=False, which tutorials advise for keys
that differ (leyaa.ai), loads nothing and says nothing.
"""

import torch


def load(device, part, strict=True):
    trained, model = torch.nn.Linear(2, 2).to(device), torch.nn.Linear(2, 2).to(device)
    state = part(torch.nn.DataParallel(trained)).state_dict()
    try:
        model.load_state_dict(state, strict=strict)
    except RuntimeError as error:
        return str(error)
    if not torch.equal(model.weight, trained.weight):
        return "the weights are not those of the checkpoint, and nobody said so"


def reproduce(device):
    return load(device, lambda parallel: parallel)


def control(device):
    return load(device, lambda parallel: parallel.module)


def popular_fix(device):
    return load(device, lambda parallel: parallel, strict=False)


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
