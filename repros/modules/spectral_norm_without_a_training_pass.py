# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.nn.utils.spectral_norm() does not normalize in eval mode before the first forward pass in train mode"
# kind = "silent"
# symptom = "the largest singular value is above 2"
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/51800"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.spectral_norm.html",
# ]
# wrong = '''
# layer = torch.nn.utils.spectral_norm(torch.nn.Linear(64, 64, bias=False))
# layer.eval()
# '''
# right = '''
# layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(64, 64, bias=False))
# layer.eval()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The outputs are several times too large, although the weight's norm should be 1.

The function estimates the largest singular value by a power iteration, which only a forward pass in
train mode runs (torch/nn/utils/spectral_norm.py). Until then, its vectors are random, and the
estimate is far too small. The function of the same name in torch.nn.utils.parametrizations runs 15
iterations when it is applied (docs: torch.nn.utils.parametrizations.spectral_norm). Each forward
pass in train mode improves the old function's estimate: after ten passes, this layer's norm is
about 1. With the new function, torch.save() of the whole module raises an error, so save its
state_dict(). Initialize the weight before the call, because torch.nn.init does not reach the weight
later. The new function's state_dict() has different keys, so load old checkpoints with the old
function, which normalizes with a trained model's vectors.
"""

import torch


def check(device, layer):
    layer = layer.to(device)
    with torch.no_grad():
        outputs = layer(torch.eye(64, device=device))
    norm = torch.linalg.matrix_norm(outputs.cpu().double(), 2)
    if norm > 2:
        return "the largest singular value is above 2"
    if norm < 0.95:
        return f"the largest singular value is {norm}"


def reproduce(device):
    layer = torch.nn.utils.spectral_norm(torch.nn.Linear(64, 64, bias=False))
    layer.eval()
    return check(device, layer)


def control(device):
    layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(64, 64, bias=False))
    layer.eval()
    return check(device, layer)


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
