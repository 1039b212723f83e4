"""Creates the files of `torch-repros new`, with marks at the lines that authors have to fill in."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

from . import catalog, causes, checks
from .catalog import FILL_IN, KINDS, LEVELS, MAX_LINES, ORIGINS, UNREPORTED
from .devices import DEVICES
from .evidence.store import write_whole

_AFFECTED = ", ".join(f'{device} = ">=1.13"' for device in DEVICES)
# In the header, `#` begins a TOML comment. The author deletes the lines that are not needed.
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
# choice = "{FILL_IN}: Use the lines without the fix if ...; use the fix if ...; only with both"
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
RULE = f'''\
from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit
from .. import needs


@needs("{FILL_IN}: a word without which no file has the failure")
def {{name}}(code: Code) -> Iterator[Hit]:
    for call in code.all(ast.Call):  # {FILL_IN}: the places, as in a neighbor of {{family}}/
        yield Hit(call, "{FILL_IN}: what happens here, a clause in the user's own names")
'''
CASES = f"""\
import torch


def {{name}}_in_one_form():
    pass  # {FILL_IN}: code as people write it; its line ends with: finds {{name}}


def {{name}}_in_another_form():
    pass  # {FILL_IN}: the same


def near_miss():
    pass  # {FILL_IN}: similar code that is right, without that comment; several of these
"""
HEADER_OF_A_RULE = f"""\
# rule = "{FILL_IN}: {" | ".join(LEVELS)}"
# when = "{FILL_IN}: the condition under which it fails; delete where it always does"
"""
_CAUSE = (
    f'    {{{{ cause = "{FILL_IN}: the cause", check = "{FILL_IN}: what tells it apart: a line '
    f'of code and what it prints", see = "{FILL_IN}: FAMILY/NAME, or delete" }}}},'
)
MESSAGE = f"""

[[message]]
name = {{name}}
title = {{title}}
causes = [
{_CAUSE}
{_CAUSE}
]
"""
_ID = re.compile(r"[a-z][a-z0-9_]*/[a-z][a-z0-9_]*")


class SkeletonError(Exception):
    """The file cannot be created. The message gives the reason."""


def create(id: str, repros: Path = catalog.REPROS, ids: Path = checks.IDS) -> Path:
    """Writes the file and adds its id to the list of ids, or does neither.

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
    main = checks.MAIN.format(roles=", ".join(catalog.ROLES))
    names = "".join(f"{name}\n" for name in sorted([*listed, id]))
    _write_all({path: f"{HEADER}{CODE}{main}", ids: names})
    return path


def _write_all(texts: dict[Path, str]) -> None:
    """Writes new files and then one existing file. Either all of them are written or none.

    Raises SkeletonError with the reason.
    """
    folders: list[Path] = []
    try:
        for path, text in texts.items():
            if not path.parent.exists():
                path.parent.mkdir()
                folders.append(path.parent)
            write_whole(path, text)
    except BaseException as error:
        with contextlib.suppress(OSError):
            for new in list(texts)[:-1]:
                new.unlink(missing_ok=True)
            for folder in folders:
                folder.rmdir()
        if isinstance(error, OSError):
            raise SkeletonError(
                f"{error.filename or path}: {error.strerror}; nothing was written"
            ) from None
        raise


def create_rule(
    id: str,
    repros: Path = catalog.REPROS,
    rules: Path = checks.RULES,
    cases: Path = checks.CASES,
) -> tuple[Path, ...]:
    """Starts a reproducer's rule by creating its file, its test cases, and two keys in the header.

    Raises SkeletonError with the reason; in that case, nothing was written.
    """
    path, rule, case = repros / f"{id}.py", rules / f"{id}.py", cases / f"{id}.py"
    if not _ID.fullmatch(id) or not path.is_file():
        raise SkeletonError(f"there is no reproducer {id}; a rule has the name of its reproducer")
    header = path.read_text(encoding="utf-8")
    for existing in (rule, case, case.with_suffix("")):
        if existing.exists():
            raise SkeletonError(f"{existing} already exists")
    if "\n# rule = " in header:
        raise SkeletonError(f"the header of {path} already has a rule")
    family, _, name = id.partition("/")
    texts = {
        rule: RULE.format(family=family, name=name),
        case: CASES.format(name=name),
        path: header.replace("\n# affected = ", f"\n{HEADER_OF_A_RULE}# affected = ", 1),
    }
    _write_all(texts)
    return tuple(texts)


def create_message(
    title: str,
    file: Path = causes.MESSAGES / causes.TRAINING,
    names: Path = causes.NAMES,
) -> Path:
    """Starts a message with several causes at the end of the file, and lists its name.

    Raises SkeletonError with the reason; in that case, nothing was written.
    """
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60].strip("-")
    try:
        text, listed = file.read_text(encoding="utf-8"), names.read_text(encoding="utf-8").split()
        quoted = json.dumps(title, ensure_ascii=False)  # also a valid TOML string
        if f"\ntitle = {quoted}\n" in text:
            raise SkeletonError(f"{file} already has the message {title!r}; add a cause to it")
        if name in listed:
            raise SkeletonError(f"{names} already has the name {name!r}; choose another title")
        write_whole(file, text.rstrip("\n") + MESSAGE.format(name=json.dumps(name), title=quoted))
        try:
            write_whole(names, "".join(f"{each}\n" for each in sorted([*listed, name])))
        except BaseException:
            write_whole(file, text)
            raise
    except OSError as error:
        raise SkeletonError(f"{error.filename}: {error.strerror}; nothing was written") from None
    return file
