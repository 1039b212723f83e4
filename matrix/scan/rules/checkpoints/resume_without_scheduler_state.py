from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, names, path, place, receiver, source
from ...project import around, program
from ...training import (
    SCHEDULERS,
    is_fragment,
    is_optimizer,
    is_scheduler,
    program_resumes,
    resumes,
)
from .. import needs
from .shared import is_written_before, restores

METRICS = re.compile(r"loss|acc|metric|score|val|err|f1|dice|iou|psnr")  # for ReduceLROnPlateau


@needs("load")
def resume_without_scheduler_state(code: Code) -> Iterator[Hit]:
    own = _has_schedule(code)
    if not (resumes(code) if own else _restores_a_trainer(code)):
        return
    if any(
        _keeps_the_state(file) or _moves_the_schedule(file)
        for file in (around if own else program)(code, "sched", "last_epoch")
    ):
        return
    for call in _optimizer_loads(code) or _schedules(code):
        yield Hit(
            call,
            f"nothing saves or loads the scheduler's state, so the schedule starts over after "
            f"{source(call, 40)}",
        )
        return


def _restores_a_trainer(code: Code) -> bool:
    """True if the file restores an epoch and an optimizer for a program that steps a schedule."""
    return (
        bool(_optimizer_loads(code))
        and not any(code.calls.get(name) for name in SCHEDULERS)
        and "epoch" in code.text
        and program_resumes(code)
        and not any(
            argument(call, -1, "last_epoch")
            for file in program(code, "last_epoch")
            for name in SCHEDULERS
            for call in file.calls.get(name, ())
        )
        and any(
            is_scheduler(code, receiver(call))
            for file in program(code, "sched")
            for call in file.calls.get("step", ())
        )
    )


def _optimizer_loads(code: Code) -> list[ast.Call]:
    """The calls that load the state of an optimizer, directly or with a helper."""
    loads = code.calls.get("load_state_dict", ())
    direct = [call for call in loads if is_optimizer(code, receiver(call))]
    helped = [
        restore.call
        for restore in restores(code)
        if any(is_optimizer(code, each) for each in restore.objects)
    ]
    return direct or helped


def _keeps_the_state(code: Code) -> bool:
    """True if the file saves or loads the state of a scheduler."""
    return any(
        is_scheduler(code, receiver(call))
        for name in ("state_dict", "load_state_dict")
        for call in code.calls.get(name, ())
    )


def _has_schedule(code: Code) -> bool:
    """True if the file creates a torch scheduler that starts at step 0."""
    if is_fragment(code):
        return any("scheduler" in path(node.targets[0]) for node in code.all(ast.Assign))
    made = _schedules(code)
    loads = [*code.calls.get("load_state_dict", ()), *_whole_models(code)]
    loads += [restore.call for restore in restores(code)]
    resumed = any(not is_written_before(code, call) for call in loads)
    return bool(made) and resumed and not any(argument(call, -1, "last_epoch") for call in made)


def _whole_models(code: Code) -> list[ast.Call]:
    """The calls in `model = torch.load(...)`."""
    return [
        call
        for call in code.calls.get("load", ())
        if code.full(call.func) == "torch.load"
        and isinstance(above := code.parent[call], ast.Assign)
        and any(word in last_name(above.targets[0]) for word in ("model", "net"))
    ]


def _schedules(code: Code) -> list[ast.Call]:
    """The schedules in use that last longer than one epoch, in the order of the code."""
    made = (call for name in SCHEDULERS for call in code.calls.get(name, ()))
    used = (
        call
        for call in made
        if code.torch(call.func) and _is_used(code, call) and not _is_constant(code, call)
    )
    lasting = (call for call in used if not _is_of_one_epoch(code, call))
    return sorted((call for call in lasting if not _starts_later(code, call)), key=place)


def _is_constant(code: Code, schedule: ast.Call) -> bool:
    """True for ConstantLR(optimizer, factor=1), which never changes the rate."""
    factor = constant(argument(schedule, 1, "factor"))
    return code.torch(schedule.func) == "ConstantLR" and factor == 1


def _starts_later(code: Code, schedule: ast.Call) -> bool:
    """True if the schedule gets the epoch at which a loop such as range(opt.epoch, 9) starts."""
    starts = {path(call.args[0]) for call in code.calls.get("range", ()) if len(call.args) > 1}
    return any(path(part) in starts - {""} for part in ast.walk(schedule))


def _is_used(code: Code, call: ast.Call) -> bool:
    """False for `scheduler = OneCycleLR(...)` if nothing reads the name afterwards."""
    statement = code.statement(call)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return True
    name = statement.targets[0].id
    return any(each.id == name and isinstance(each.ctx, ast.Load) for each in code.all(ast.Name))


def _is_of_one_epoch(code: Code, call: ast.Call) -> bool:
    """True if the function that creates the schedule receives the number of the epoch."""
    function = code.function(call)
    return (
        isinstance(function, ast.FunctionDef)
        and any(parameter.arg == "epoch" for parameter in function.args.args)
        and not any("epoch" in source(loop.target) for loop in code.within(function, ast.For))
    )


def _moves_the_schedule(code: Code) -> bool:
    """True if the code passes the epoch to step(), sets last_epoch, or repeats the steps."""
    for call in code.calls.get("step", ()):
        if not is_scheduler(code, receiver(call)):
            continue
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if given and "Plateau" not in code.text and not METRICS.search(source(given[0]).lower()):
            return True
        loops = code.loops(call)
        first = {"start_epoch", "last_epoch", "resume_epoch", "start"}
        if (
            loops
            and isinstance(loops[0], ast.For)
            and len(loops[0].body) == 1
            and names(loops[0].iter) & first
        ):
            return True
    return any(
        last_name(node.targets[0]) in ("last_epoch", "_step_count") for node in code.all(ast.Assign)
    )
