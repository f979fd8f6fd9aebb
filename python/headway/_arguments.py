"""What arguments may be: the words of the command line, its limits, and the check of both.

Compiled functions and the program would answer a wrong argument too: in words of their own that
nobody of this package wrote, or not at all.
"""

from __future__ import annotations

import functools
import inspect
import os
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from headway import _core

Kind = Literal[
    "gpus", "kernels", "nodes", "fabrics", "storage", "clusters", "models", "frameworks",
    "failures", "recovery", "prices", "calibrations", "scenarios",
]  # fmt: skip
"""Of files of the catalogue."""

Objective = Literal[
    "step", "days", "dollars", "goodput", "energy", "co2", "tokens-per-joule",
    "tokens-per-dollar", "power",
]  # fmt: skip
Transport = Literal["credits", "pauses", "dcqcn", "swift", "dctcp", "receiver"]
Network = Literal[
    "fluid", "packet", "packet:credits", "packet:pauses", "packet:dcqcn", "packet:swift",
    "packet:dctcp", "packet:receiver",
]  # fmt: skip
Collective = Literal[
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive"
]
Foreign = Literal[
    "ibnetdiscover", "nccl-xml", "slurm-topology", "nvidia-smi-topo", "failure-log",
    "skypilot-catalog", "megatron-args", "torchtitan-toml", "nemo-yaml", "deepspeed-json",
]  # fmt: skip
"""Files that `import_` reads."""

Framework = Literal["megatron", "torchtitan", "nemo", "deepspeed", "maxtext", "chakra"]
Table = Literal["table", "json", "csv", "md"]
JobFile = Literal["slurm", "k8s", "hq", "condor"]
Engine = Literal["dask"]

LIMITS: dict[str, tuple[float, float]] = {
    "threads": (0, 4096),
    "seed": (0, 2**53),
    "trials": (1, 1_000_000),
    "top": (1, 1000),
    "simulate": (1, 1_000_000),
    "verify": (0, 1_000_000),
    "draws": (0, 1000),
    "nodes": (0, 2**31 - 1),
    "steps": (1, 1000),
    "hours": (0.1, 2400),
    "precision": (1e-6, 0.5),
}
"""Of arguments that are numbers, by name: those of the options of the command line, which
`tests/python/test_arguments.py` asks for them."""

Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")


class _OtherKind(Exception):
    """A value is not of the kind that is read."""


def _is_path(kind: Any) -> bool:
    return get_origin(kind) is os.PathLike


def _read(kind: Any, value: Any) -> Any:
    """A value of one kind as Python's own; of kinds that say themselves what they take, as it is.

    Raises
    ------
    _OtherKind
        If it is of another kind.
    """
    if getattr(value, "shape", None) == () and hasattr(value, "tolist"):
        value = value.tolist()  # a scalar of NumPy
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        for part in parts:
            try:
                return _read(part, value)
            except _OtherKind:
                continue
        raise _OtherKind
    if origin is Sequence:
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            raise _OtherKind
        return [_read(parts[0], each) for each in value]
    if _fits(kind, value):
        return int(value) if kind is int else value
    raise _OtherKind


def _fits(kind: Any, value: Any) -> bool:
    """Whether a value is of a kind that has no parts, or of one that is looked at elsewhere."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is int:
        is_whole = isinstance(value, float) and value.is_integer()
        counts = hasattr(value, "__index__") and not hasattr(value, "shape")  # no array
        return is_whole or (counts and not isinstance(value, bool))
    if kind is float:
        return is_number
    if get_origin(kind) is Literal:  # which words there are, the program says
        return isinstance(value, str)
    if _is_path(kind):
        return isinstance(value, os.PathLike)
    if get_origin(kind) is Callable:
        return callable(value)
    kind = get_origin(kind) or kind  # Mapping of Mapping[str, object]
    if kind is Mapping:  # also a row of pandas, which only acts as one
        return isinstance(value, Mapping) or hasattr(value, "keys") and hasattr(value, "items")
    return isinstance(value, kind) if isinstance(kind, type) else True


def _words(kind: Any) -> str:
    """What a kind is called: "a whole number"."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        parts = tuple(part for part in parts if part is not types.NoneType)
        if any(_is_path(part) for part in parts):  # a text is one
            parts = tuple(part for part in parts if part is not str)
        return " or ".join(dict.fromkeys(_words(part) for part in parts))
    if origin is Sequence:
        return f"a list, each of it {_words(parts[0])}"
    if origin is Literal:
        return "one of " + ", ".join(map(repr, parts))
    if _is_path(kind):
        return "a path"
    if origin is Callable:
        return "a function"
    if origin is Mapping:
        return "a mapping"
    named = {bool: "True or False", int: "a whole number", float: "a number", str: "a text"}
    return named.get(kind) or f"a {getattr(kind, '__name__', kind)}"


def _beyond(name: str, value: Any) -> str | None:
    """What the command line says of a number that is outside of its option's limits."""
    if isinstance(value, list):
        return next((said for each in value if (said := _beyond(name, each))), None)
    if name not in LIMITS or not isinstance(value, (int, float)):
        return None
    low, high = LIMITS[name]
    if low <= value <= high:
        return None
    if isinstance(low, float):
        return f"'{value}' must be a number between {low:g} and {high:g}"
    return f"'{value}' must be a whole number from {low:,} to {high:,}"


@functools.cache
def _kinds(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Any]]:
    """The arguments of a function, and of what kind each is."""
    hints = get_type_hints(function)
    signature = inspect.signature(function)
    return signature, {name: hints[name] for name in signature.parameters if name in hints}


def checked(function: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
    """The function, whose arguments are looked at before it is called.

    Each is held to its annotation: a wrong kind is a `TypeError`; and to `LIMITS`: beyond them is a
    `headway.Error`. Both name every argument that is wrong, what was given and what is expected.
    """

    @functools.wraps(function)
    def called(*positional: Parameters.args, **named: Parameters.kwargs) -> Value:
        signature, kinds = _kinds(function)
        try:
            given = signature.bind(*positional, **named)
        except TypeError:  # one too many or too few, which Python says best
            return function(*positional, **named)
        of_other_kind, beyond = [], []
        for name, value in given.arguments.items():
            if name not in kinds:  # self
                continue
            kind = kinds[name]
            several = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
            try:
                read = tuple(_read(kind, v) for v in value) if several else _read(kind, value)
            except _OtherKind:
                of_other_kind.append(f"{name} must be {_words(kind)}, not {value!r}")
                continue
            given.arguments[name] = read
            if said := _beyond(name, read):
                beyond.append(f"{name}: {said}")
        where = f"headway.{function.__qualname__}"
        if of_other_kind:
            raise TypeError(f"{where}: " + "; ".join(of_other_kind))
        if beyond:
            raise _core.Error("".join(f"{where}: {each}\n" for each in beyond))
        return function(*given.args, **given.kwargs)

    return called
