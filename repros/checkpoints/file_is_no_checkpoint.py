# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.load of a Git LFS pointer or a web page complains about a load key or an operand"
# kind = "error"
# symptom = "invalid load key, 'v'|Unsupported operand 118"
# messages = [
#     "invalid load key, '(?:v|<|\\\\x0a)'",
#     'Unsupported operand (?:118|60|10)\b',
#     'with your use case: WeightsUnpickler error: Unsupported operand (?:118|60|10)\b',
# ]
# elsewhere = ["invalid load key, '[^']{1,4}'"]
# origin = "usage"
# reports = [
#     "https://github.com/hhj1897/face_parsing/issues/3",
#     "https://github.com/svip-lab/PPGNet/issues/2",
#     "https://github.com/pytorch/pytorch/issues/16203",
#     "https://github.com/pytorch/pytorch/issues/150998",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/serialization.py"]
# wrong = '''
# if not os.path.exists(path):
#     torch.hub.download_url_to_file(url, path)
# state = torch.load(path)
# '''
# right = '''
# start = b""
# if os.path.exists(path):
#     with open(path, "rb") as file:
#         start = file.read(2)
# if start != b"PK" and start[:1] != b"\x80":  # neither a zip archive nor a pickle
#     torch.hub.download_url_to_file(url, path)
# state = torch.load(path)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The file contains text, because a repository was cloned without Git LFS (hhj1897/face_parsing#3)
or because a link led to a web page instead of the file (pytorch#16203).

torch.load() reads a file that is not a zip archive as a pickle in the old format
(torch/serialization.py). It takes the first byte for an instruction. Here this byte is the `v` of
"version", the `<` of "<html>", or a line break. The weights-only reader, the default since torch
2.6, reports this byte as a number: 118, 60 or 10. This reader's message and some threads
(pytorch#150998) recommend weights_only=False, which does not help because the file is still text.
In a clone, `git lfs pull` downloads the file. The `url` must point to the file, not to its web
page. Other texts begin with other characters. For example, "404: Not Found" gives the load key '4'.
"""

import contextlib
import io
import os
import tempfile
from pathlib import Path

import torch

POINTER = b"version https://git-lfs.github.com/spec/v1"


@contextlib.contextmanager
def start_with(text):
    """A folder with the file of a server, and what a clone holds in its place."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        server, path = Path(folder, "server.pt"), Path(folder, "weights.pt")
        torch.save({"weight": torch.full((2,), 7.0)}, server)
        path.write_bytes(text)
        yield server.as_uri(), path


def load(text, **options):
    try:
        torch.load(io.BytesIO(text), **options)
    except Exception as error:
        return str(error)


def reproduce(device):
    with start_with(POINTER) as (url, path):
        try:
            if not os.path.exists(path):
                torch.hub.download_url_to_file(url, path)
            state = torch.load(path)
        except Exception as error:
            return str(error)
        return f"it loads {state}"


def control(device):
    with start_with(POINTER) as (url, path):
        start = b""
        if os.path.exists(path):
            with open(path, "rb") as file:
                start = file.read(2)
        if start != b"PK" and start[:1] != b"\x80":  # neither a zip archive nor a pickle
            torch.hub.download_url_to_file(url, path)
        state = torch.load(path)
    if state["weight"].tolist() != [7.0, 7.0]:
        return f"the weights are {state}"


def messages(device):
    return f"{load(POINTER)}\n{load(b'<!DOCTYPE html>')}\n{load(bytes([10]) + b'<html>')}"


def popular_fix(device):
    return load(POINTER, weights_only=False)


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
