"""The scripts that set real training steps beside predictions, without PyTorch and without a
GPU."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parents[2] / "calibrate/validate"
sys.path.insert(0, str(FOLDER))

import cases  # noqa: E402
import compare  # noqa: E402


def test_models_span_125_million_to_3_billion():
    sizes = [model.parameters for model in cases.MODELS]
    assert len(sizes) >= 8
    assert 1.0e8 < min(sizes) < 1.5e8
    assert 2.8e9 < max(sizes) < 3.5e9
    assert sum(model.experts is not None for model in cases.MODELS) == 1
    assert sum(model.mixer is not None for model in cases.MODELS) == 1


def test_parameters_of_published_models():
    # Llama 3.2 1B and 3B: 1,235,814,400 and 3,212,749,824 weights (their safetensors index).
    assert cases.by_name("1.2B").parameters == 1_235_814_400
    assert cases.by_name("3.2B").parameters == 3_212_749_824


def test_parameters_of_experts_and_mixers():
    experts = cases.Model(
        "m", 2, 8, 2, 1, 4, 0, 10, tied_embeddings=True, experts=cases.Experts(4, 2, 16)
    )
    # A layer: q 64, k and v 32 each, projection 64; 4 x 3 x 8 x 16, router 32; two norms of 8.
    assert experts.parameters == 80 + 2 * (192 + 1536 + 32 + 16) + 8
    mixed = cases.Model(
        "m", 2, 8, 2, 1, 4, 16, 10, tied_embeddings=True, mixer=cases.Mixer(3, 4, 2)
    )
    assert [mixed.has_mixer(layer) for layer in range(2)] == [True, False]
    # q, k, v, output 4 x 8 x 12, strength 8 x 3; two gates (8 + 12) x 4; convolution 4 x 36,
    # decays 12 + 3, norm 4.
    mixer = 384 + 24 + 160 + 144 + 15 + 4
    assert mixed.parameters == 80 + mixer + 192 + 2 * (3 * 8 * 16 + 16) + 8


def test_cases_have_distinct_names_and_every_variant():
    every = cases.cases()
    assert len({case.name for case in every}) == len(every)
    assert {case.micro_batch for case in every} >= {1, 2, 4, 8, 16}
    assert {case.sequence for case in every} >= {1024, 2048, 4096, 8192, 16384, 32768}
    assert sum(case.fp8 for case in every) >= 3
    for model in cases.MODELS:
        mine = [case for case in every if case.model == model]
        assert any(case.recompute for case in mine)
        assert any(not case.compiled and not case.cuda_graphs for case in mine)
        if model.mixer is None:
            assert any(case.cuda_graphs for case in mine)
            assert any(case.compiled for case in mine)
        assert len({case.micro_batch for case in mine}) >= 2
        assert all(case.micro_batch >= 1 for case in mine)
    assert len(cases.cases(quick=True)) == len(cases.MODELS)


def test_scenario_says_what_the_step_does():
    case = cases.Case(cases.MODELS[3], 2048, 4, 2, recompute=True, cuda_graphs=True)
    said = json.loads(cases.scenario_text(case, cases.Machine("dgx-h200", "/x/profile.yaml")))
    assert said["name"] == "1.1B s2048 b4 x2 recompute graphs"
    assert said["training"]["global_batch"] == 8
    assert said["training"]["framework"]["cuda_graphs"] is True
    assert said["training"]["framework"]["elementwise"] == "eager"
    assert said["parallelism"] == {"sharding": "zero0", "micro_batch": 4, "recompute": "full"}
    assert said["cluster"]["node"]["use"] == "dgx-h200"
    assert said["calibration"] == {"use": "/x/profile.yaml"}
    assert "calibration" not in cases.scenario(case, cases.Machine())
    narrow = cases.Case(cases.MODELS[3], 2048, 4, 2, compiled=True, fp8=True)
    said = json.loads(cases.scenario_text(narrow, cases.Machine()))
    assert said["training"]["precision"] == "fp8"
    assert said["training"]["framework"]["elementwise"] == "compiled"


def test_device_names_lead_to_the_catalogue():
    assert cases.node_of("NVIDIA H100 80GB HBM3") == "dgx-h100"
    assert cases.node_of("NVIDIA H200") == "dgx-h200"
    assert cases.node_of("NVIDIA H100 PCIe") is None
    assert cases.node_of("Some other GPU") is None


def test_table_has_errors_and_goals():
    # 10 GiB of its own, 1 GiB of an earlier case.
    measured = compare.Measured("a", 0.100, 0.001, 11 * 2**30, 12 * 2**30, held_bytes=2**30)
    other = compare.Measured("b", 0.200, 0.002, 20 * 2**30, 21 * 2**30)
    rows = [
        compare.Row(measured, {"catalogue": compare.Predicted(0.104, 10.2 * 2**30)}),
        compare.Row(other, {"catalogue": compare.Predicted(0.150, 25 * 2**30)}),
    ]
    text = compare.table(rows, ["catalogue"])
    assert "| a | 100.0 | 1.00 | 10.00 | 104.0 | +4.0 | 10.20 | +2.0 |" in text
    assert "| b | 200.0 | 2.00 | 20.00 | 150.0 | -25.0 | 25.00 | +25.0 |" in text
    # Medians of 4 and 25, of 2 and 25.
    assert "time: median |error| 14.5 %, 1 within 5 %, 1 within 10 %" in text
    assert "peak memory: median |error| 13.5 %, 1 within 3 %" in text


def test_every_scenario_is_accepted_and_fits_an_h100(program: Path):
    for case in cases.cases():
        predicted = compare.predict(program, case, cases.Machine("dgx-h100"))
        assert predicted.time_s > 0
        assert predicted.peak_bytes < 80 * 2**30, case.name


def test_kept_measurements_are_compared_without_a_gpu(program: Path, tmp_path: Path, capsys):
    case = cases.cases()[0]
    kept = tmp_path / "measured.json"
    row = {
        "name": case.name,
        "time_s": 0.1,
        "spread_s": 0.001,
        "peak_bytes": 2**34,
        "reserved_bytes": 2**34,
    }
    kept.write_text(json.dumps({"device": "NVIDIA H100 80GB HBM3", "rows": [row]}))
    assert compare.main(["--measured", str(kept), "--program", str(program)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("NVIDIA H100 80GB HBM3")
    assert "catalogue: 1 steps" in said


def test_measurements_are_kept_with_their_kernels(tmp_path: Path):
    kernel = {"name": "gemm", "count": 3, "seconds": 0.01}
    row = compare.Measured("a", 0.1, 0.001, 2**34, 2**34, [kernel])
    kept = compare.Measurement("H100", {"pytorch": "2.11"}, [row], {"b": "no time left"})
    kept.write(tmp_path / "kept.json")
    assert compare.Measurement.read(tmp_path / "kept.json") == kept


def test_predictions_are_written_before_anything_is_measured(program: Path, tmp_path: Path):
    out = tmp_path / "predicted.json"
    assert compare.main(["--predict", str(out), "--quick", "--program", str(program)]) == 0
    rows = json.loads(out.read_text())["rows"]
    assert [row["name"] for row in rows] == [case.name for case in cases.cases(quick=True)]
    assert all(row["time_s"] > 0 and row["peak_bytes"] > 2**30 for row in rows)


MEASURED = FOLDER / "h200-sxm"


@pytest.mark.parametrize(
    ("gpu", "name"),
    [("h200-sxm", "H200 141 GB SXM, measured"), ("h100-sxm", "H100 80 GB SXM, measured")],
)
def test_a_measured_profile_is_what_its_samples_give(
    program: Path, tmp_path: Path, gpu: str, name: str
):
    out = tmp_path / "profile.yaml"
    samples = [str(FOLDER / gpu / file) for file in ("node.csv", "pytorch.csv")]
    done = subprocess.run(
        [str(program), "calibrate", "fit", *samples, "--gpu", gpu, "--name", name]
        + ["--out", str(out), "--quiet"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kept = compare.ROOT / f"configs/calibrations/{gpu}.yaml"
    assert yaml.safe_load(out.read_text()) == without_source(yaml.safe_load(kept.read_text()))


def without_source(entry: dict[str, object]) -> dict[str, object]:
    """What the fit writes: the catalogue's entry says besides where it is from."""
    return {key: value for key, value in entry.items() if key != "source"}


