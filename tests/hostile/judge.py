"""What the program may answer: a verdict is None, or a sentence that says what is wrong."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from generate import Case

GOOD_CODES = {0, 2, 3, 4, 5}
# Differences and changes may be below zero, and so may the useful time of a drill, which loses work
# from before it; all other figures count something.
SIGNED = {
    "error", "ettr_gain", "days_saved", "difference", "gain", "change", "relative", "contribution",
    "saved", "saved_s", "saves", "delta", "accounts_s", "log_likelihood",
}  # fmt: skip
# Shares of something, so never above one.
SHARES = {
    "mfu", "mfu_causal", "hfu", "ettr", "goodput", "closed_form_ettr", "useful", "share",
    "within_5", "within_10", "coverage_90", "layout_pairs_right",
}  # fmt: skip
ROUNDING = 1e-6
PLACE = re.compile(
    r":\d+:\d+: |:\d+: |argument --set |^headway [a-z]+: |^headway: |HEADWAY_CONFIGS"
)


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    code: int  # below zero: the signal
    timed_out: bool
    out: bytes
    err: bytes


def verdict(case: Case, outcome: Outcome) -> str | None:
    """What is wrong with the outcome; None if nothing is."""
    lines = outcome.err.decode("utf-8", "replace").splitlines(keepends=True)
    told = [line for line in lines if line.startswith('{"phase": ')]
    err = "".join(line for line in lines if not line.startswith('{"phase": '))
    if outcome.timed_out or outcome.code in (-24, 128 + 24):
        # A long simulation that shows how far it is does not hang.
        return None if told and shown_share(told[-1]) > 0 else "runs over 30 s"
    if outcome.code < 0 or outcome.code > 128:
        return f"signal {-outcome.code if outcome.code < 0 else outcome.code - 128}: {err[:200]}"
    if outcome.code == 1:
        return None if case.own_fault else f"exit 1: {err[:300]}"
    if outcome.code not in GOOD_CODES:
        return f"exit {outcome.code}: {err[:200]}"
    if b"\x1b" in outcome.err or b"\x1b" in outcome.out:
        return "an escape reaches the terminal"
    if outcome.code == 2:
        return None if outcome.out else wrong_complaint(case, err)  # `doctor` answers on stdout
    return wrong_result(case, outcome.out)


def shown_share(line: str) -> float:
    """Of a line of `--progress json`: how much of the phase is done."""
    try:
        shown = json.loads(line)
    except ValueError:  # cut off with the process
        return 0
    return float(shown.get("done", 0) / shown.get("total", 1))


def wrong_complaint(case: Case, err: str) -> str | None:
    """A complaint must say where: a line, a file, an option, a value that the user wrote."""
    if "2>" in case.streams:
        return None  # nobody can hear it
    first = err.split("\n", 1)[0]
    if not err.strip():
        return "exit 2 without a word"
    own_words = [word for word in case.arguments[1:] if len(word) > 1] + list(case.files)
    own_words += [word.partition("=")[0].rpartition(".")[2] for word in own_words if "=" in word]
    if not PLACE.search(err) and not any(shown(word) in err for word in own_words):
        return f"exit 2 without a place: {first[:200]}"
    return None


def shown(word: str) -> str:
    """The word as the program shows it: what commands a terminal is written out."""
    controls = {
        code: f"\\x{code:02x}" for code in [*range(32), *range(127, 160)] if code not in (9, 10)
    }
    controls |= {0xDC00 + byte: f"\\x{byte:02x}" for byte in range(128, 256)}
    return word[:80].translate(controls)


def wrong_result(case: Case, out: bytes) -> str | None:
    """A result in JSON must make sense."""
    if "json" not in case.arguments or not out or "--out" in case.arguments or case.streams:
        return None
    try:
        result = json.loads(out.decode("utf-8"), parse_constant=refuse_constant)
    except (ValueError, UnicodeDecodeError) as error:
        return f"the result is no JSON: {error}"
    return next(wrong_parts(result, "", ""), None)


def refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is no JSON")


def wrong_parts(value: Any, path: str, key: str) -> Iterator[str]:
    """Sentences about everything in a result that cannot be."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, (int, float)):
        if not math.isfinite(value):
            yield f"{path} is {value}"
        elif value < 0 and not SIGNED & set(re.findall(r"[a-z_]+", path)):
            yield f"{path} is below zero: {value}"
        elif value > 1 + ROUNDING and key in SHARES and not re.search("ledger|accounts", path):
            yield f"{path} is above one: {value}"
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from wrong_parts(item, f"{path}[{i}]", key)
    elif isinstance(value, dict):
        for name, item in value.items():
            inner = key if name in ("p5", "p50", "p95", "mean", "low", "high") else name
            yield from wrong_parts(item, f"{path}.{name}" if path else name, inner)
        yield from wrong_order(value, path)
        yield from wrong_sums(value, path)


def wrong_order(value: dict[str, Any], path: str) -> Iterator[str]:
    """Percentiles and intervals stand in order."""
    ranks = [value[name] for name in ("p5", "p50", "p95") if is_number(value.get(name))]
    if ranks != sorted(ranks):
        yield f"{path}: percentiles out of order: {ranks}"
    for name, item in value.items():
        points = isinstance(item, list) and any(isinstance(one, dict) for one in item)  # a curve
        if "interval" in name and isinstance(item, list) and len(item) == 2 and not points:
            if not all(map(is_number, item)) or item[0] > item[1]:
                yield f"{path}.{name} is no interval: {item}"


def wrong_sums(value: dict[str, Any], path: str) -> Iterator[str]:
    """Parts add up to the whole beside them."""
    for parts, whole in (("breakdown_s", "time_s"), ("by_kind_bytes", "peak_bytes")):
        if isinstance(value.get(parts), dict) and is_number(value.get(whole)):
            total = sum(value[parts].values())
            if abs(total - value[whole]) > ROUNDING * max(abs(total), abs(value[whole])):
                yield f"{path}.{parts} adds up to {total}, not to {whole} {value[whole]}"
    ledger, wall = value.get("ledger_gpu_s"), value.get("wall_days")
    if isinstance(ledger, dict) and isinstance(wall, dict) and is_number(wall.get("mean")):
        total, seconds = sum(ledger.values()), wall["mean"] * 86400
        if seconds > 0:
            gpus = total / seconds
            if abs(gpus - round(gpus)) > ROUNDING * gpus:
                yield f"{path}.ledger_gpu_s is {gpus} GPUs over the wall clock"


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
