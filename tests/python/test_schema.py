"""Real results against the committed JSON Schemas."""

from __future__ import annotations

import json
from pathlib import Path

import headway
import jsonschema
import pytest

SCHEMAS = Path(__file__).parents[2] / "configs" / "schema"


def validator(name: str) -> jsonschema.Draft7Validator:
    schema = json.loads((SCHEMAS / name).read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def test_run_with_and_without_a_campaign(small):
    run = validator("headway.run-1.json")
    run.validate(headway.run(small).to_dict())
    text = small.read_text()
    small.write_text(text[: text.index("run:")])
    step_only = headway.run(small)
    assert step_only.campaign is None
    assert step_only.cost is None
    run.validate(step_only.to_dict())


def test_what_the_tables_say_of_checkpoints_is_in_the_result(small):
    campaign = headway.run(small, set={"run.until.steps": 40_000_000}).campaign
    assert campaign.checkpoint_interval_s > 0
    assert campaign.checkpoint_load_s > 0
    assert campaign.mean_time_between_interruptions_s > 0
    assert campaign.steps.mean == pytest.approx(40_000_000)
    total = sum(cause.mean for cause in campaign.interruptions_by_hazard)
    assert total > 0
    assert total == pytest.approx(campaign.interruptions.mean)


def test_the_schema_refuses_what_the_contract_does_not_have(small):
    run = validator("headway.run-1.json")
    values = headway.run(small).to_dict()
    values["step"]["extra"] = 1
    with pytest.raises(jsonschema.ValidationError):
        run.validate(values)
    del values["step"]["extra"], values["memory"]["fits"]
    with pytest.raises(jsonschema.ValidationError):
        run.validate(values)


def test_plan(small):
    validator("headway.plan-1.json").validate(headway.plan(small, top=2).to_dict())


def test_solve(small):
    schema = validator("headway.solve-1.json")
    for limit in (1, 1e3):  # no value, every value
        found = headway.solve(small, "cluster.nodes", f"step.time_s >= {limit}", within=(1, 4))
        schema.validate(found.to_dict())
    assert found.answer is None


@pytest.mark.parametrize("arguments", [("check",), ("catalog", "list"), ("doctor",)])
def test_other_verbs(arguments, small, command):
    extra = (small,) if arguments == ("check",) else ()
    printed = command(*arguments, *extra, "--format", "json")
    assert printed.returncode == 0, printed.stderr
    name = f"headway.{arguments[0]}-1.json"
    validator(name).validate(json.loads(printed.stdout))


REFERENCE = Path(__file__).parents[2] / "configs" / "scenarios"


def test_compare(command):
    files = (REFERENCE / f"reference-{name}.yaml" for name in ("general-purpose", "purpose-built"))
    printed = command("compare", *files, "--layers", "--trials", "2", "--format", "json")
    assert printed.returncode == 0, printed.stderr
    validator("headway.compare-1.json").validate(json.loads(printed.stdout))


@pytest.mark.parametrize(
    "fault", ["nvme-stalled", "gpu-slow", "wrong-checkpoint", "optic-flapping,down=2 s"]
)
def test_drill(fault, small, command):
    printed = command("drill", small, "--fault", fault, "--format", "json")
    assert printed.returncode == 0, printed.stderr
    validator("headway.drill-1.json").validate(json.loads(printed.stdout))


def test_expect(small, command, tmp_path):
    table = tmp_path / "measured.csv"
    table.write_text("measure,value,nodes\nstep_time,100 h,n1 n2\n")
    printed = command("expect", small, "--against", table, "--format", "json")
    assert printed.returncode == 4, printed.stderr
    result = json.loads(printed.stdout)
    validator("headway.expect-1.json").validate(result)
    assert [node["state"] for node in result["nodes"]] == ["suspect", "suspect"]


def test_diagnose(small, command, tmp_path):
    log = tmp_path / "train.log"
    log.write_text("".join(f"completed step: {i}, seconds: 9.5,\n" for i in range(20)))
    printed = command("diagnose", small, log, "--format", "json")
    assert printed.returncode == 0, printed.stderr
    validator("headway.diagnose-1.json").validate(json.loads(printed.stdout))


def test_validate_runs(command, tmp_path):
    printed = command("validate", "--only", "mlperf-00", "--format", "json")
    assert printed.returncode == 0, printed.stderr
    validator("headway.validate-1.json").validate(json.loads(printed.stdout))
    table = tmp_path / "odd.csv"
    table.write_text(
        "id,gpu,arch,measured_tokens_per_s_per_gpu\na,none,dense,1\nb,H100,hybrid,n/a\n"
    )
    printed = command("validate", "--runs", table, "--format", "json")
    assert printed.returncode == 3, "nothing is predicted"
    named = command("validate", table, "--format", "json")
    assert named.stdout == printed.stdout, "a table alone is that of --runs"
    validator("headway.validate-1.json").validate(json.loads(printed.stdout))


def test_validate_goodput(command):
    cases = REFERENCE.parent / "validation" / "goodput_cases.csv"
    printed = command("validate", "--goodput", cases, "--format", "json")
    assert printed.returncode == 0, printed.stderr
    validator("headway.validate-goodput-1.json").validate(json.loads(printed.stdout))
