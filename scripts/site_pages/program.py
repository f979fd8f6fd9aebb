"""What the program says of itself: keys, verbs, the catalogue."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def headway(*words: str) -> str:
    """What the program prints. Raises where it is not built."""
    built = ROOT / os.environ.get("HEADWAY_BUILD", "build/release") / "bin/headway"
    path = Path(os.environ.get("HEADWAY_PROGRAM", built))
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing; scripts/build headway_program makes it")
    return subprocess.run([path, *words], capture_output=True, text=True, check=True).stdout


def verbs() -> list[str]:
    """The verbs, in the order of `headway --help`: two spaces, a name, its line."""
    lines = headway("--help").splitlines()
    found = [
        part.split()[0]
        for line in lines
        if line.startswith("  ")
        for part in line.strip().split(";  ")
    ]
    return list(dict.fromkeys(found))


@cache
def keys() -> dict[str, dict[str, Any]]:
    """Every dotted path of a scenario with its part of the schema; items of a list are `name[]`."""
    definitions: dict[str, Any] = json.loads(headway("schema"))["definitions"]

    def referred(node: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The mappings that a value may be, and where they lie: "" or "[]"."""
        name = node.get("$ref", "").removeprefix("#/definitions/")
        if name and name != "sourced_value":
            yield from referred(definitions.get(f"{name}_overrides", definitions[name]))
            return
        if "properties" in node:
            if set(node["properties"]) != {"value", "source", "standard_error"}:
                yield "", node
            return
        for each in [*node.get("anyOf", []), *node.get("allOf", [])]:
            yield from referred(each)
        if "then" in node:
            yield from referred(node["then"])
        if isinstance(node.get("items"), dict):
            for where, mapping in referred(node["items"]):
                yield f"[]{where}", mapping

    found: dict[str, dict[str, Any]] = {}

    def walk(path: str, mapping: dict[str, Any]) -> None:
        for name, node in mapping["properties"].items():
            if name in ("use", "source"):
                continue
            key = f"{path}.{name}" if path else name
            found.setdefault(key, node)
            for where, below in referred(node):
                walk(key + where, below)

    walk("", definitions["Scenario_overrides"])
    return found


@cache
def explained() -> dict[str, list[str]]:
    """What `headway explain` says of each key, without its heading; nothing where it knows none."""
    paths = list(keys())

    def lines(path: str) -> list[str]:
        try:
            return [line.strip() for line in headway("explain", path).splitlines()[1:]]
        except subprocess.CalledProcessError:
            return []

    with ThreadPoolExecutor() as pool:
        return dict(zip(paths, pool.map(lines, paths), strict=True))


def catalogue() -> dict[str, list[tuple[str, Path]]]:
    """Names and files of the catalogue's entries by kind."""
    found: dict[str, list[tuple[str, Path]]] = {}
    for row in json.loads(headway("catalog", "list", "--format", "json"))["rows"]:
        found.setdefault(row["kind"], []).append((row["name"], Path(row["file"])))
    return found
