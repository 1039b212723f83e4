# SPDX-License-Identifier: BSD-3-Clause
"""Accounts for every key of a checkpoint, and resumes training as if it had not been interrupted.

Vendor this file: its only dependency is torch 1.13 or newer. It fixes the failures in
repros/checkpoints whose `fix` key names a function in this file. Source of the failures:
https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html

>>> trained, model = torch.nn.Linear(2, 3), torch.nn.Linear(2, 3)
>>> state = torch.nn.DataParallel(trained).state_dict()
>>> print(load_matching(model, {"epoch": 9, "state_dict": state}))
loaded 2 of 2 from 'state_dict' (2 renamed, such as module.weight -> weight)
"""

from __future__ import annotations

import collections
import copy
import dataclasses
import os
import random
import shutil
import sys
import uuid
from typing import Any, Iterator, Mapping

import torch

__all__ = ["LoadReport", "capture", "load_matching", "restore", "save"]

# Checkpoint keys that may contain the weights, and prefixes that wrappers add to names.
_CONTAINERS = ("state_dict", "model_state_dict", "model", "net", "weights", "objects", "module")
_WRAPPERS = ("module", "_orig_mod", "model", "net", "base_model")
_ANYWHERE = {"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}
_PARTS = {"objects", "random", "left_out"}
_PLAIN = (str, bytes, bool, int, float, complex, torch.dtype, torch.device, torch.Size)


@dataclasses.dataclass(frozen=True)
class LoadReport:
    """Lists the keys that were loaded and the keys that were not. Its str() is a summary.

    Args:
        loaded: maps each loaded key of the model to the key of the state from which it was loaded.
        missing: keys of the model without a counterpart in the state, except keys that share their
            tensor with a loaded key.
        unexpected: keys of the state that were not used.
        mismatched: maps a key of the model to the reason why its value was not loaded, such as the
            two shapes.
        container: the entry of the state that contained the weights, such as "state_dict", or ""
            for the top level.
    """

    loaded: dict[str, str]
    missing: list[str]
    unexpected: list[str]
    mismatched: dict[str, str]
    container: str

    def __str__(self) -> str:
        renamed = [f"{old} -> {new}" for new, old in self.loaded.items() if old != new]
        total = len(self.loaded) + len(self.missing) + len(self.mismatched)
        lines = [f"loaded {len(self.loaded)} of {total}"]
        if self.container:
            lines[0] += f" from {self.container!r}"
        if renamed:
            lines[0] += f" ({len(renamed)} renamed, such as {renamed[0]})"
        lines += [f"not loaded: {key}: {why}" for key, why in self.mismatched.items()]
        if self.missing:
            lines.append(f"missing: {_some(self.missing)}")
        if self.unexpected:
            lines.append(f"unexpected: {_some(self.unexpected)}")
        return "\n".join(lines)


def load_matching(model: torch.nn.Module, state: Mapping[str, Any], prefix: str = "") -> LoadReport:
    """Loads all values of a state or checkpoint that fit the model, and accounts for every key.

    The weights may be an entry of the checkpoint, such as "state_dict" or "model". Both the saved
    model and `model` may have been wrapped. Comparisons ignore `_orig_mod`, `_fsdp_wrapped_module`
    and `_checkpoint_wrapped_module` anywhere in a key. They also ignore `module`, `model`, `net`
    and `base_model` at the start of a key if more keys match as a result.

    The following values are reported but not loaded:

    - a value with a different shape, such as a head for a different number of classes;
    - a value of a different kind, such as the integers in a quantized layer;
    - a value that the model's dtype cannot represent, such as 0.5 or inf as an integer, or 1e6 in
      float16 (rounding from one floating-point dtype to another is allowed);
    - a second, different value for a tensor that two keys share.

    Names that a hook of the model translates, such as those of weight_norm, are reported as missing
    and unexpected.

    Args:
        model: a model on any device except meta.
        state: a state_dict(), or the result of torch.load() for a file that contains one.
        prefix: the name of the model within the saved model, such as "encoder", if it is only part
            of the saved model. The report omits the keys of the other parts.

    Raises:
        TypeError: the state is not a mapping (for example, the path of a file), or the prefix is
            not a string.
        ValueError: no key matches, or no value fits; a key matches two keys equally well; the model
            is on the meta device; or only the model or only the state has DTensors, as after
            fully_shard(). In all these cases, nothing is loaded.

    >>> head = torch.nn.Linear(2, 10)
    >>> print(load_matching(head, {"weight": torch.ones(3, 2), "bias": torch.ones(10)}))
    loaded 1 of 2
    not loaded: weight: has shape [3, 2] in the state, [10, 2] in the model
    """
    if not isinstance(state, Mapping):
        hint = "pass what torch.load() returns" if isinstance(state, (str, os.PathLike)) else ""
        hint = "pass its state_dict()" if isinstance(state, torch.nn.Module) else hint
        raise TypeError(
            f"expected a state, which is a mapping of names to tensors; got {type(state).__name__}"
            + (f": {hint}" if hint else "")
        )
    if not isinstance(prefix, str):
        raise TypeError(f"expected the name of a part as prefix, got {prefix!r}")
    targets = model.state_dict(keep_vars=True)
    start = tuple(part for part in prefix.split(".") if part and part not in _ANYWHERE)
    found = [(where, each, *_pairs(targets, each, start)) for where, each in _containers(state)]
    where, weights, pairs, unclear = max(found, key=lambda one: len(one[2]))
    if unclear:
        raise ValueError(unclear)
    if not pairs:
        below = f" below {prefix!r}" if prefix else ""
        raise ValueError(
            f"no key of the state{below} is one of the model, also not without module., "
            f"_orig_mod., model. or net.; the state has {_some(list(weights))}; the model "
            f"{_some(list(targets))}"
        )
    for key in pairs:
        if getattr(targets[key], "is_meta", False):
            raise ValueError(
                f"{key} of the model is on the meta device, and has no memory to load into: call "
                "model.to_empty(device=...) before"
            )
        if isinstance(weights[pairs[key]], torch.Tensor):
            _refuse_half_sharded(key, targets[key], pairs[key], weights[pairs[key]])
    problems = {key: _problem(weights[old], targets[key]) for key, old in pairs.items()}
    first: dict[int, str] = {}
    for key in pairs:
        if not problems[key] and isinstance(targets[key], torch.Tensor):
            other = first.setdefault(id(targets[key]), key)
            if not _same(weights[pairs[key]], weights[pairs[other]]):
                problems[key] = f"is another value than {other}, with which it shares its tensor"
    mismatched = {key: why for key, why in problems.items() if why}
    loaded = {key: old for key, old in pairs.items() if key not in mismatched}
    if not loaded:
        why = "; ".join(f"{key} {why}" for key, why in list(mismatched.items())[:3])
        raise ValueError(f"no value of the state fits the model: {why}")
    chosen = collections.OrderedDict((key, weights[old]) for key, old in loaded.items())
    if hasattr(weights, "_metadata"):
        chosen._metadata = _versions(weights._metadata, loaded)  # type: ignore[attr-defined]
    model.load_state_dict(chosen, strict=False)
    filled = {id(targets[key]) for key in loaded}
    used = set(pairs.values())
    return LoadReport(
        loaded,
        [key for key in targets if key not in pairs and id(targets[key]) not in filled],
        [key for key in weights if key not in used and (not start or _below(key, start))],
        mismatched,
        where,
    )


def _containers(state: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, Any]]:
    """Yields (path, state) for the state itself and for each entry that may hold the weights."""
    yield where, state
    for name in _CONTAINERS:
        if isinstance(state.get(name), Mapping):
            yield from _containers(state[name], f"{where}.{name}" if where else name)


