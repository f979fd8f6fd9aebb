"""What the measurement of PyTorch's kernels does without PyTorch and without a GPU: bytes, shapes,
the CSV, the shares of time."""

from __future__ import annotations

import csv
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "calibrate/pytorch"))

import gpu_telemetry  # noqa: E402
import measure_pytorch  # noqa: E402
import sample_table  # noqa: E402
import traffic  # noqa: E402

BLOCKS = ROOT / "sim/workload/blocks"


def table_of(name: str) -> tuple[int, ...]:
    """Arrays and fp32 arrays, forward and backward, of a table of elementwise.cpp."""
    found = re.search(
        rf"{name}\{{\{{(\d+), (\d+), \d+[^{{}}]*\}}, \{{(\d+), (\d+), \d+[^{{}}]*\}}\}}",
        (ROOT / "sim/workload/elementwise/elementwise.cpp").read_text(),
    )
    assert found, name
    return tuple(int(count) for count in found.groups())


def counts(op: str, written_by: str) -> tuple[int, ...]:
    operator = traffic.OPERATORS[op, written_by]
    return (
        operator.forward.arrays,
        operator.forward.wide_arrays,
        operator.backward.arrays,
        operator.backward.wide_arrays,
    )


@pytest.mark.parametrize(
    ("op", "name"), [("rms_norm", "Norm"), ("rotary", "Rotary"), ("swiglu", "Gate")]
)
def test_bytes_are_those_that_the_model_counts(op: str, name: str):
    assert counts(op, "composed") == table_of(f"kComposed{name}")
    assert counts(op, "single") == table_of(f"kSingle{name}")


#: Peak bandwidth in B/s of what was measured; the multiprocessors and their clock are the same.
MEASURED = {"h200-sxm": 4.8e12, "h100-sxm": 3.35e12}
CYCLES = 67e12 / 256  # 132 multiprocessors, 128 lanes of two operations: by the fp32 peak
STREAMS = 0.885  # gates, residuals, copies and triads reach of the peak bandwidth, on both


def law(bytes_moved: float, bandwidth: float, issued: float) -> float:
    """Seconds of a kernel, as sim/gpu has it."""
    return math.hypot(bytes_moved / (STREAMS * bandwidth), bytes_moved / (issued * CYCLES))


def issues_of(name: str) -> tuple[float, float]:
    """Forward and backward, of a table of elementwise.cpp."""
    text = (ROOT / "sim/workload/elementwise/elementwise.cpp").read_text()
    found = re.search(rf"{name}\{{\{{[^}}]*, ([\d.]+)\}}, \{{[^}}]*, ([\d.]+)\}}\}}", text)
    assert found, name
    return float(found[1]), float(found[2])


def timed(op: str, variant: str) -> list[tuple[float, float, float]]:
    """Bytes, seconds and the GPU's bandwidth of all samples."""
    out = []
    for gpu, bandwidth in MEASURED.items():
        lines = (ROOT / f"calibrate/validate/{gpu}/pytorch.csv").read_text().splitlines()
        rows = csv.DictReader(line for line in lines if not line.startswith("#"))
        out += [
            (float(row["bytes"]), float(row["seconds"]), bandwidth)
            for row in rows
            if (row["op"], row["variant"]) == (op, variant)
        ]
    return out


def logs(samples: list[tuple[float, float, float]], issued: float) -> list[float]:
    """log(law / measured)."""
    return [math.log(law(moved, width, issued) / seconds) for moved, seconds, width in samples]


def is_fitted(samples: list[tuple[float, float, float]], issued: float, worst: float) -> None:
    """No sample is further off than `worst`, and no number does better in the mean square."""
    assert len({width for _, _, width in samples}) == 2
    assert max(abs(error) for error in logs(samples, issued)) < worst

    def square(value: float) -> float:
        return sum(error**2 for error in logs(samples, value))

    best = min(square(issued * (0.8 + 0.01 * i)) for i in range(41))
    assert square(issued) < 1.1 * best + 1e-4 * len(samples)  # rounded


def test_plain_streams_are_as_fast_on_both():
    for kind in ("swiglu_forward", "swiglu_backward", "residual_forward"):
        for moved, seconds, width in timed(kind, "eager"):
            assert moved / seconds / width == pytest.approx(STREAMS, abs=0.09), kind


@pytest.mark.parametrize(
    ("name", "op", "variant", "worst"),
    [
        ("kComposedNorm", "rms_norm", "eager", 0.07),
        ("kCompiledNorm", "rms_norm", "compiled", 0.1),
        ("kLibraryNorm", "rms_norm", "eager_fused", 0.2),
        ("kComposedRotary", "rotary", "eager", 0.03),
        ("kCompiledRotary", "rotary", "compiled", 0.03),
    ],
)
def test_issues_are_those_of_the_samples(name: str, op: str, variant: str, worst: float):
    for way, issued in zip(("forward", "backward"), issues_of(name), strict=True):
        is_fitted(timed(f"{op}_{way}", variant), issued, worst)


