# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A script requests a GPU that this machine, or this build of torch, does not have"
# kind = "error"
# symptom = "not compiled with CUDA|no NVIDIA driver|No CUDA GPUs are available|invalid device ordinal"
# messages = [
#     "Torch not compiled with CUDA enabled",
#     "Found no NVIDIA driver on your system",
# ]
# elsewhere = [
#     "No CUDA GPUs are available",
#     "CUDA error: invalid device ordinal",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/28111",
#     "https://github.com/feiyuhuahuo/Yolact_minimal/issues/5",
#     "https://github.com/xinntao/ESRGAN/issues/88",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/cuda.html#device-agnostic-code",
#     "https://github.com/pytorch/pytorch/issues/83973",
# ]
# wrong = '''
# model.to(f"cuda:{index}")
# '''
# right = '''
# count = torch.cuda.device_count()
# device = f"cuda:{min(index, count - 1)}" if count else "cpu"
# model.to(device)
# '''
# requires = "!=2.3.*"
# rule = "note"
# when = "the machine does not have this GPU"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""The script hard-codes a device that does not exist on the machine where it runs. A CPU-only build
raises "not compiled with CUDA", whereas a CUDA build without a driver raises "no NVIDIA driver".
Check whether a GPU is available (docs: notes/cuda), and move the batches to the same `device`. If
the index is a rank, start no more ranks than there are GPUs: otherwise two ranks share the last
GPU.

If the machine has an NVIDIA card, the corrected code only hides the fact that the card is not used.
If torch.version.cuda is None, install a build with CUDA. Otherwise, nvidia-smi shows the problem
with the driver.

Torch 2.3 is excluded, because the runner counts the GPUs and then forks. In the forked process,
torch 2.3 raises "Cannot re-initialize CUDA in forked subprocess" instead (pytorch#83973).
"""

from unittest.mock import patch

import torch


def reproduce(device):
    model, index = torch.nn.Linear(1, 1), torch.cuda.device_count()  # one more than there are
    try:
        with patch.dict("os.environ"):  # torch 1.13 leaves a variable there
            model.to(f"cuda:{index}")
    except (AssertionError, RuntimeError) as error:
        return str(error)


def control(device):
    model, index = torch.nn.Linear(1, 1), torch.cuda.device_count()
    expected = model.weight.tolist()
    with patch.dict("os.environ"):
        count = torch.cuda.device_count()
        device = f"cuda:{min(index, count - 1)}" if count else "cpu"
        model.to(device)
    if model.weight.tolist() != expected or model.weight.is_cuda != torch.cuda.is_available():
        return f"the weights are {model.weight}, and there are {count} GPUs"


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