def _refuse_half_sharded(key: str, target: Any, old: str, value: Any) -> None:
    """Raises an error if only one of the two is a DTensor, because copy_() would fail half-way."""
    here, there = hasattr(target, "full_tensor"), hasattr(value, "full_tensor")
    if here and not there:
        raise ValueError(
            f"{key} of the model is a DTensor, as after fully_shard(), and {old} of the state is "
            "not: load it with torch.distributed.checkpoint.state_dict.set_model_state_dict(model, "
            "state, options=StateDictOptions(full_state_dict=True))"
        )
    if there and not here:
        raise ValueError(
            f"{old} of the state is a DTensor, and {key} of the model is not: save the state with "
            "torch.distributed.checkpoint.state_dict.get_model_state_dict(model, "
            "options=StateDictOptions(full_state_dict=True))"
        )


def _pairs(
    targets: Mapping[str, Any], state: Mapping[str, Any], prefix: tuple[str, ...]
) -> tuple[dict[str, str], str]:
    """Maps keys of the model, in its order, to keys of the state, and describes any ambiguity.

    Many keys share the same wrappers. The wrappers that match the most keys are tried first.
    """
    wrapped: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for key in state:
        for wrappers, rest in _below(key, prefix):
            wrapped.setdefault(rest, []).append((wrappers, key))
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[tuple[str, str]]] = {}
    for key in targets:
        for wrappers, rest in _readings(key):
            for others, old in wrapped.get(rest, ()):
                groups.setdefault((others, wrappers), []).append((key, old))
    pairs: dict[str, str] = {}
    used: set[str] = set()
    unclear = ""
    while True:
        groups = {
            each: left
            for each, both in groups.items()
            if (left := [(key, old) for key, old in both if key not in pairs and old not in used])
        }
        if not groups:
            return {key: pairs[key] for key in targets if key in pairs}, unclear
        rank = {each: (len(both), -len(each[0] + each[1])) for each, both in groups.items()}
        best = max(rank.values())
        new: dict[str, str] = {}
        source: dict[str, str] = {}
        for key, old in (one for each in groups if rank[each] == best for one in groups[each]):
            if new.setdefault(key, old) != old:
                unclear = f"{key} of the model may be each of {new[key]}, {old} of the state"
            elif source.setdefault(old, key) != key:
                unclear = f"{old} of the state may be each of {source[old]}, {key} of the model"
        pairs.update(new)
        used.update(new.values())


