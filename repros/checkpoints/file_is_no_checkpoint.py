# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.load of a Git LFS pointer or a web page reports a load key or an operand"
# kind = "error"
# symptom = "invalid load key, 'v'|Unsupported operand 118"
# messages = [
#     "invalid load key, '[^']{1,4}'",
#     "WeightsUnpickler error: Unsupported operand \\d{1,3}",
#     "with your use case: WeightsUnpickler error: Unsupported operand \\d{1,3}",
# ]
# keywords = [
#     "UnpicklingError invalid load key",
#     "checkpoint file is only a few bytes",
#     "git lfs pointer instead of the weights",
#     "downloaded weights are an HTML page",
#     "weights_only=False does not help",
#     "Google Drive download cannot be loaded",
#     "downloaded weights cannot be opened",
#     "pth file is only 130 bytes",
#     "model file from GitHub does not load",
#     "weights downloaded with wget are broken",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/hhj1897/face_parsing/issues/3",
#     "https://github.com/svip-lab/PPGNet/issues/2",
#     "https://github.com/pytorch/pytorch/issues/16203",
#     "https://github.com/pytorch/pytorch/issues/150998",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/serialization.py"]
# wrong = '''
# data = b"version https://git-lfs.github.com/spec/v1"  # what the file holds
# torch.load(io.BytesIO(data))
# '''
# right = '''
# data = weights.getvalue()  # after `git lfs pull`
# torch.load(io.BytesIO(data))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The file is text: a repository was cloned without Git LFS (hhj1897/face_parsing#3), or a
link led to a web page instead of the file (pytorch#16203).

What is no zip archive is taken for a pickle of the old format (torch/serialization.py),
and its first byte for an instruction: `v` of "version", `<` of "<html>"; the weights-only
reader of torch 2.6 and newer says its number, 118 or 60. That reader advises
weights_only=False, and so do threads (pytorch#150998): it only changes the message.
"""

import io

import torch


def load(text, **options):
    weights = io.BytesIO()
    torch.save({"weight": torch.ones(2)}, weights)
    data = b"version https://git-lfs.github.com/spec/v1" if text else weights.getvalue()
    try:
        torch.load(io.BytesIO(data), **options)
    except Exception as error:
        return str(error)


def reproduce(device):
    return load(text=True)


def control(device):
    return load(text=False)


def popular_fix(device):
    return load(text=True, weights_only=False)


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
