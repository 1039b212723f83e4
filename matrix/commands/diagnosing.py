"""The command that asks questions: diagnose."""

from __future__ import annotations

import string
import sys

import click

from ..diagnose import checklists
from ..diagnose.checklists import Checklist, Outcome, Step
from ..explain import search as searching
from ..explain.wrapping import Code
from ..printing import json_text
from . import options

CLOSE = 0.35  # how close a checklist must be to the words of the user, from 0 to 1
NOTHING = "No check found the cause. Describe what you saw: torch-repros search WORDS"


@click.command()
@click.argument("words", metavar="[SYMPTOM]...", nargs=-1)
@click.option(
    "--all", "everything", is_flag=True, help="Print the whole list without asking questions."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
def diagnose(words: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Narrow down a vague symptom, one check at a time.

    \b
    torch-repros diagnose                            choose a checklist
    torch-repros diagnose the loss does not fall
    torch-repros diagnose loss-does-not-fall --all | less

    Each check is a few lines of code to paste into your program. The code uses common variable
    names: model, loader, val_loader, loss_fn, optimizer, device. In a terminal, the command asks
    what you saw after each check. In a pipe, or with --all, it prints the whole list.

    --json prints an object with format (1), name, title and steps, each with question, code and
    outcomes (seen, means, see: ids).

    Exit status: 0 if there is a checklist for the symptom, 1 otherwise.
    """
    asks = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    asks = asks and not everything and not as_json
    symptom = " ".join(words)
    found = _fitting(symptom) if symptom else []
    if symptom and not found:
        options.say(["No checklist fits these words. There are checklists for:", *_names()])
        sys.exit(options.FINDINGS)
    if not symptom and not asks:
        options.say(_names())
        return
    checklist = found[0] if found else _choose()
    if checklist is None:
        return
    if as_json:
        click.echo(json_text(_as_json(checklist)))
        return
    options.say(checklist.title, bold=True)
    options.say(["", checklist.introduction])
    titles = {each.id: each.title for each in options.select(())}
    by_name = checklists.steps()
    for number, name in enumerate(checklist.steps, 1):
        step = by_name[name]
        options.say(["", f"{number}. {step.question}", "", Code(_indented(step.code))])
        if not asks:
            for outcome in step.outcomes:
                options.say(["", f"    - {outcome.seen}:", *_conclusion(outcome, titles)])
        elif not _ask(step, titles):
            return
    if asks:
        options.say(["", NOTHING])


def _fitting(symptom: str) -> list[Checklist]:
    """The checklist of this name, or the one that is close to these words."""
    for checklist in checklists.load():
        if checklist.name == symptom.strip().lower():
            return [checklist]
    entries = searching.Index([]).search(symptom)
    return [each.checklist for each in entries if each.checklist and each.closeness >= CLOSE]


def _names() -> list[str]:
    width = max(len(checklist.name) for checklist in checklists.load())
    return [f"  {each.name:{width}}  {each.title}" for each in checklists.load()]


def _choose() -> Checklist | None:
    """Asks for a checklist; None to stop."""
    listed = checklists.load()
    options.say("What do you see?")
    options.say([f"{number:3}. {each.title}" for number, each in enumerate(listed, 1)])
    choices = [str(number) for number in range(1, len(listed) + 1)]
    answer = click.prompt(
        "Number (q: quit)", type=click.Choice([*choices, "q"]), show_choices=False
    )
    return None if answer == "q" else listed[int(answer) - 1]


def _ask(step: Step, titles: dict[str, str]) -> bool:
    """Asks what the check printed, and says what it means. Returns False to stop."""
    letters = string.ascii_lowercase[: len(step.outcomes)]
    options.say([f"   {letter}. {outcome.seen}" for letter, outcome in zip(letters, step.outcomes)])
    answer = click.prompt(
        "What did you see? (n: next check, q: quit)",
        type=click.Choice([*letters, "n", "q"]),
        show_choices=False,
    )
    if answer in letters:
        options.say(_conclusion(step.outcomes[letters.index(answer)], titles))
        return click.confirm("Continue with the next check?", default=True)
    return bool(answer == "n")


def _conclusion(outcome: Outcome, titles: dict[str, str]) -> list[str]:
    see = [f"        {id}: {titles[id]}" for id in outcome.see if id in titles]
    return [f"      {checklists.sentence(outcome.means)}", *see]


def _indented(code: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in code.strip("\n").splitlines())


def _as_json(checklist: Checklist) -> dict[str, object]:
    by_name = checklists.steps()
    return {
        "format": 1,
        "name": checklist.name,
        "title": checklist.title,
        "steps": [
            {
                "question": by_name[name].question,
                "code": by_name[name].code.strip("\n"),
                "outcomes": [
                    {"seen": each.seen, "means": each.means, "see": list(each.see)}
                    for each in by_name[name].outcomes
                ],
            }
            for name in checklist.steps
        ],
    }
