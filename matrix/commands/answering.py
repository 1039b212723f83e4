"""The commands that answer questions: explain, exec, search, compare, cite."""

from __future__ import annotations

import difflib
import os
import re
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from .. import catalog
from ..devices import DEVICES
from ..explain import compare as comparing
from ..explain import explain as explaining
from ..explain import report, text, watched
from ..explain import search as searching
from ..printing import json_text
from ..torches import minor
from . import options

if TYPE_CHECKING:
    from ..catalog import Reproducer
    from ..evidence.observation import Observation
    from ..evidence.schema import Record
    from ..explain import execution
    from ..watching.findings import Finding

GUESSES = 3  # results that are shown if none fits
NEW_ISSUE = "https://github.com/torch-repros/torch-repros/issues/new?template=wrong_answer.yml"
PIPED = "`python train.py 2>&1 | torch-repros explain`"
TORCH_OPTION = click.option(
    "--torch",
    "version",
    type=options.VERSION,
    help="The torch version that failed. Default: the version that the text names.",
)


@click.command()
@click.argument("what", metavar="[TRACEBACK|FILE|ID]", required=False, type=options.ID_OR_FILE)
@TORCH_OPTION
@click.option("--all", "everything", is_flag=True, help="Print every cause, and all evidence.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, for scripts. See above for the keys."
)
def explain(what: str | None, version: str | None, everything: bool, as_json: bool) -> None:
    """Explain a traceback, a warning, or log lines.

    \b
    python train.py 2>&1 | torch-repros explain
    torch-repros explain crash.log
    torch-repros explain --json crash.log
    torch-repros explain "ValueError: Attempting to unscale FP16 gradients."

    Reads the given text, the file with that name, or standard input. Colors, boxes, quotation
    marks, rank names and line breaks in a message are ignored. For an ID, the output is the same as
    for `show`. To explain the output of a program while it runs, use `torch-repros exec -- python
    train.py`.

    For a message with several causes, the answer shows the three most likely causes. With --all, it
    shows all of them, with the wrong lines, the control and the measurements.

    --json prints an object with format (1), torch (the version, or null), readings (sentences about
    the numbers in the text), answers (best first) and guesses (ids, title).

    Each answer has title, page (its address on the site), was_raised (true if a run of this project
    raised the message), matched, line, ids, causes and reproducers. Each cause has cause, check,
    see, source, supports and excludes (patterns of texts), likely (true if neither the message nor
    the text that `supports` matches proves this cause), wrong and right (lines that raise the
    message, and the same lines without the cause), requires (the torch that these lines need) and
    named_by. Each reproducer has id, title, kind, wrong, right, right_requires (the torch that the
    right lines need), fix, use (the lines that call the fix), choice (whether to prefer the right
    lines or the fix), text (where this text was raised), affected and on_torch (per device: state,
    date and expected).

    Exit status: 0 if something matches, 1 otherwise.
    """
    reproducers = options.load()
    by_id = {reproducer.id: reproducer for reproducer in reproducers}
    if what and options.named(what) in by_id:
        what = options.named(what)
    if what in by_id and not as_json:
        measured = text.Measured.load(options.records(ids={what}))
        options.say(text.full_text(by_id[what], measured, version))
        return
    if what in by_id:
        answer = explaining.Answer("", [by_id[what]], [], by_id[what].title)
        explanation = explaining.Explanation([answer], None, blank=False)
    else:
        explanation = _explanation(what, options.select(()))
    version = version or explanation.torch_version
    hint = _hint(what, reproducers) if what and not explanation.answers else ""
    guesses = [] if hint else _guesses(explanation)
    measured = _measured(explanation)
    if as_json:
        click.echo(json_text(text.as_json(explanation, guesses, measured, version)))
    else:
        _print_explanation(explanation, hint, guesses, measured, version, everything=everything)
    sys.exit(options.OK if explanation.answers else options.FINDINGS)


def _measured(explanation: explaining.Explanation) -> text.Measured:
    """The measurements of the reproducers in the answers."""
    ids = {id for answer in explanation.answers for id in answer.ids}
    return text.Measured.load(options.records(ids=ids))


