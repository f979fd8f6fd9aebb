"""Times real PyTorch training steps and sets them beside Headway's predictions.

    python calibrate/validate/compare.py                           # measure, compare with defaults
    python calibrate/validate/compare.py --profile my-node.yaml    # and with a profile
    python calibrate/validate/compare.py --measured measured.json  # an earlier measurement, no GPU
    python calibrate/validate/compare.py --predict predicted.json  # before anything is measured

Exit codes: 0 done (steps that failed or did not fit are named and left out), 1 no step could be
measured or a prediction failed, 2 usage, or no PyTorch or GPU (the message says which).
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
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
    kernels: list[dict[str, object]] = field(default_factory=list)  #: name, count, seconds a step
    held_bytes: int = 0  #: allocated before the case began, by earlier ones

    @property
    def own_bytes(self) -> int:
        """The peak without what earlier cases held."""
        return self.peak_bytes - self.held_bytes


@dataclass(frozen=True)
class Measurement:
    """All cases of one GPU."""

    device: str
    software: dict[str, str]  #: versions: pytorch, cuda, driver, triton
    rows: list[Measured]
    left_out: dict[str, str] = field(default_factory=dict)  #: case -> why

    @staticmethod
    def read(path: Path) -> Measurement:
        """The file that `write` made."""
        kept = json.loads(path.read_text())
        rows = [Measured(**row) for row in kept["rows"]]
        return Measurement(kept["device"], kept.get("software", {}), rows, kept.get("left_out", {}))

    def write(self, path: Path) -> None:
        """As JSON, a line a case."""
        rows = ",\n".join(json.dumps(asdict(row)) for row in self.rows)
        head = {"device": self.device, "software": self.software, "left_out": self.left_out}
        path.write_text(json.dumps(head)[:-1] + ', "rows": [\n' + rows + "\n]}\n")


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


def kind_of(step: Measured) -> str:
    """What kind of step it is: one that waits for the CPU a tenth of the time and more, or by what
    its kernels are made."""
    if sum(float(str(kernel["seconds"])) for kernel in step.kernels) < 0.9 * step.time_s:
        return "the CPU limits"
    for word, name in (
        ("mixture", "mixture of experts"),
        ("fp8", "compiled, fp8"),
        ("graphs", "CUDA graphs"),
        ("compiled", "compiled"),
        ("recompute", "eager, recomputed"),
    ):
        if word in step.name:
            return name
    return "eager"


def summary(profile: str, rows: list[Row]) -> str:
    """Medians, and how many are within the goals: 5 % of time (10 with defaults), 3 % of memory."""
    time_errors = [abs(error(r.predicted[profile].time_s, r.measured.time_s)) for r in rows]
    memory = [abs(error(r.predicted[profile].peak_bytes, r.measured.own_bytes)) for r in rows]
    return (
        f"{profile}: {len(rows)} steps; time: median |error| "
        f"{100 * statistics.median(time_errors):.1f} %, {sum(e <= 0.05 for e in time_errors)} "
        f"within 5 %, {sum(e <= 0.10 for e in time_errors)} within 10 %; peak memory: median "
        f"|error| {100 * statistics.median(memory):.1f} %, {sum(e <= 0.03 for e in memory)} "
        "within 3 %."
    )


def table(rows: list[Row], profiles: list[str]) -> str:
    """Markdown: a line a case, then the sentences that matter."""
    heads = ["case", "measured [ms]", "spread [ms]", "peak [GiB]"]
    for profile in profiles:
        heads += [f"{profile} [ms]", "error [%]", "memory [GiB]", "error [%]"]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    for row in rows:
        cells = [
            row.measured.name,
            f"{1e3 * row.measured.time_s:.1f}",
            f"{1e3 * row.measured.spread_s:.2f}",
            f"{row.measured.own_bytes / 2**30:.2f}",
        ]
        for profile in profiles:
            predicted = row.predicted[profile]
            cells += [
                f"{1e3 * predicted.time_s:.1f}",
                f"{100 * error(predicted.time_s, row.measured.time_s):+.1f}",
                f"{predicted.peak_bytes / 2**30:.2f}",
                f"{100 * error(predicted.peak_bytes, row.measured.own_bytes):+.1f}",
            ]
        lines.append("| " + " | ".join(cells) + " |")
    for profile in profiles:
        lines += ["", summary(profile, rows)]
    return "\n".join(lines) + "\n"


def software() -> dict[str, str]:
    """Versions that times depend on."""
    import torch

    return {
        "pytorch": str(torch.__version__),
        "cuda": str(torch.version.cuda),
        "cudnn": str(torch.backends.cudnn.version()),
    }


@dataclass(frozen=True)
class Limits:
    """How long a measurement may take."""

    steps: int  #: timed steps of a case
    seconds: float  #: no case begins later than this


def measure(chosen: list[Case], limits: Limits, keep: Callable[[Measurement], None]) -> Measurement:
    """Times every case on this machine's GPU and hands what there is to `keep` after each; a case
    that fails or does not fit is left out by name."""
    try:
        import torch
    except ImportError as missing:
        raise NotAvailable(f"PyTorch is missing ({missing})") from missing
    if not torch.cuda.is_available():
        raise NotAvailable("PyTorch sees no CUDA GPU")
    from torch_step import time_case

    begin = time.monotonic()
    out = Measurement(torch.cuda.get_device_name(), software(), [])
    for number, case in enumerate(chosen, 1):
        elapsed = time.monotonic() - begin
        print(f"{elapsed:5.1f} s [{number}/{len(chosen)}] {case.name}", file=sys.stderr, flush=True)
        if elapsed > limits.seconds:
            out.left_out[case.name] = "no time left"
            continue
        try:
            timed = time_case(case, limits.steps)
        except Exception as failure:  # noqa: BLE001 - one case must not end the others
            out.left_out[case.name] = f"{type(failure).__name__}: {str(failure)[:500]}"
            print(f"left out: {case.name}: {out.left_out[case.name]}", file=sys.stderr)
            torch.cuda.empty_cache()
        else:
            out.rows.append(Measured(case.name, **asdict(timed)))
        keep(out)
    return out


def every_case() -> dict[str, Case]:
    """All cases by name."""
    return {case.name: case for case in cases() + cases(quick=True)}


def compare(program: Path, measured: list[Measured], machines: dict[str, Machine]) -> list[Row]:
    """Predictions beside measurements, in the order of the measurements."""
    by_name = every_case()
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
    parser.add_argument("--predict", type=Path, help="write predictions of all cases, no more")
    parser.add_argument("--save", type=Path, help="where to keep the measurements (JSON)")
    parser.add_argument("--only-measure", action="store_true", help="no predictions")
    parser.add_argument("--out", type=Path, help="where to write the table as well")
    parser.add_argument("--quick", action="store_true", help="one case a model")
    parser.add_argument("--only", default="", help="cases whose names match this expression")
    parser.add_argument("--steps", type=int, default=4, help="timed steps of a case")
    parser.add_argument("--seconds", type=float, default=900, help="no case begins later")
    return parser.parse_args(argv)


def write_predictions(options: argparse.Namespace) -> None:
    """Time and peak memory of every case with the catalogue's defaults, or the profile."""
    calibration = str(options.profile.resolve()) if options.profile else None
    machine = Machine(options.node or Machine.node, calibration)
    rows = [
        {"name": case.name, **asdict(predict(options.program, case, machine))}
        for case in cases(options.quick)
    ]
    lines = ",\n".join(json.dumps(row) for row in rows)
    options.predict.write_text(f'{{"node": "{machine.node}", "rows": [\n{lines}\n]}}\n')


