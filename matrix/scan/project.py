"""Finds what a file imports from the other files of its repository. Nothing is imported or run."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from . import files
from .code import Code, path

DEPTH = 3  # files that are opened to follow one name, such as a name that __init__.py imports
ABOVE = 4  # folders above a file that may be in sys.path when the file runs
KEPT = 200  # files that a process keeps in memory
AROUND = 40  # files that are read to answer a question about a repository
BELOW = 100  # files of a repository in other folders that are read for this purpose
FOLDERS = 200  # folders that are opened to find these files
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Definition(NamedTuple):
    """A class or function, and the file that defines it."""

    code: Code
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def definition(code: Code, name: ast.AST) -> Definition | None:
    """The class or function that a name refers to, in this file or in an imported file.

    Returns None if the name is unknown, or if the file defines it more than once.
    """
    dotted = path(name)
    if not dotted or dotted.startswith("self."):
        return None
    return _find(code, dotted, DEPTH)


class Called(NamedTuple):
    """A function or method, and its parameters without self."""

    code: Code
    node: ast.FunctionDef
    parameters: list[str]


def called(code: Code, call: ast.Call) -> Called | None:
    """The function, the method of self or the method of a class that a call names."""
    owner: ast.AST | None = None
    found = definition(code, call.func)
    if found is not None:
        code, node = found
    elif isinstance(call.func, ast.Attribute):
        name = path(call.func.value)
        own = definition(code, call.func.value)
        owner = code.owner(call) if name == "self" else own.node if own is not None else None
        code = own.code if own is not None else code
        methods = [
            part
            for part in getattr(owner, "body", ())
            if isinstance(part, ast.FunctionDef) and part.name == call.func.attr
        ]
        if not isinstance(owner, ast.ClassDef) or len(methods) != 1:
            return None
        node = methods[0]
    else:
        return None
    if not isinstance(node, ast.FunctionDef):
        return None
    parameters = [parameter.arg for parameter in (*node.args.posonlyargs, *node.args.args)]
    is_static = any(path(each) == "staticmethod" for each in node.decorator_list)
    return Called(code, node, parameters[1:] if owner is not None and not is_static else parameters)


def around(code: Code, *words: str) -> Iterator[Code]:
    """Yields this file, and the files in its folder and in the folders above it, up to the
    repository's, that contain one of the words.

    Scripts are usually in these folders, so their settings, such as the device, are found here.
    """
    yield code
    if code.path is None:
        return
    own = code.path.absolute()
    yield from _with_a_word((file for file in _files_around(own.parent) if file != own), words)


def program(code: Code, *words: str) -> Iterator[Code]:
    """Yields the files of around(), and then other files of the program with one of the words.

    The other files are those that this file imports, and those in the repository's other folders,
    because settings are often in another package, such as utils/ beside models/.
    """
    yield from around(code, *words)
    if code.path is None:
        return
    own = code.path.absolute()
    near = {own, *_files_around(own.parent)}
    others = dict.fromkeys([*_imported(own), *_files_below(_root(own.parent))])
    yield from _with_a_word((file for file in others if file not in near), words)


def imported(code: Code, *words: str) -> Iterator[Code]:
    """Yields this file, and the files with one of the words that it imports, even indirectly."""
    yield code
    if code.path is not None:
        yield from _with_a_word(_imported(code.path.absolute()), words)


def _with_a_word(paths: Iterable[Path], words: tuple[str, ...]) -> Iterator[Code]:
    for file in paths:
        if any(word in _text(file) for word in words) and (found := _code(file)) is not None:
            yield found


def imports(code: Code, other: Code) -> bool:
    """True if the file imports the other file, directly or through other files."""
    if code.path is None or other.path is None:
        return False
    return other.path.absolute() in _imported(code.path.absolute())


@lru_cache(maxsize=KEPT)
def _imported(file: Path) -> list[Path]:
    """The files that a file imports, directly or through other files."""
    found, new = {file: None}, [file]
    for _ in range(DEPTH + 1):
        new = [inner for importer in new for inner in _imports(importer) if inner not in found]
        found |= dict.fromkeys(new)
        if len(found) > AROUND:
            break
    return list(found)[1 : AROUND + 1]


@lru_cache(maxsize=KEPT)
def _imports(file: Path) -> list[Path]:
    """The files that a file imports directly."""
    code = _code(file)
    if code is None:
        return []
    modules: dict[tuple[str, int], None] = {}
    for statement in code.all(ast.Import):
        modules |= dict.fromkeys((alias.name, 0) for alias in statement.names)
    for origin in code.all(ast.ImportFrom):
        inner = [".".join(filter(None, [origin.module, alias.name])) for alias in origin.names]
        modules |= dict.fromkeys((name, origin.level) for name in [origin.module or "", *inner])
    found = [inner for name, level in modules for inner in _files(file, level, name)]
    return list(dict.fromkeys(found))


@lru_cache(maxsize=KEPT)
def _root(folder: Path) -> Path:
    """The folder of the repository, or else the highest folder of the program's Python files."""
    above = [folder, *folder.parents][: ABOVE + 1]
    for each in above:
        if (each / ".git").exists():
            return each
    top = folder
    for outer in above[1:]:
        # files of another package import it, such as from ..models or in scripts/
        uses = re.compile(rf"\b(from|import) [\w.]*\b{re.escape(top.name)}\b")
        if not any(outer.glob("*.py")) and not any(
            uses.search(_text(file)) for file in _files_below(outer)
        ):
            break
        top = outer
    return top


