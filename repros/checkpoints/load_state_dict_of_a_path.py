# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "load_state_dict() rejects a path, because it expects the object that torch.load() returns"
# kind = "error"
# symptom = "Expected state_dict to be dict-like"
# messages = ["Expected state_dict to be dict-like, got <class .{1,120}?>"]
# elsewhere = ["state_dict\\.copy\\(\\).{0,80}?'str' object has no attribute 'copy'"]
# origin = "design"
# reports = [
#     "https://github.com/NeuralNotW0rk/LoRAW/issues/9",
#     "https://github.com/pytorch/pytorch/issues/76886",
# ]
# documents = [
#     "https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html",
#     "https://github.com/lasso-net/lassonet/issues/62",
#     "https://github.com/Acly/comfyui-inpaint-nodes/issues/100",
# ]
# wrong = '''
# model.load_state_dict(path)
# '''
# right = '''
# model.load_state_dict(torch.load(path, map_location="cpu"))
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""load_state_dict() expects the dict of tensors, not the name of the file that contains it.

Any other object that is not a mapping is rejected in the same way. Examples are None, if no state
was kept (lasso-net/lassonet#62), and a whole model, if the file contains a model
(Acly/comfyui-inpaint-nodes#100). In old releases, the message says that a str has no attribute copy
(pytorch#76886). In 2.3 and newer, an optimizer's load_state_dict() gives this message for a path.
"""

import os
import tempfile

import torch


def start(folder, device):
    trained, path = torch.nn.Linear(2, 2).to(device), os.path.join(folder, "model.pt")
    torch.save(trained.state_dict(), path)
    return trained, torch.nn.Linear(2, 2).to(device), path


def reproduce(device):
    with tempfile.TemporaryDirectory() as folder:
        _, model, path = start(folder, device)
        try:
            model.load_state_dict(path)
        except TypeError as error:
            return str(error)


def control(device):
    with tempfile.TemporaryDirectory() as folder:
        trained, model, path = start(folder, device)
        model.load_state_dict(torch.load(path, map_location="cpu"))
        if not torch.equal(model.weight, trained.weight):
            return "the weights are not those of the file"


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