def _below(key: Any, prefix: tuple[str, ...]) -> list[tuple[tuple[str, ...], str]]:
    """Returns the possible readings of a state's key, each without the prefix."""
    readings = list(_readings(key)) if isinstance(key, str) else []
    if not prefix:
        return readings
    start = ".".join(prefix) + "."
    return [
        (wrappers + more, rest)
        for wrappers, whole in readings
        if whole.startswith(start)
        for more, rest in _readings(whole[len(start) :])
    ]


def _readings(key: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yields each possible reading of a key: its wrappers, and the remaining name."""
    parts = [part for part in key.split(".") if part not in _ANYWHERE]
    compiled = tuple(part for part in key.split(".") if part in _ANYWHERE)
    for start in range(len(parts)):
        yield (*compiled, *parts[:start]), ".".join(parts[start:])
        if parts[start] not in _WRAPPERS:
            return


def _versions(metadata: Mapping[str, Any], loaded: Mapping[str, str]) -> dict[str, Any]:
    """Returns torch's metadata for each loaded module, keyed by the module's name in the model."""
    versions: dict[str, Any] = collections.OrderedDict()
    for new, old in loaded.items():
        while new and old:
            new, _, last = new.rpartition(".")
            old, _, other = old.rpartition(".")
            if last != other:
                break
            if old in metadata:
                versions.setdefault(new, dict(metadata[old]))
    return versions


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    one = one.to(other)  # in device and dtype
    return bool(((one == other) | ((one != one) & (other != other))).all())  # NaN equals NaN


def _problem(value: Any, target: Any) -> str:
    """Returns the reason why the value does not fit, or ""."""
    if not isinstance(target, torch.Tensor):
        return ""  # extra state of a module
    if not isinstance(value, torch.Tensor):
        return f"is a {type(value).__name__} in the state"
    if value.is_meta:
        return "is on the meta device in the state, and has no data"
    if torch.nn.parameter.is_lazy(target):
        return ""  # a lazy parameter takes the shape of the value
    if value.shape != target.shape:
        return f"has shape {list(value.shape)} in the state, {list(target.shape)} in the model"
    if (value.layout, value.is_quantized) != (target.layout, target.is_quantized):
        kinds = ["quantized" if each.is_quantized else str(each.layout) for each in (value, target)]
        return f"is {kinds[0]} in the state, {kinds[1]} in the model"
    whole, wants = (not (one.is_complex() or one.is_floating_point()) for one in (value, target))
    dtypes = f"is {value.dtype} in the state, {target.dtype} in the model"
    if value.is_complex() > target.is_complex() or whole > wants:
        return dtypes
    if value.dtype == target.dtype:
        return ""
    if value.is_quantized:
        return dtypes
    lost = _lost(value, target.dtype, wants)
    return f"{dtypes}, which cannot hold {lost[0].item()}" if lost.numel() else ""


def _lost(value: torch.Tensor, dtype: torch.dtype, whole: bool) -> torch.Tensor:
    """The numbers that the dtype cannot represent. Rounding is allowed unless `whole` is True."""
    if value.layout != torch.strided:
        value = (value.coalesce() if value.layout == torch.sparse_coo else value).values()
    if "float8" in str(value.dtype):  # few functions accept float8
        value = value.float()
    back = value.to(dtype).to(value.dtype)
    if whole:
        return value[back != value]
    # A number that is too large becomes inf, NaN or, with an 8-bit dtype in torch 2.13, the largest
    # number.
    most = torch.finfo(dtype)
    cut = (value.abs() > most.max) & ((back - value).abs() > value.abs() * (most.eps / 3))
    return value[(back.isnan() != value.isnan()) | (back.isinf() != value.isinf()) | cut]


def _some(names: list[Any], most: int = 4) -> str:
    more = len(names) - most
    return ", ".join(map(str, names[:most])) + (f" and {more} more" if more > 0 else "")


def save(obj: Any, path: str | os.PathLike[str]) -> None:
    """Like torch.save(), but after an interruption, either the old file or the new file is intact.

    It writes to a new file in the same folder, waits until that file is on the disk, and only then
    renames it. If there is no room for both files, it raises OSError. A link remains a link, and
    the new file gets the permissions of the file that it replaces. A failed save leaves no
    temporary file behind, but a killed process may leave a file whose name ends in .tmp.

    Args:
        obj: anything that torch.save() accepts.
        path: the path to the file. Its folder must exist.

    Raises:
        TypeError: the path is not a str or a PathLike (for example, an open file).
        FileNotFoundError: the folder does not exist.
        OSError: the path exists but is not a file, such as a folder, a device or a pipe.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"expected the path of a file, got {type(path).__name__}")
    target = os.path.realpath(os.fspath(path))
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"cannot save {os.fspath(path)!r}: there is no folder {folder!r}")
    if os.path.exists(target) and not os.path.isfile(target):
        raise OSError(f"cannot save {os.fspath(path)!r}: it is there, and it is no file")
    temporary = f"{target}.{uuid.uuid4().hex[:8]}.tmp"
    try:
        with open(temporary, "xb") as file:
            torch.save(obj, file)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def capture(**parts: Any) -> dict[str, Any]:
    """Captures everything that a run needs to continue, including the random states.

    - Tensors are copied to the CPU, so later steps do not change them, and the file can be loaded
      on any machine, even with weights_only=True from torch 2.6 on. Within a part, tied weights
      remain one tensor, and an expanded tensor takes no more memory than before its expansion.
    - Random states are captured for torch, for its CUDA and MPS devices in use, for `random`, and
      for numpy.random if NumPy has been imported. Pass your own generators as parts. Before torch
      2.5, the state for MPS is only its seed (pytorch#130613).

    Args:
        parts: objects with a state_dict() (a model, an optimizer, a scheduler, a GradScaler),
            torch.Generator objects, and plain values, such as the step.

    Returns:
        a dictionary with the keys "objects", "values", "random" and "left_out". The last key lists
        the functions in states, because they are not saved.

    Raises:
        TypeError: a value or a key is not plain, that is, not a number, a string, a tensor or a
            container of these. The error message says where it is.

    >>> weight = torch.nn.Parameter(torch.zeros(2))
    >>> checkpoint = capture(optimizer=torch.optim.SGD([weight], lr=0.5), step=7)
    >>> checkpoint["values"], checkpoint["left_out"]
    ({'step': 7}, [])
    """
    left_out: list[str] = []
    objects, values = {}, {}
    for name, part in parts.items():
        if _has_state(part):
            objects[name] = _copied(_state_of(part), name, left_out)
        else:
            values[name] = _copied(part, name)
    return {"objects": objects, "values": values, "random": _random(), "left_out": left_out}


