"""Reads checklists.toml, which orders the steps for a vague symptom, and steps/NAME.toml.

A step is a few lines of code that a user runs with the objects of the training program, and the
possible outcomes. tests/diagnose/ runs each step on a healthy and on a broken program.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .. import checked, toml
from ..catalog import FILL_IN
from ..checked import key, string, strings

CHECKLISTS = Path(__file__).with_name("checklists.toml")
STEPS = Path(__file__).with_name("steps")
LONGEST_LINE = 76  # characters; a terminal has 80, and the code is indented
# what the code may use without defining it: the names of most training programs
NAMES = {
    "model": "the model",
    "loader": "the DataLoader for training; each batch is x, y",
    "val_loader": "the DataLoader for validation",
    "loss_fn": "the loss: loss_fn(model(x), y)",
    "optimizer": "the optimizer",
    "device": "the model's device",
    "scheduler": "the learning rate scheduler",
    "train_step": "the body of your loop as a function: train_step(x, y)",
    "evaluate": "your function that returns the accuracy, from 0 to 1: evaluate(model, val_loader)",
    "make_model": "a function without arguments that creates the model",
    "save": "your function that writes a checkpoint: save(path)",
    "load": "your function that restores model, optimizer and scheduler from a file: load(path)",
    "exported": "the exported, traced or compiled model: exported(x)",
    "pretrained": "the state_dict of the pretrained model",
    "generator": "the generator",
    "discriminator": "the discriminator",
    "real": "real samples, as the discriminator gets them",
    "fake": "generated samples, as the discriminator gets them",
    "d_step": "the discriminator's part of your step as a function: d_step()",
    "g_step": "the generator's part of your step as a function: g_step()",
    "policy": "the agent's network: policy(states) gives a logit or value for each action",
    "states": "a batch of states",
    "learn": "your update as a function: learn(states, actions, rewards, next_states, dones)",
    "play": "your function that plays an episode and returns the sum of its rewards: play(policy)",
}


def _name(value: object) -> str | None:
    if isinstance(value, str) and re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", value):
        return None
    return "is not lowercase words with hyphens between them"


def _tables(value: object) -> str | None:
    return None if isinstance(value, list) and len(value) > 1 else "is not a list of outcomes"


def _python(value: object) -> str | None:
    if problem := string(value):
        return problem
    try:
        ast.parse(str(value))
    except SyntaxError as error:
        return f"is not Python: {error}"
    return None


def _code(value: object) -> str | None:
    if problem := _python(value):
        return problem
    if max(map(len, str(value).splitlines())) > LONGEST_LINE:
        return f"a line of the code is longer than {LONGEST_LINE} characters"
    return None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    seen: str = key(string)  # what the code prints, in words
    when: str = key(_python)  # an expression over the names of the code, which is true in this case
    means: str = key(string)  # the conclusion, and what to do
    see: tuple[str, ...] = key(strings, default=())  # the reproducers with this outcome


@dataclass(frozen=True, kw_only=True)
class Step:
    question: str = key(string)
    code: str = key(_code)
    outcomes: tuple[Outcome, ...] = key(_tables)  # the healthy outcome first
    name: str  # the name of the file


@dataclass(frozen=True, kw_only=True)
class Checklist:
    name: str = key(_name)  # the name of its page, diagnose/NAME.html
    title: str = key(string)
    phrases: tuple[str, ...] = key(strings)  # the symptom in the words of users
    steps: tuple[str, ...] = key(strings)  # in the order in which to try them

    @property
    def introduction(self) -> str:
        """Says which names the code uses without defining them."""
        by_name = steps()
        used = set().union(*(_names_in(by_name[name].code) for name in self.steps))
        names = [f"`{name}` ({what})" for name, what in NAMES.items() if name in used]
        ranks = any("torch.distributed" in by_name[name].code for name in self.steps)
        return (
            f"The lines use your {', '.join(names)}. They change the model, so start each check in "
            "a fresh program, just before the training loop, unless the question names another "
            f"place.{' Run them on every rank.' if ranks else ''}"
        )


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def _names_in(code: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}


@cache
def steps() -> dict[str, Step]:
    """The valid steps by name. Raises TOMLDecodeError."""
    return {path.stem: step for path, step, wrong in _read_steps() if step}


@cache
def load() -> list[Checklist]:
    """The valid checklists. Raises TOMLDecodeError."""
    return [checklist for _, checklist, _ in _read_checklists() if checklist]


def problems(ids: set[str]) -> list[str]:
    """One line per problem, such as an unknown key, an unknown id, or a step that is in no list."""
    try:
        read_steps, read_checklists = list(_read_steps()), list(_read_checklists())
    except toml.TOMLDecodeError as error:
        return [f"{CHECKLISTS.parent}:1: not TOML: {error}"]
    wrong = [f"{path}:1: {problem}" for path, _, its in read_steps for problem in its]
    wrong += [
        f"{CHECKLISTS}:{line}: {problem}" for line, _, its in read_checklists for problem in its
    ]
    for path, step, _ in read_steps:
        for outcome in step.outcomes if step else ():
            wrong += [
                f"{path}:1: no reproducer {id!r}, or a retired one"
                for id in outcome.see
                if id not in ids
            ]
    known = {path.stem for path, _, _ in read_steps}
    used: set[str] = set()
    seen: set[str] = set()
    for line, checklist, _ in read_checklists:
        if checklist is None:
            continue
        if checklist.name in seen:
            wrong.append(f"{CHECKLISTS}:{line}: two checklists are called {checklist.name!r}")
        seen.add(checklist.name)
        used |= set(checklist.steps)
        wrong += [
            f"{CHECKLISTS}:{line}: {checklist.name}: no step {name!r}"
            for name in checklist.steps
            if name not in known
        ]
    wrong += [f"{STEPS / name}.toml:1: no checklist has this step" for name in sorted(known - used)]
    return wrong


def _read_steps() -> Iterator[tuple[Path, Step | None, list[str]]]:
    for path in sorted(STEPS.glob("*.toml")):
        raw: dict[str, Any] = toml.loads(path.read_text(encoding="utf-8"))
        wrong = checked.sentences(Step, raw) + _unfilled(raw)
        outcomes = raw.get("outcomes")
        for outcome in outcomes if isinstance(outcomes, list) else ():
            wrong += checked.sentences(Outcome, outcome) or _unfilled(outcome)
        step = None
        if not wrong:
            raw["outcomes"] = tuple(
                Outcome(**outcome | {"see": tuple(outcome.get("see", ()))})
                for outcome in raw["outcomes"]
            )
            step = Step(**raw, name=path.stem)
        yield path, step, wrong


def _read_checklists() -> Iterator[tuple[int, Checklist | None, list[str]]]:
    source = CHECKLISTS.read_text(encoding="utf-8")
    lines = [
        number
        for number, line in enumerate(source.splitlines(), 1)
        if line.startswith("[[checklist]]")
    ]
    for line, raw in zip(lines, toml.loads(source).get("checklist", []), strict=True):
        wrong = checked.sentences(Checklist, raw)
        checklist = None
        if not wrong:
            lists = {name: tuple(raw[name]) for name in ("phrases", "steps")}
            checklist = Checklist(**raw | lists)
        yield line, checklist, wrong


def _unfilled(raw: dict[str, Any]) -> list[str]:
    return [
        f"not filled in: {name}"
        for name, text in raw.items()
        if isinstance(text, str) and FILL_IN in text
    ]
