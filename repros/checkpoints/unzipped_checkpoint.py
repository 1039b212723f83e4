# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.load() of the data.pkl in an unzipped checkpoint complains about a persistent id"
# kind = "error"
# symptom = "A load persistent id instruction was encountered|unsupported persistent id encountered"
# messages = [
#     "A load persistent id instruction was encountered,\\s{1,3}but no persistent_load function was specified",
#     "unsupported persistent id encountered",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/rahul-goel/isrf_code/issues/3",
#     "https://github.com/Qiulin-W/SAFA/issues/8",
#     "https://github.com/microsoft/LMOps/issues/94",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/serialization.py"]
# wrong = '''
# state = torch.load("archive/data.pkl")
# '''
# right = '''
# import shutil
# path = shutil.make_archive("checkpoint", "zip", root_dir=".", base_dir="archive")
# state = torch.load(path, map_location="cpu")
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Someone extracted a .pth, .pt or .tar file, and the data.pkl in it looks like the checkpoint.

Since torch 1.6, a checkpoint has been a zip archive, whatever its file extension, and it must stay
packed. Its data.pkl names the tensors, but their values are in the folder data/
(torch/serialization.py). If the downloaded file still exists, pass its path to torch.load(). The
corrected code packs the folder again; `archive` is the folder that contains data.pkl. This folder
must be at the top level of the new file: for downloads/archive, write root_dir="downloads" and
leave base_dir as it is. The code writes checkpoint.zip and replaces any file of that name. The new
file is compressed: do not load it with mmap=True, which reads wrong numbers without an error.

With weights_only=False, which newer releases suggest in their message, reading data.pkl still
fails.
"""

import contextlib
import os
import shutil
import tempfile
import zipfile

import torch


@contextlib.contextmanager
def unzipped(device):
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            torch.save({"weight": torch.eye(2, device=device)}, "archive.pth")
            with zipfile.ZipFile("archive.pth") as file:
                file.extractall()
            os.remove("archive.pth")
            yield
        finally:
            os.chdir(here)


def load(device, **options):
    with unzipped(device):
        try:
            state = torch.load("archive/data.pkl", **options)
        except Exception as error:
            return str(error)
    return f"it reads {state}"


def reproduce(device):
    return load(device)


def control(device):
    with unzipped(device):
        path = shutil.make_archive("checkpoint", "zip", root_dir=".", base_dir="archive")
        state = torch.load(path, map_location="cpu")
    if list(state) != ["weight"] or state["weight"].tolist() != [[1, 0], [0, 1]]:
        return f"the state is {state}"


def messages(device):
    return f"{load(device, weights_only=False)}\n{load(device, weights_only=True)}"


def popular_fix(device):
    return load(device, weights_only=False)


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
