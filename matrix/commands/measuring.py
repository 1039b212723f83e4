"""The commands for measuring: record, bisect, merge, torches."""

from __future__ import annotations

import errno
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from .. import catalog, devices
from .. import torches as axis
from ..catalog import Reproducer
from ..evidence import records, schema, store
from ..evidence.schema import Measurement, Record
from ..torches import Torch
from . import options

LOCAL = ("python", "folder", "envs", "keep")  # parameters that do not affect measurements

SOURCE = click.option(
    "--source",
    type=click.Choice(schema.KINDS),
    default="user",
    show_default=True,
    help="Whose machine it is: a CI service's (hosted), the project's (self) or yours (user).",
)
REPEAT = click.option(
    "--repeat",
    type=click.IntRange(1, schema.MAX_RUNS),
    default=5,
    show_default=True,
    help="Number of runs per role.",
)
AGAIN = click.option("--again", is_flag=True, help="Measure again, even if there is a record.")
KEEP = click.option("--keep", is_flag=True, help="Keep the environments (several GB each).")


def _as_given() -> str:
    """This command line without the options that concern only this machine."""
    context = click.get_current_context()
    words = ["torch-repros", str(context.info_name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        if name in LOCAL or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        setting = context.params[name]
        for value in setting if isinstance(setting, tuple) else (setting,):
            if isinstance(parameter, click.Option):
                words.append(parameter.opts[0])
            if value is not True:
                words.append(str(value))
    return shlex.join(words)


def _why(error: Exception, folder: Path) -> str:
    """A message for the error, without the number of a system error."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return f"the disk that holds {folder} is full"
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _refuse_the_packages_own(folder: Path) -> None:
    if not catalog.CLONE and folder.resolve() == catalog.RECORDS.resolve():
        raise click.UsageError(
            "an installed package's own records are read-only: name a folder with --records DIR"
        )


@dataclass
class Recording:
    """A call of `record`, with its settings, and the surprises and failures so far."""

    reproducers: list[Reproducer]
    device: str
    folder: Path
    repeat: int
    again: bool
    kind: str
    command: str
    surprises: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def interpreter(self, python: str, title: str, release: str = "") -> None:
        """Measures everything that is missing in the record of this interpreter's torch."""
        from ..run import measure
        from . import table

        with table.progress_bar(title) as advance:
            record, results = measure.record(
                self.reproducers,
                python,
                self.device,
                self.folder,
                self.repeat,
                self.kind,
                self.command,
                self.again,
                advance,
                release,
            )
        differ = [
            f"{record.torch}: {result.id}: {result.surprise}"
            for result in results
            if result.surprise
        ]
        self.surprises += differ
        options.say(
            f"{title}: {len(results)} measured, {len(record.measurements)} in {record.name}, "
            f"{len(differ)} differ from their headers"
        )

    def release(self, torch: Torch, title: str, envs: Path | None, keep: bool) -> None:
        """Measures everything that is missing for a release, in a separate environment."""
        from ..run import environments

        if count := self._lacking(torch):
            store.check_writable(self.folder)
            options.say(f"{title}: up to {count} to measure; creating its environment", err=True)
            with environments.environment(torch, self.device, envs, keep) as python:
                self.interpreter(python, title, torch.version)
        else:
            options.say(f"{title}: nothing to measure")

    def _lacking(self, torch: Torch) -> int:
        """The maximum number to measure. The record is known in advance only for the CPU."""
        from ..run import measure

        recorded = records.read_all(self.folder)[0] if self.device == "cpu" else []
        have = {
            reproducer.id: measurement
            for reproducer in self.reproducers
            for record, measurement in measure.measured_here(reproducer, self.device, recorded)
            if record.minor == torch.minor
        }
        return len(measure.lacking(self.reproducers, self.device, have, self.repeat, self.again))

    def attempt(self, title: str, step: Callable[..., None], *arguments: Any) -> None:
        """Runs a step. If it fails, prints the error, so that the remaining steps are still run."""
        from ..run import environments, runner

        try:
            step(*arguments)
        except (
            runner.RunnerError,
            environments.EnvironmentFailed,
            schema.RecordsError,
            OSError,
        ) as error:
            self.failures.append(title)
            options.say(f"Error: {title}: {_why(error, self.folder)}", err=True)


@click.command()
@click.argument("versions", nargs=-1, metavar="[VERSION]...", type=options.RELEASE)
@click.option(
    "--python",
    metavar="PATH",
    type=options.INTERPRETER,
    help="Measure the torch installed for this interpreter.",
)
@click.option("--device", type=options.DEVICE, default="cpu", show_default=True)
@click.option(
    "--only",
    multiple=True,
    metavar="ID|FAMILY",
    type=options.ID_OR_FAMILY,
    help="Only these reproducers.",
)
@REPEAT
@AGAIN
@SOURCE
@KEEP
@options.INTO_RECORDS_OPTION
@options.ENVS_OPTION
def record(
    versions: tuple[str, ...],
    python: str | None,
    device: str,
    only: tuple[str, ...],
    repeat: int,
    again: bool,
    source: str,
    keep: bool,
    folder: Path,
    envs: Path | None,
) -> None:
    """Measure releases of torch and record the results.

    \b
    torch-repros record 2.4 2.5                     these releases, on the CPU
    torch-repros record --only amp/unscale_twice    on every release
    torch-repros record --python .venv/bin/python --device mps

    Measures the named releases, such as 2.4 2.5, or every release in torches.toml. Each release
    gets an environment, which is created with uv and removed afterwards. With --python, the torch
    of one interpreter is measured instead. Every measurement is saved immediately, so you can
    interrupt the command at any time, and repeat it later to measure the remaining reproducers.

    An interpreter has 120 s to import torch, or TORCH_REPROS_STARTUP seconds if this is set. On a
    slow network disk, the import may take minutes.

    Exit status: 0 if everything was measured and all results match the headers; 1 if some differ,
    or if a reproducer cannot be read; 2 for a usage error; 3 if something could not be measured.
    """
    if python and versions:
        raise click.UsageError("use either --python or VERSION, not both")
    _refuse_the_packages_own(folder)
    wanted = options.releases(versions)
    reproducers = options.select(only)
    recording = Recording(reproducers, device, folder, repeat, again, source, _as_given())
    if python:
        recording.attempt(python, recording.interpreter, python, python)
    elif reason := devices.missing(device):
        recording.failures.append(reason)
        options.say(f"Error: {reason}", err=True)
    else:
        for number, torch in enumerate(wanted, 1):
            title = f"torch {torch.version} ({number} of {len(wanted)})"
            recording.attempt(title, recording.release, torch, title, envs, keep)
    for line in recording.surprises:
        options.say(line)
    if recording.surprises:
        options.say("To correct the headers, run: torch-repros headers --write")
    if recording.failures:
        sys.exit(options.UNUSABLE)
    sys.exit(options.FINDINGS if recording.surprises or options.problems() else options.OK)


@dataclass
class Looks:
    """Measures one reproducer on individual releases, for `bisect`."""

    reproducer: Reproducer
    device: str
    folder: Path
    repeat: int
    kind: str
    command: str
    envs: Path | None
    keep: bool
    measured: int = 0

    def recorded(self, releases: list[Torch]) -> dict[str, str]:
        """Maps minor -> verdict, for the releases with records from this platform."""
        from ..run import measure

        verdicts_of: dict[str, set[str]] = {}
        dates: dict[str, str] = {}
        recorded = options.records(self.folder)
        for record, measurement in measure.measured_here(self.reproducer, self.device, recorded):
            if measure.is_enough(measurement, self.reproducer, self.repeat):
                verdicts_of.setdefault(record.minor, set()).add(measurement.verdict)
                dates[record.minor] = measurement.date
        verdicts = {
            # "absent/reproduced" counts as inconclusive
            torch.minor: "/".join(sorted(verdicts_of[torch.minor]))
            for torch in releases
            if torch.minor in verdicts_of
        }
        for minor, verdict in verdicts.items():
            options.say(f"torch {minor}: {verdict} (recorded {dates[minor]})")
        return verdicts

    def measure(self, torch: Torch) -> str:
        """The verdict, or "not measurable".

        Raises Stopped if the first release cannot be measured or the records cannot be written.
        """
        from ..evidence import bisection
        from ..run import environments, measure, runner

        _refuse_the_packages_own(self.folder)
        if reason := devices.missing(self.device):
            options.say(f"Error: {reason}", err=True)
            raise bisection.Stopped
        try:
            store.check_writable(self.folder)
            options.say(f"torch {torch.version}: creating its environment", err=True)
            with environments.environment(torch, self.device, self.envs, self.keep) as python:
                record, _ = measure.record(
                    [self.reproducer],
                    python,
                    self.device,
                    self.folder,
                    self.repeat,
                    self.kind,
                    self.command,
                    again=True,
                    release=torch.version,
                )
        except (runner.RunnerError, environments.EnvironmentFailed) as error:
            options.say(f"Error: torch {torch.version}: {error}", err=True)
            if not self.measured:
                raise bisection.Stopped from None
            return "not measurable"
        except (schema.RecordsError, OSError) as error:
            options.say(f"Error: torch {torch.version}: {_why(error, self.folder)}", err=True)
            raise bisection.Stopped from None
        self.measured += 1
        verdict = record.measurements[self.reproducer.id].verdict
        options.say(f"torch {torch.version}: {verdict}")
        return verdict


def _range(reproducer: Reproducer, device: str, good: str | None, bad: str | None) -> list[Torch]:
    """The releases to search, oldest first: all releases in the range that can run the code."""
    releases = [
        torch
        for torch in options.releases()
        if not reproducer.unavailable_reason(torch.version, sys.platform, device)
    ]
    if not releases:
        raise click.UsageError(f"{reproducer.id} cannot run on any listed torch on this platform")
    try:
        ends = [axis.find(releases, (name,))[0] for name in (good, bad) if name]
    except axis.TorchesError as error:
        raise click.BadParameter(str(error)) from None
    numbers = sorted(releases.index(torch) for torch in ends)
    first, last = (numbers or [0])[0], numbers[1] if len(numbers) == 2 else len(releases) - 1
    return releases[first : last + 1]


@click.command()
@click.argument("id", metavar="ID", type=options.ID)
@click.option("--device", type=options.DEVICE, default="cpu", show_default=True)
@click.option(
    "--good",
    metavar="VERSION",
    type=options.RELEASE,
    help="A release without the bug: one end of the range.",
)
@click.option(
    "--bad",
    metavar="VERSION",
    type=options.RELEASE,
    help="A release with the bug: the other end of the range.",
)
@REPEAT
@AGAIN
@SOURCE
@KEEP
@options.INTO_RECORDS_OPTION
@options.ENVS_OPTION
def bisect(
    id: str,
    device: str,
    good: str | None,
    bad: str | None,
    repeat: int,
    again: bool,
    source: str,
    keep: bool,
    folder: Path,
    envs: Path | None,
) -> None:
    """Find a release that introduced or fixed a bug.

    \b
    torch-repros bisect amp/autocast_cache_under_no_grad
    torch-repros bisect amp/unscale_twice --device cuda --good 2.2 --bad 2.4

    Existing records are used. If they cover every release, all changes are listed. Otherwise,
    releases are measured, each in a separate environment, and recorded. The binary search finds two
    measured releases that differ, but this change is not necessarily the latest or the only change.
    If the verdict for a release is neither reproduced nor absent, a neighboring release is tried.
    If no release can be measured, the answer is based on the records.

    Exit status: 0 if the answer was printed; 1 if no release has the verdict reproduced or absent;
    2 for a usage error; 3 if nothing can be measured here and there is no record. To bisect a
    checkout of torch itself, pass the reproducer's file to `git bisect run`.
    """
    from ..evidence import bisection

    reproducer = options.select_one(id)
    if device not in reproducer.affected:
        concerned = ", ".join(reproducer.affected)
        raise click.BadParameter(f"{id} does not apply to {device}; its header names {concerned}")
    releases = _range(reproducer, device, good, bad)
    looks = Looks(reproducer, device, folder, repeat, source, _as_given(), envs, keep)
    recorded = {} if again else looks.recorded(releases)
    try:
        history = bisection.bisect(releases, looks.measure, recorded)
    except bisection.Undecided as error:
        if not recorded and not looks.measured:  # Looks.measure printed the reason
            sys.exit(options.UNUSABLE)
        raise click.ClickException(str(error)) from None
    options.say(f"{id} on {device}: {history.sentence}")
    options.say(
        f"{len(recorded) + looks.measured} of {len(releases)} releases known: {len(recorded)} from "
        f"records, {looks.measured} measured now"
    )


@dataclass
class Merging:
    """The merge of a record from elsewhere into the existing record."""

    record: Record
    source: Path
    current: dict[str, Reproducer]
    changes_only: bool
    updates: dict[str, Measurement] = field(default_factory=dict)
    contradictions: list[str] = field(default_factory=list)

    def choose(self, old: Record) -> dict[str, Measurement]:
        for id in store.contradictions(old, self.record):
            stays, other = old.measurements[id], self.record.measurements[id]
            both = f"{stays} stays; {self.source} has {other}"
            self.contradictions.append(f"{old.name}: {id}: {both}")
        self.updates = store.updates(old, self.record, self.current, self.changes_only)
        return self.updates


@click.command()
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR...",
)
@click.option(
    "--changes-only",
    is_flag=True,
    help="Keep the existing measurement if the new one has the same outcome.",
)
@options.INTO_RECORDS_OPTION
def merge(folders: tuple[Path, ...], changes_only: bool, folder: Path) -> None:
    """Merge records that were made elsewhere.

    \b
    torch-repros merge ~/Downloads/records


    If both records have a measurement of a reproducer, the newer measurement is kept. If two
    measurements of the same code contradict each other, both are shown and the existing one is
    kept. All other measurements are merged. A file that cannot be read is reported and left
    unchanged.

    Exit status: 0 if everything was merged, 1 if there was a contradiction or an unreadable file.
    """
    _refuse_the_packages_own(folder)
    try:
        store.check_writable(folder)
    except OSError as error:
        raise click.UsageError(f"--records: {_why(error, folder)}") from None
    current = {reproducer.id: reproducer for reproducer in options.load()}
    existing, problems = records.read_all(folder)
    names = {record.name for record in existing}
    changed = set()
    for source in folders:
        new, wrong = records.read_all(source)
        problems += wrong if new or wrong else [f"{source}: no records in this folder"]
        for record in new:
            names.add(record.name)
            merging = Merging(record, source, current, changes_only)
            try:
                store.save(record, folder, merging.choose)
            except (schema.RecordsError, OSError) as error:
                problems.append(f"{source / record.name} was not merged: {error}")
            else:
                problems += merging.contradictions
                if merging.updates:
                    changed.add(record.name)
    for name in sorted(changed):
        options.say(f"wrote {folder / name}")
    for problem in problems:
        options.say(problem, err=True)
    options.say(f"{len(changed)} of {options.plural(len(names), 'record')} changed", err=True)
    sys.exit(options.FINDINGS if problems else options.OK)


@click.command()
@click.option("--check", is_flag=True, help="Exit with 1 if the package index has more releases.")
def torches(check: bool) -> None:
    """List the releases that are measured.

    \b
    torch-repros torches            each release, with its packages
    torch-repros torches --check    is a release missing?

    Exit status: 0 if no release is missing, 1 if one is, 3 if the list or index cannot be read.
    """
    from ..run import environments

    try:
        releases = axis.load()
        if not check:
            for torch in releases:
                requirements = " ".join(torch.requirements)
                options.say(f"{torch.minor:6} {requirements}  Python {torch.python}")
            return
        missing = environments.missing_releases(releases, environments.find_uv())
    except (axis.TorchesError, environments.EnvironmentFailed) as error:
        options.say(f"Error: {error}", err=True)
        sys.exit(options.UNUSABLE)
    for version in missing:
        options.say(f"torch {version} has been released, but is not in torches.toml")
    if missing:
        options.say(f"{options.plural(len(missing), 'release')} to add")
        sys.exit(options.FINDINGS)
    oldest, newest = releases[0].minor, releases[-1].minor
    options.say(f"torches.toml has every release from {oldest} to {newest}")
