"""What the measurement of PyTorch's kernels does without PyTorch and without a GPU: bytes, shapes,
the CSV, the shares of time."""

from __future__ import annotations

import csv
import json
import re
import statistics
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


def paces_of(name: str) -> tuple[float, float]:
    """Forward and backward, of a table of elementwise.cpp."""
    text = (ROOT / "sim/workload/elementwise/elementwise.cpp").read_text()
    found = re.search(rf"{name}\{{\{{[^}}]*, ([\d.]+)\}}, \{{[^}}]*, ([\d.]+)\}}\}}", text)
    assert found, name
    return float(found[1]), float(found[2])


def shares_of(op: str, variant: str) -> list[float]:
    """Of the H200's peak bandwidth, 4.8 TB/s, in the samples that were measured on it."""
    lines = (ROOT / "calibrate/validate/h200-sxm/pytorch.csv").read_text().splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return [
        float(row["bytes"]) / float(row["seconds"]) / 4.8e12
        for row in rows
        if (row["op"], row["variant"]) == (op, variant)
    ]


@pytest.mark.parametrize(
    ("name", "op", "variant", "both"),
    [
        ("kComposedNorm", "rms_norm", "eager", True),
        ("kCompiledNorm", "rms_norm", "compiled", True),
        ("kLibraryNorm", "rms_norm", "eager_fused", True),
        ("kComposedRotary", "rotary", "eager", True),
        ("kCompiledRotary", "rotary", "compiled", False),
    ],
)
def test_paces_are_those_of_the_samples(name: str, op: str, variant: str, both: bool):
    # Mean over the widths, over that of gates and residuals, which are plain streams.
    ways = ("forward", "backward") if both else ("forward",)
    plain = [shares_of(f"{kind}_{way}", "eager") for kind in ("swiglu", "residual") for way in ways]
    stream = statistics.mean(share for shares in plain for share in shares)
    for way, pace in zip(ways, paces_of(name), strict=False):
        assert statistics.mean(shares_of(f"{op}_{way}", variant)) / stream == pytest.approx(
            pace, abs=0.04
        ), way


def kernel_share(step: str, kernel: str, bytes_moved: float) -> float:
    """Of the peak bandwidth, of all launches of a kernel in a measured step of the H200."""
    text = (ROOT / "calibrate/validate/h200-sxm/measured.json").read_text()
    row = next(row for row in json.loads(text)["rows"] if row["name"] == step)
    return float(
        bytes_moved / sum(k["seconds"] for k in row["kernels"] if kernel in k["name"]) / 4.8e12
    )


def constant(file: str, name: str) -> float:
    """Of the model, by its name in the source."""
    found = re.search(rf"{name} = ([\d.]+);", (ROOT / "sim/workload" / file).read_text())
    assert found, name
    return float(found[1])


def test_paces_of_lists_and_sums_are_those_measured():
    plain = 0.87  # gates and residuals, as above
    lists = [
        share
        for op, variant in (("adam", "fused"), ("clip", "foreach"), ("master_copy", "foreach"))
        for share in shares_of(op, variant)
    ]
    listed = constant("elementwise/elementwise.h", "kListPace")
    assert len(lists) == 3
    assert statistics.mean(lists) / plain == pytest.approx(listed, abs=0.01)
    # 1.713 billion weights, two micro-batches: 16-bit gradients read, fp32 ones read and written.
    step = "1.7B-mixture s2048 b2 x2"
    sums = kernel_share(step, "CUDAFunctor_add<float>, std::array<char*, 3ul>, 4", 2 * 10 * 1.713e9)
    mixed = constant("elementwise/elementwise.h", "kMixedSumPace")
    assert sums / plain == pytest.approx(mixed, abs=0.03)
    # 16 layers, two micro-batches, 16,384 rows of 1,024 numbers: read, and added to others.
    scattered = kernel_share(step, "indexFuncLargeIndex", 16 * 2 * 16384 * 1024 * 6)
    pace = constant("elementwise/expert_bytes.h", "kScatteredPace")
    assert scattered / plain == pytest.approx(pace, abs=0.02)


def test_bytes_of_the_loss_are_those_of_the_model():
    # kernels.h: of 16-bit logits 8 + 6 B each fused, 22 + 30 B in separate operators.
    said = " ".join((BLOCKS / "kernels.h").read_text().replace("///", "").split())
    assert "8 + 6 B each fused" in said
    assert "22 + 30 B in PyTorch's separate operators" in said
    loss = {by: traffic.OPERATORS["cross_entropy", by] for by in ("single", "composed")}
    assert (loss["single"].forward.bytes, loss["single"].backward.bytes) == (8, 6)
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
