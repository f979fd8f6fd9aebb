"""The CSV of samples as calibrate/fit/samples.h defines it, and how the time is shared between
parts. Needs neither PyTorch nor a GPU."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

TITLE = "# headway-samples 1"
#: Cells besides op and seconds that a row of a kind must fill (RowReader::check of samples.cpp).
NEEDED: Mapping[str, tuple[str, ...]] = {
    "gemm": ("m", "n", "k"),
    "attention": ("batch", "sequence", "query_heads", "head_dim"),
    "memory": ("bytes",),
    "optimizer": ("bytes",),
    "launch": (),
}


@dataclass(frozen=True)
class Sample:
    """One timed thing; fields are the columns, in their order. Zero or empty: does not apply."""

    kind: str
    op: str  #: which of its kind: "forward", "rms_norm_backward"
    variant: str = ""  #: how: "flash2", "compiled"
    precision: str = ""  #: "bf16", "fp8", "fp32"; empty for memory and launch
    m: int = 0  #: gemm, as the forward product counts: tokens (an expert's, if batch is experts)
    n: int = 0  #: outputs
    k: int = 0  #: inputs
    batch: int = 0  #: gemm: equal products in one call; attention: sequences
    sequence: int = 0
    query_heads: int = 0
    key_value_heads: int = 0
    head_dim: int = 0
    causal: bool = False
    ranks: int = 0
    ranks_per_node: int = 0
    streams: int = 0  #: launch: kernels in the chain
    bytes: float = 0.0  #: memory, optimizer: read and written by one call
    beside: str = ""  #: what ran at the same time
    repeats: int = 0  #: batches that were timed
    seconds: float = 0.0  #: median of one call
    spread_s: float = 0.0  #: interquartile range over the batches
    elapsed_s: float = 0.0  #: lasting loads: since the load began; 0: a burst
    clock_hz: float = 0.0
    power_w: float = 0.0
    temperature_c: float = 0.0
    flags: tuple[str, ...] = ()  #: "throttled", "unstable"


COLUMNS = tuple(column.name for column in fields(Sample))


def plain(text: str) -> str:
    """Without what would break a row or a comment line."""
    return " ".join(text.replace(",", " ").replace('"', " ").split())


def cell(value: object) -> str:
    """A cell's text; empty for zero, "" and False."""
    if isinstance(value, tuple):
        return ";".join(value)
    if isinstance(value, bool):
        return "true" if value else ""
    if isinstance(value, float):
        return repr(value) if value else ""
    return plain(str(value)) if value else ""


def complaint(sample: Sample) -> str:
    """What read_samples would refuse in the row; empty: nothing."""
    if sample.kind not in NEEDED:
        return f"there is no kind '{sample.kind}'"
    missing = [name for name in NEEDED[sample.kind] if not getattr(sample, name) > 0]
    if not sample.op:
        missing.append("op")
    if not 0 < sample.seconds < float("inf"):
        missing.append("seconds above zero")
    return f"a {sample.kind} sample needs {', '.join(missing)}" if missing else ""


@dataclass
class SampleTable:
    """What was measured so far, and under which circumstances."""

    facts: list[tuple[str, str]] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)

    def add(self, sample: Sample) -> None:
        """Keeps a complete sample.

        Raises ValueError on one that the reader would refuse.
        """
        wrong = complaint(sample)
        if wrong:
            raise ValueError(wrong)
        self.samples.append(sample)

    def fact(self, name: str, value: object) -> None:
        """Records a circumstance."""
        self.facts.append((plain(name), " ".join(str(value).split())))

    def not_measured(self, name: str, reason: str) -> None:
        """Records and says on stderr what is missing and why."""
        short = " ".join(reason.split())[:400]
        self.facts.append((f"not measured, {plain(name).replace(':', ' ')}", short))
        print(f"not measured, {name}: {short}", file=sys.stderr, flush=True)

    def text(self) -> str:
        """The file."""
        lines = [TITLE]
        lines += [f"# {name}: {value}" for name, value in self.facts]
        lines.append(",".join(COLUMNS))
        for sample in self.samples:
            lines.append(",".join(cell(getattr(sample, name)) for name in COLUMNS))
        return "\n".join(lines) + "\n"

    def write(self, path: Path) -> None:
        """Replaces the file at once, so that an interrupted program leaves a whole one."""
        beside = path.with_name(path.name + ".part")
        beside.write_text(self.text())
        beside.replace(path)


def allowance(left_s: float, shares: Mapping[str, float], waiting: Sequence[str]) -> float:
    """Seconds for the first of the parts that still wait: its share of what is left, so that what
    one part spares goes to all later ones."""
    return left_s * shares[waiting[0]] / sum(shares[name] for name in waiting)