def kept_predictions(path: Path) -> dict[str, float]:
    """Case -> seconds, as they were predicted."""
    return {row["name"]: row["time_s"] for row in json.loads(path.read_text())["rows"]}


#: The page's words of the kinds of steps.
GROUPS = {
    "eager": {"eager"},
    "eager, recomputed": {"eager, recomputed"},
    "from CUDA graphs": {"CUDA graphs"},
    "compiled": {"compiled"},
    "compiled, fp8 (torchao)": {"compiled, fp8"},
    "mixture of experts": {"mixture of experts"},
    "that the CPU limits": {"the CPU limits"},
}


@pytest.mark.parametrize(
    ("gpu", "section", "before"),
    [
        ("h200-sxm", 8, ["predicted.json", "predicted-by-profile.json"]),
        ("h100-sxm", 9, ["predicted.json", "predicted-by-h200.json", "predicted-by-profile.json"]),
    ],
)
def test_the_page_says_how_measured_steps_are_predicted(
    program: Path, gpu: str, section: int, before: list[str]
):
    steps = compare.Measurement.read(FOLDER / gpu / "measured.json").rows
    node = "dgx-" + gpu.removesuffix("-sxm")
    machines = {"catalogue": cases.Machine(node), "profile": cases.Machine(node, gpu)}
    rows = compare.compare(program, steps, machines)
    columns = [
        *(kept_predictions(FOLDER / gpu / name) for name in before),
        *({row.measured.name: row.predicted[m].time_s for row in rows} for m in machines),
    ]
    kinds = {step.name: compare.kind_of(step) for step in steps}
    every = set(kinds.values())
    groups = {
        **GROUPS,
        "all that the GPU limits": every - {"the CPU limits"},
        "all": every,
    }
    page = (compare.ROOT / "docs/calibration.md").read_text()
    page = page.split(f"\n## {section}. ")[1].split("\n## ")[0]
    for words, which in groups.items():
        said = re.search(rf"^\| {re.escape(words)} \| (\d+) \| (.*) \|$", page, re.MULTILINE)
        assert said, words
        chosen = [step for step in steps if kinds[step.name] in which]
        assert len(chosen) == int(said[1]), words
        for column, text in zip(columns, said[2].split(" | "), strict=True):
            errors = [abs(compare.error(column[step.name], step.time_s)) for step in chosen]
            shown = float(text.removesuffix(" %"))
            # Milliseconds were printed with one place; a median of an even number is between two.
            place = 0.1 if "." in text else 1
            assert 100 * statistics.median(errors) == pytest.approx(shown, abs=0.6 * place), words