def restore(checkpoint: Mapping[str, Any], /, **objects: Any) -> list[str]:
    """Loads the result of capture() into objects, and lists everything that it cannot restore.

    If the objects are created as before (the same model, parameters in the same order, the same
    schedule), the restored run continues as if it had not been interrupted. The random states are
    restored last. The objects share no memory with the checkpoint. The values are in
    checkpoint["values"].

    Args:
        checkpoint: the result of capture(), or of torch.load() on its file, with any map_location.
        objects: the objects, under the names that were passed to capture().

    Returns:
        one line for each item that was saved but not restored, or that has no saved state: an
        object that was not passed, a function in a scheduler, a generator for a device that does
        not exist, or a GradScaler that was disabled when it was saved and is enabled here (or the
        reverse), which is left unchanged. The list is empty if everything was restored.

    Raises:
        TypeError: the checkpoint is not from capture(), or an object has no state.
        ValueError: an object has no state in the checkpoint.
        Exception: any exception that an object's own load_state_dict() raises. In all these cases,
            the objects and the random states do not change.
        RuntimeError: an object could not be restored to its earlier state. The error message names
            the object.
    """
    if not isinstance(checkpoint, Mapping) or not set(checkpoint) >= _PARTS:
        held = f" of {_some(list(checkpoint))}" if isinstance(checkpoint, Mapping) else ""
        raise TypeError(f"expected what capture() returned, got {type(checkpoint).__name__}{held}")
    saved = checkpoint["objects"]
    for name, one in objects.items():
        if not _has_state(one):
            raise TypeError(f"{name} is a {type(one).__name__}, which has no state to load")
        if name not in saved:
            raise ValueError(f"the checkpoint has no state of {name}; it has {_some(list(saved))}")
    states = _copied(checkpoint["random"])
    off = {name: why for name, one in objects.items() if (why := _switched(one, saved[name]))}
    before = {name: _copied(_state_of(one), name, []) for name, one in objects.items()}
    before_all = _random()
    touched: list[str] = []
    try:
        for name, one in objects.items():
            if name not in off:
                touched.append(name)
                _load(one, saved[name])
        problems = _set_random(states)
    except BaseException as error:
        stuck = []
        for name in reversed(touched):
            try:
                _load(objects[name], before[name])
            except Exception as other:  # the other objects are still restored
                stuck.append(f"{name} ({type(other).__name__}: {other})")
        _set_random(before_all)
        if stuck:
            raise RuntimeError(f"cannot be put back as before: {', '.join(stuck)}") from error
        raise
    told = [f"{name} was saved and not given" for name in saved if name not in objects]
    told += [f"{name} {why}" for name, why in off.items()]
    told += [f"{where} is a function and was not saved" for where in checkpoint["left_out"]]
    return told + problems


