# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.jit.load() of a file from torch.save() does not find constants.pkl"
# kind = "error"
# symptom = "failed locating file constants\\.pkl: file not found"
# messages = ["PytorchStreamReader failed locating file constants\\.pkl: file not found"]
# elsewhere = ["file not found: \\S{1,60}/constants\\.pkl"]
# origin = "usage"
# reports = [
#     "https://github.com/PeterL1n/BackgroundMattingV2/issues/65",
#     "https://github.com/deepjavalibrary/djl/issues/2802",
#     "https://github.com/wenet-e2e/wenet/issues/1485",
# ]
# documents = [
#     "https://github.com/CrayLabs/SmartSim/issues/405",
#     "https://docs.pytorch.org/docs/stable/generated/torch.jit.save.html",
# ]
# wrong = '''
# torch.save(model.state_dict(), path)
# served = torch.jit.load(path)
# '''
# right = '''
# torch.jit.script(model).save(path)
# served = torch.jit.load(path).eval()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A checkpoint is served with libtorch, DJL or Triton, or a script loads it with torch.jit.load().

torch.save() and torch.jit.save() both write a zip archive, often with the same ending, .pt or .pth.
Only the archive of torch.jit.save() contains constants.pkl and the model's code (docs:
torch.jit.save). The message of newer releases adds that the file is probably corrupted, which is
not true here. To tell the two formats apart, list the archive with python -m zipfile -l: a
TorchScript archive contains a folder code/.

In Python, load the state dict with torch.load() and load_state_dict() instead, as before. The
corrected code is for other programs, and newer releases warn that torch.jit is deprecated. Save the
scripted model to its own path: otherwise, it replaces the checkpoint. A scripted model keeps its
mode, so eval() is needed after loading. If torch.jit.script() rejects the model,
torch.jit.trace(model.eval(), example) records one run of the model (CrayLabs/SmartSim#405); call
model.train() before training continues.
"""

import os
import tempfile

import torch


def start(device):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout())
    torch.nn.init.constant_(model[0].weight, 3.0)
    torch.nn.init.zeros_(model[0].bias)
    return model.to(device)


def reproduce(device):
    model = start(device)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.pt")
        torch.save(model.state_dict(), path)
        try:
            served = torch.jit.load(path)
        except RuntimeError as error:
            return str(error)
    return f"it loads {served}"


def control(device):
    model = start(device)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.pt")
        torch.jit.script(model).save(path)
        served = torch.jit.load(path).eval()
    output = served(torch.ones(1, 2, device=device))
    if output.tolist() != [[6.0, 6.0]] or not model.training:
        return f"the output is {output.tolist()}"


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