def test_a_bundle_holds_what_a_fit_needs(tmp_path: Path):
    # The solver is a library that the program opens: the first bundle left it behind.
    folder = tmp_path / "bundle"
    script = compare.ROOT / "calibrate/run_on_gpu.sh"
    subprocess.run([script, "bundle", folder], check=True, capture_output=True)
    out = tmp_path / "profile.yaml"
    done = subprocess.run(
        [folder / "bin/headway", "calibrate", "fit", FOLDER / "h100-sxm/node.csv", "--out", out],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "kernel_launch" in yaml.safe_load(out.read_text())


PRETENDED = """#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in --tiny) exit 0 ;; --out) out=$2; shift ;; esac
  shift
done
{head} {samples} > "${{out%.yaml}}.csv"
exit 1
"""


@pytest.mark.parametrize("known", [True, False])
def test_the_script_for_a_gpu_machine_goes_on_whatever_happens(
    program: Path, tmp_path: Path, known: bool
):
    # A measurement that found a wrong result (exit code 1), no PyTorch; of an unknown GPU no data
    # sheet is pretended.
    programs = tmp_path / "bundle/bin"
    programs.mkdir(parents=True)
    (programs / "headway").symlink_to(program)
    head = "cat" if known else "sed '/^# catalogue/d'"
    calibrate = programs / "headway-calibrate"
    calibrate.write_text(PRETENDED.format(head=head, samples=MEASURED / "node.csv"))
    calibrate.chmod(0o755)
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python3").chmod(0o755)
    out = tmp_path / "results"
    done = subprocess.run(
        [compare.ROOT / "calibrate/run_on_gpu.sh", "--seconds", "60", "--out", out]
        + ["--bundle", tmp_path / "bundle"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert done.returncode == 1, done.stderr
    assert "failed: measure (1)" in done.stdout
    assert "skipped: kernels, training: python3 has no PyTorch with CUDA" in done.stdout
    profile = yaml.safe_load((out / "profile.yaml").read_text())
    assert profile["host_bandwidth"].endswith("GB/s")
    assert ("kernels" in profile) == known
    assert ("the catalogue has no data sheet" in done.stdout) != known


def test_a_measurement_of_nothing_says_so(tmp_path, capsys):
    nothing = compare.Measurement("NVIDIA H200", {}, [], {"1.1B": "OutOfMemoryError: 80 GiB"})
    nothing.write(tmp_path / "m.json")
    for more in ([], ["--only-measure"]):
        assert compare.main(["--measured", str(tmp_path / "m.json"), *more]) == 1
        said = capsys.readouterr()
        assert said.err == "compare.py: no step was measured\n  1.1B: OutOfMemoryError: 80 GiB\n"
        assert said.out == ""


def test_without_pytorch_or_gpu_it_says_so():
    done = subprocess.run(
        [sys.executable, str(FOLDER / "compare.py")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},  # a GPU that is there is not seen
    )
    assert done.returncode == 2
    assert done.stderr.startswith("compare.py: nothing can be measured: PyTorch")
