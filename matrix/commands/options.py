"""The parts that commands share: exit statuses, options, the sections of --help, and functions that
find and read reproducers and records.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import traceback
from collections.abc import Container, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem
from packaging.version import InvalidVersion

from .. import catalog, torches
from ..devices import DEVICES
from ..explain import wrapping
from ..printing import printable_line

if TYPE_CHECKING:
    from ..evidence.schema import Record

OK, FINDINGS, UNUSABLE, UNREAD = 0, 1, 3, 4  # click exits with 2 for usage errors
BROKEN_PIPE = 141  # as shells report SIGPIPE: `torch-repros list | head -1`
SHOWN = 5  # maximum number of problems printed; a new reproducer has twenty
INTERRUPTED = 130  # as shells report Ctrl-C


class Name(click.ParamType):  # type: ignore[type-arg]  # click is not generic on 3.9
    """An id or, with `families`, a family. This class only completes names; select() finds them."""

    name = "id"

    def __init__(self, families: bool = False) -> None:
        self.families = families

    def shell_complete(
        self, context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names with this prefix, or else files, because paths are also accepted."""
        repros = context.find_root().params.get("repros") or catalog.REPROS
        items = {}
        if self.families:
            items = {family: f"all of {family}" for family in catalog.families(repros)}
        items |= {
            reproducer.id: reproducer.title for reproducer in catalog.read(repros, values=False)[0]
        }
        completions = [
            CompletionItem(name, help=about)
            for name, about in items.items()
            if name.startswith(incomplete)
        ]
        return completions or [CompletionItem(incomplete, type="file")]


