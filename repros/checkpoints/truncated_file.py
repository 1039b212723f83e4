# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "After an interrupted download, torch.load fails to find the central directory of the file"
# kind = "error"
# symptom = "failed finding central directory"
# messages = [
#     "PytorchStreamReader failed reading zip archive: failed finding central directory",
#     "PytorchStreamReader failed locating file .{1,80}?: file not found",
#     "PytorchStreamReader failed reading file .{1,80}?: invalid header or archive is corrupted",
#     'unexpected EOF, expected \d{1,12} more bytes\. The file might be corrupted',
# ]
# elsewhere = [
#     "PytorchStreamReader failed (?:reading|locating) file .{1,80}?: file read failed",
#     "storage has wrong (?:byte )?size: expected",
#     "unexpected EOF\\. The file might be corrupted",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/CompVis/stable-diffusion/issues/93",
#     "https://github.com/open-mmlab/mmdetection/issues/4835",
#     "https://github.com/christian-byrne/audio-separation-nodes-comfyui/issues/21",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/170244",
#     "https://docs.pytorch.org/docs/stable/hub.html#torch.hub.download_url_to_file",
# ]
# wrong = '''
# if not os.path.exists(path):
#     torch.hub.download_url_to_file(url, path)
# state = torch.load(path)
# '''
# right = '''
# import pickle, struct, zipfile
# broken = (RuntimeError, EOFError, OSError, IndexError, struct.error, pickle.UnpicklingError)
# try:
#     state = torch.load(path, map_location="cpu")
# except broken as error:
#     if isinstance(error, pickle.UnpicklingError) and zipfile.is_zipfile(path):
#         raise  # whole: torch refuses what is in it
#     torch.hub.download_url_to_file(url, path)  # cut off, or not there yet
#     state = torch.load(path, map_location="cpu")
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The end of the file is missing because a download or a copy was interrupted. A program that
downloads only missing files finds the damaged file in every run.

A checkpoint is a zip archive with its table of contents at the end, so losing the last bytes is
enough to lose everything. Newer releases say that the file is corrupted (pytorch#170244). Files in
the old format are not archives. Depending on where such a file was cut off, loading it raises one
of three types of errors on releases up to 2.3, and one of five types on 2.13 and newer. Download
the file again with torch.hub.download_url_to_file(), which writes to a temporary file first. The
files in ~/.cache/torch/hub are downloads too, and can be cut off in the same way
(christian-byrne/audio-separation-nodes-comfyui#21). If a file of full length has wrong bytes, torch
often loads them as different weights. To make download_url_to_file() check the file's SHA-256, pass
hash_prefix. The corrected code also downloads two kinds of intact files again: a file in the old
format that the default of 2.6 rejects, and a TorchScript archive. Load the TorchScript archive with
torch.jit.load(), and, if you trust it, the file in the old format with weights_only=False.
"""

import contextlib
import io
import os
import pickle
import struct
import tempfile
import zipfile
from pathlib import Path

import torch


@contextlib.contextmanager
def start():
    """A folder with the file of a server, and what has arrived of it here."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        server, path = Path(folder, "server.pt"), Path(folder, "weights.pt")
        torch.save({"weight": torch.full((300,), 7.0)}, server)
        path.write_bytes(server.read_bytes()[:-100])
        yield server.as_uri(), path


def check(state):
    if not torch.equal(state["weight"], torch.full((300,), 7.0)):
        return "the weights are not those of the server"


def reproduce(device):
    with start() as (url, path):
        try:
            if not os.path.exists(path):
                torch.hub.download_url_to_file(url, path)
            state = torch.load(path)
        except RuntimeError as error:
            return str(error)
        return check(state)


def control(device):
    with start() as (url, path):
        broken = (RuntimeError, EOFError, OSError, IndexError, struct.error, pickle.UnpicklingError)
        try:
            state = torch.load(path, map_location="cpu")
        except broken as error:
            if isinstance(error, pickle.UnpicklingError) and zipfile.is_zipfile(path):
                raise  # whole: torch refuses what is in it
            torch.hub.download_url_to_file(url, path)  # cut off, or not there yet
            state = torch.load(path, map_location="cpu")
        return check(state)


def messages(device):
    texts = []
    for how in ("no name", "no header", "old"):
        file = io.BytesIO()
        torch.save({"weight": torch.ones(300)}, file, _use_new_zipfile_serialization=how != "old")
        data = file.getvalue()
        if how == "no name":  # in the list at the end
            at = data.rfind(b"data.pkl")
            data = data[:at] + bytes(8) + data[at + 8 :]
        elif how == "no header":  # in front of the numbers
            at = data.rfind(b"PK", 0, data.find(b"data/0"))
            data = data[:at] + bytes(2) + data[at + 2 :]
        else:
            data = data[:-100]
        try:
            torch.load(io.BytesIO(data))
        except RuntimeError as error:
            texts.append(str(error))
    return "\n".join(texts)


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
