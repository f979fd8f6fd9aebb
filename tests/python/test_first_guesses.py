"""What people write first: it works, or the error says what they meant."""

from __future__ import annotations

import headway
import pytest


def test_a_scenario_is_written_and_read_back(small, tmp_path):
    scenario = headway.Scenario.load(small).with_({"training.global_batch": 64})
    file = tmp_path / "saved.yaml"
    scenario.save(file)
    assert headway.Scenario.load(file) == scenario
    assert file.read_text() == scenario.to_yaml()
    assert headway.run(file).step == headway.run(scenario).step
    with pytest.raises(FileExistsError, match="force=True writes over it"):
        scenario.save(file)
    scenario.save(file, force=True)
    headway.check(scenario, file)
    broken = headway.Scenario(name="none")
    with pytest.raises(headway.Error, match="cluster"):
        broken.to_yaml()
    with pytest.raises(headway.Error, match="cluster"):
        headway.check(broken)


def test_a_scenario_takes_the_layout_of_a_plan(small):
    scenario = headway.Scenario.load(small)
    plans = headway.plan(scenario, top=3).plans
    for plan in plans:
        taken = scenario.with_layout(plan)
        assert headway.run(taken).step.time_s == plan.step.time_s
    assert len({str(scenario.with_layout(plan).parallelism) for plan in plans}) == len(plans)


def test_a_scenario_of_the_catalogue_has_a_name(command):
    result = headway.run("llama-3.1-405b-16k-h100", set={"run.trials": 1})
    printed = command("run", "llama-3.1-405b-16k-h100", "--trials", 1, "--format", "json")
    assert printed.returncode == 0, printed.stderr
    assert result.scenario.digest in printed.stdout
    path = headway.configs() / "scenarios/llama-3.1-405b-16k-h100.yaml"
    assert headway.Scenario.load(path) == headway.Scenario.load("llama-3.1-405b-16k-h100")
    with pytest.raises(headway.Error, match="there is no such file"):
        headway.run("llama-4")


def test_results_are_no_scenarios(small):
    result = headway.run(small)
    with pytest.raises(TypeError, match="a result is no scenario: pass the path, Scenario"):
        headway.run(result)
    with pytest.raises(TypeError, match="a result is no scenario"):
        headway.compare(result, result)


def test_names_that_are_nearly_right_are_told(small, tmp_path):
    result = headway.run(small)
    for guess, meant in (("mfu", "step.mfu"), ("time", "step.time_s"), ("campain", "campaign")):
        with pytest.raises(AttributeError, match=f"no '{guess}'; did you mean {meant}"):
            getattr(result, guess)
    with pytest.raises(AttributeError, match="no 'time'; did you mean time_s"):
        _ = result.step.time
    with pytest.raises(TypeError, match="name a chart: this result has breakdown, "):
        result.plot()
    with pytest.raises(TypeError, match=r"'parallelism.tensor' takes a list of values, .*\[4\]"):
        headway.sweep(small, {"parallelism.tensor": 4})
    with pytest.raises(AttributeError, match=r"headway\.Scenario\.load\(path\) reads it"):
        headway.load  # noqa: B018
    result.report(tmp_path / "page.html")
    with pytest.raises(FileExistsError, match="force=True writes over it"):
        result.report(tmp_path / "page.html")


def test_points_without_room_in_their_memory_are_marked(small):
    """Such a point is not the best while another has room, as `plan` leaves it out."""
    axes = {"training.sequence_length": [4096, 20480, 24576]}
    points = headway.sweep(small, axes, best="step.time_s")
    full = [row.point for row in points.rows if row.memory_warning]
    assert points.best_point not in full
    assert list(points.to_pandas()["memory_warning"].astype(bool)) == [
        row.point in full for row in points.rows
    ]
    peak = points.rows[0].figures["memory.peak_bytes"]
    tight = headway.sweep(
        small,
        {"training.sequence_length": [4096]},
        set={"cluster.node.gpu.memory": f"{1.02 * peak:.0f} B"},
    )
    assert tight.best_point == 0, "where no other works"
    assert "an allocator that finds no room" in tight.rows[0].memory_warning
    assert tight.warnings[0].startswith("point 0: the peak is 98.0 %")
    assert "Its memory has no room to spare" in tight.verdict
    assert "ok, memory nearly full" in str(tight)
