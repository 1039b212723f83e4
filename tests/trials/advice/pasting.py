"""The places into which the printed lines are pasted.

A place is a file, places/FAMILY/NAME.py, that defines

    SETTINGS = ("plain", "AdamW")     the names of the trainers to use, from trainers.SETTINGS
    def place(t): ...                 code like that of users who have the failure
    def reference(t): ...             computes the right result in a way that needs no advice

The pasted lines replace the statement `paste`, in place() or anywhere else in the file. The results
of both functions are compared, and so is the observable state of the two trainers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from matrix import catalog, toml
from matrix.catalog import Reproducer
from matrix.torches import satisfies
from tests.forked import Job, run_all

PLACES = Path(__file__).with_name("places")
HARMFUL = Path(__file__).with_name("harmful.toml")
RUN = Path(__file__).with_name("run.py")
KEYS = ("wrong", "right", "use")
NO_PLACE = {  # reproducers whose lines cannot run on the CPU
    "amp/autocast_mps_rejected": "none: the failure applies to MPS",
    "amp/scaler_on_mps_needs_float64": "none: the failure applies to MPS",
    "data_loading/nonblocking_to_host_races": "none: the race occurs only with CUDA",
    "memory/empty_cache_before_collect": "none: the cache belongs to CUDA",
}
MARK = "paste"
SECONDS = 60.0


@dataclass(frozen=True)
class Place:
    """A file in places/."""

    path: Path

    @property
    def id(self) -> str:
        return self.path.relative_to(PLACES).with_suffix("").as_posix()

    @cached_property
    def code(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"))

    def constant(self, name: str, default: Any) -> Any:
        for node in self.code.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
                return ast.literal_eval(node.value)
        return default

    @property
    def settings(self) -> tuple[str, ...]:
        return self.constant("SETTINGS", ("plain",))

    @property
    def requires(self) -> str:
        return self.constant("REQUIRES", "")

    def pasted(self, lines: str) -> str:
        """The file with the lines pasted in. Raises ValueError if the file has no mark."""
        code = ast.parse(ast.unparse(self.code))
        paste = _Paste(ast.parse(lines).body)
        code = ast.fix_missing_locations(paste.visit(code))
        if not paste.times:
            raise ValueError(f"{self.path}: no statement `{MARK}`")
        return ast.unparse(code)


class _Paste(ast.NodeTransformer):
    def __init__(self, lines: list[ast.stmt]) -> None:
        self.lines, self.times = lines, 0

    def visit_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id == MARK:
            self.times += 1
            return self.lines
        return node


@dataclass(frozen=True)
class Pasted:
    """Lines to paste into a place, and the setting of the trainer."""

    place: Place
    key: str  # one of KEYS, or "harmful"
    lines: str
    setting: str

    @property
    def in_any_setting(self) -> tuple[str, str, str]:
        """A key that is the same for all settings of an advice."""
        return self.place.id, self.key, self.lines

    def __str__(self) -> str:
        return f"{self.place.id}, {self.key}, {self.setting}"


def places(folder: Path = PLACES) -> list[Place]:
    return [Place(path) for path in sorted(folder.glob("*/*.py"))]


def printed(place: Place, reproducer: Reproducer, version: str) -> Iterator[Pasted]:
    """The printed lines that can run on this torch, once per setting of the place."""
    if reproducer.unavailable_reason(version, "linux", "cpu") or (
        place.requires and not satisfies(version, place.requires)
    ):
        return
    for key in KEYS:
        lines = getattr(reproducer, key)
        fails = any(
            value != "never" and satisfies(version, value)
            for device, value in reproducer.affected.items()
            if device == "cpu"
        )
        if lines and (reproducer.runs(key, version) if key != "wrong" else fails):
            for setting in place.settings:
                yield Pasted(place, key, lines, setting)


def harmful(path: Path = HARMFUL) -> list[tuple[str, str]]:
    """The id and the lines of each earlier advice that did harm."""
    listed = toml.loads(path.read_text(encoding="utf-8")).get("harmful", [])
    return [(entry["id"], entry["lines"]) for entry in listed]


def once_given(place: Place, reproducer: Reproducer, version: str) -> Iterator[Pasted]:
    """The earlier advice that did harm, once per setting, if this torch has the failure."""
    if any(lines.key == "wrong" for lines in printed(place, reproducer, version)):
        for id, lines in harmful():
            for setting in place.settings if id == place.id else ():
                yield Pasted(place, "harmful", lines, setting)


def run(pasted: list[Pasted], folder: Path, fixes: Path = catalog.FIXES) -> list[tuple[int, str]]:
    """The exit status and output of each run."""
    jobs = []
    for number, lines in enumerate(pasted):
        at = folder / str(number)
        at.mkdir()
        program = at / "program.py"
        program.write_text(lines.place.pasted(lines.lines), encoding="utf-8")
        job = Job([str(RUN), str(program), lines.setting, str(fixes)], str(at), SECONDS)
        if lines.key not in ("right", "use"):  # wrong lines must fail in at least one setting
            job.group = str(lines.in_any_setting)
        jobs.append(job)
    _, ended = run_all(jobs)
    return ended


def unmet(pasted: list[Pasted], ended: list[tuple[int, str]]) -> list[str]:
    """Right lines that differ from the reference, and wrong or harmful lines that never differ."""
    problems, silent = [], dict[tuple[str, str, str], bool]()
    for lines, (status, said) in zip(pasted, ended):
        if lines.key in ("right", "use"):
            if status:
                problems.append(f"{lines}: {said.strip()}")
        else:
            key = lines.in_any_setting
            silent[key] = silent.get(key, True) and status == 0
    return problems + [
        f"{id}, {key}: fails in no setting of its place"
        for (id, key, _), alike in silent.items()
        if alike
    ]