def _switched(part: Any, state: Any) -> str:
    """Returns why a GradScaler cannot load the state, or "". A disabled scaler saves {}."""
    if not callable(getattr(part, "is_enabled", None)) or bool(state) == bool(part.is_enabled()):
        return ""
    return "was saved on, and is off here" if state else "was saved off, and is on here"


def _has_state(part: Any) -> bool:
    return isinstance(part, torch.Generator) or (
        callable(getattr(part, "state_dict", None)) and not isinstance(part, type)
    )


def _state_of(part: Any) -> Any:
    return part.get_state() if isinstance(part, torch.Generator) else part.state_dict()


def _load(part: Any, state: Any) -> None:
    state = _copied(state)
    if isinstance(part, torch.Generator):
        part.set_state(state)
    else:
        part.load_state_dict(state)


def _copied(
    value: Any,
    where: str = "",
    left_out: list[str] | None = None,
    seen: dict[Any, torch.Tensor] | None = None,
) -> Any:
    """A copy in plain types on the CPU. If `left_out` is a list, functions in dicts are added to
    it."""
    seen = {} if seen is None else seen
    if isinstance(value, torch.Tensor):
        return _on_cpu(value, seen)
    if value is None or type(value) in _PLAIN:
        return value
    if type(value) in (list, tuple, set):
        return type(value)(
            _copied(each, f"{where}[{n}]", left_out, seen) for n, each in enumerate(value)
        )
    if type(value) in (dict, collections.OrderedDict, collections.Counter, collections.defaultdict):
        kind = type(value) if type(value) is not collections.defaultdict else dict
        result = kind()
        for key, each in value.items():
            if left_out is not None and callable(each) and not isinstance(each, torch.Tensor):
                left_out.append(f"{where}[{key!r}]")
            else:
                plain = _copied(key, f"the key {key!r} of {where}")
                result[plain] = _copied(each, f"{where}[{key!r}]", left_out, seen)
        if hasattr(value, "_metadata"):
            result._metadata = copy.deepcopy(value._metadata)  # type: ignore[union-attr]
        return result
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        return value.item()  # a scalar, which weights_only=True rejects
    raise TypeError(f"{where} is a {type(value).__name__}, which torch.load() would refuse")


