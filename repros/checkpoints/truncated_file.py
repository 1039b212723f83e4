# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.load of a file that was cut off fails to find the central directory"
# kind = "error"
# symptom = "failed finding central directory"
# messages = [
#     "PytorchStreamReader failed reading zip archive: failed finding central directory",
#     "PytorchStreamReader failed (?:reading|locating) file .{1,80}?: (?:file (?:not found|read failed)|invalid header or archive is corrupted)",
#     "unexpected EOF, expected \\d{1,12} more bytes\\. The file might be corrupted",
# ]
# keywords = [
#     "checkpoint file is corrupted",
#     "download of the weights was interrupted",
#     "failed reading zip archive",
#     "torch.load fails after the job was killed",
#     "corrupted model file in the torch hub cache",
#     "checkpoint cannot be read after the crash",
#     "incomplete download of pretrained weights",
#     "disk was full while saving the model",
#     "copied checkpoint to other machine, cannot load it",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/CompVis/stable-diffusion/issues/93",
#     "https://github.com/open-mmlab/mmdetection/issues/4835",
#     "https://github.com/christian-byrne/audio-separation-nodes-comfyui/issues/21",
# ]
# documents = ["https://github.com/pytorch/pytorch/pull/170244"]
# wrong = '''
# data = whole[:-100]  # the download or the copy stopped
# torch.load(io.BytesIO(data))
# '''
# right = '''
# data = whole
# torch.load(io.BytesIO(data))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The end of the file is missing: a download or a copy stopped, or the disk was full.

A checkpoint is a zip archive, and the list of what is in it stands at its end, so the
last bytes are enough to lose all of it. Newer releases say that
the file is corrupted (pytorch#170244). Delete it, also from ~/.cache/torch/hub, and
download it again (christian-byrne/audio-separation-nodes-comfyui#21).
"""

import io

import torch


def load(missing):
    file = io.BytesIO()
    torch.save({"weight": torch.ones(2)}, file)
    whole = file.getvalue()
    data = whole[: len(whole) - missing]
    try:
        torch.load(io.BytesIO(data))
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return load(missing=100)


def control(device):
    return load(missing=0)


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