def kernel_times(step: str, kernel: str, moved: float) -> list[tuple[float, float, float]]:
    """Bytes, seconds and bandwidth of all launches of a kernel in a step measured on both."""
    out = []
    for gpu, bandwidth in MEASURED.items():
        text = (ROOT / f"calibrate/validate/{gpu}/measured.json").read_text()
        row = next(row for row in json.loads(text)["rows"] if row["name"] == step)
        seconds = sum(k["seconds"] for k in row["kernels"] if kernel in k["name"])
        out.append((moved, seconds, bandwidth))
    return out


def constant(file: str, name: str) -> float:
    """Of the model, by its name in the source."""
    found = re.search(rf"{name} = ([\d.]+);", (ROOT / "sim/workload" / file).read_text())
    assert found, name
    return float(found[1])


def test_issues_of_lists_sums_and_losses_are_those_measured():
    kinds = (("adam", "fused"), ("clip", "foreach"), ("master_copy", "foreach"))
    lists = [sample for kind in kinds for sample in timed(*kind)]
    is_fitted(lists, constant("elementwise/elementwise.h", "kListIssue"), 0.03)
    # 1.713 billion weights, two micro-batches: 16-bit gradients read, fp32 ones read and written.
    step = "1.7B-mixture s2048 b2 x2"
    sums = kernel_times(step, "CUDAFunctor_add<float>, std::array<char*, 3ul>, 4", 20 * 1.713e9)
    is_fitted(sums, constant("elementwise/elementwise.h", "kMixedSumIssue"), 0.06)
    # 16 layers, two micro-batches, 16,384 rows of 1,024 numbers: read, and added to others.
    scattered = kernel_times(step, "indexFuncLargeIndex", 16 * 2 * 16384 * 1024 * 6)
    is_fitted(scattered, constant("elementwise/expert_bytes.h", "kScatteredIssue"), 0.03)
    header = "elementwise/elementwise.h"
    for op, variant, name, worst in (
        ("cross_entropy_forward", "compiled", "kFusedLossIssue", 0.1),
        ("cross_entropy_backward", "compiled", "kFusedLossBackwardIssue", 0.06),
        ("cross_entropy_forward", "eager", "kSeparateLossIssue", 0.03),
    ):
        is_fitted(timed(op, variant), constant(header, name), worst)


def test_bytes_of_the_loss_are_those_of_the_model():
    # kernels.h: of 16-bit logits 2 + 4 B each fused, 22 + 30 B in separate operators.
    said = " ".join((BLOCKS / "kernels.h").read_text().replace("///", "").split())
    assert "2 + 4 B each fused" in said
    assert "22 + 30 B in PyTorch's separate operators" in said
    loss = {by: traffic.OPERATORS["cross_entropy", by] for by in ("single", "composed")}
    assert (loss["single"].forward.bytes, loss["single"].backward.bytes) == (2, 4)
    assert (loss["composed"].forward.bytes, loss["composed"].backward.bytes) == (22, 30)


def test_bytes_by_hand():
    # Norm forward: rW RW R RW Rw rw of 16 and 32 bits = (2+4)+(4+4)+4+(4+4)+(4+2)+(2+2).
    assert traffic.operator_bytes("rms_norm", "eager", False, 1) == 6 + 8 + 4 + 8 + 6 + 4
    assert traffic.operator_bytes("rms_norm", "eager_fused", False, 1) == 4
    assert traffic.operator_bytes("swiglu", "compiled", True, 3) == 3 * 10
    # Absolute value 2+2, maximum 2, to fp32 2+4, scaled 4+4, clamped 4+4, rounded 4+1.
    assert traffic.fp8_cast_bytes("eager", 1) == 4 + 2 + 6 + 8 + 8 + 5
    assert traffic.fp8_cast_bytes("compiled", 1) == 2 + 2 + 1
    assert traffic.OPTIMIZER_BYTES["adam"] == 4 * 4 + 3 * 4


def test_optimizer_has_the_weights_of_a_published_model():
    # Llama 3.2 1B: 1,235,814,400 weights (its config.json and safetensors index).
    shapes = traffic.decoder_shapes(16, 2048, 8192, 512, 128256)
    assert traffic.parameters(shapes) == 1_235_814_400
    assert len(shapes) == 1 + 16 * 9 + 1


