"""Every file of the catalogue, and a freshly fitted profile, against the committed JSON Schemas."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parents[2]
CONFIGS = ROOT / "configs"
LOG = ROOT / "tests" / "data" / "nccl" / "all_reduce_8_ranks.log"

FILES = sorted(
    path
    for path in CONFIGS.glob("*/*.yaml")
    if (CONFIGS / "schema" / f"{path.parent.name}.json").exists()
)


def validate(path: Path, kind: str) -> None:
    schema = json.loads((CONFIGS / "schema" / f"{kind}.json").read_text())
    jsonschema.Draft7Validator(schema).validate(yaml.safe_load(path.read_text()))


def test_there_are_files_of_every_kind():
    kinds = {path.parent.name for path in FILES}
    assert {"calibrations", "clusters", "gpus", "kernels", "models", "nodes", "scenarios"} <= kinds
    assert len(FILES) > 100


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_file_follows_its_schema(path):
    validate(path, path.parent.name)


def test_a_fitted_profile_follows_the_schema(tmp_path, command):
    samples, profile = tmp_path / "samples.csv", tmp_path / "profile.yaml"
    done = command("calibrate", "import", "nccl-tests", LOG, "--out", samples)
    assert done.returncode == 0, done.stderr
    done = command(
        "calibrate", "fit", samples, "--gpu", "h100-sxm", "--name", "logged", "--out", profile
    )
    assert done.returncode == 0, done.stderr
    validate(profile, "calibrations")


def test_a_profile_with_an_unknown_key_does_not(tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("name: wrong\nsource: a test\nspeed: 3\n")
    with pytest.raises(jsonschema.ValidationError):
        validate(wrong, "calibrations")
