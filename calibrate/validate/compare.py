"""Times real PyTorch training steps and sets them beside Headway's predictions.

    python calibrate/validate/compare.py                            # measure and compare, catalogue
    defaults python calibrate/validate/compare.py --profile my-node.yaml     # and with the profile
    of headway-calibrate python calibrate/validate/compare.py --measured measured.json   # compare
    an earlier measurement; needs no GPU

Exit codes: 0 done, 1 a step or a prediction failed, 2 usage, or no PyTorch or GPU (the message says
which).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from cases import Case, Machine, cases, node_of, scenario_text

ROOT = Path(__file__).parents[2]


class NotAvailable(Exception):
    """PyTorch or a GPU is missing."""


@dataclass(frozen=True)
class Measured:
    """One timed case."""

    name: str
    time_s: float
    spread_s: float  #: interquartile range over the steps
    peak_bytes: int  #: torch.cuda.max_memory_allocated
    reserved_bytes: int  #: torch.cuda.max_memory_reserved: with what the allocator could not use


@dataclass(frozen=True)
class Predicted:
    """What `headway run` says of one case."""

    time_s: float
    peak_bytes: float  #: of tensors: without context, communicators and what the allocator loses


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    measured: Measured
    predicted: dict[str, Predicted]  #: by profile: "catalogue", "profile"


def predict(program: Path, case: Case, machine: Machine) -> Predicted:
    """Runs the planner on the scenario of `case`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.yaml"
        path.write_text(scenario_text(case, machine))
        done = subprocess.run(
            [str(program), "run", str(path), "--format", "json", "--quiet"],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{case.name}: headway run ended with {done.returncode}:\n{done.stderr}")
    result = json.loads(done.stdout)
    memory = result["memory"]
    tensors = memory["peak_bytes"] - memory["by_kind_bytes"]["slack"]
    return Predicted(result["step"]["time_s"], tensors)


def error(predicted: float, measured: float) -> float:
    """predicted / measured - 1."""
    return predicted / measured - 1


def table(rows: list[Row], profiles: list[str]) -> str:
    """Markdown: a line a case, then medians and shares within the goals (5 % time, 3 % memory)."""
    heads = ["case", "measured [ms]", "spread [ms]", "peak [GiB]"]
    for profile in profiles:
        heads += [f"{profile} [ms]", "error [%]", "memory [GiB]", "error [%]"]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    for row in rows:
        cells = [
            row.measured.name,
            f"{1e3 * row.measured.time_s:.1f}",
            f"{1e3 * row.measured.spread_s:.2f}",
            f"{row.measured.peak_bytes / 2**30:.2f}",
        ]
        for profile in profiles:
            predicted = row.predicted[profile]
            cells += [
                f"{1e3 * predicted.time_s:.1f}",
                f"{100 * error(predicted.time_s, row.measured.time_s):+.1f}",
                f"{predicted.peak_bytes / 2**30:.2f}",
                f"{100 * error(predicted.peak_bytes, row.measured.peak_bytes):+.1f}",
            ]
        lines.append("| " + " | ".join(cells) + " |")
    for profile in profiles:
        time = [abs(error(r.predicted[profile].time_s, r.measured.time_s)) for r in rows]
        memory = [abs(error(r.predicted[profile].peak_bytes, r.measured.peak_bytes)) for r in rows]
        lines += [
            "",
            (
                f"{profile}: {len(rows)} steps; time: median |error| "
                f"{100 * statistics.median(time):.1f} %, "
                f"{sum(e <= 0.05 for e in time)} within 5 %; peak memory: median |error| "
                f"{100 * statistics.median(memory):.1f} %, {sum(e <= 0.03 for e in memory)} "
                "within 3 %."
            ),
        ]
    return "\n".join(lines) + "\n"


def measure(chosen: list[Case], steps: int) -> tuple[str, list[Measured]]:
    """Times every case on this machine's GPU; a case that does not fit is left out by name."""
    try:
        import torch
    except ImportError as missing:
        raise NotAvailable(f"PyTorch is missing ({missing})") from missing
    if not torch.cuda.is_available():
        raise NotAvailable("PyTorch sees no CUDA GPU")
    from torch_step import time_case

    out = []
    for number, case in enumerate(chosen, 1):
        print(f"[{number}/{len(chosen)}] {case.name}", file=sys.stderr, flush=True)
        try:
            time_s, spread_s, peak, reserved = time_case(case, steps)
        except torch.cuda.OutOfMemoryError:
            print(f"left out: {case.name}: it does not fit", file=sys.stderr)
            torch.cuda.empty_cache()
            continue
        out.append(Measured(case.name, time_s, spread_s, peak, reserved))
    return torch.cuda.get_device_name(), out


def compare(program: Path, measured: list[Measured], machines: dict[str, Machine]) -> list[Row]:
    """Predictions beside measurements, in the order of the measurements."""
    by_name = {case.name: case for case in cases() + cases(quick=True)}
    return [
        Row(
            m,
            {
                profile: predict(program, by_name[m.name], machine)
                for profile, machine in machines.items()
            },
        )
        for m in measured
    ]


def arguments(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--program", type=Path, default=ROOT / "build/release/bin/headway", help="the planner"
    )
    parser.add_argument(
        "--profile", type=Path, help="a profile of headway-calibrate, compared as well"
    )
    parser.add_argument("--node", help="the catalogue's node [by the GPU's name]")
    parser.add_argument("--measured", type=Path, help="measurements to compare instead of new ones")
    parser.add_argument("--save", type=Path, help="where to keep the measurements (JSON)")
    parser.add_argument("--out", type=Path, help="where to write the table as well")
    parser.add_argument("--quick", action="store_true", help="one case a model")
    parser.add_argument("--steps", type=int, default=10, help="timed steps of a case")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Measures, predicts, prints."""
    options = arguments(argv)
    try:
        if options.measured:
            kept = json.loads(options.measured.read_text())
            device, measured = kept["device"], [Measured(**row) for row in kept["rows"]]
        else:
            device, measured = measure(cases(options.quick), options.steps)
    except NotAvailable as missing:
        print(f"compare.py: nothing can be measured: {missing}", file=sys.stderr)
        return 2
    if options.save:
        options.save.write_text(
            json.dumps({"device": device, "rows": [asdict(m) for m in measured]}, indent=1)
        )
    node = options.node or node_of(device)
    if node is None:
        print(
            f"compare.py: the catalogue has no node for '{device}'; name one with --node",
            file=sys.stderr,
        )
        return 2
    machines = {"catalogue": Machine(node)}
    if options.profile:
        machines["profile"] = Machine(node, str(options.profile.resolve()))
    try:
        text = table(compare(options.program, measured, machines), list(machines))
    except (RuntimeError, OSError) as failure:
        print(f"compare.py: {failure}", file=sys.stderr)
        return 1
    print(f"{device}\n\n{text}", end="")
    if options.out:
        options.out.write_text(f"{device}\n\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
