"""Values that a careless or hostile person writes: numbers, words, quantities, bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

INTEGERS = [
    "0", "-1", "1", "2", "3", "4", "5", "7", "8", "16", "31", "64", "100", "1000", "4095", "65536",
    "1000000", "16777216", "2147483646", "2147483647", "2147483648", "4294967296", "-2147483648",
    "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
]  # fmt: skip
NUMBERS = [
    "0", "-0", "-1", "1e-320", "1e-300", "1e-30", "1e-9", "0.001", "0.5", "0.999999999", "1",
    "1.0000001", "2", "10", "1000", "1e6", "1e9", "1e12", "1e18", "1e30", "1e100", "1e300",
    "1.7e308", "1e309", "-1e300", "nan", "inf", "-inf",
]  # fmt: skip
WORDS = [
    "", " ", "auto", "null", "~", "true", "false", "yes", "none", "all", "[", "]", "{", "}", "{}",
    "[]", "[[[[", "'", '"', "a: b", "- x", "# x", "&a", "*a", "!!int 3", "%", "..", ".", "/",
    "/etc/passwd", "/dev/zero", "../x.yaml", "h100-sxm", "dgx-h100", "./", "x" * 300,
    "\x1b[31mred", "a\rb", "tab\there", "\u202ereversed", "\udcff\udcfe", "caf\u00e9", "\U0001f600",
    "0x10", "1_000", "1,000", "١٢", "1e", "e1", "--", "-", "=", "%s%n", "${HOME}", "$(id)",
]  # fmt: skip
UNITS = {
    "bandwidth": ["B/s", "bps", "Gbps", "GB/s", "EB/s", "B/year"],
    "time": ["ps", "us", "s", "h", "d", "years"],
    "size": ["B", "bit", "GiB", "EB"],
    "power": ["W", "GW", "J/year"],
    "compute_rate": ["FLOP/s", "TFLOP/s", "PFLOP/s"],
    "price_per_time": ["USD/h", "USD/ps", "USD/year"],
    "price_per_size_and_time": ["USD/GB/month", "USD/B/ps"],
    "price_per_size": ["USD/GB", "USD/B"],
    "price_of_energy": ["USD/kWh", "USD/J"],
}


@dataclass(frozen=True)
class Field:
    """One key of a schema: its dotted path and what its value is."""

    path: str
    kind: str  # integer, number, flag, word, text, list, or a name of UNITS
    words: tuple[str, ...] = ()


def fields_of(schema: dict[str, Any]) -> list[Field]:
    """All scalar fields of a schema of `headway schema`, by dotted path."""
    definitions = schema["definitions"]
    fields: list[Field] = []

    def visit(node: dict[str, Any], path: str, depth: int) -> None:
        reference = node.get("$ref", "").rpartition("/")[2]
        if reference in UNITS:
            fields.append(Field(path, reference))
        elif reference and reference != "sourced_value" and depth < 8:
            visit(definitions[reference], path, depth + 1)
        elif "properties" in node and depth < 8:
            for key, value in node["properties"].items():
                if key != "source":
                    visit(value, f"{path}.{key}" if path else key, depth + 1)
        elif "enum" in node:
            fields.append(Field(path, "word", tuple(str(word) for word in node["enum"])))
        elif isinstance(node.get("type"), str) and node["type"] in SCALARS:
            fields.append(Field(path, SCALARS[node["type"]]))
        elif node.get("type") == "array":
            fields.append(Field(path, "list"))
        else:
            choices = node.get("allOf", []) + node.get("anyOf", [])
            for choice in choices[:1] if node.get("anyOf") and not node.get("allOf") else choices:
                visit(choice, path, depth)
            if node.get("anyOf") and choices[0].get("const") == "auto":
                visit(choices[1], path, depth)

    root = definitions[schema["allOf"][0]["$ref"].rpartition("/")[2] + "_overrides"]
    visit(root, "", 0)
    return list(dict.fromkeys(fields))


SCALARS = {"integer": "integer", "number": "number", "boolean": "flag", "string": "text"}


def scenario_fields(root: Path) -> list[Field]:
    """The fields of a scenario file, from the committed schema."""
    return fields_of(json.loads((root / "configs/schema/scenarios.json").read_text()))


def value_of(rng: Random, field: Field) -> str:
    """A value for the field: as an honest person writes it, extreme, or nonsense."""
    if rng.random() < 0.05:
        return rng.choice(WORDS)
    honest = rng.random() < 0.5
    if field.kind == "integer":
        extremes = [str(2 ** rng.randrange(40)), rng.choice(INTEGERS)]
        return str(2 ** rng.randrange(11)) if honest else rng.choice(extremes)
    if field.kind == "number":
        return f"{10 ** rng.uniform(-3, 3):.4g}" if honest else rng.choice(NUMBERS)
    if field.kind == "flag":
        return rng.choice(["true", "false", "true", "false", "maybe"])
    if field.kind == "word":
        return rng.choice([*field.words, *field.words, "nonsense"])
    if field.kind == "list":
        return rng.choice(["[]", "[1]", "[a]", "[{}]", "{}", "[[]]", "null", "x", "[1, 1, 1]"])
    if field.kind in UNITS:
        number = f"{10 ** rng.uniform(-3, 6):.4g}" if honest else rng.choice(NUMBERS)
        return f"{number} {rng.choice(UNITS[field.kind])}"
    return rng.choice(WORDS)


def mutated(rng: Random, data: bytes) -> bytes:
    """The bytes with one to four accidents."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice([1, 1, 2, 8, 40]))
        kind = rng.randrange(9)
        if kind == 0:
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + data[end:]
        elif kind == 2:
            data = data[:at] + rng.randbytes(rng.choice([1, 3])) + data[at:]
        elif kind == 3:
            data = data[:at]
        elif kind == 4:
            lines = data.split(b"\n")
            row = rng.randrange(len(lines))
            data = b"\n".join(
                [*lines[:row], *[lines[row]] * rng.choice([0, 2, 3]), *lines[row + 1 :]]
            )
        elif kind == 5:
            data = data[:at] + data[at:end] * rng.choice([2, 50]) + data[end:]
        else:
            data = with_other_number(rng, data)
    return data


def with_other_number(rng: Random, data: bytes) -> bytes:
    """One number of the text replaced by another, the accident that reaches deepest."""
    starts = [
        i
        for i, byte in enumerate(data)
        if chr(byte).isdigit() and (i == 0 or not chr(data[i - 1]).isalnum())
    ]
    if not starts:
        return data
    at = rng.choice(starts)
    end = at
    while end < len(data) and (chr(data[end]).isdigit() or data[end] in b".eE"):
        end += 1
    return data[:at] + rng.choice(INTEGERS + NUMBERS).encode() + data[end:]
