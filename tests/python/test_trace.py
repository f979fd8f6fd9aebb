"""Traces, read by Perfetto's own decoder."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import headway
import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


def read(path: Path):
    """Names of tracks, slices by track as (name, begin, end, flows), counters by track."""
    trace = Trace()
    trace.ParseFromString(path.read_bytes())
    names: dict[int, str] = {}
    parents: dict[int, int] = {}
    slices, counters, running = defaultdict(list), defaultdict(list), defaultdict(list)
    assert [packet.sequence_flags for packet in trace.packet].count(1) == 1
    assert trace.packet[0].sequence_flags == 1
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in names
            names[track.uuid] = track.process.process_name or track.thread.thread_name or track.name
            parents[track.uuid] = track.parent_uuid
            continue
        event = packet.track_event
        assert event.track_uuid in names, "tracks are described before their events"
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            assert not running[event.track_uuid], "slices of a stage do not overlap"
            notes = {
                note.name: note.string_value or note.int_value for note in event.debug_annotations
            }
            running[event.track_uuid].append(
                (event.name, packet.timestamp, list(event.flow_ids), notes)
            )
        elif event.type == TrackEvent.TYPE_SLICE_END:
            name, begin, flows, notes = running[event.track_uuid].pop()
            assert begin <= packet.timestamp
            slices[event.track_uuid].append((name, begin, packet.timestamp, flows, notes))
        elif event.type == TrackEvent.TYPE_COUNTER:
            counters[event.track_uuid].append((packet.timestamp, event.counter_value))
        else:
            assert event.type == TrackEvent.TYPE_INSTANT
            slices[event.track_uuid].append(
                (event.name, packet.timestamp, packet.timestamp, [], {})
            )
    assert not any(running.values()), "every slice ends"
    return names, parents, slices, counters


@pytest.fixture()
def traced(command, small, tmp_path):
    """A pipeline of four stages, its trace and its result."""
    changes = ("parallelism.pipeline=4", "run.until.steps=100000000")
    words = [word for change in changes for word in ("--set", change)]
    done = command(
        *("run", small, *words, "--pictures", "--format", "json", "--out", tmp_path / "r.json"),
        *("--power", tmp_path / "power.csv"),
        *("--trace", tmp_path / "s.pftrace", "--trace-run", tmp_path / "t.pftrace"),
    )
    assert done.returncode == 0, done.stderr
    return tmp_path, json.loads((tmp_path / "r.json").read_text())


def test_a_trace_of_the_step_is_its_timeline(traced):
    folder, result = traced
    names, parents, slices, counters = read(folder / "s.pftrace")
    timeline = result["pictures"]["timeline"]
    by_name = {names[track]: spans for track, spans in slices.items()}
    assert list(by_name) == [f"stage {stage['stage']}" for stage in timeline["stages"]]
    assert len(by_name) == 4
    for stage in timeline["stages"]:
        spans = by_name[f"stage {stage['stage']}"]
        assert [(begin // 1000, (end - begin) // 1000) for _, begin, end, _, _ in spans] == list(
            zip(stage["begin_us"], stage["length_us"], strict=True)
        )
        assert [name for name, *_ in spans] == [timeline["names"][i] for i in stage["what"]]
        noted = [notes.get("micro_batch", -1) for *_, notes in spans]
        assert noted == stage["micro_batch"]
        assert max(end for _, _, end, _, _ in spans) / 1e9 <= result["step"]["time_s"] + 1e-6
    assert "step of Small" in names.values()
    (power,) = [track for track in counters if names[parents[track]] == "power"]
    watts = counters.pop(power)
    mean = sum(
        value * (end - begin)
        for (begin, value), (end, _) in pairwise([*watts, (result["step"]["time_s"] * 1e9, 0)])
    ) / (result["step"]["time_s"] * 1e9)
    assert mean == pytest.approx(result["power"]["mean_w"], rel=1e-3)
    links = [track for track in counters if names[parents[track]].startswith("busiest ")]
    loads = {load["tier"]: load for load in result["pictures"]["loads"]}
    assert len(links) == len(loads) > 0
    for track in links:
        tier = names[parents[track]].split()[1]
        load, use = loads[tier], result["step"]["links"]
        assert names[track].startswith("load [MB/s] of ")
        assert counters.pop(track) == [
            (at, round(rate / 1e6))
            for at, rate in zip(load["from_ns"], load["load_bytes_per_s"], strict=True)
        ]
        ends = [*load["from_ns"][1:], result["step"]["time_s"] * 1e9]
        moved = sum(
            rate * (end - at) / 1e9
            for at, end, rate in zip(load["from_ns"], ends, load["load_bytes_per_s"], strict=True)
        )
        (busiest,) = [each["busiest"] for each in use if each["tier"] == tier]
        room = load["capacity_bytes_per_s"] * result["step"]["time_s"]
        assert moved / room == pytest.approx(busiest, rel=1e-3)
    held = {names[parents[track]]: track for track in counters if "memory" in names[track]}
    for stage in timeline["stages"]:
        values = counters.pop(held[f"stage {stage['stage']}"])
        assert max(value for _, value in values) == max(stage["memory_bytes"]) // 2**20
        peak = sum(result["pictures"]["stage_memory_bytes"][stage["stage"]].values())
        assert max(stage["memory_bytes"]) == pytest.approx(peak, abs=1)
    for track, values in counters.items():
        assert names[parents[track]].startswith("stage ")
        assert values[0] == (0, 0)
        assert values[-1][1] == 0, "no activation is left"
        assert max(value for _, value in values) >= 1
    first = {names[parents[track]]: max(v for _, v in values) for track, values in counters.items()}
    assert first["stage 0"] >= first["stage 3"], "1F1B holds most in front"


def test_arrows_follow_a_micro_batch_from_stage_to_stage(traced):
    folder, _ = traced
    names, _, slices, _ = read(folder / "s.pftrace")
    flows = defaultdict(list)
    for track, spans in slices.items():
        for name, begin, end, ids, _ in spans:
            for flow in ids:
                flows[flow].append((begin, end, names[track], name))
    assert flows
    for passes in flows.values():
        passes.sort()
        assert len({name for *_, name in passes}) == 1
        stages = list(dict.fromkeys(stage for _, _, stage, _ in passes))
        order = [f"stage {i}" for i in range(4)]
        assert stages == (order if passes[0][3] == "forward" else order[::-1])
        for (_, end, _, _), (begin, *_) in zip(passes, passes[1:], strict=False):
            assert end <= begin, "nothing is used before it is there"


def test_a_trace_of_the_run_has_its_failures(traced):
    folder, result = traced
    names, _, slices, _ = read(folder / "t.pftrace")
    trial = result["pictures"]["campaign"]["trial"]
    by_name = {names[track]: spans for track, spans in slices.items()}
    saves = by_name.pop("checkpoints")
    assert [begin / 1e9 for _, begin, *_ in saves] == pytest.approx(trial["saves"]["begin_s"])
    together = trial["saves"]["together"]
    assert together > 1, "a run of years"
    assert {name for name, *_ in saves} == {"checkpoints to storage"}
    failures = by_name.pop("failures")
    struck = sorted(at for hazard in trial["hazards"] for at in hazard["struck_s"])
    assert [begin / 1e9 for _, begin, *_ in failures] == pytest.approx(struck)
    assert len(struck) > 0
    left_out = [name for name, *_ in by_name.pop("left out")]
    said = "every {} checkpoints in a row are one span, from the first to the last"
    assert left_out == [said.format(together)]
    assert sum(map(len, by_name.values())) == sum(len(h["begin_s"]) for h in trial["hazards"]) > 0
    assert {name.split(" (")[0] for name in by_name} == {
        h["hazard"].split(" (")[0] for h in trial["hazards"]
    }


def test_steps_follow_one_another(command, small, tmp_path):
    words = ("run", small, "--trace-ranks", "3", "--trace-steps", "3")
    done = command(*words, "--trace", tmp_path / "three.pftrace")
    assert done.returncode == 0, done.stderr
    assert (
        "what differs from step to step is not in it: its 3 steps are the one that was simulated"
        in done.stderr
    )
    assert command("run", small, "--trace", tmp_path / "one.pftrace").returncode == 0
    names, _, slices, counters = read(tmp_path / "three.pftrace")
    _, _, of_one, _ = read(tmp_path / "one.pftrace")
    by_name = {names[track]: spans for track, spans in slices.items()}
    steps = by_name["steps"]
    assert [name for name, *_ in steps] == ["step 0", "step 1", "step 2"]
    assert all(before[2] == after[1] for before, after in pairwise(steps))
    first = next(iter(of_one.values()))
    stage = by_name["stage 0"]
    assert len(stage) == 3 * len(first)
    length = steps[1][1]
    for step in range(3):
        again = stage[step * len(first) : (step + 1) * len(first)]
        moved = [(name, begin + step * length) for name, begin, *_ in first]
        assert [(name, begin) for name, begin, *_ in again] == moved
    assert len(by_name["kernels"]) % 3 == 0
    for values in counters.values():
        assert [at for at, _ in values] == sorted(at for at, _ in values)
    done = command("run", small, "--trace-steps", "3")
    assert done.returncode == 2
    assert done.stderr == "--trace-steps adds steps to the file of --trace; name one\n"
    done = command("run", small, "--trace", tmp_path / "x", "--trace-steps", "0")
    assert done.returncode == 2
    expected = "headway run: --trace-steps: '0' must be a whole number from 1 to 1,000\n"
    assert done.stderr == expected


def test_a_trace_of_a_drill_has_a_line_a_layer(command, small, tmp_path):
    done = command(
        *("drill", small, "--fault", "hang@node1", "--trace", tmp_path / "d.pftrace"),
        *("--format", "json", "--out", tmp_path / "d.json"),
    )
    assert done.returncode == 0, done.stderr
    timeline = json.loads((tmp_path / "d.json").read_text())["timeline"]
    names, _, slices, _ = read(tmp_path / "d.pftrace")
    by_name = {names[track]: spans for track, spans in slices.items()}
    job = by_name.pop("what the job does")
    assert sum(map(len, by_name.values())) == len(timeline)
    assert "collective" in by_name
    assert [name for name, *_ in job] == ["not noticed", "noticed", "recovery"]
    ends = [moment["at_s"] for moment in timeline if moment["moment"] in ("alarm", "running")]
    assert job[0][2] / 1e9 == pytest.approx(ends[0])
    assert job[-1][2] / 1e9 == pytest.approx(ends[-1])


def test_a_result_of_python_is_traced(small, command, tmp_path):
    result = headway.run(small, pictures=True)
    result.trace(tmp_path / "two.pftrace", steps=2)
    names, _, slices, counters = read(tmp_path / "two.pftrace")
    by_name = {names[track]: spans for track, spans in slices.items()}
    assert len(by_name["steps"]) == 2
    assert any("load [MB/s]" in names[track] for track in counters)
    result.trace(tmp_path / "trial.json", of_trial=True)
    assert command("run", small, "--trace-run", tmp_path / "said.json").returncode == 0
    assert (tmp_path / "trial.json").read_bytes() == (tmp_path / "said.json").read_bytes()
    with pytest.raises(FileExistsError):
        result.trace(tmp_path / "trial.json")
    headway.drill(small, "hang@node1").trace(tmp_path / "drill.pftrace")
    assert "what the job does" in read(tmp_path / "drill.pftrace")[0].values()
    headway.run(small).trace(tmp_path / "plain.pftrace", steps=2)
    assert (tmp_path / "plain.pftrace").read_bytes() == (tmp_path / "two.pftrace").read_bytes()
    with pytest.raises(headway.Error, match="this is none"):
        headway.plan(small, top=1).trace(tmp_path / "none.pftrace")


def test_python_writes_the_files_that_the_program_writes(small, command, tmp_path, monkeypatch):
    options = {"trace_ranks": "0-1", "trace_steps": 2}
    files = {"trace": "s.pftrace", "trace_run": "t.json", "power": "p.csv"}
    paths = {name: tmp_path / file for name, file in files.items()}
    plain = headway.run(small)
    told = []
    with monkeypatch.context() as once:  # one prediction makes the result and the files
        once.setattr(headway._core, "run", None)
        result = headway.run(small, **paths, **options, progress=lambda *what: told.append(what))
    assert {**result, "power": None, "timing": None} == {**plain, "power": None, "timing": None}
    assert result.power.mean_w > 0 and "power" not in plain
    assert "Memory of the fullest GPU" in result.table and told
    words = [("--" + name.replace("_", "-"), tmp_path / f"own-{files[name]}") for name in files]
    done = command(
        *("run", small, "--trace-ranks", "0-1", "--trace-steps", "2"),
        *(word for pair in words for word in pair),
    )
    assert done.returncode == 0, done.stderr
    for name, file in files.items():
        assert paths[name].read_bytes() == (tmp_path / f"own-{file}").read_bytes(), name
    chrome = tmp_path / "chrome.pftrace"
    headway.run(small, trace=chrome, trace_format="chrome")
    assert json.loads(chrome.read_text())["traceEvents"]
    with pytest.raises(headway.Error, match="--force"):
        headway.run(small, power=paths["power"])
    headway.run(small, power=paths["power"], force=True)


def test_ranks_have_a_line_a_stream(command, small, tmp_path):
    done = command("run", small, "--trace", tmp_path / "s.pftrace", "--trace-ranks", "0,9")
    assert done.returncode == 0, done.stderr
    names, parents, slices, counters = read(tmp_path / "s.pftrace")
    assert {"rank 0 (stage 0)", "rank 9 (stage 1)"} <= set(names.values())
    kernels = [spans for track, spans in slices.items() if names[track] == "kernels"]
    assert len(kernels) == 2
    for spans in kernels:
        assert {"matrix products", "attention"} <= {name for name, *_ in spans}
        assert all(before[2] <= after[1] for before, after in pairwise(spans))
    assert any(names[track].startswith("send receive") for track in slices)
    sent = [values for track, values in counters.items() if "network cards" in names[track]]
    assert len(sent) == 2
    assert all(max(v for _, v in values) > 0 and values[-1][1] == 0 for values in sent)


def test_ranks_are_those_of_the_job(command, small, tmp_path):
    done = command("run", small, "--trace", tmp_path / "s.pftrace", "--trace-ranks", "16")
    assert done.returncode == 2
    assert done.stderr == "--trace-ranks: there is no rank 16; the job has 16, from 0\n"
    assert not (tmp_path / "s.pftrace").exists()
    done = command("run", small, "--trace-ranks", "3")
    assert done.stderr == "--trace-ranks adds ranks to the file of --trace; name one\n"


def test_chrome_gets_json(command, small, tmp_path):
    done = command("run", small, "--trace", tmp_path / "c.json")
    assert done.returncode == 0, done.stderr
    events = json.loads((tmp_path / "c.json").read_text())["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X", "C"}


def test_a_trace_is_not_written_over(command, small, tmp_path):
    (tmp_path / "c.json").write_text("mine")
    done = command("run", small, "--trace", tmp_path / "c.json")
    assert done.returncode == 2
    assert "exists" in done.stderr
    assert (tmp_path / "c.json").read_text() == "mine"
