# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A tensor made in forward() stays on the CPU while the model is on the GPU"
# kind = "error"
# symptom = "(?:Expected all tensors to be on the same device|is not on the expected device)"
# messages = [
#     "Expected all tensors to be on the same device",
#     "is not on the expected device",
#     "[Ee]xpected device (?:cuda|cpu|mps).{0,4}? but got device",
#     "Input and hidden tensors are not at the same device",
#     "Input and parameter tensors are not at the same device",
#     "All input tensors must be on the same device\\. Received",
#     "Expected object of (?:backend|device type) (?:CUDA|CPU|cuda|cpu) but got (?:backend|device type)",
#     "Tensor for argument #\\d .{0,60}?is on CPU, but expected it to be on GPU",
# ]
# keywords = [
#     "cuda:0 and cpu",
#     "found at least two devices",
#     "hidden state of the LSTM is on the CPU",
#     "works on the CPU, fails on the GPU",
#     "model is on the GPU and the error still says cpu",
#     "zeros created inside the model are on the CPU",
#     "initial hidden state on the wrong device",
#     "works on CPU, on GPU the forward fails",
#     "noise made in forward is not on the GPU",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/3738",
#     "https://github.com/benedekrozemberczki/pytorch_geometric_temporal/issues/18",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.zeros.html",
# ]
# wrong = '''
# state = torch.zeros(3)
# '''
# right = '''
# state = torch.zeros(3, device=x.device)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# stand_in = { cpu = "the meta device for a GPU: its tensors do not mix with CPU tensors either" }
# ///
"""model.to(device) moves parameters and buffers (torch/nn/modules/module.py). A tensor that
forward() makes is on the default device, the CPU, unless it is told otherwise (docs:
torch.zeros): a first hidden state (Lightning-AI/pytorch-lightning#3738), a mask, noise.

The names in the message are those of the operator's arguments, not of your variables.
"""

import torch


class Net(torch.nn.Module):
    def __init__(self, follow_input):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(3))
        self.follow_input = follow_input

    def forward(self, x):
        if self.follow_input:
            state = torch.zeros(3, device=x.device)
        else:
            state = torch.zeros(3)
        return state + self.scale * x


def run(device, follow_input):
    gpu = "meta" if device == "cpu" else device
    try:
        Net(follow_input).to(gpu)(torch.ones(2, 3, device=gpu))
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return run(device, follow_input=False)


def control(device):
    return run(device, follow_input=True)


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
