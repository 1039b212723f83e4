# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The keys in a checkpoint of torch.compile(model) begin with _orig_mod. and do not load"
# kind = "error"
# symptom = "_orig_mod\\."
# messages = [
#     'Missing key\(s\) in state_dict: ".{1,200}?"',
#     'Unexpected key\(s\) in state_dict: ".{1,200}?"',
#     '(?:Missing|Unexpected) key\(s\) in state_dict: "(?:module\.)?_orig_mod\.',
# ]
# elsewhere = [
#     "unexpected key \".{1,200}?\" in state_dict",
#     "missing keys in state_dict: \".{1,200}?\"",
# ]
# origin = "design"
# reports = [
#     "https://github.com/karpathy/nanoGPT/issues/325",
#     "https://github.com/rasbt/LLMs-from-scratch/issues/580",
# ]
# documents = [
#     "https://github.com/justchenhao/SILI_CD/issues/2",
#     "https://github.com/mlfoundations/open_clip/pull/639",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/_dynamo/eval_frame.py",
#     "https://leyaa.ai/codefly/learn/pytorch/qna/how-to-fix-state-dict-key-mismatch-in-pytorch",
# ]
# wrong = '''
# state = torch.load(path)  # saved as compiled_model.state_dict()
# model.load_state_dict(state)
# '''
# right = '''
# from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present
# state = torch.load(path)  # saved as compiled_model.state_dict()
# consume_prefix_in_state_dict_if_present(state, "_orig_mod.")
# model.load_state_dict(state)
# '''
# fix = "checkpoints.load_matching"
# use = '''
# from checkpoints import load_matching
# state = torch.load(path)  # saved as compiled_model.state_dict()
# print(load_matching(model, state))
# '''
# choice = "Use the lines without the fix if the whole saved model was compiled, and the loading model is not; otherwise, use the fix, for example if only a part of the model was compiled, or if the model was wrapped too"
# requires = ">=2.1"
# rule = "note"
# when = "the loading model is not compiled"
# affected = { cpu = ">=2.1", cuda = ">=2.1", mps = ">=2.1" }
# ///
"""load_state_dict() reports every key of the model as missing and every key of the file as
unexpected.

torch.compile() wraps the model in a module that holds it as the attribute `_orig_mod`
(torch/_dynamo/eval_frame.py), so every key begins with that name. The function
consume_prefix_in_state_dict_if_present() removes the prefix. To keep the prefix out of the next
file, save compiled_model._orig_mod.state_dict(). Conversely, a compiled model cannot load a
checkpoint without the prefix (justchenhao/SILI_CD#2): load the checkpoint before torch.compile().
The corrected lines do not find the prefix if the state is under a key such as "model", or if the
prefix follows the "module." of AveragedModel(compiled_model). The fix loads both kinds of files. On
Python 3.10, torch 2.0 also adds the prefix, and the corrected lines remove it. This reproducer was
run on torch 2.0 with Python 3.11, which torch.compile() did not support yet. Tutorials recommend
strict=False if keys differ (leyaa.ai), but with this option, nothing is loaded and no error is
raised.
"""

import io

import torch
from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present


def start(device):
    trained, path = torch.nn.Linear(2, 2).to(device), io.BytesIO()
    compiled_model = torch.compile(trained)
    torch.save(compiled_model.state_dict(), path)
    path.seek(0)
    return trained, path, torch.nn.Linear(2, 2).to(device)


def check(model, trained):
    if not torch.equal(model.weight, trained.weight):
        return "the weights are not those of the checkpoint, and nobody said so"


def reproduce(device):
    trained, path, model = start(device)
    try:
        state = torch.load(path)  # saved as compiled_model.state_dict()
        model.load_state_dict(state)
    except RuntimeError as error:
        return str(error)
    return check(model, trained)


def control(device):
    trained, path, model = start(device)
    state = torch.load(path)  # saved as compiled_model.state_dict()
    consume_prefix_in_state_dict_if_present(state, "_orig_mod.")
    model.load_state_dict(state)
    return check(model, trained)


def messages(device):
    trained, _, model = start(device)
    texts = []
    for state in (trained.state_dict(), {f"module._orig_mod.{n}": 0 for n in ("weight", "bias")}):
        for loader in (torch.compile(model), model):
            try:
                loader.load_state_dict(state)
            except RuntimeError as error:
                texts.append(str(error))
    state = {**trained.state_dict(), "_orig_mod.weight": trained.weight}
    try:
        model.load_state_dict(state)
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
