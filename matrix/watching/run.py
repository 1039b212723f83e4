"""A watched run: passes events to the checks, and limits what the checks may cost and break."""

from __future__ import annotations

import atexit
import importlib
import os
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import torch

from . import hooks
from .check import EVENTS, Check
from .facts import Facts
from .findings import Finding, Findings
from .limit import Limit

HERE = Path(__file__).resolve().parent
FIRST = 3  # steps that are always sampled; after them, only powers of two are
AHEAD = 2  # steps that are sampled after an event such as the start of an evaluation
EXTRA = 64  # one more of these steps is allowed per this number of steps
ASKED = 256  # values that are kept until the step ends
CALLS = 16  # calls of models that are looked at between two steps


class Run:
    """A watched run of a program.

    checks: the names of the checks (FAMILY/NAME), or None for all of them.
    every_step: True to look at every step, instead of the steps 1, 2, 3, 4, 8, 16, ...
    folder: where the processes of a program keep their findings, or None.
    stream: where findings are printed; None stands for standard error.
    """

    def __init__(
        self,
        checks: Iterable[str] | None = None,
        every_step: bool = False,
        folder: Path | None = None,
        stream: TextIO | None = None,
    ) -> None:
        self.findings = Findings(folder, stream)
        self.facts = Facts(self)
        self.every_step = every_step
        self.step = 1  # the number of the step that is under way
        self.sampled = True
        self.looks_at_calls = True  # False once CALLS models were called in this step
        self._names: dict[int, str] = {}  # of the checks, by id
        self._handlers = self._read(names() if checks is None else checks)
        self._limit = Limit()
        self._thread = threading.get_ident()
        self._telling = False
        self._active = False
        self._ahead, self._extra, self._calls = 0, 0, 0
        self._asked: list[tuple[Check, torch.Tensor, Callable[[Any], Any], tuple[str, int]]] = []

    def start(self) -> Run:
        """Begins to watch. Only one run can watch a process at a time."""
        if not self._active:
            self._active = True
            hooks.install(self)
            atexit.register(self.stop)
            if hasattr(os, "register_at_fork"):
                reference = weakref.ref(self)
                os.register_at_fork(after_in_child=lambda: _forked(reference()))
        return self

    def stop(self) -> None:
        """Ends the watch, restores torch, and writes the findings."""
        if self._active:
            self.tell("ended")
            self._answer()
            self._active = False
            hooks.remove(self)
            atexit.unregister(self.stop)
            self.findings.save()

    def __enter__(self) -> Run:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    def listens(self) -> bool:
        """True if an event of this thread is to be told."""
        return self._active and not self._telling and threading.get_ident() == self._thread

    def tell(self, event: str, *arguments: Any) -> None:
        """Passes an event to the checks. Neither their errors nor their hangs reach the program."""
        handlers = self._handlers.get(event)
        if not handlers or self._telling or _is_capturing():
            return
        self._telling = True
        interrupted = False
        try:
            with torch.no_grad():
                for check, handler in handlers:
                    try:
                        with self._limit:
                            message = handler(*arguments)
                        if message:
                            self.report(check, message, _place())
                    except KeyboardInterrupt:  # goes to the program, after the event
                        interrupted = True
                    except BaseException as error:
                        self._drop(check, error)
        finally:
            self._telling = False
        if len(self._asked) > ASKED:  # a program that takes no step
            self._answer()
        if interrupted:
            raise KeyboardInterrupt

    def ask(self, check: Check, value: torch.Tensor, judge: Callable[[Any], Any]) -> None:
        """See Check.ask()."""
        wide = torch.float32 if value.device.type == "mps" else torch.float64
        self._asked.append((check, value.detach().to(wide).reshape(-1), judge, _place()))

    def place(self) -> tuple[str, int]:
        """The file and the line of the program that led to the event."""
        return _place()

    def look(self, steps: int = AHEAD) -> None:
        """Samples the rest of this step and the steps after it, because something has changed."""
        if self._extra <= self.step // EXTRA + 8:
            self._extra += 1
            self._ahead = max(self._ahead, steps)
            self._calls = 0
            self._set_sampled(True)

    def step_ended(self, steps: int) -> None:
        """Called after each step of an optimizer that has now stepped `steps` times."""
        if self._asked:
            self._answer()
        if steps < self.step:  # another optimizer of the same step
            return
        self.step = steps + 1
        self._calls = 0
        self._ahead -= 1
        power_of_two = self.step & (self.step - 1) == 0
        self._set_sampled(self.every_step or self.step <= FIRST or power_of_two or self._ahead > 0)

    def model_called(self) -> None:
        """Called after each call of a root module. Ends the look at calls if there were enough."""
        self._calls += 1
        if self._calls >= CALLS and not self.every_step:
            self.looks_at_calls = False
            hooks.set_calls(self)

    def _set_sampled(self, sampled: bool) -> None:
        self.sampled = self.looks_at_calls = sampled
        hooks.set_calls(self)

    def _answer(self) -> None:
        """Reads the values that checks have asked for: one copy per device."""
        asked, self._asked = self._asked, []
        by_device: dict[torch.device, list[int]] = {}
        for index, (_, value, _, _) in enumerate(asked):
            by_device.setdefault(value.device, []).append(index)
        self._telling = True
        try:
            for indices in by_device.values():
                values = torch.cat([asked[index][1] for index in indices]).tolist()
                for index in indices:
                    check, tensor, judge, place = asked[index]
                    own, values = values[: tensor.numel()], values[tensor.numel() :]
                    try:
                        with self._limit:
                            message = judge(own[0] if tensor.numel() == 1 else own)
                        if message:
                            self.report(check, message, place)
                    except KeyboardInterrupt:
                        raise
                    except BaseException as error:  # also TookTooLong
                        self._drop(check, error)
        except RuntimeError:  # the device has failed; the program will hear of it
            pass
        finally:
            self._telling = False

    def _read(self, names: Iterable[str]) -> dict[str, list[tuple[Check, Callable[..., Any]]]]:
        """The overridden methods of all checks, by event."""
        checks: list[Check] = [self.facts]
        for name in names:
            check = load(name)(self)
            self._names[id(check)] = name
            checks.append(check)
        return {
            event: [
                (check, getattr(check, event))
                for check in checks
                if getattr(type(check), event) is not getattr(Check, event)
            ]
            for event in EVENTS
        }

    def report(self, check: Check, message: str, place: tuple[str, int]) -> None:
        """Adds a finding at this line of the program."""
        name = self._names[id(check)]
        facts = {"torch": torch.__version__, "process": os.getpid()}
        if "RANK" in os.environ:
            facts["rank"] = os.environ["RANK"]
        self.findings.add(
            Finding(name, name, check.level, message, check.change, *place, self.step, facts=facts)
        )

    def _drop(self, check: Check, error: BaseException) -> None:
        """Turns a check off that has failed, and keeps the error for the report."""
        for event, handlers in self._handlers.items():
            self._handlers[event] = [each for each in handlers if each[0] is not check]
        last = traceback.extract_tb(error.__traceback__)[-1:]
        where = "".join(f" ({Path(each.filename).name}:{each.lineno})" for each in last)
        self.findings.failed[self._names.get(id(check), "facts")] = f"{repr(error)[:200]}{where}"
        self.findings.save()


