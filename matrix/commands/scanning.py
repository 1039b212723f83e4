"""The command that finds failures in code."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import click

from ..catalog import LEVELS, Reproducer, ruled
from ..explain.text import Measured
from ..printing import json_text, printable, printable_line
from ..scan import changed, files, fixing, formats, scanning, settings
from ..scan.scanning import Finding, PassedOver
from . import options

FORMATS = ("text", "json", "sarif", "github")


@click.command()
@click.argument(
    "paths", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[PATH]..."
)
@click.option(
    "--select",
    multiple=True,
    type=options.RULES,
    metavar="ID|FAMILY",
    help="Look only for these failures; repeatable, or separated by commas.",
)
@click.option(
    "--ignore",
    multiple=True,
    type=options.RULES,
    metavar="ID|FAMILY",
    help="Do not look for these failures; repeatable, or separated by commas.",
)
@click.option(
    "--level",
    type=click.Choice(list(LEVELS)),
    default="note",
    show_default=True,
    help="Lowest level to show.",
)
@click.option(
    "--exclude", multiple=True, metavar="GLOB", help="Skip the paths that match; repeatable."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="sarif: for code scanning; github: annotations for GitHub Actions.",
)
@click.option(
    "--diff",
    "base",
    metavar="BASE",
    help="Show only findings that are new since the branch left BASE in git.",
)
@click.option(
    "--fix", is_flag=True, help="Show the edits that are certain to be correct, as a diff."
)
@click.option("--write", is_flag=True, help="With --fix: make the edits.")
@click.option(
    "--run", "running", is_flag=True, help="Run the reproducers of the findings on your torch."
)
@click.option(
    "--python",
    type=options.INTERPRETER,
    default=sys.executable,
    metavar="PATH",
    help="With --run: the interpreter whose torch is used. Default: the current one.",
)
@click.option(
    "--torch",
    "version",
    type=options.VERSION,
    help="Show the measurements on this torch.",
)
@click.option("--jobs", type=click.IntRange(1), help="Processes to use. Default: one per CPU core.")
@options.RECORDS_OPTION
@click.pass_context
def scan(
    context: click.Context,
    paths: tuple[Path, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    level: str,
    exclude: tuple[str, ...],
    form: str,
    base: str | None,
    fix: bool,
    write: bool,
    running: bool,
    python: str,
    version: str | None,
    jobs: int | None,
    folder: Path,
) -> None:
    """Find failures in code before they happen.

    Python files and notebooks are read but never imported or run, and only --run needs torch.
    Without a PATH, the current folder is read, except hidden folders and environments.

    \b
    torch-repros scan src train.py     look for everything
    torch-repros scan --diff main      only findings that are new on a branch
    torch-repros scan --run            also show each failure on your own torch
    torch-repros scan --fix --write    make the edits that are certain

    \b
    error    the code fails, trains incorrectly or measures the wrong thing
    warning  the code does so under a condition that occurs in practice
    note     the effect is small, or the code does not show whether it occurs

    To silence a line, add the comment `# torch-repros: ignore[amp/clip_before_unscale]` to it. The
    section [tool.torch-repros.scan] of pyproject.toml can contain the lists select, ignore and
    exclude.

    Exit status: 0 if no errors or warnings were found; 1 if some were found (with --fix --write, if
    some remain); 2 for a usage error; 3 if --run cannot use the interpreter or its torch; 4 if none
    were found, but a file was not read completely; 130 if interrupted.
    """
    if write and not fix:
        raise click.UsageError("--write requires --fix")
    if fix and form != "text":
        raise click.UsageError("--fix shows a diff: it works only with --format text")
    reproducers = options.load()
    try:
        own = settings.load(Path.cwd())
        rules = _rules(reproducers, select or own.select, (*ignore, *own.ignore), level)
        chosen = list(files.find(list(paths) or [Path()], (*exclude, *own.exclude), own.folder))
        findings, passed = _scan(chosen, _branches(base, paths), rules, jobs or 0)
    except settings.SettingsError as error:
        raise click.UsageError(str(error)) from None
    except changed.GitError as error:
        raise click.UsageError(f"--diff: {error}") from None
    for file in passed:
        options.say(printable_line(f"passed over: {file.path}: {file.why}"), err=True)
    if fix:
        findings = _fix(findings, rules, write)
    by_id = {reproducer.id: reproducer for reproducer in reproducers}
    _show(findings, passed, by_id, form, version, folder)
    status = _status(findings, passed)
    if running and findings:
        status = _run(context, sorted({finding.id for finding in findings}), python) or status
    sys.exit(status)


def _branches(base: str | None, paths: tuple[Path, ...]) -> list[changed.Branch] | None:
    """The changes since `base` in the repositories of the paths, or None without --diff."""
    if base is None:
        return None
    folders = {path if path.is_dir() else path.parent for path in paths or (Path(),)}
    return changed.since(base, folders)


def _status(findings: list[Finding], passed: list[PassedOver]) -> int:
    if any(finding.level != "note" for finding in findings):
        return options.FINDINGS
    return options.UNREAD if passed else options.OK


def _rules(
    reproducers: list[Reproducer], select: tuple[str, ...], ignore: tuple[str, ...], level: str
) -> list[scanning.Rule]:
    """The selected rules. Raises click.BadParameter for a name that no rule has."""
    ranks = list(LEVELS)
    reproducers_with_rules = ruled(reproducers)
    chosen = [
        reproducer
        for reproducer in reproducers_with_rules
        if ranks.index(reproducer.rule) <= ranks.index(level)
    ]
    for names, is_kept in ((_names(select), True), (_names(ignore), False)):
        for name in names:
            if not any(
                name in (reproducer.id, reproducer.family) for reproducer in reproducers_with_rules
            ):
                hint = (
                    options.did_you_mean(name, reproducers_with_rules)
                    or "`torch-repros list --rules`"
                )
                raise click.BadParameter(f"no rule or family of rules {name!r}; {hint}")
        if names:
            chosen = [
                reproducer
                for reproducer in chosen
                if (bool({reproducer.id, reproducer.family} & set(names))) is is_kept
            ]
    return scanning.rules(chosen)


def _names(options_given: tuple[str, ...]) -> list[str]:
    return [name.strip() for value in options_given for name in value.split(",") if name.strip()]


def _scan(
    paths: list[Path],
    branches: list[changed.Branch] | None,
    rules: list[scanning.Rule],
    jobs: int,
) -> tuple[list[Finding], list[PassedOver]]:
    from . import table

    if branches is not None:
        paths = [path for path in paths if any(branch.has_changed(path) for branch in branches)]
    try:
        with table.progress_bar("reading files") as advance:
            count = len(paths)
            findings, passed = scanning.scan(paths, rules, jobs, lambda done: advance(done, count))
            if branches is not None:
                findings = changed.new(findings, paths, branches, rules, jobs)
    except KeyboardInterrupt:
        click.echo("interrupted: nothing is shown", err=True)
        sys.exit(options.INTERRUPTED)
    return findings, passed


def _show(
    findings: list[Finding],
    passed: list[PassedOver],
    by_id: dict[str, Reproducer],
    form: str,
    version: str | None,
    folder: Path,
) -> None:
    if form == "github":
        for line in formats.github(findings):
            click.echo(line)
        return
    measured = Measured.load(options.records(folder))
    if form != "text":
        render = formats.as_json if form == "json" else formats.sarif
        click.echo(json_text(render(findings, passed, by_id, measured, version)))
        return
    for line in formats.lines(findings):
        options.say(line)
    for id in sorted({finding.id for finding in findings}):
        options.say(["", *formats.about(by_id[id], measured, version)])
    counts = ", ".join(
        options.plural(count, level)
        for level in LEVELS
        if (count := sum(finding.level == level for finding in findings))
    )
    fixable = sum(bool(finding.edits) for finding in findings)
    hint = f"; `--fix` shows edits for {fixable}" if fixable else ""
    nothing = f"nothing found{' in what was read' if passed else ''}"
    options.say(["", f"{counts}{hint}"] if findings else nothing)


def _fix(findings: list[Finding], rules: list[scanning.Rule], write: bool) -> list[Finding]:
    """Shows or makes the edits. Returns the findings that remain."""
    by_path: dict[Path, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.edits:
            by_path[finding.path].append(finding)
    fixed: set[Finding] = set()
    for path, fixable in by_path.items():
        try:
            before, after, done = fixing.fixed(path, fixable, rules)
            if write:
                fixing.write(path, after)
        except (fixing.NotFixed, OSError) as error:
            options.say(printable_line(f"not fixed: {error}"), err=True)
            continue
        diff = fixing.diff(path, before, after)
        is_terminal = sys.stdout.isatty()  # a pipe may lead to `git apply`
        click.echo(printable(diff.decode(errors="replace")) if is_terminal else diff, nl=False)
        fixed.update(done if write else ())
    return [finding for finding in findings if finding not in fixed]


def _run(context: click.Context, ids: list[str], python: str) -> int:
    """Runs the reproducers. Returns the exit status if they cannot be run, or 0."""
    from . import running

    click.echo()
    try:
        context.invoke(running.run, names=tuple(ids), python=python)
    except SystemExit as end:
        return end.code if end.code in (options.UNUSABLE, options.INTERRUPTED) else 0  # type: ignore[return-value]
    return 0