def _on_cpu(value: torch.Tensor, seen: dict[Any, torch.Tensor]) -> torch.Tensor:
    """Returns a copy no larger than the original memory. The same memory gives the same copy."""
    value = value.detach()
    plain = type(value) is torch.Tensor and value.layout == torch.strided
    if not plain or value.is_quantized or not value.numel():
        return value.to("cpu", copy=True)
    bits = value.is_conj(), value.is_neg()  # a conjugated or negated view has the same memory
    key = value.device, value.data_ptr(), value.dtype, value.shape, value.stride(), bits
    if key not in seen:
        once = value[tuple(slice(None if step else 1) for step in value.stride())]
        seen[key] = once.to("cpu", copy=True).expand(value.shape)
    return seen[key]


def _random() -> dict[str, Any]:
    states: dict[str, Any] = {"torch": torch.get_rng_state(), "python": random.getstate()}
    if _cuda():
        states["cuda"] = [state.clone() for state in torch.cuda.get_rng_state_all()]
    if _mps():
        states["mps"] = torch.mps.get_rng_state()
    if sys.modules.get("numpy"):
        name, keys, *rest = sys.modules["numpy"].random.get_state()
        states["numpy"] = (name, keys.tolist(), *rest)
    return states


def _set_random(states: Mapping[str, Any]) -> list[str]:
    """Sets the random states, and returns a line for each problem."""
    problems = []
    torch.set_rng_state(states["torch"])
    version, numbers, gauss = states["python"]
    random.setstate((version, tuple(numbers), gauss))
    here = {
        "cuda": torch.cuda.is_available(),
        "mps": _mps(),
        "numpy": bool(sys.modules.get("numpy")),
    }
    for name, there in here.items():
        if name in states and not there:
            problems.append(f"the random state of {name} was saved, and {name} is not in use here")
        elif name not in states and there and (name != "cuda" or _cuda()):
            problems.append(f"{name} is in use here, and its random state was not saved")
    if "cuda" in states and here["cuda"]:
        count = min(len(states["cuda"]), torch.cuda.device_count())
        if len(states["cuda"]) != torch.cuda.device_count():
            problems.append(
                f"{len(states['cuda'])} random states of cuda were saved, and there are "
                f"{torch.cuda.device_count()} devices: {count} restored"
            )
        for device in range(count):
            torch.cuda.set_rng_state(states["cuda"][device], device)
    if "mps" in states and here["mps"]:
        torch.mps.set_rng_state(states["mps"])
    if "numpy" in states and here["numpy"]:
        sys.modules["numpy"].random.set_state(states["numpy"])
    return problems


def _cuda() -> bool:
    return bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]


def _mps() -> bool:
    return hasattr(torch, "mps") and torch.backends.mps.is_available()