@lru_cache(maxsize=KEPT)
def _files_below(root: Path) -> list[Path]:
    """The first files in the folders of a repository, without the files in the root itself."""
    found: list[Path] = []
    folders = [root] if root not in (Path.home(), Path(root.anchor)) else []
    for folder in folders:  # grows
        if folder != root:
            found += sorted(folder.glob("*.py"))
        if len(found) >= BELOW or len(folders) >= FOLDERS:
            break
        if len(folder.relative_to(root).parts) < DEPTH:
            with suppress(OSError), os.scandir(folder) as entries:
                inner = sorted(
                    entry.name for entry in entries if entry.is_dir(follow_symlinks=False)
                )
                folders += [
                    folder / name
                    for name in inner
                    if not name.startswith(".") and name not in files.PASSED
                ]
    return found[:BELOW]


@lru_cache(maxsize=KEPT)
def _files_around(folder: Path) -> list[Path]:
    found: list[Path] = []
    for above in [folder, *folder.parents][: ABOVE + 1]:
        here = sorted(above.glob("*.py"))
        if not here and above != folder:
            break
        found += here
        if (above / ".git").exists():
            break
    return found[:AROUND]


def _find(code: Code, dotted: str, depth: int) -> Definition | None:
    first, _, rest = dotted.partition(".")
    own = [node for node in code.tree.body if getattr(node, "name", "") == dotted]
    if own:
        node = own[0] if len(own) == 1 else None
        return Definition(code, node) if isinstance(node, DEFINITIONS) else None
    if code.path is None or not depth:
        return None
    origin = code.origins.get(first)
    if origin is not None:
        module, name = origin.module, origin.name
        if rest:  # `import models` or `from package import models`, and then models.Net
            inner, _, last = rest.rpartition(".")
            module = ".".join(filter(None, [module, name, inner]))
            name = last
        found = _of_module(code.path, origin.level, module, name, depth)
        return found
    for module, level in code.stars if not rest else ():
        if found := _of_module(code.path, level, module, first, depth):
            return found
    return None


def _of_module(importer: Path, level: int, module: str, name: str, depth: int) -> Definition | None:
    if not name:
        return None
    for file in _files(importer, level, module):
        code = _code(file)
        if code is not None and (found := _find(code, name, depth - 1)):
            return found
    return None


def _files(importer: Path, level: int, module: str) -> list[Path]:
    """The existing files that the module may be."""
    parents = importer.absolute().parents
    if level:
        folders = [parents[level - 1]] if level <= len(parents) else []
    else:
        folders = list(parents[:ABOVE])
    parts = module.split(".") if module else []
    found = []
    for folder in folders:
        stem = folder.joinpath(*parts)
        for file in (stem.with_name(f"{stem.name}.py") if parts else stem, stem / "__init__.py"):
            if file.suffix == ".py" and file.is_file() and file != importer.absolute():
                found.append(file)
    return found


@lru_cache(maxsize=KEPT)
def _text(file: Path) -> str:
    try:
        return files.read(file).text
    except files.Unreadable:
        return ""


def code_of(file: Path, text: str) -> Code:
    """The file with this text, which may be another revision, or not be saved.

    A saved file is parsed only once for its own findings and for those of other files. Raises the
    same exceptions as ast.parse().
    """
    if not file.is_file():
        return Code(files.parsed(text), text)
    found = _code(file.absolute())
    if found is None or found.text != text:
        return Code(files.parsed(text), text, file)
    return found


@lru_cache(maxsize=KEPT)
def _code(file: Path) -> Code | None:
    try:
        text = files.read(file).text
        return Code(files.parsed(text), text, file)
    except (files.Unreadable, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
