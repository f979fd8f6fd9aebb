"""How a key is written: its first short value in what comes with the program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from site_pages.program import ROOT, catalogue, explained, keys

LONGEST = 60
"""Characters of a value that is shown whole."""


REQUIRED = "none: it must be written"
"""What the program has as default of a key that must be there."""


@dataclass(frozen=True)
class Example:
    text: str
    name: str  # of the scenario or entry that it stands in
    page: str  # where the site shows that, seen from `reference/keys`; may be none


def written(value: Any, width: int = LONGEST) -> str | None:
    """A value on one line of YAML; None where it is longer."""
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000, allow_unicode=True)
    text = text.removesuffix("...\n").strip()
    return text if len(text) <= width and "\n" not in text else None


def shortened(value: Any) -> str | None:
    """A long list or mapping by its first part: `{gemm_16bit: 0.75, ...}`."""
    if isinstance(value, list):
        first = [value[:1], shortened(value[0]) if value else None]
        text = written(first[0]) or (f"[{first[1]}]" if first[1] else None)
    elif isinstance(value, dict):
        parts = (written(dict([each])) for each in value.items() if each[0] != "source")
        text = next((part for part in parts if part), None)
        if text is None:
            below = ((key, shortened(part)) for key, part in value.items())
            text = next((f"{{{key}: {part}}}" for key, part in below if part), None)
    else:
        return None
    return f"{text[:-1]}, ...{text[-1]}" if text and len(text) <= LONGEST else None


def values(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What a file gives a key, and what it gives those below, by dotted paths."""
    if isinstance(value, dict) and set(value) <= {"value", "source", "standard_error"}:
        if "value" in value:  # a number with its source: the key is the mapping
            yield path, value["value"]
        return
    if path:
        yield path, value
    if isinstance(value, dict):
        for key, below in value.items():
            yield from values(f"{path}.{key}" if path else str(key), below)
    elif isinstance(value, list):
        for below in value:
            if isinstance(below, dict):
                yield from (each for each in values(f"{path}[]", below) if each[0] != f"{path}[]")


def in_scenarios(folder: str, pages: str) -> Iterator[tuple[str, Any, str, str]]:
    for file in sorted((ROOT / folder).glob("*.yaml")):
        name = file.stem if pages else f"{folder}/{file.name}"
        for path, value in values("", yaml.safe_load(file.read_text(encoding="utf-8"))):
            yield path, value, name, f"{pages}/{file.stem}.md" if pages else ""


def in_catalogue() -> Iterator[tuple[str, Any, str, str]]:
    """Entries, wherever in a scenario one of their kind may stand."""
    places: dict[str, list[str]] = {}
    for path, lines in explained().items():
        for kind in re.findall(r"\{use: NAME\} of 'headway catalog list (\w+)'", " ".join(lines)):
            places.setdefault(kind, []).append(path)
    for kind, entries in catalogue().items():
        for name, file in entries:
            text = Path(file).read_text(encoding="utf-8")
            # Tables of measurements have no key that shorter entries lack, but minutes of lines.
            if kind == "scenarios" or len(text) > 200_000:
                continue
            tree = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
            for place in places.get(kind, []):
                for path, value in values(place, tree):
                    yield path, value, name, f"../catalogue/{kind}.md#{name}"


def line_of(path: str, start: str) -> str:
    """What `headway explain` says of a key behind these words, without its full stop."""
    lines = explained().get(path, [])
    found = (line.removeprefix(start) for line in lines if line.startswith(start))
    return next(found, "").rstrip(".")


def of_its_kind(path: str) -> Example | None:
    """Of a key that nothing writes: its other truth value, a word that it may be, its default, what
    its own description quotes."""
    write, default = line_of(path, "What to write: "), line_of(path, "Default: ")
    quoted = re.search(r'such as (".+?")', explained()[path][0] if explained()[path] else "")
    words = re.fullmatch(r"(a list; each: )?one of ([^;]*)(; may be left out)?", write)
    if write.startswith("true or false"):
        text = "false" if default == "true" else "true"
    elif words:
        others = [word for word in words[2].split(", ") if word != default]
        text = f"[{others[0]}]" if words[1] else others[0]
    elif default and default != REQUIRED:
        text = default
    elif write.startswith("a list; each: a whole number"):
        text = "[1, 2]"
    elif write.startswith("a list; each: text") and quoted:
        text = f"[{quoted[1]}]"
    else:
        return None
    return Example(text, "", "")


@cache
def examples() -> dict[str, Example]:
    """By key. Shipped scenarios come before entries of the catalogue, and those before scenarios of
    the tests; whole values before shortened ones; what is written before what may be."""
    found: dict[str, Example] = {}
    long: dict[str, Example] = {}
    for source in (
        in_scenarios("configs/scenarios", "../scenarios"),
        in_catalogue(),
        in_scenarios("tests/property/fields", ""),
    ):
        for path, value, name, page in source:
            if path not in keys() or path in found:
                continue
            if text := written(value):
                found[path] = Example(text, name, page)
            elif path not in long and (text := shortened(value)):
                long[path] = Example(text, name, page)
    found = {**long, **found}
    # The same part elsewhere: a teacher is a model, an axis of a search is one of a sweep.
    parts = {(line_of(path, "Part of: "), path.split(".")[-1]): path for path in found}
    parts = {(part.split(". As an option")[0], key): path for (part, key), path in parts.items()}
    for path in keys():
        if path not in found:
            part = line_of(path, "Part of: ").split(". As an option")[0]
            twin = parts.get((part, path.split(".")[-1]))
            example = found[twin] if twin else of_its_kind(path)
            if example:
                found[path] = example
    for path in reversed(keys()):  # those below come first
        below = [key for key in keys() if re.fullmatch(re.escape(path) + r"(\[\])?\.\w+", key)]
        written_below = next((key for key in below if key in found), None)
        if path not in found and written_below:
            text = f"{written_below.split('.')[-1]}: {found[written_below].text}, ..."
            listed = written_below.startswith(f"{path}[]")
            found[path] = Example(f"[{{{text}}}]" if listed else f"{{{text}}}", "", "")
    return found
