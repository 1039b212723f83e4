# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "numpy() of a tensor on a GPU fails, and asks for a copy in host memory"
# kind = "error"
# symptom = "can't convert \\S{2,10} device type tensor to numpy|Can't call numpy\\(\\) on Tensor"
# messages = ["can.t convert \\w{2,8}(?::\\d{1,3})? device type tensor to numpy"]
# elsewhere = ["can.t convert CUDA tensor to numpy"]
# origin = "design"
# reports = [
#     "https://github.com/HCIILAB/Scene-Text-Recognition-Recommendations/issues/2",
#     "https://github.com/wengong-jin/hgraph2graph/issues/40",
#     "https://github.com/PINA-org/PINA/issues/219",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/csrc/utils/tensor_numpy.cpp",
#     "https://github.com/swz30/MPRNet/issues/128",
#     "https://github.com/swz30/MPRNet/issues/91",
# ]
# wrong = '''
# scores = output.numpy()
# '''
# right = '''
# scores = output.detach().cpu().numpy()
# '''
# stand_in = { cpu = "a meta tensor: like a GPU tensor, it has no memory that NumPy can read" }
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The code works on the CPU. On a GPU, it fails in numpy(), np.array() or plt.plot(), or in
np.mean() of a list.

A NumPy array shares its tensor's memory, and NumPy can read only host memory
(torch/csrc/utils/tensor_numpy.cpp). NumPy and Matplotlib convert a list of tensors in this way, so
the traceback often ends in __array__(). Usually, the tensors are losses or predictions that a loop
collected in a list.

Instead, collect numbers with losses.append(loss.item()), or collect x.detach().cpu() if you need
the tensor. This also frees each step's graph. If a tensor requires a gradient, cpu() alone
(swz30/MPRNet#128) leads to the error "Can't call numpy() on Tensor that requires grad". Do not
compute a loss that needs a gradient with np.sum(): add its terms with Python's sum()
(swz30/MPRNet#91). A bfloat16 tensor also needs float(), because NumPy has no bfloat16. On the CPU,
the corrected code copies nothing: if the tensor changes later, as a weight does, add copy().
"""

import torch


def start(device):
    return torch.nn.Linear(2, 1, device=device)(torch.ones(1, 2, device=device))


def reproduce(device):
    output = start("meta" if device == "cpu" else device).detach()
    try:
        scores = output.numpy()
    except TypeError as error:
        return str(error)
    return f"the scores are {scores}"


def control(device):
    output = start(device)
    scores = output.detach().cpu().numpy()
    if scores.shape != (1, 1) or scores.tolist() != output.tolist():
        return f"the scores are {scores}, not {output.tolist()}"
    if not output.requires_grad:
        return "the output has lost its graph"


def popular_fix(device):
    output = start(device)
    try:
        output.cpu().numpy()
    except RuntimeError as error:
        return str(error)


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