def _print_explanation(
    explanation: explaining.Explanation,
    hint: str,
    guesses: list[searching.Found],
    measured: text.Measured,
    version: str | None,
    err: bool = False,
    everything: bool = False,
) -> None:
    def say(line: str | list[str], bold: bool = False) -> None:
        options.say(line, err, **({"bold": True} if bold else {}))

    for number, answer in enumerate(explanation.answers):
        if number:
            say("\n" + "-" * 72 + "\n")
        say(answer.title, bold=True)
        say(f"matched: {' '.join(answer.matched.split())}")
        if answer.line:
            say(f"your line: {answer.line}")
        if number == 0:
            for sentence in explanation.readings:
                say(f"its numbers: {sentence}")
        if answer.causes:
            say(text.causes(answer, measured, version, everything))
        elif everything:
            say(text.summary(answer, measured, version))
        else:
            say(text.brief(answer, measured, version))
    if explanation.answers:
        return
    say(hint or "No known failure matches this text.")
    for sentence in explanation.readings:
        say(f"Its numbers: {sentence}")
    if guesses:
        say("Nothing here fits. The closest entries by their words (guesses):")
        for guess in guesses:
            say("  " + (guess.title if guess.causes else f"{guess.address}: {guess.title}"))
    if explanation.last_error:
        say(f"Report it: {NEW_ISSUE}")
    else:
        say('Find a silent failure by its symptom: torch-repros search "loss stays constant"')
        say("Or check step by step: torch-repros diagnose")


def _guesses(explanation: explaining.Explanation) -> list[searching.Found]:
    """If nothing matches, returns the entries that search finds for the words of the last error."""
    if explanation.answers or not explanation.last_error:
        return []
    return searching.Index(options.select(())).search(explanation.last_error)[:GUESSES]


def _hint(what: str, reproducers: list[catalog.Reproducer]) -> str:
    """A hint if the text looks like a file name or an id, or ""."""
    if os.path.isdir(what):
        return f"{what} is a folder; name a file in it."
    if len(what) > 200 or not re.fullmatch(r"\S+[./\\_]\S+", what) or os.path.exists(what):
        return ""
    folder, name = os.path.split(what)
    files = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
    if near := difflib.get_close_matches(name, files, n=1):
        suggestion = f"did you mean {os.path.join(folder, near[0])}?"
    else:
        suggestion = options.did_you_mean(what, reproducers) if re.search("[/_]", what) else ""
    suggestion = suggestion or f"pipe a program's output in: {PIPED}"
    return f"There is no file or reproducer {what!r}; {suggestion}"


def _explanation(what: str | None, reproducers: list[catalog.Reproducer]) -> explaining.Explanation:
    if what is None and sys.stdin.isatty():
        raise click.UsageError(
            f"nothing to explain: name a file, or pipe a program's output in: {PIPED}"
        )
    try:
        pieces = explaining.read(what, sys.stdin.buffer)
    except explaining.ExplainError as error:
        raise click.UsageError(str(error)) from None
    explanation = explaining.look_up(pieces, reproducers)
    if explanation.blank:
        raise click.UsageError(
            "nothing to explain: the text is empty; 2>&1 pipes errors too, as in " + PIPED
        )
    return explanation


