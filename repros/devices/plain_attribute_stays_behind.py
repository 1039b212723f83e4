# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A mask or table kept as a plain attribute does not move with the model"
# kind = "error"
# symptom = "(?:Expected all tensors to be on the same device|is not on the expected device)"
# messages = [
#     "Expected all tensors to be on the same device",
#     "is not on the expected device",
#     "indices should be either on .{0,12}?or on the same device as the indexed tensor",
# ]
# elsewhere = ['[Ee]xpected device \w{3,4}.{0,4}? but got device']
# origin = "usage"
# reports = [
#     "https://github.com/wingedsheep/transformer/issues/4",
#     "https://github.com/modelscope/modelscope/issues/220",
# ]
# documents = [
#     "https://github.com/pytorch/audio/pull/457",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/module.py",
# ]
# wrong = '''
# self.mask = torch.ones(3)
# '''
# right = '''
# self.register_buffer("mask", torch.ones(3), persistent=False)  # bfloat16() rounds it
# '''
# rule = "warning"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# stand_in = { cpu = "the meta device for a GPU: its tensors do not mix with CPU tensors either" }
# ///
"""model.to(device) moves parameters and buffers (torch/nn/modules/module.py). A tensor set as a
plain attribute is neither: it stays on the device where it was created, and is missing from
state_dict() too.

With persistent=False, the buffer is not in the checkpoint. The attribute was not in the checkpoint
either, so existing checkpoints still load. torch.jit.script() ignores this option: a scripted
module's state_dict() contains the buffer. Omit persistent=False for values that a model measures or
draws, because these values belong in the checkpoint.

model.bfloat16() and half() cast a floating-point buffer, although they did not cast the attribute.
In bfloat16, the positions torch.arange(4096.0) have only 769 distinct values. Keep positions as
integers. Keep a model with a noise schedule in float32 and use autocast, which does not cast
buffers. The methods bfloat16() and half() leave a complex buffer unchanged, but
model.to(torch.bfloat16) drops its imaginary part, and warns. After self.mask = None,
register_buffer() raises a KeyError.

DistributedDataParallel copies the buffers of rank 0 to the other ranks before a forward pass.
Before 2.12, two forward passes before one backward pass then cause the error "modified by an
inplace operation". If no buffer changes, construct DistributedDataParallel with
broadcast_buffers=False.
"""

import torch


class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = torch.ones(3)

    def forward(self, x):
        return x * self.mask


class Registered(Plain):
    def __init__(self):
        torch.nn.Module.__init__(self)
        self.register_buffer("mask", torch.ones(3), persistent=False)  # bfloat16() rounds it


def run(device, model):
    gpu = "meta" if device == "cpu" else device
    try:
        output = model.to(gpu)(torch.ones(2, 3, device=gpu))
    except RuntimeError as error:
        return str(error)
    if output.device.type != torch.device(gpu).type or model.state_dict():
        return f"the output is on {output.device}, the state holds {list(model.state_dict())}"


def reproduce(device):
    return run(device, Plain())


def control(device):
    return run(device, Registered())


def messages(device):
    gpu = "meta" if device == "cpu" else device
    try:
        return str(torch.ones(3)[torch.zeros(2, dtype=torch.long, device=gpu)].shape)
    except (RuntimeError, IndexError) as error:
        return str(error)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
