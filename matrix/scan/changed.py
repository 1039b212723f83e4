"""Uses git to detect which findings a branch has added.

File contents are compared without `git diff`, because its output depends on settings, attributes
and environment variables.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from . import files, scanning
from .scanning import Finding

_LINE = re.compile(r"\bline \d+( of cell \d+)?")  # line numbers in the text of a finding


class GitError(Exception):
    """A git command failed. The message is from git."""


@dataclass(frozen=True)
class Branch:
    """The working tree of a repository, and the commit from which the branch started."""

    top: Path
    names: frozenset[str]  # files that git tracks or does not ignore
    before: dict[str, str]  # name at that commit -> blob
    # The files that have not changed since that commit, according to git. Their contents may differ
    # from the blob, because of line ends or a filter such as git-lfs.
    same: frozenset[str]

    def has_changed(self, path: Path) -> bool:
        """True if the file is new on the branch or its content differs from that commit."""
        name = self.name(path)
        if name not in self.names or name in self.same:
            return False
        blob = self.before.get(name, "")
        try:
            data = path.read_bytes() if path.is_file() else b""
        except OSError:
            return True
        whole = b"blob %d\0%b" % (len(data), data)
        kind = "sha1" if len(blob) == 40 else "sha256"
        return hashlib.new(kind, whole, usedforsecurity=False).hexdigest() != blob

    def name(self, path: Path) -> str:
        """The path relative to the top, in git's notation, or "" outside the repository."""
        real = Path(os.path.realpath(path))
        return real.relative_to(self.top).as_posix() if real.is_relative_to(self.top) else ""

    def copies(self, paths: Iterable[Path], folder: Path) -> dict[Path, Path]:
        """Writes the former contents of these files and of all deleted files into a folder.

        Returns a mapping from each copy to the real path in the working tree.
        """
        names = {self.name(path) for path in paths} & self.before.keys()
        names |= {
            name
            for name in self.before
            if name.endswith(files.ENDINGS) and not os.path.lexists(self.top / name)
        }
        copies = {}
        for number, (name, data) in enumerate(self._contents(sorted(names))):
            path = self.top / name
            copy = folder / f"{number}{path.suffix}"
            copy.write_bytes(data)
            copies[copy] = path
        return copies

    def _contents(self, names: list[str]) -> Iterable[tuple[str, bytes]]:
        asked = "".join(f"{self.before[name]}\n" for name in names).encode()
        answer = _git(self.top, "cat-file", "--batch", input=asked)
        at = 0
        for name in names:
            header = answer[at : answer.index(b"\n", at)]
            at += len(header) + 1
            if not header.endswith(b" missing"):  # a partial clone may lack the blob
                size = int(header.split()[-1])
                yield name, answer[at : at + size]
                at += size + 1


def since(base: str, folders: Iterable[Path]) -> list[Branch]:
    """The branches, with uncommitted changes, of the repositories that contain the folders."""
    if base.startswith("-"):
        raise GitError(f"{base!r} is not a commit")
    tops = {_git(folder, "rev-parse", "--show-toplevel")[:-1] for folder in folders}
    return [_branch(base, Path(os.path.realpath(os.fsdecode(top)))) for top in sorted(tops)]


def _branch(base: str, top: Path) -> Branch:
    fork = os.fsdecode(_git(top, "merge-base", base, "HEAD")).strip()
    names = _listed(top, "ls-files", "--cached", "--others", "--exclude-standard")
    before = _blobs(_listed(top, "ls-tree", "-r", "--full-tree", fork))
    # "H": git compares the file with its index, and there is no conflict.
    index = _blobs(
        entry for entry in _listed(top, "ls-files", "-v", "--stage") if entry.startswith("H ")
    )
    same = {name for name, blob in index.items() if before.get(name) == blob}
    same.difference_update(_listed(top, "ls-files", "--modified"))
    return Branch(top, frozenset(names), before, frozenset(same))


def _listed(top: Path, command: str, *arguments: str) -> list[str]:
    return os.fsdecode(_git(top, command, "-z", *arguments)).split("\0")[:-1]


def _blobs(entries: Iterable[str]) -> dict[str, str]:
    """Name -> blob, for entries whose third word is the blob."""
    pairs = (entry.split("\t", 1) for entry in entries)
    return {name: about.split(" ")[2] for about, name in pairs}


def new(
    findings: list[Finding],
    paths: list[Path],
    branches: list[Branch],
    rules: list[scanning.Rule],
    jobs: int = 0,
) -> list[Finding]:
    """The findings in these changed files that the branch has added.

    A finding is not new if a former finding has the same source lines and text, so moved code does
    not add any findings.
    """
    before = _before(paths, branches, rules, jobs) if findings else []
    for key in (_in_its_scope, _in_its_file, _anywhere):
        findings, before = _unmatched(findings, before, key)
    return findings


def _before(
    paths: list[Path], branches: list[Branch], rules: list[scanning.Rule], jobs: int
) -> list[Finding]:
    """The findings in these files and in deleted files at the start of the branch."""
    findings: list[Finding] = []
    for branch in branches:
        with TemporaryDirectory() as folder:
            copies = branch.copies(paths, Path(folder))
            former, _ = scanning.scan(copies, rules, jobs)
            findings += [replace(finding, path=copies[finding.path]) for finding in former]
    return findings


def _unmatched(
    findings: list[Finding], before: list[Finding], key: Callable[[Finding], object]
) -> tuple[list[Finding], list[Finding]]:
    """The findings in each list without a counterpart in the other list."""
    unmatched = defaultdict(list)
    for finding in before:
        unmatched[key(finding)].append(finding)
    new = []
    for finding in findings:
        if unmatched[key(finding)]:
            unmatched[key(finding)].pop()
        else:
            new.append(finding)
    return new, [finding for rest in unmatched.values() for finding in rest]


def _in_its_scope(finding: Finding) -> object:
    return finding.scope, _in_its_file(finding)


def _in_its_file(finding: Finding) -> object:
    return os.path.realpath(finding.path), _anywhere(finding)


def _anywhere(finding: Finding) -> object:
    return finding.id, _LINE.sub("", finding.what), re.sub(r"[\s,]", "", finding.source)


def _git(folder: Path, *arguments: str, input: bytes = b"") -> bytes:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], input=input, capture_output=True
        )
    except OSError as error:
        raise GitError(f"cannot run git: {error.strerror}") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise GitError(said or f"git {arguments[0]} failed")
    return done.stdout
