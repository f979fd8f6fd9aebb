"""How far a call is, and values of other libraries."""

from __future__ import annotations

import datetime
import sys
import threading
import time

import headway
import numpy
import pandas
import pytest
import yaml


class Heard(Exception):
    """What a listener raises."""


def test_what_a_listener_raises_ends_the_call(small):
    def listen(phase: str, done: int, total: int) -> None:
        raise Heard(phase)

    begun = time.monotonic()
    with pytest.raises(Heard):
        headway.run(
            small, set={"run.trials": 1000000, "run.until.steps": 10000000}, progress=listen
        )
    assert time.monotonic() - begun < 30


def test_a_listener_is_told_what_is_done_and_changes_no_result(small):
    told: list[tuple[str, int, int]] = []
    how = {"set": {"run.trials": 100000, "run.until.steps": 10000000}, "threads": 1}
    with_it = headway.run(small, **how, progress=lambda *what: told.append(what))
    assert told, "it takes long enough to be told"
    assert all(0 <= done <= total for _, done, total in told)
    assert any("trial" in phase or "campaign" in phase for phase, _, _ in told), told[:3]
    counts = [done for _, done, total in told if total == 100000]
    assert counts == sorted(counts) and counts[-1] > counts[0]
    without = headway.run(small, **how)
    assert with_it.step == without.step and with_it.campaign == without.campaign


def test_verbs_of_the_network_tell_how_far_they_are():
    told: list[tuple[str, int, int]] = []

    def listen(*what: object) -> None:
        told.append(what)

    sizes = {"first": "1M", "last": "4M", "granularity": "packet", "progress": listen}
    rows = headway.collective("all_reduce", "dgx-h100", **sizes).rows
    assert ("predicting sizes", len(rows), len(rows)) in told
    small = {"nodes": 2, "stress": "dcqcn", "progress": listen}
    assert headway.topo("roce-clos-llama-3", **small).transport == "dcqcn"
    assert ("stressing the fabric", 18, 18) in told


def test_true_shows_a_bar(small, capsys):
    headway.run(small, set={"run.trials": 100000, "run.until.steps": 10000000}, progress=True)
    assert "/100000 [" in capsys.readouterr().err
    headway.run(small, progress=False)
    assert capsys.readouterr().err == ""


def test_a_bar_begins_with_the_first_count(small, capsys):
    with headway._progress.listener(True) as told:
        told("reading", 0, 0)
        assert capsys.readouterr().err == ""
        told("trials", 0, 4)
        told("trials", 4, 4)
    drawn = capsys.readouterr().err
    assert "trials: 100%" in drawn
    assert "0it [" not in drawn  # what a bar without a total begins with


def test_a_bar_ends_full(capsys):
    with headway._progress.listener(True) as told:
        told("trials", 0, 4)
    assert "trials: 100%" in capsys.readouterr().err
    with pytest.raises(Heard), headway._progress.listener(True) as told:
        told("trials", 1, 4)
        raise Heard
    assert "100%" not in capsys.readouterr().err, "nor what failed"


def test_without_tqdm_a_line_tells_how_far_it_is(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.split(".")[0] == "tqdm"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with headway._progress.listener(True) as told:
        told("reading", 0, 0)
        assert capsys.readouterr().err == ""
        told("trials", 1, 4)
        told("trials", 4, 4)
    assert capsys.readouterr().err == "\rtrials: 25 %\rtrials: 100 %\n"


def test_other_threads_of_python_run_beside_a_call(small):
    """The interpreter's lock is free while the program works."""
    ended = threading.Event()
    counts = 0

    def count() -> None:
        nonlocal counts
        while not ended.is_set():
            counts += 1
            time.sleep(0.001)

    beside = threading.Thread(target=count)
    beside.start()
    begun = time.monotonic()
    headway.run(small, set={"run.trials": 100000, "run.until.steps": 10000000}, threads=1)
    took = time.monotonic() - begun
    inside = counts
    ended.set()
    beside.join()
    assert took > 0.2, "too short to tell"
    assert inside > 20, "without a free lock it would stand still but at looks for Ctrl-C"


def test_values_of_numpy_and_pandas_are_taken(small, tmp_path):
    plain = headway.run(
        small, set={"cluster.nodes": 4, "run.checkpoint.interval": "90 s", "cluster.spares": 2}
    )
    changes = {
        "cluster.nodes": numpy.int64(4),
        "run.checkpoint.interval": pandas.Timedelta(minutes=1.5),
        "cluster.spares": numpy.float32(2),
    }
    assert headway.run(small, set=changes).scenario.digest == plain.scenario.digest
    row = pandas.DataFrame([changes]).iloc[0]
    assert headway.run(small, set=row).scenario.digest == plain.scenario.digest
    later = {**changes, "run.checkpoint.interval": datetime.timedelta(seconds=90)}
    assert headway.run(small, set=later).scenario.digest == plain.scenario.digest

    scenario = yaml.safe_load(small.read_text())
    scenario["cluster"]["nodes"] = numpy.int32(4)
    scenario["cluster"]["spares"] = numpy.array(2)
    scenario["run"]["checkpoint"] = {"interval": pandas.Timedelta("90s")}
    assert headway.run(scenario).step == plain.step

    points = headway.sweep(small, {"cluster.nodes": pandas.Series([2, 4]), "cluster.spares": [2]})
    assert points.rows[1].figures["step.time_s"] == plain.step.time_s
    points = headway.sweep(small, {"cluster.nodes": numpy.array([2, 4])})
    assert points.rows[1].figures["step.time_s"] == plain.step.time_s
    assert headway.run(small, set={"training.global_batch": numpy.float64(64)}).step.time_s
    with pytest.raises(TypeError, match=r"write a number, a text with its unit, or a list"):
        headway.run(small, set={"cluster.nodes": object()})


def test_neither_a_name_nor_a_storage_is_needed_for_a_step(small, tmp_path):
    scenario = yaml.safe_load(small.read_text())
    del scenario["name"], scenario["cluster"]["storage"], scenario["run"]
    path = tmp_path / "two-nodes.yaml"
    path.write_text(yaml.safe_dump(scenario))
    result = headway.run(path)
    assert result.scenario.name == "two-nodes"
    assert headway.run(scenario).scenario.name == "scenario"
    assert result.step.time_s == headway.run(small).step.time_s
    loaded = headway.Scenario.load(path)
    assert loaded.cluster is not None and loaded.cluster.storage is None
    assert headway.run(loaded).step == result.step
    with pytest.raises(headway.Error, match="the cluster has no 'storage'"):
        headway.run(path, set={"run.until.steps": 100})
