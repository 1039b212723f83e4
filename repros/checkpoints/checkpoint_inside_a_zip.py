# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.load() of a zip archive with the checkpoint inside fails with 'file in archive is not in a subdirectory'"
# kind = "error"
# symptom = "file in archive is not in a subdirectory"
# messages = [
#     "file in archive is not in a subdirectory",
#     "Expected hasRecord\\(.version.\\) to be true, but got false",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/VDIGPKU/CBNetV2/issues/36",
#     "https://github.com/microsoft/CoCosNet-v2/issues/22",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/caffe2/serialize/inline_container.cc",
# ]
# wrong = '''
# state = torch.load(path)  # of a zip archive that contains weights.pth
# '''
# right = '''
# import io
# import zipfile
# with zipfile.ZipFile(path) as archive:
#     [name] = [name for name in archive.namelist() if name.endswith("weights.pth")]
#     state = torch.load(io.BytesIO(archive.read(name)), map_location="cpu")
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The weights were downloaded as a zip archive, and the path of this archive is passed to
torch.load().

A checkpoint is a zip archive itself, so torch.load() mistakes the outer archive for the checkpoint.
It looks for a folder that contains the file "version" (caffe2/serialize/inline_container.cc), but
finds weights.pth at the top level. If the first file is in a folder, the message is 'Expected
hasRecord("version") to be true, but got false'. Neither message means that the file is damaged.

Extract the archive once, or read the file out of it as in the corrected code. Extract only the
outer archive, because weights.pth must stay packed. If several names in the archive end in
weights.pth, the corrected code fails with "too many values to unpack". Examples are
ema_weights.pth, and files in the folder __MACOSX of a zip archive from a Mac. If so, replace the
line that fails with name = "...", using the full name from archive.namelist().
"""

import contextlib
import io
import os
import tempfile
import zipfile

import torch


@contextlib.contextmanager
def download(device, name="weights.pth"):
    content = io.BytesIO()
    torch.save({"weight": torch.eye(2, device=device)}, content)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights.zip")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, content.getvalue())
        yield path


def load(path):
    try:
        state = torch.load(path)
    except RuntimeError as error:
        return str(error)
    return f"it reads {state}"


def reproduce(device):
    with download(device) as path:
        return load(path)


def control(device):
    for name in ("weights.pth", "models/weights.pth"):
        with download(device, name) as path:
            with zipfile.ZipFile(path) as archive:
                [name] = [name for name in archive.namelist() if name.endswith("weights.pth")]
                state = torch.load(io.BytesIO(archive.read(name)), map_location="cpu")
        if list(state) != ["weight"] or state["weight"].tolist() != [[1, 0], [0, 1]]:
            return f"the state is {state}"


def messages(device):
    with download(device, "models/weights.pth") as path:
        return load(path)


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