@click.command(
    "exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.argument("command", metavar="[--] PROGRAM [ARGUMENT]...", nargs=-1, type=click.UNPROCESSED)
@TORCH_OPTION
@click.option(
    "--json",
    "json_file",
    metavar="FILE",
    type=click.File("w", encoding="utf-8", lazy=False),
    help="Also write the output of `explain --json` to this file.",
)
@click.option(
    "--watch",
    type=click.Choice(["some", "all"]),
    is_flag=False,
    flag_value="some",
    help="Also look for silent failures. The first steps are checked, and then fewer and fewer of "
    "the later steps; with --watch=all, every step is checked.",
)
@click.option(
    "--report",
    metavar="FILE",
    type=click.File("w", encoding="utf-8", lazy=False),
    help="Write what --watch found to this file, as JSON.",
)
def exec_(
    command: tuple[str, ...],
    version: str | None,
    json_file: TextIO | None,
    watch: str | None,
    report: TextIO | None,
) -> None:
    """Run a program, and explain its failure.

    \b
    torch-repros exec -- python train.py --epochs 3
    torch-repros exec -- torchrun --nproc-per-node 8 train.py
    torch-repros exec --watch -- python train.py

    The program's output is passed through live and unchanged. If the program fails or has printed a
    known message, an explanation follows on standard error. Otherwise, nothing is added. An
    interrupt is not a failure. In a terminal, the program also gets a terminal, so that progress
    bars stay live (on Windows, its standard output is then not examined). SIGINT and SIGTERM are
    passed on to the program. Background processes that outlive the program continue to run. If they
    print output more than two seconds after the program has ended, it is passed on but not
    explained.

    With --watch, each Python process of the program that imports torch is watched for failures that
    raise no error. A finding is printed on standard error as soon as it is made, and again below
    the program's output. The environment of the program does not need torch-repros, and the results
    of the program do not change. --report writes a list of objects with id, check, level, message,
    change, fix, file, line, step (of the optimizer, from 1 on), count (how often it was seen) and
    facts. The file is also written if the program fails or is interrupted. --watch has no effect on
    a Python process that is started with -E, -I or -S.

    Exit status: the program's own, or 128 + N if signal N ended it; 126 if the program cannot be
    executed, 127 if it cannot be found.
    """
    if not command:
        raise click.UsageError("name a program: torch-repros exec -- python train.py")
    if report and not watch:
        raise click.UsageError("--report needs --watch")
    from ..explain import execution

    with watched.Watched(watch) if watch else nullcontext() as watching:
        try:
            environment = watching.environment() if watching else None
            reproducers = options.select(())
            ended = execution.run(list(command), reproducers, environment)
        except (OSError, ValueError) as error:  # for example, a NUL in the name
            why = error.strerror if isinstance(error, OSError) else str(error)
            hint = " (write: python " + command[0] + ")" if command[0].endswith(".py") else ""
            options.say(f"torch-repros exec: {command[0]}: {why}{hint}", err=True)
            sys.exit(127 if isinstance(error, FileNotFoundError) else 126)
        finally:
            found = watching.findings() if watching else []
            _write(report, watched.as_json(found, options.load()))
    try:
        if watching:
            _print_findings(command[0], found, watching.failed, reproducers)
        _explain_run(command[0], ended, reproducers, version, json_file)
    except (OSError, KeyboardInterrupt):  # a full disk, or a second Ctrl-C
        options.give_up_streams()
    sys.exit(ended.status)


def _print_findings(
    name: str,
    found: list[Finding],
    failed: dict[str, str],
    reproducers: list[catalog.Reproducer],
) -> None:
    by_id = {reproducer.id: reproducer for reproducer in reproducers}
    if found:
        options.say(f"\n--- torch-repros: what was seen while `{name}` ran ---\n", err=True)
    for finding in found:
        options.say(watched.shown(finding, by_id.get(finding.id)), err=True)
    for check, error in failed.items():
        options.say(f"torch-repros: the check {check} failed and was turned off: {error}", err=True)


def _write(file: TextIO | None, answer: object) -> None:
    """Writes JSON. A full disk must not hide how the program ended."""
    if file:
        try:
            file.write(json_text(answer) + "\n")
            file.flush()
        except OSError as error:
            options.say(f"torch-repros exec: {file.name}: {error.strerror}", err=True)


def _explain_run(
    name: str,
    ended: execution.Ended,
    reproducers: list[catalog.Reproducer],
    version: str | None,
    json_file: TextIO | None,
) -> None:
    explanation = explaining.explained(ended.scans, reproducers)
    version = version or explanation.torch_version
    if not (ended.status or explanation.answers or json_file):
        return
    measured = _measured(explanation)
    guesses = _guesses(explanation) if ended.status else []
    if explanation.answers or (ended.status and not ended.interrupted):
        options.say(f"\n--- torch-repros: what `{name}` printed ---\n", err=True)
        _print_explanation(explanation, "", guesses, measured, version, err=True)
    if json_file:
        _write(json_file, text.as_json(explanation, guesses, measured, version))


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Maximum number of results to show.",
)
def search(words: tuple[str, ...], limit: int) -> None:
    """Find a silent failure by its symptom.

    \b
    torch-repros search "loss stays constant"
    torch-repros search memory of the host grows with every epoch

    Describe the symptom in several words of your own. Each result says how well it fits: "this is
    it" or "perhaps". If nothing fits, the nearest entries are shown as guesses. If the words are
    the text of an error, the answer is that of `explain`. For a vague symptom, a checklist of
    `diagnose` comes first. A checklist lists what to check, and does not name a cause.

    Exit status: 0 if something fits or the symptom is vague, 1 otherwise.
    """
    query = " ".join(words)
    reproducers = options.select(())
    for answer in explaining.find(query, reproducers)[:1]:
        options.say([f"The text of an error: {answer.title}", *(f"  {id}" for id in answer.ids)])
        options.say(f"`torch-repros explain` says more: torch-repros explain '{query}'")
        return
    entries = searching.Index(reproducers).search(query)
    fitting, guesses = searching.shown(entries, limit, GUESSES)
    for entry in fitting:
        _print_found(entry)
    if not fitting:
        options.say("Nothing here fits these words.")
    if guesses:
        options.say("The closest entries by their words (guesses):")
    for entry in guesses:
        _print_found(entry)
    if not fitting:
        options.say("\n`torch-repros diagnose` lists what to check for a vague symptom.")
        sys.exit(options.FINDINGS)
    options.say("\n`torch-repros show ID` shows everything about one of them.")