def measured_cases(options: argparse.Namespace) -> Measurement:
    """New ones, or those of an earlier measurement."""
    if options.measured:
        return Measurement.read(options.measured)
    chosen = [case for case in cases(options.quick) if re.search(options.only, case.name)]

    def keep(measurement: Measurement) -> None:
        if options.save:
            measurement.write(options.save)

    return measure(chosen, Limits(options.steps, options.seconds), keep)


def main(argv: list[str] | None = None) -> int:
    """Measures, predicts, prints."""
    options = arguments(argv)
    try:
        if options.predict:
            write_predictions(options)
            return 0
        measurement = measured_cases(options)
    except NotAvailable as missing:
        print(f"compare.py: nothing can be measured: {missing}", file=sys.stderr)
        return 2
    except RuntimeError as failure:
        print(f"compare.py: {failure}", file=sys.stderr)
        return 1
    if not measurement.rows:
        left = "".join(f"\n  {name}: {why}" for name, why in measurement.left_out.items())
        print(f"compare.py: no step was measured{left}", file=sys.stderr)
        return 1
    if options.only_measure:
        print(f"{len(measurement.rows)} steps measured, {len(measurement.left_out)} left out")
        return 0
    node = options.node or node_of(measurement.device)
    if node is None:
        print(
            f"compare.py: the catalogue has no node for '{measurement.device}'; name one with "
            "--node",
            file=sys.stderr,
        )
        return 2
    machines = {"catalogue": Machine(node)}
    if options.profile:
        machines["profile"] = Machine(node, str(options.profile.resolve()))
    try:
        text = table(compare(options.program, measurement.rows, machines), list(machines))
    except (RuntimeError, OSError) as failure:
        print(f"compare.py: {failure}", file=sys.stderr)
        return 1
    print(f"{measurement.device}\n\n{text}", end="")
    if options.out:
        options.out.write_text(f"{measurement.device}\n\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