class NameOrFile(Name):
    """The argument of `explain`, which is usually a file."""

    def shell_complete(
        self, context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        if not incomplete:
            return [CompletionItem(incomplete, type="file")]
        return super().shell_complete(context, parameter, incomplete)


class Rules(click.ParamType):  # type: ignore[type-arg]
    """The ids or families of rules, separated by commas."""

    name = "id"

    def shell_complete(
        self, context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, begun = incomplete.rpartition(",")
        repros = context.find_root().params.get("repros") or catalog.REPROS
        ruled = catalog.ruled(catalog.read(repros, values=False)[0])
        items = {reproducer.family: f"all rules of {reproducer.family}" for reproducer in ruled}
        items |= {reproducer.id: reproducer.title for reproducer in ruled}
        return [
            CompletionItem(f"{before}{comma}{name}", help=about)
            for name, about in items.items()
            if name.startswith(begun)
        ]


class Release(click.ParamType):  # type: ignore[type-arg]
    """A measured release. This class only completes names; releases() finds them."""

    name = "version"

    def shell_complete(
        self, context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        minors = [torch.minor for torch in torches.load()]
        return [CompletionItem(minor) for minor in minors if minor.startswith(incomplete)]


class TorchVersion(Release):
    """A version of torch, such as 2.4 or 2.4.1+cu121."""

    def convert(self, value: str, parameter: object, context: object) -> str:
        try:
            torches.minor(value)
        except InvalidVersion:
            self.fail(f"{value!r} is not a version of torch; write, for example, 2.4 or 2.4.1")
        return value


class Fix(click.ParamType):  # type: ignore[type-arg]
    """A family that has a fix."""

    name = "family"

    def shell_complete(
        self, context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(fix) for fix in catalog.fixes() if fix.startswith(incomplete)]


ID, ID_OR_FAMILY, ID_OR_FILE = Name(), Name(families=True), NameOrFile()
RELEASE, VERSION, RULES = Release(), TorchVersion(), Rules()
INTERPRETER = click.Path()  # also accepts the name of an interpreter on PATH
DEVICE = click.Choice(DEVICES)


class Folder(click.Path):
    """A folder that may not exist yet. Rejects "" (an unset variable), which would mean "."."""

    def convert(
        self,
        value: str | os.PathLike[str],
        parameter: click.Parameter | None,
        context: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        if not os.fspath(value):
            self.fail("the name is empty", parameter, context)
        return super().convert(value, parameter, context)


FOLDER = Folder(file_okay=False, path_type=Path)
_RECORDS = ("--records", "folder")
RECORDS_OPTION = click.option(
    *_RECORDS,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=catalog.RECORDS,
    help="Folder of records. Default: the project's own.",
)
INTO_RECORDS_OPTION = click.option(
    *_RECORDS,
    type=FOLDER,
    default=catalog.RECORDS,
    help="Folder of records, created if missing. Default: the project's own.",
)
ENVS_OPTION = click.option(
    "--envs", type=FOLDER, help="Folder for environments. Default: next to uv's cache."
)


@dataclass
class State:
    """The --repros folder and its reproducers, which are read once per call."""

    repros: Path
    loaded: tuple[list[catalog.Reproducer], list[str]] | None = field(default=None)


class Sections(click.Group):
    """A command group whose --help lists commands by purpose. Outside a clone, the help omits
    commands that require a clone.
    """

    IN_A_CLONE = "Maintain (in a clone)"

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self.places: dict[str, tuple[str, str]] = {}  # name -> section, module of this package

    def add(self, section: str, module: str, *names: str) -> None:
        """Adds commands with these names, in the order in which --help lists them.

        The module is not imported until one of its commands is called, because importing all
        modules takes longer than running `list`.
        """
        for name in names:
            self.places[name] = section, module

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except OSError as error:
            frames = traceback.walk_tb(error.__traceback__)
            if all(frame.f_code is not click.echo.__code__ for frame, _ in frames):
                raise
            give_up_streams()
            if isinstance(error, BrokenPipeError):
                sys.exit(BROKEN_PIPE)
            with suppress(OSError):
                say(f"Error: the output cannot be written: {error.strerror}", err=True)
            sys.exit(UNUSABLE)
        except click.ClickException as error:
            width = wrapping.width(sys.stderr)
            text = _wrapped([f"Error: {error.format_message()}"], width)[len("Error: ") :]
            error.format_message = lambda: text  # type: ignore[method-assign]
            raise

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.places)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.places:
            return None
        section, module = self.places[name]
        if section == self.IN_A_CLONE and not catalog.CLONE:
            return _needs_a_clone(name)
        members = vars(importlib.import_module(f".{module}", __package__)).values()
        return next(
            member
            for member in members
            if isinstance(member, click.Command) and member.name == name
        )

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        commands = {name: self.get_command(context, name) for name in self.places}
        for section in dict.fromkeys(section for section, _ in self.places.values()):
            rows = [
                (name, command.get_short_help_str(60))
                for name, command in commands.items()
                if command and not command.hidden and self.places[name][0] == section
            ]
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows)

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if arguments[0] not in self.places and not arguments[0].startswith("-"):
            near = difflib.get_close_matches(arguments[0], self.list_commands(context), n=1)
            if near:
                context.fail(f"No such command {arguments[0]!r}; did you mean {near[0]}?")
        return super().resolve_command(context, arguments)


def _needs_a_clone(name: str) -> click.Command:
    @click.command(
        name,
        hidden=True,
        context_settings={"ignore_unknown_options": True},
        add_help_option=False,
    )
    @click.argument("arguments", nargs=-1)
    def command(arguments: tuple[str, ...]) -> None:
        raise click.UsageError(
            f"`torch-repros {name}` works on the project's own files: "
            "run it in a clone of the repository"
        )

    return command


def load(values: bool = True) -> list[catalog.Reproducer]:
    """Returns all readable reproducers, and prints problems in other files to stderr once.

    See catalog.read() for `values`.
    """
    state: State = click.get_current_context().find_root().obj
    if state.loaded is None:
        state.loaded = catalog.read(state.repros, values)
        for problem in state.loaded[1][:SHOWN]:
            say(f"left out: {problem}", err=True)
        if (more := len(state.loaded[1]) - SHOWN) > 0:
            say(
                f"left out: {plural(more, 'more problem')}; `torch-repros lint` lists all", err=True
            )
        if not state.loaded[0]:
            raise click.ClickException(f"{state.repros}: no reproducer can be read")
    return state.loaded[0]


def problems() -> list[str]:
    """The problems in the files that load() skipped."""
    load()
    state: State = click.get_current_context().find_root().obj
    return state.loaded[1] if state.loaded else []


def select(names: tuple[str, ...], values: bool = True) -> list[catalog.Reproducer]:
    reproducers = load(values)
    names = tuple(map(named, names))
    try:
        return catalog.select(reproducers, names)
    except KeyError as error:
        name = error.args[0]
    if os.path.exists(click.get_current_context().find_root().obj.repros / f"{name}.py"):
        raise click.BadParameter(f"{name} cannot be read; the lines above say why")
    hint = did_you_mean(name, reproducers) or "`torch-repros list` lists them all"
    raise click.BadParameter(f"no reproducer or family {name!r}; {hint}")


def named(name: str) -> str:
    """The id or family for a name, which may be a path such as "repros/amp/unscale_twice.py"."""
    path = Path(os.path.abspath(name))
    repros = Path(os.path.abspath(click.get_current_context().find_root().obj.repros))
    # os.path.exists() also accepts messages that are too long for a file name
    if not os.path.exists(path) or path == repros or not path.is_relative_to(repros):
        return name
    return path.relative_to(repros).as_posix().removesuffix(".py")


def did_you_mean(name: str, reproducers: list[catalog.Reproducer]) -> str:
    """A hint that lists the ids and families most similar to the name, or ""."""
    names = [name for reproducer in reproducers for name in (reproducer.id, reproducer.family)]
    near = difflib.get_close_matches(name, dict.fromkeys(names), n=3, cutoff=0.4)
    return f"did you mean {', '.join(near)}?" if near else ""


def select_one(id: str) -> catalog.Reproducer:
    id = named(id)
    reproducer = next((item for item in select((id,)) if item.id == id), None)
    if reproducer is None:
        raise click.BadParameter(
            f"{id!r} is a family; `torch-repros list {id}` lists its reproducers"
        )
    return reproducer


def releases(names: tuple[str, ...] = ()) -> list[torches.Torch]:
    """The named releases ("2.4" or "2.4.1"), oldest first. Without names, returns all releases."""
    try:
        return torches.find(torches.load(), names)
    except torches.TorchesError as error:
        raise click.BadParameter(str(error)) from None


def records(folder: Path = catalog.RECORDS, ids: Container[str] | None = None) -> list[Record]:
    """Returns all readable records, and prints problems in other files to stderr.

    `ids` restricts the measurements to these reproducers.
    """
    from ..evidence.records import read_all  # imported here to keep `list` fast

    readable, wrong = read_all(folder, ids)
    for problem in wrong:
        say(f"left out: {problem}", err=True)
    return readable


def say(text: str | Iterable[str], err: bool = False, **style: Any) -> None:
    """Prints a text with harmful characters escaped. In a terminal, its lines are wrapped.

    `style` is passed to click.style().
    """
    texts = [text] if isinstance(text, str) else text
    wrapped = _wrapped(texts, wrapping.width(sys.stderr if err else sys.stdout))
    click.echo(click.style(wrapped, **style) if style else wrapped, err=err)


def _wrapped(texts: Iterable[str], width: int | None) -> str:
    harmless = (type(text)("\n".join(map(printable_line, text.split("\n")))) for text in texts)
    return wrapping.wrap(harmless, width)


def give_up_streams() -> None:
    """Discards output that cannot be written any more, so that Python does not retry at exit."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def plural(count: int, noun: str) -> str:
    """ "1 problem", "2 problems" """
    return f"{count} {noun}{'' if count == 1 else 's'}"
