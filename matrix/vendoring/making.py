"""Creates either all requested copies or none."""

from __future__ import annotations

import os
from pathlib import Path

from .copies import Copy, VendorError, read_copy
from .originals import CONFTEST, digest, families, upstream, version
from .writing import leads_out, locked, render, write


def vendor(names: list[str], folder: Path, tests: bool = False) -> list[Path]:
    """Copies the families and, with `tests`, their tests into the folder. Either all are copied or
    none.

    Creates the folder and returns the files. Raises VendorError for a fix without tests, for an
    existing file that is not an unedited copy, or if writing fails.
    """
    wanted = _wanted(names, tests)
    _replaceable(folder, wanted)  # if this raises, no files are left behind, not even the lock
    with locked(folder):
        old = _replaceable(folder, wanted)
        files = {}
        for target, (origin, text) in wanted.items():
            existing = old.get(target)
            is_current = existing is not None and existing.sha == digest(text)
            if not is_current:  # otherwise, the header would change with every commit
                files[folder / target] = render(origin, text, text, existing)
        paths = [folder / target for target in wanted]
        write(folder, files, [text for _, text in wanted.values()], paths)
    return paths


def _wanted(names: list[str], tests: bool) -> dict[str, tuple[str, str]]:
    """Maps each file in the folder to (origin, upstream text)."""
    unknown = [name for name in names if name not in families()]
    if unknown:
        raise VendorError(
            f"no reference fix {', '.join(map(repr, unknown))}; there are {', '.join(families())}"
        )
    origins = {f"{name}.py": f"reference_fixes/{name}.py" for name in names}
    if tests:
        origins |= {f"tests/test_{name}.py": f"tests/fixes/test_{name}.py" for name in names}
        origins["tests/conftest.py"] = CONFTEST
    texts = {target: (origin, upstream(origin)) for target, origin in origins.items()}
    if missing := [origin for origin, text in texts.values() if text is None]:
        raise VendorError(
            f"nothing was written: torch-repros {version()} has no {', '.join(missing)}; "
            "vendor without --tests"
        )
    return {target: (origin, text) for target, (origin, text) in texts.items() if text is not None}


def _replaceable(folder: Path, wanted: dict[str, tuple[str, str]]) -> dict[str, Copy]:
    """Returns the copies to replace. Raises VendorError for files that must not be replaced."""
    old: dict[str, Copy] = {}
    problems = []
    for target, (origin, _) in wanted.items():
        path = folder / target
        try:
            copy = _replaced(path, folder, origin)
        except VendorError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{path}: {error.strerror}")
        else:
            old |= {target: copy} if copy else {}
    if problems:
        raise VendorError("\n".join(["nothing was written", *problems]))
    return old


def _replaced(path: Path, folder: Path, origin: str) -> Copy | None:
    """Returns the copy to replace, or None if the file does not exist. Raises VendorError."""
    if problem := leads_out(path, folder):
        raise VendorError(problem)
    if path.parent.exists() and not path.parent.is_dir():
        raise VendorError(f"{path.parent}: is not a folder")
    copy = read_copy(path)
    if copy is None:
        if os.path.lexists(path):
            raise VendorError(f"{path}: exists and is not a vendored copy")
    elif copy.origin != origin:
        raise VendorError(f"{path}: exists and is a copy of {copy.origin}, not of {origin}")
    elif copy.newer:
        raise VendorError(copy.problem)
    elif copy.edited:
        raise VendorError(f"{path}: you edited it; `torch-repros vendored --update` merges")
    return copy
