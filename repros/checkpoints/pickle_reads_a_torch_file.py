# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "pickle.load() of a file from torch.save() complains about a persistent id"
# kind = "error"
# symptom = "A load persistent id instruction was encountered|persistent IDs in protocol 0"
# messages = [
#     "A load persistent id instruction was encountered,\\s{1,3}but no persistent_load function was specified",
# ]
# origin = "design"
# reports = [
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/3638",
#     "https://github.com/adobe-research/layered-depth-refinement/issues/1",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/serialization.py",
#     "https://docs.python.org/3/library/pickle.html#persistence-of-external-objects",
# ]
# wrong = '''
# with open("features.pkl", "rb") as file:  # from torch.save(features, "features.pkl")
#     features = pickle.load(file)
# '''
# right = '''
# features = torch.load("features.pkl", map_location="cpu")
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Because the name of the file ends in .pkl, it is read with pickle, which raises UnpicklingError.

torch.save() writes a zip archive (torch/serialization.py), whatever the file is called. A zip
archive begins with the letters PK, and pickle reads the P as its instruction to load an object from
outside the file. Read the archive with torch.load(). To check the format, read the first two bytes
of the file: b"PK" means a zip archive.

Since torch 2.6, torch.load() rejects NumPy arrays and most other objects in the file ("Weights only
load failed"). If you trust the file, pass weights_only=False.

The message suggests writing a persistent_load() function. This does not help, because the rest of
the archive is not a pickle either.
"""

import contextlib
import os
import pickle
import tempfile

import torch


@contextlib.contextmanager
def folder_with_features(device):
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            torch.save({"image": torch.eye(2, device=device)}, "features.pkl")
            yield
        finally:
            os.chdir(here)


def reproduce(device):
    with folder_with_features(device):
        try:
            with open("features.pkl", "rb") as file:
                features = pickle.load(file)
        except pickle.UnpicklingError as error:
            return str(error)
    return f"pickle reads {features}"


def control(device):
    with folder_with_features(device):
        features = torch.load("features.pkl", map_location="cpu")
    if list(features) != ["image"] or features["image"].tolist() != [[1, 0], [0, 1]]:
        return f"torch.load() reads {features}"


def popular_fix(device):
    class Unpickler(pickle.Unpickler):
        def persistent_load(self, id):
            return id

    with folder_with_features(device), open("features.pkl", "rb") as file:
        try:
            features = Unpickler(file).load()
        except pickle.UnpicklingError as error:
            return str(error)
    return None if isinstance(features, dict) else f"pickle reads {features!r}"


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
