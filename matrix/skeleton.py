"""Makes the file of a new reproducer, with a mark wherever its author has to write something."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from . import catalog, checks
from .catalog import FILL_IN, KINDS, MAX_LINES, ORIGINS, UNREPORTED
from .devices import DEVICES
from .evidence.store import write_whole

_AFFECTED = ", ".join(f'{device} = ">=1.13"' for device in DEVICES)
# In the header `#` begins a TOML comment. The author deletes each line that is not needed.
HEADER = f"""\
# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "{FILL_IN}: one sentence, what a user sees"
# kind = "{FILL_IN}: {" | ".join(KINDS)}"
# symptom = "{FILL_IN}: a short regex of what reproduce() returns"
# messages = ["{FILL_IN}: regexes of the error as users see it; delete if none is raised"]
# elsewhere = ["{FILL_IN}: the errors of other devices and programs, not raised here; or delete"]
# origin = "{FILL_IN}: {" | ".join(ORIGINS)}: whose failure it is"
# reports = ["{FILL_IN}: https://, threads in which someone has this very failure"]
# documents = ["{FILL_IN}: https://, where its cause or fix is stated; or delete"]
# upstream = "{UNREPORTED}"  # {FILL_IN}: delete, unless nobody has reported this bug of PyTorch
# wrong = '''
# {FILL_IN}: what a user wrote, at most {MAX_LINES} lines
# '''
# right = '''
# {FILL_IN}: what to write instead, at most {MAX_LINES} lines, as control() or right() runs them
# '''
# fix = "{FILL_IN}: FAMILY.FUNCTION of reference_fixes/, or upgrade; delete if `right` will do"
# use = '''
# {FILL_IN}: from FAMILY import FUNCTION, and its call; delete without a fix
# '''
# choice = "{FILL_IN}: Take the lines ...; the fix where ...; delete unless there are both"
# requires = "{FILL_IN}: >=2.3, the torch that has the API; delete if all have it"
# affected = {{ {_AFFECTED} }}  # {FILL_IN}: as it was run, or "never"
# ///
"""
CODE = f'''\
"""{FILL_IN}: what a user sees, in a sentence.

{FILL_IN}: the cause with its place in torch's source (torch/optim/sgd.py), and its report
(pytorch#112583).
"""

import torch


def check(result):
    """{FILL_IN}: the symptom as text, or None if the result is right; delete this line."""


def reproduce(device):
    return check(None)  # {FILL_IN}: check what the lines under `wrong` compute, after their setup


def control(device):
    return check(None)  # {FILL_IN}: check the same with the lines under `right`


def right(device):
    return None  # {FILL_IN}: the lines under `right` against a reference; or delete, here and below


def messages(device):
    return ""  # {FILL_IN}: the other texts of this failure; or delete, here and below


def popular_fix(device):
    return None  # {FILL_IN}: the symptom that popular advice leaves; or delete, here and below


'''
_ID = re.compile(r"[a-z][a-z0-9_]*/[a-z][a-z0-9_]*")


class SkeletonError(Exception):
    """The file cannot be made. The message is the reason."""


def create(id: str, repros: Path = catalog.REPROS, ids: Path = checks.IDS) -> Path:
    """Writes the file and adds its id to the list of ids: both, or neither.

    Raises SkeletonError with the reason.
    """
    if not _ID.fullmatch(id):
        raise SkeletonError(
            f"{id!r} is not FAMILY/NAME in lower case, such as amp/unscale_before_scale"
        )
    try:
        listed = ids.read_text(encoding="utf-8").split()
    except OSError as error:
        raise SkeletonError(f"{ids}: {error.strerror}") from None
    path = repros / f"{id}.py"
    if id in listed or path.exists():
        raise SkeletonError(f"{id} exists; ids are permanent: choose another name")
    is_new_family = not path.parent.exists()
    try:
        path.parent.mkdir(exist_ok=True)
        main = checks.MAIN.format(roles=", ".join(catalog.ROLES))
        write_whole(path, f"{HEADER}{CODE}{main}")
        write_whole(ids, "".join(f"{name}\n" for name in sorted([*listed, id])))
    except BaseException as error:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
            if is_new_family:
                path.parent.rmdir()
        if isinstance(error, OSError):
            raise SkeletonError(
                f"{error.filename or path}: {error.strerror}; nothing was written"
            ) from None
        raise
    return path
