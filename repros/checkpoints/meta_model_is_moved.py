# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model on the meta device cannot be moved after load_state_dict, which loaded nothing"
# kind = "error"
# symptom = "Cannot copy out of meta tensor; no data!"
# messages = [
#     "Cannot copy out of meta tensor; no data!",
#     "copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, which is a no-op",
# ]
# origin = "design"
# reports = [
#     "https://github.com/verl-project/verl/issues/447",
#     "https://github.com/LLaVA-VL/LLaVA-NeXT/issues/494",
#     "https://github.com/LLaVA-VL/LLaVA-NeXT/issues/290",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/issues/119293",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/module.py",
#     "https://github.com/huggingface/transformers/issues/30703",
# ]
# wrong = '''
# model = Net(device="meta")
# model.load_state_dict(state)
# model.to(device)
# '''
# right = '''
# model = Net(device=device)
# model.load_state_dict(state)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A tensor on the meta device has a shape but no memory. load_state_dict() copies into the existing
parameters, so it copies nothing (with a warning since 2.1), and to() has nothing to move. If the
model is created on the target device, everything is loaded, and the model needs no more memory
there. If the class has no device argument, create the model inside `with torch.device(device):`
(since 2.0). Tensors that the class creates with torch.from_numpy() stay on the CPU.

The message of 2.3 and newer recommends to_empty() (pytorch#119293). After the load, to_empty()
gives the model memory with arbitrary contents. Before the load, it still leaves arbitrary contents
in a buffer that is not in the file, and turns a weight that two layers share into two weights.
Since 2.1, load_state_dict(assign=True) replaces the parameters with the loaded tensors
(torch/nn/modules/module.py). A buffer that is not in the file then stays on the meta device, and
to() raises the error again (huggingface/transformers#30703).
"""

import warnings

import torch


class Net(torch.nn.Module):
    def __init__(self, device):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(2, device=device))
        self.register_buffer("scale", torch.full((2,), 3.0, device=device), persistent=False)


def check(model, state):
    if not torch.equal(model.weight.cpu(), state["weight"]) or not (model.scale == 3.0).all():
        return "the model is full of uninitialized memory"


def reproduce(device):
    state = {"weight": torch.randn(2)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # since 2.1: "which is a no-op"
            model = Net(device="meta")
            model.load_state_dict(state)
            model.to(device)
    except NotImplementedError as error:
        return str(error)
    return check(model, state)


def control(device):
    state = {"weight": torch.randn(2)}
    model = Net(device=device)
    model.load_state_dict(state)
    return check(model, state)


def messages(device):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Net(device="meta").load_state_dict({"weight": torch.ones(2)})
    return "\n".join(str(one.message) for one in caught)


def popular_fix(device):
    # random: the memory may be what an earlier call has loaded its weight into
    state, model = {"weight": torch.randn(2)}, Net(device="meta")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.load_state_dict(state)
    model.to_empty(device=device)
    return check(model, state)


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
