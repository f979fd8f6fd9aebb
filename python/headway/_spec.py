"""What the generated classes of a scenario have in common: how they are shown, and that they stay.

A scenario is as long as a file of a thousand lines, so none of its classes is shown whole.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any, NoReturn

SHORT = 200
"""Characters of a section that is shown whole."""

DEGREES = ("tensor", "context", "pipeline", "expert", "data")


def _item(value: Any) -> str:
    """A value inside a section that is too long to be shown whole."""
    if is_dataclass(value):
        named = getattr(value, "name", None) or getattr(value, "use", None)
        return f"{type(value).__name__}({repr(named) + ', ' if named else ''}...)"
    if isinstance(value, (list, tuple)) and value:
        return f"[{len(value)} of them]"
    return repr(value)


def section_text(spec: Any) -> str:
    """A section as Python writes it, without what was not given; a long one without its parts."""
    given = [(f.name, getattr(spec, f.name)) for f in fields(spec)]
    given = [(name, value) for name, value in given if value is not None]

    def text(shown: Any) -> str:
        members = ", ".join(f"{name}={shown(value)}" for name, value in given)
        return f"{type(spec).__name__}({members})"

    whole = text(repr)
    return whole if len(whole) <= SHORT else text(_item)


def _named(spec: Any) -> str:
    """What a section is called: its own name or the entry of the catalogue."""
    return str(getattr(spec, "name", None) or getattr(spec, "use", None) or "")


def scenario_text(scenario: Any) -> str:
    """A whole scenario in one line: its name, GPUs, model and layout, as far as they are given."""
    cluster, layout = scenario.cluster, scenario.parallelism
    words = []
    if cluster is not None and cluster.nodes is not None:
        each = getattr(cluster.node, "gpus", None)
        nodes = f"{cluster.nodes:,} nodes"
        kind = _named(cluster.node)
        nodes += f" of {kind}" if kind else ""
        words.append(f"{cluster.nodes * each:,} GPUs ({nodes})" if each else nodes)
    if _named(scenario.model):
        words.append(_named(scenario.model))
    degrees = [
        f"{key} {value}"
        for key in DEGREES
        if (value := getattr(layout, key, None)) not in (None, 1, "1", "auto")
    ]
    if degrees:
        words.append(" x ".join(degrees))
    return f"<Scenario {scenario.name!r}{': ' if words else ''}{', '.join(words)}>"


def refuse(spec: Any, name: str, *_: object) -> NoReturn:
    """In place of what `dataclass` says when somebody sets a field."""
    raise FrozenInstanceError(
        f"{type(spec).__name__}.{name} cannot be set: a scenario stays as it was read and checked;"
        f' a changed one is scenario.with_({{"...{name}": value}}), the key as `--set` takes it'
    )


def shorten(classes: Any) -> None:
    """Gives those of `classes` that are of a scenario their texts."""
    for each in classes:
        if isinstance(each, type) and is_dataclass(each):
            setattr(each, "__setattr__", refuse)  # noqa: B010 (a method cannot be assigned)
            setattr(each, "__delattr__", refuse)  # noqa: B010
            if each.__name__ != "Scenario":
                setattr(each, "__repr__", section_text)  # noqa: B010