def _print_found(entry: searching.Found) -> None:
    fit = f" ({entry.fit})" if entry.fit else ""
    options.say(f"{entry.title if entry.causes else entry.address}{fit}", bold=True)
    if not entry.causes:
        options.say(f"  {entry.title}")
    if entry.checklist:
        options.say("  what to check, and in which order")
    elif not entry.causes:
        options.say(f"  fix: {text.fix(entry.reproducers[0])}")
    for cause in entry.causes:
        see = f" ({cause.see})" if cause.see else ""
        options.say(f"  - {cause.cause}{see}")


@click.command()
@click.argument("old", metavar="OLD", type=options.VERSION)
@click.argument("new", metavar="NEW", type=options.VERSION)
@click.option(
    "--device",
    "devices",
    type=options.DEVICE,
    multiple=True,
    help="Default: the devices that were measured on both versions.",
)
@click.option("--all", "every", is_flag=True, help="Also list unchanged and unknown results.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
@options.RECORDS_OPTION
def compare(
    old: str, new: str, devices: tuple[str, ...], every: bool, as_json: bool, folder: Path
) -> None:
    """Show what another torch version fixes and breaks.

    \b
    torch-repros compare 2.6 2.13                  an upgrade
    torch-repros compare 2.13 2.6 --device cuda    a downgrade

    Only measurements are compared. Reproducers that were not measured on both versions are listed
    as not known.

    Exit status: 0 if nothing breaks, 1 otherwise.
    """
    releases, recorded = options.releases(), options.records(folder)
    first, second = (options.releases((minor(name),))[0] for name in (old, new))
    on_both = [
        device
        for device in DEVICES
        if {first.minor, second.minor}
        <= {record.minor for record in recorded if record.device == device}
    ]
    chosen = [device for device in DEVICES if device in (devices or on_both)]
    if not chosen or not set(chosen) <= set(on_both):
        where = f" on {', '.join(chosen)}" if chosen else ""
        raise click.UsageError(
            f"torch {first.minor} and {second.minor} were not both measured{where}"
        )
    comparison = comparing.compare(options.select(()), recorded, releases, first, second, chosen)
    if as_json:
        click.echo(json_text(comparing.as_json(comparison)))
    else:
        options.say(f"torch {first.minor} to {second.minor} on {', '.join(chosen)}\n")
        options.say(comparing.text(comparison, every))
    breaks = any(change.change in comparing.BREAKING for change in comparison.changes)
    sys.exit(options.FINDINGS if breaks else options.OK)


@click.command()
@click.argument("id", metavar="[ID]", required=False, type=options.ID)
@click.option(
    "--venue",
    type=click.Choice(report.VENUES),
    help="Where you will paste the report. Default: github for a bug in PyTorch, otherwise forum.",
)
@click.option(
    "--torch",
    "version",
    type=options.VERSION,
    help="The release whose record is quoted. Default: the newest measured release.",
)
@click.option(
    "--run",
    "run_it",
    is_flag=True,
    help="Measure the failure now, on this machine. Default: quote the newest record.",
)
@click.option(
    "--python",
    metavar="PATH",
    type=options.INTERPRETER,
    help="With --run: the interpreter whose torch is measured. Default: the current interpreter.",
)
@click.option(
    "--device", type=options.DEVICE, help="Default: the first device that shows the failure."
)
@click.option(
    "--upstream",
    is_flag=True,
    help="Write a new report for PyTorch. Without an ID: list the bugs that nobody has reported.",
)
def cite(
    id: str | None,
    venue: str | None,
    version: str | None,
    run_it: bool,
    python: str | None,
    device: str | None,
    upstream: bool,
) -> None:
    """Write a bug report about one reproducer.

    \b
    torch-repros cite amp/fused_sgd_skip_leaves_garbage --run
    torch-repros cite amp/unscale_twice --venue forum
    torch-repros cite --upstream        bugs that nobody has reported to PyTorch

    Reports of PyTorch bugs follow PyTorch's own template.

    The report starts with the verdict, followed by a short program that shows the failure and its
    control and, with --run, the program's output on this machine. A failure that is absent on that
    torch and device is not reported. Only PyTorch's own bugs are reported to PyTorch.

    Exit status: 0 if the report is on standard output (its title is on standard error), 1 if there
    is nothing to report, 3 if the device or interpreter cannot be used.
    """
    from ..run import runner

    measured = text.Measured.load(records := options.records())
    if id is None:
        if upstream and (venue or version or run_it or python or device):
            raise click.UsageError(
                "name a bug from the list: torch-repros cite ID --upstream --run"
            )
        if not upstream:
            raise click.UsageError(
                "name a reproducer: torch-repros cite amp/unscale_twice\n"
                "or list what nobody has reported to PyTorch: torch-repros cite --upstream"
            )
        _list_unreported(measured)
        return
    if python and not run_it:
        raise click.UsageError("--python requires --run")
    if version and run_it:
        raise click.UsageError("--torch quotes a record; --run measures the torch of --python")
    reproducer = _reportable(id, device)
    try:
        observation = _observation(reproducer, records, run_it, python, device, version)
        written = report.report(reproducer, observation, measured, venue, upstream)
    except runner.RunnerError as error:
        options.say(f"Error: {error}", err=True)
        sys.exit(options.UNUSABLE)
    except report.ReportError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"Title: {reproducer.title}", err=True)
    if observation.record:
        click.echo("Quoted from a record: --run measures it on this machine.", err=True)
    click.echo(err=True)
    click.echo(written, nl=False)


