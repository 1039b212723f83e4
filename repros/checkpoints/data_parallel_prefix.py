# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The keys in a checkpoint of a DataParallel model begin with 'module.' and do not load"
# kind = "error"
# symptom = "Missing key\\(s\\) in state_dict"
# messages = [
#     '(?:Missing|Unexpected) key\(s\) in state_dict: "module\.',
#     'Missing key\(s\) in state_dict: ".{1,200}?"',
#     'Unexpected key\(s\) in state_dict: ".{1,200}?"',
# ]
# elsewhere = [
#     "Error\\(s\\) in loading state_dict(?! for)",
#     "unexpected key \".{1,200}?\" in state_dict",
#     "missing keys in state_dict: \".{1,200}?\"",
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
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/utils.py",
# ]
# wrong = '''
# state = torch.load(path)  # saved as parallel_model.state_dict()
# model.load_state_dict(state)
# '''
# right = '''
# from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present
# state = torch.load(path)  # saved as parallel_model.state_dict()
# consume_prefix_in_state_dict_if_present(state, "module.")
# model.load_state_dict(state)
# '''
# fix = "checkpoints.load_matching"
# use = '''
# from checkpoints import load_matching
# state = torch.load(path)  # saved as parallel_model.state_dict()
# print(load_matching(model, state))
# '''
# choice = "Use the lines without the fix if the file was saved with the wrapper; use the fix if the saved or the loading model may be wrapped, or if the weights are one entry of a checkpoint"
# rule = "note"
# when = "the loading model is not wrapped in the same way"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""load_state_dict() reports every key of the model as missing and every key of the file as
unexpected.

DataParallel and DistributedDataParallel store the model in their attribute `module`, so every key
begins with that name. The function consume_prefix_in_state_dict_if_present() removes the prefix
(torch/nn/modules/utils.py). To keep the prefix out of the next file, save
parallel_model.module.state_dict(). If the wrapped model loads a file without the prefix, the
missing keys begin with `module.`, so load the file into parallel_model.module instead. Tutorials
recommend strict=False if keys differ (leyaa.ai), but load_state_dict() then loads nothing and
raises no error.
"""

import io

import torch
from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present


def start(device):
    trained, path = torch.nn.Linear(2, 2).to(device), io.BytesIO()
    parallel_model = torch.nn.DataParallel(trained)
    torch.save(parallel_model.state_dict(), path)
    path.seek(0)
    return trained, path, torch.nn.Linear(2, 2).to(device)


def check(model, trained):
    if not torch.equal(model.weight, trained.weight):
        return "the weights are not those of the checkpoint, and nobody said so"


def reproduce(device):
    trained, path, model = start(device)
    try:
        state = torch.load(path)  # saved as parallel_model.state_dict()
        model.load_state_dict(state)
    except RuntimeError as error:
        return str(error)


def control(device):
    trained, path, model = start(device)
    state = torch.load(path)  # saved as parallel_model.state_dict()
    consume_prefix_in_state_dict_if_present(state, "module.")
    model.load_state_dict(state)
    return check(model, trained)


def messages(device):
    trained, _, model = start(device)
    try:
        torch.nn.DataParallel(model).load_state_dict(trained.state_dict())
    except RuntimeError as wrapped:
        errors = [str(wrapped)]
    state = {f"module.{key}": value for key, value in trained.state_dict().items()}
    try:
        model.load_state_dict({**trained.state_dict(), **state})
    except RuntimeError as both:
        errors.append(str(both))
    return "\n".join(errors)


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
