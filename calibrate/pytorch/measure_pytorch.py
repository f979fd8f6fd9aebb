"""Times what PyTorch's own kernels do on one GPU, and writes samples for `headway calibrate fit`.

    python calibrate/pytorch/measure_pytorch.py --out pytorch.csv
    python calibrate/pytorch/measure_pytorch.py --out check.csv --tiny
    python calibrate/pytorch/measure_pytorch.py --out part.csv --only attention,launch --seconds 40

Exit codes: 0 samples were written, 1 nothing could be measured, 2 usage, or no PyTorch or GPU, 130
interrupted (what was measured until then is written).
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

from gpu_telemetry import Telemetry
from sample_table import SampleTable, allowance

if TYPE_CHECKING:
    from torch_timing import Bench

#: Parts in their order, each with its share of the time; what one spares goes to the later ones.
SHARES: Mapping[str, float] = {
    "products": 15,
    "attention": 22,
    "elementwise": 28,
    "optimizer": 10,
    "decompositions": 4,
    "load": 17,
    "launch": 14,
}


def parts_of(text: str) -> list[str]:
    """The parts named, in the order in which they run."""
    named = text.split(",")
    wrong = [name for name in named if name not in SHARES]
    if wrong:
        raise argparse.ArgumentTypeError(
            f"there is no part '{wrong[0]}'; parts are {', '.join(SHARES)}"
        )
    return [name for name in SHARES if name in named]


def positive(text: str) -> float:
    """Seconds."""
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is no time above zero")
    return value


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="samples, as CSV")
    parser.add_argument("--seconds", type=positive, default=100.0, help="at most about [100]")
    parser.add_argument("--only", type=parts_of, default=list(SHARES), metavar="PART,PART")
    parser.add_argument("--tiny", action="store_true", help="smallest sizes: does everything run?")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    return parser.parse_args(arguments)


def record_facts(table: SampleTable, telemetry: Telemetry, device: str) -> None:
    """What the samples depend on."""
    import torch

    name = torch.cuda.get_device_name(0) if device == "cuda" else "CPU"
    table.fact("device", name)
    for fact, value in telemetry.facts().items():
        table.fact(fact, value)
    versions: dict[str, Callable[[], object]] = {
        "pytorch": lambda: torch.__version__,
        "cuda": lambda: torch.version.cuda,
        "cudnn": torch.backends.cudnn.version,
        "triton": lambda: importlib.import_module("triton").__version__,
    }
    for fact, version in versions.items():
        try:
            table.fact(fact, version() or "none")
        except Exception as fault:  # not worth a measurement
            table.fact(fact, f"unknown: {fault}")
    table.fact("python", sys.version.split()[0])
    table.fact("date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"))
    table.fact("program", "measure_pytorch")


def warm_up(bench: Bench) -> None:
    """Clocks rise; the processes that compile start beside the first part."""
    if not bench.cuda:
        return
    x = bench.random(2048, 2048)
    for _ in range(20 if bench.tiny else 500):
        x @ x
    try:
        compiling = importlib.import_module("torch._inductor.async_compile").AsyncCompile
        compiling.warm_pool()
        compiling.wakeup()
    except Exception as fault:  # compiling then starts them itself
        print(f"compiling processes are not started ahead: {fault}", file=sys.stderr)
    bench.synchronize()


def measure(bench: Bench, chosen: argparse.Namespace, end: float) -> None:
    """All parts; the file is written after each, whatever comes."""
    from torch_timing import ContextLost

    warm_up(bench)
    waiting = list(chosen.only)
    while waiting:
        name = waiting[0]
        begin = time.monotonic()
        bench.part_end = begin + allowance(max(0.0, end - begin), SHARES, waiting)
        before = len(bench.table.samples)
        try:
            importlib.import_module(f"part_{name}").measure(bench)
        except ContextLost as lost:
            for part in waiting:
                bench.table.not_measured(f"(rest of) {part}", f"the GPU is lost {lost}")
            return
        except Exception as fault:
            bench.table.not_measured(f"rest of {name}", f"{type(fault).__name__}: {fault}")
        waiting.pop(0)
        bench.release()
        seconds = time.monotonic() - begin
        count = len(bench.table.samples) - before
        bench.table.fact(f"part {name}", f"{count} samples in {seconds:.1f} s")
        bench.table.write(chosen.out)
        print(f"{name}: {count} samples in {seconds:.1f} s", flush=True)


def interrupted(*_: object) -> None:
    """A polite end by the caller is one by the user."""
    raise KeyboardInterrupt


def main(arguments: Sequence[str]) -> int:
    """Measures and writes."""
    begin = time.monotonic()
    chosen = options(arguments)
    try:
        import torch
    except ImportError as missing:
        print(f"measure_pytorch: PyTorch is missing: {missing}", file=sys.stderr)
        return 2
    if chosen.device == "cuda" and not torch.cuda.is_available():
        print("measure_pytorch: PyTorch sees no CUDA GPU; --device cpu tries", file=sys.stderr)
        return 2
    from torch_timing import Bench

    for number in (signal.SIGINT, signal.SIGTERM):  # SIGINT too: a shell may have it ignored
        signal.signal(number, interrupted)
    torch.manual_seed(1)
    table = SampleTable()
    telemetry = Telemetry(chosen.device == "cuda")
    record_facts(table, telemetry, chosen.device)
    small = chosen.tiny or chosen.device == "cpu"
    bench = Bench(torch.device(chosen.device), small, table, telemetry)
    code = 0
    try:
        measure(bench, chosen, begin + chosen.seconds)
    except KeyboardInterrupt:
        table.not_measured("the rest", "interrupted")
        code = 130
    finally:
        table.write(chosen.out)
    print(f"{len(table.samples)} samples in {time.monotonic() - begin:.1f} s: {chosen.out}")
    return code or (0 if table.samples else 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
