"""The commands that look things up: explain, search, cite."""

from __future__ import annotations

import re
import sqlite3
import sys
from functools import cache
from pathlib import Path

import click

from matrix import arguments, catalog, explain, grid, records, torches


@click.command("explain")
@click.argument("what", metavar="[TRACEBACK|FILE|ID]", required=False)
@click.option("--torch", "torch_version", metavar="VERSION", help="The torch it happened on. Default: what the text names.")
def explain_command(what: str | None, torch_version: str | None) -> None:
    """What a traceback, a warning or log lines mean, and what cures it.

    \b
    python train.py 2>&1 | torch-repros explain
    torch-repros explain crash.log
    torch-repros explain "RuntimeError: cudnn RNN backward can only be called in training mode"
    torch-repros explain amp/unscale_before_scale      the whole page of one reproducer

    Reads the text given, the file of that name, or else standard input. Exit status: 0 something fits, 1 nothing does.
    """
    entries = arguments.load()
    if what in {entry.id for entry in entries}:
        page(next(entry for entry in entries if entry.id == what), torch_version)
        return
    text = _text(what)
    answers = explain.find(text, entries)
    torch_version = torch_version or explain.torch_version(text)
    if not answers:
        click.echo("Nothing here fits this text, and there is no use in guessing.")
        click.echo('Silent failures are found by their symptom: torch-repros search "loss stays constant"')
        sys.exit(arguments.RED)
    for number, answer in enumerate(answers):
        if number:
            click.echo("\n" + "-" * 72 + "\n")
        click.secho(answer.title, bold=True)
        click.echo(f"matched: {' '.join(answer.matched.split())}")
        if answer.causes:
            click.echo("\nSeveral causes have this message. Check, the likeliest first:")
            for position, cause in enumerate(answer.causes, 1):
                click.echo(f"\n {position}. {cause['cause']}\n    {cause['check']}")
                if "see" in cause:
                    entry = next(entry for entry in entries if entry.id == cause["see"])
                    click.echo(f"    {entry.id}: {_measured(entry, torch_version)}")
                    click.echo(f"    cure: {_cure(entry)}")
            click.echo("\n`torch-repros explain ID` shows the whole page of one of them.")
        else:
            brief(answer.entries[0], torch_version)


def _text(what: str | None) -> str:
    if what is None or what == "-":
        if sys.stdin.isatty():
            raise click.UsageError("nothing to explain: give a text or a file, or pipe a program's output in (see --help)")
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    elif "\n" not in what and len(what) < 4096 and Path(what).is_file():
        text = Path(what).read_bytes().decode("utf-8", "replace")
    else:
        text = what
    if not text.strip():
        raise click.UsageError("nothing to explain: the text is empty")
    return text


def brief(entry: catalog.Reproducer, torch_version: str | None) -> None:
    """The answer for one reproducer."""
    click.echo(f"{entry.id}: {_measured(entry, torch_version)}\n")
    click.echo(entry.doc)
    for title, role in (("\nThe control, healthy because only the cause is gone:", "control"), ("\nDoes not help:", "popular_fix")):
        if role in entry.roles:
            click.echo(f"{title}\n{_indented(entry.function(role))}")
    click.echo(f"\ncure: {_cure(entry)}")
    click.echo(f"page: torch-repros explain {entry.id}")


def page(entry: catalog.Reproducer, torch_version: str | None) -> None:
    """All there is about one reproducer."""
    click.secho(f"{entry.id}", bold=True)
    click.echo(f"{entry.title}\n\n{entry.doc}\n")
    click.echo(f"The code ({entry.path}):\n\n{_indented(entry.code)}")
    click.echo(f"\n{entry.id}: {_measured(entry, torch_version)}")
    for device in entry.devices:
        states = grid.by_state(entry, device, *_measurements())
        star = f" (stand-in: {entry.stand_in[device]})" if device in entry.stand_in else ""
        click.echo(f"  {device}{star}: " + "; ".join(f"{name} on {', '.join(minors)}" for name, minors in states.items()))
    click.echo(f"\ncure: {_cure(entry)}")
    click.echo("reported: " + "\n          ".join(entry.sources))


def _indented(code: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in code.splitlines())


def _cure(entry: catalog.Reproducer) -> str:
    module, _, name = entry.fix.partition(".")
    return f"{name}() of reference_fixes/{module}.py: torch-repros vendor {module} --into DIR" if name else "upgrade torch"


@cache
def _measurements() -> tuple[list[torches.Torch], list[records.Cell]]:
    """Read once, however many reproducers an answer names."""
    return torches.load(), records.load()