def test_sets_exceed_the_cache_and_batches_fit_the_queue():
    assert traffic.rotation(10e6, 50e6) == 15
    assert traffic.rotation(1e6, 50e6) == 16
    assert traffic.rotation(1e9, 50e6) == 1
    assert traffic.calls_of_batch(1e-4, 2e-3) == 20
    assert traffic.calls_of_batch(1.0, 2e-3) == 1
    assert traffic.calls_of_batch(1e-9, 2e-3) == 200
    assert [traffic.sequences(s) for s in (1024, 16384, 32768)] == [16, 1, 1]


def test_columns_are_those_of_the_reader():
    source = (ROOT / "calibrate/fit/samples.cpp").read_text()
    listed = source[source.index("kColumns[] = {") : source.index("};", source.index("kColumns"))]
    assert list(sample_table.COLUMNS) == re.findall(r'"(\w+)"', listed)
    assert source[: source.index("kColumns")].count(f'"{sample_table.TITLE}"') == 1


def test_the_table_is_written_as_the_reader_wants_it(tmp_path: Path):
    table = sample_table.SampleTable()
    table.fact("device", "NVIDIA H100\n80GB")
    table.not_measured("attention: cudnn, 1 x 2", "RuntimeError:\n no kernel")
    table.add(
        sample_table.Sample(
            "attention",
            "backward",
            "flash2",
            "bf16",
            batch=4,
            sequence=4096,
            query_heads=32,
            key_value_heads=8,
            head_dim=128,
            causal=True,
            repeats=9,
            seconds=1.25e-6,
            flags=("throttled", "unstable"),
        )
    )
    path = tmp_path / "samples.csv"
    table.write(path)
    lines = path.read_text().splitlines()
    assert lines[:3] == [
        "# headway-samples 1",
        "# device: NVIDIA H100 80GB",
        "# not measured, attention  cudnn 1 x 2: RuntimeError: no kernel",
    ]
    (row,) = csv.DictReader(lines[3:])
    assert {name: text for name, text in row.items() if text} == {
        "kind": "attention",
        "op": "backward",
        "variant": "flash2",
        "precision": "bf16",
        "batch": "4",
        "sequence": "4096",
        "query_heads": "32",
        "key_value_heads": "8",
        "head_dim": "128",
        "causal": "true",
        "repeats": "9",
        "seconds": "1.25e-06",
        "flags": "throttled;unstable",
    }
    assert list(tmp_path.iterdir()) == [path]


def test_a_row_that_the_reader_would_refuse_is_no_sample():
    table = sample_table.SampleTable()
    for sample, wrong in (
        (sample_table.Sample("gemm", "forward", m=1, n=1, seconds=1.0), "a gemm sample needs k"),
        (sample_table.Sample("memory", "copy", seconds=1.0), "a memory sample needs bytes"),
        (sample_table.Sample("launch", "", seconds=1.0), "a launch sample needs op"),
        (sample_table.Sample("launch", "graph"), "a launch sample needs seconds above zero"),
        (sample_table.Sample("copy", "peer", seconds=1.0), "there is no kind 'copy'"),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(wrong)}$"):
            table.add(sample)
    assert table.samples == []


def test_time_that_a_part_spares_goes_to_the_later_ones():
    shares = {"first": 1.0, "second": 2.0, "third": 1.0}
    assert sample_table.allowance(100, shares, ["first", "second", "third"]) == 25
    assert sample_table.allowance(90, shares, ["second", "third"]) == 60
    assert sample_table.allowance(88, shares, ["third"]) == 88
    assert sample_table.allowance(0, shares, ["third"]) == 0


def test_parts_are_chosen_by_name_and_keep_their_order():
    assert measure_pytorch.parts_of("launch,products") == ["products", "launch"]
    assert measure_pytorch.options(["--out", "x.csv"]).only == list(measure_pytorch.SHARES)
    for name in measure_pytorch.SHARES:
        assert (ROOT / f"calibrate/pytorch/part_{name}.py").is_file()


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["--only", "gemm"], "there is no part 'gemm'"),
        (["--seconds", "0"], "'0' is no time above zero"),
    ],
)
def test_wrong_options_are_usage_errors(arguments: list[str], wrong: str):
    program = ROOT / "calibrate/pytorch/measure_pytorch.py"
    done = subprocess.run(
        [sys.executable, str(program), "--out", "x.csv", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert wrong in done.stderr


def test_means_are_of_what_is_known():
    reading = gpu_telemetry.Reading
    mean = gpu_telemetry.mean([reading(1e9, 0, 50), reading(2e9, 600, 0, True)])
    assert mean == reading(1.5e9, 600, 50, True)
    assert gpu_telemetry.mean([]) == reading()
    nothing = gpu_telemetry.Telemetry(wanted=False)
    assert nothing.read() == reading()
    assert nothing.energy_j() == 0
    assert nothing.facts() == {}
