# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch has no device called gpu: an NVIDIA or AMD GPU is cuda, and an Apple GPU is mps"
# kind = "error"
# symptom = "device type at start of device string: gpu"
# messages = ["Expected one of cpu, cuda.{0,300}? device type at start of device string"]
# origin = "design"
# reports = [
#     "https://github.com/InseeFrLab/torchTextClassifiers/issues/93",
#     "https://github.com/opendatalab/MinerU/issues/324",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/tensor_attributes.html",
#     "https://docs.pytorch.org/docs/stable/notes/hip.html",
#     "https://github.com/meta-pytorch/torchrec/pull/1688",
#     "https://github.com/rupeshs/fastsdcpu/issues/355",
# ]
# wrong = '''
# device = torch.device("gpu")
# '''
# right = '''
# device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The name often comes from a configuration file or a command line, where another library calls its
accelerator "gpu" (InseeFrLab/torchTextClassifiers#93, opendatalab/MinerU#324).

The string must begin with the type of a device in lower case (docs: torch.device). The message
lists the types that torch's parser knows (c10/core/Device.cpp), not the devices of this machine, so
a type from the list can still fail later. ROCm builds for AMD also call their GPUs cuda (docs:
notes/hip).

The message ends with the type that torch received, without a number: "gpu" even for "gpu:0". If the
name is in upper case, such as "CPU" or "CUDA", call lower() on it. "auto" is a value of device_map
in other libraries, not a device. On a Mac, test torch.backends.mps.is_available(), and use the name
"mps". Changing the name to "cpu" removes the error, but then the GPU is not used. The corrected
code also falls back to the CPU without a message if CUDA is not available.
"""

import torch


def reproduce(device):
    try:
        return f"gpu is {torch.device('gpu')}"
    except RuntimeError as error:
        return str(error)


def control(device):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = torch.nn.Linear(2, 1).to(device)
    output = model(torch.ones(3, 2, device=device))
    row = model.weight.sum().item() + model.bias.item()
    if device.type not in ("cuda", "cpu") or abs(output.sum().item() - 3 * row) > 0.01:
        return f"the output on {device} is {output.tolist()}"


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