def _measured(entry: catalog.Reproducer, torch_version: str | None) -> str:
    """Whether the user's torch is in what was measured, and with what outcome."""
    axis, cells = _measurements()
    first, last = axis[0].minor, axis[-1].minor
    if torch_version is None:
        return f"affects torch {_affected(entry)}; measured from {first} to {last} (name yours with --torch)"
    minor = ".".join(torch_version.split(".")[:2])
    if minor not in {torch.minor for torch in axis}:
        return f"torch {torch_version} is outside of what was measured ({first} to {last}); affects torch {_affected(entry)}"
    states = {device: grid.state(entry, device, minor, cells) for device in entry.devices}
    return f"on torch {minor} measured: " + ", ".join(f"{device} {state}" for device, state in states.items())


def _affected(entry: catalog.Reproducer) -> str:
    return ", ".join(f"{specifier} on {device}" for device, specifier in entry.affected.items() if specifier != "never") or "none"


@click.command("search")
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1), default=5, show_default=True, help="Answers at most.")
def search_command(words: tuple[str, ...], limit: int) -> None:
    """Reproducers by the symptom in your own words, for what raises no error: search "loss stays constant"

    Exit status: 0 something was found, 1 nothing was.
    """
    found = search(" ".join(words), arguments.load())[:limit]
    for entry in found:
        click.secho(entry.id, bold=True)
        click.echo(f"  {entry.title}\n  cure: {_cure(entry)}")
    if not found:
        click.echo("Nothing has any of these words. `torch-repros list` names all reproducers.")
        sys.exit(arguments.RED)
    click.echo("\n`torch-repros explain ID` shows the whole page of one of them.")


def search(query: str, entries: list[catalog.Reproducer]) -> list[catalog.Reproducer]:
    """Best first, by SQLite's full-text search: BM25 over stemmed words, the title counting most."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE pages USING fts5(title, words, id, doc, symptom, tokenize = 'porter unicode61')")
    rows = [(e.title, " ".join(e.keywords), re.sub("[_/]", " ", e.id), e.doc, f"{e.symptom} {' '.join(e.messages)}") for e in entries]
    database.executemany("INSERT INTO pages VALUES (?, ?, ?, ?, ?)", rows)
    words = [word for word in "".join(c if c.isalnum() else " " for c in query).split() if word.lower() not in STOP_WORDS]
    if not words:
        return []
    query = " OR ".join(f'"{word}"' for word in words)
    ranked = database.execute("SELECT rowid FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 6, 8, 2, 1, 3)", (query,))
    return [entries[row - 1] for (row,) in ranked]


STOP_WORDS = frozenset(
    [
        "a",
        "after",
        "all",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "but",
        "by",
        "do",
        "does",
        "for",
        "from",
        "gets",
        "has",
        "i",
        "in",
        "is",
        "it",
        "its",
        "my",
        "no",
        "not",
        "of",
        "on",
        "or",
        "that",
        "the",
        "then",
        "there",
        "to",
        "was",
        "when",
        "why",
        "with",
    ]
)


@click.command("cite")
@click.argument("id", metavar="[ID]", required=False)
@click.option("--venue", type=click.Choice(arguments.VENUES), default="github", show_default=True)
@click.option("--run", "run_it", is_flag=True, help="Measure it now, on this machine. Default: quote the newest record, and say so.")
@click.option("--python", metavar="PATH", help="With --run: the interpreter whose torch is measured. Default: this one.")
@click.option("--device", type=arguments.DEVICE, help="Default: the first one it concerns.")
@click.option("--upstream", is_flag=True, help="As a new report to PyTorch. Without ID: lists what nobody has reported there.")
def cite_command(id: str | None, venue: str, run_it: bool, python: str | None, device: str | None, upstream: bool) -> None:
    """A report ready to paste: the code, what it printed, on which versions, and what was expected.

    \b
    torch-repros cite amp/unscale_before_scale --run            in the form of PyTorch's bug template
    torch-repros cite amp/unscale_before_scale --venue forum

    Exit status: 0 the report is on standard output; 1 there is none to make; 3 the device or interpreter cannot be used.
    """
    from matrix import cite, runner

    if id is None:
        if not upstream:
            raise click.UsageError("name a reproducer, or ask for --upstream alone to list what nobody has reported")
        for entry in cite.unreported(arguments.load()):
            click.echo(f"{entry.id}\n  {entry.title}")
        return
    entry = arguments.select_one(id)
    if device and device not in entry.affected:
        raise click.BadParameter(f"{entry.id} does not concern {device}; it concerns {', '.join(entry.affected)}", param_hint="--device")
    if python and not run_it:
        raise click.UsageError("--python goes with --run")
    try:
        seen = cite.measured_here(entry, python or sys.executable, device) if run_it else cite.from_records(entry, device)
        click.echo(cite.report(entry, seen, venue, upstream), nl=False)
    except runner.RunnerError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(arguments.NO_DEVICE)
    except cite.CiteError as error:
        raise click.ClickException(str(error)) from None


COMMANDS = [explain_command, search_command, cite_command]
