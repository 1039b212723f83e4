"""A folder with three images, and one without: what is read, and what is said."""

import glob  # noqa: F401
import os
import tempfile

from torch.utils.data import DataLoader  # noqa: F401

SETTINGS = ("plain",)


def read():
    paste
    return files, sorted(loader)


def place(t):
    here, seen = os.getcwd(), []
    for names in (("b", "a", "c"), ()):
        with tempfile.TemporaryDirectory() as root:
            os.mkdir(f"{root}/images")
            for name in names:
                open(f"{root}/images/{name}.png", "w").close()
            os.chdir(root)
            try:
                seen.append(read())
            except FileNotFoundError as error:
                seen.append(str(error).startswith("no images/*.png in /"))
            finally:
                os.chdir(here)
    return seen


def reference(t):
    names = ["images/a.png", "images/b.png", "images/c.png"]
    return [(names, [[name] for name in names]), True]