def watch(
    every_step: bool = False,
    checks: Iterable[str] | None = None,
    stream: TextIO | None = None,
) -> Run:
    """Watches this process from now on, or during a `with` block.

    Call it before `from torch.nn.functional import ...` and the like: a function that was imported
    by name before the call is not watched.

    every_step: True to look at every step, instead of the steps 1, 2, 3, 4, 8, 16, ...
    checks: the names of the checks, such as "amp/clip_before_unscale"; None stands for all.
    stream: where findings are printed; None stands for standard error.

    Returns the run. `run.findings` yields its findings, and `run.stop()` ends the watch.
    """
    if hooks.current is not None:
        hooks.current.stop()
    return Run(checks, every_step, stream=stream).start()


def names() -> list[str]:
    """The names of all checks, FAMILY/NAME."""
    paths = (HERE / "checks").glob("*/*.py")
    return sorted(f"{path.parent.name}/{path.stem}" for path in paths if path.stem != "shared")


def load(name: str) -> type[Check]:
    """The class of a check: the only subclass of Check that its module defines."""
    module = importlib.import_module(f".checks.{name.replace('/', '.')}", __package__)
    (check,) = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Check)
        and value.__module__ == module.__name__
    ]
    return check


def _forked(run: Run | None) -> None:
    if run is not None:
        run.findings.forked()


def _is_capturing() -> bool:
    """True while a CUDA graph is captured, which would record what a check computes."""
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()


_INNER: dict[str, bool] = {}
_TORCH = str(Path(torch.__file__).resolve().parent)


def _place() -> tuple[str, int]:
    """The innermost line of the program itself, outside torch, libraries and this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        inner = _INNER.get(file)
        if inner is None:
            inner = _INNER[file] = _is_inner(file)
        if not inner:
            return file, frame.f_lineno
        frame = frame.f_back
    return "", 0


def _is_inner(file: str) -> bool:
    if file.startswith("<") and not file.startswith(("<stdin>", "<ipython", "<string>")):
        return True
    path = os.path.abspath(file)
    return (
        "site-packages" in path
        or "dist-packages" in path
        or path.startswith((_TORCH + os.sep, str(HERE) + os.sep))
        or path.startswith(os.path.dirname(os.__file__) + os.sep)
    )