def _reportable(id: str, device: str | None) -> Reproducer:
    """The reproducer to report. Raises ClickException if it cannot be reported."""
    reproducer = options.select_one(id)
    if not reproducer.is_current:
        raise click.ClickException(f"{reproducer.id} is retired: {reproducer.retired}")
    if device and device not in reproducer.affected:
        concerns = ", ".join(reproducer.devices)
        raise click.BadParameter(
            f"{id} does not apply to {device}; it applies to {concerns}", param_hint="--device"
        )
    return reproducer


def _observation(
    reproducer: Reproducer,
    records: list[Record],
    run_it: bool,
    python: str | None,
    device: str | None,
    version: str | None,
) -> Observation:
    """The observation that the report quotes: a run on this machine, or a record."""
    from ..run import observe

    if run_it:
        return observe.measured_here(reproducer, python or sys.executable, device)
    return report.from_records(reproducer, records, device, version and minor(version))


def _list_unreported(measured: text.Measured) -> None:
    unreported = report.unreported(options.select(()), measured.states)
    if not unreported:
        click.echo("Every PyTorch bug in the catalog is reported or fixed.", err=True)
        return
    for reproducer, since in unreported.items():
        options.say(f"{reproducer.id}  since {since}  {reproducer.title}")
    newest = measured.states.minors[-1]
    options.say(
        [
            "",
            f"Reproduced on torch {newest}; no report in PyTorch's tracker is known.",
            "To report one: torch-repros cite ID --upstream --run",
        ],
        err=True,
    )
