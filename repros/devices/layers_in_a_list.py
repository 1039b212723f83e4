# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Layers in a Python list stay on the CPU when the model moves to the GPU"
# kind = "error"
# symptom = "(?:Expected all tensors to be on the same device|is not on the expected device|Passed CPU tensor to MPS op)"
# messages = [
#     "Expected all tensors to be on the same device",
#     "is not on the expected device",
# ]
# elsewhere = [
#     "Passed CPU tensor to MPS op",
#     "Tensor for argument weight is on cpu but expected on mps",
#     "slow_conv2d_forward_mps: input\\(device='mps.{0,4}?\\) and weight\\(device='?cpu",
#     '[Ee]xpected device \w{3,4}.{0,4}? but got device',
#     'Input type \((?:torch\.cuda\.|CUDA|MPS)\w{1,20}\) and weight type \((?:torch\.|CPU)\w{1,20}\) should be the same',
# ]
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/15005",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/2623",
#     "https://github.com/rish-16/tokenlearner-pytorch/issues/4",
#     "https://github.com/Adlik/zen_nas/issues/7",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html"]
# wrong = '''
# self.layers = [torch.nn.LayerNorm(3)]
# '''
# right = '''
# self.layers = torch.nn.ModuleList([torch.nn.LayerNorm(3)])
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# stand_in = { cpu = "the meta device for a GPU: its tensors do not mix with CPU tensors either" }
# ///
"""A module registers layers that are assigned to its attributes. A list is not a layer, so to() and
parameters() do not find the layers in it (docs: torch.nn.ModuleList). A list within the list needs
its own ModuleList, a dict needs a ModuleDict, and a list of parameters needs a ParameterList.
ModuleList itself raises an error for all three.

Moving the list's layers by hand (Adlik/zen_nas#7) removes the error, but the layers are still
missing from parameters(), so an optimizer never trains them.
"""

import torch


class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [torch.nn.LayerNorm(3)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Registered(Plain):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.LayerNorm(3)])


def run(device, model):
    gpu = "meta" if device == "cpu" else device
    try:
        model.to(gpu)(torch.ones(2, 3, device=gpu))
    except RuntimeError as error:
        return str(error)
    if [p.device.type for p in model.parameters()] != [torch.device(gpu).type] * 2:
        return "no error, and the model has no parameters to train"


def reproduce(device):
    return run(device, Plain())


def control(device):
    return run(device, Registered())


def messages(device):
    gpu = "meta" if device == "cpu" else device
    try:
        torch.ones(3, device=gpu) + torch.ones(3)
    except RuntimeError as error:
        return str(error)


def popular_fix(device):
    model = Plain()
    model.layers = [layer.to("meta" if device == "cpu" else device) for layer in model.layers]
    return run(device, model)


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
