"""headway.run, plan and check against the command line."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import subprocess
import sys
import threading
import typing
from pathlib import Path

import headway
import pytest
from headway._files import deliver
from headway._record import Record
from headway.scenario import (
    ClusterSpec,
    FabricSpec,
    FailureSpec,
    ModelSpec,
    NodeSpec,
    ParallelismSpec,
    RunSpec,
    Scenario,
    StorageSpec,
    TrainingSpec,
    UntilSpec,
    to_mapping,
)


def without_timing(text: str) -> dict:
    values = json.loads(text)
    values.pop("timing")
    return values


def test_run_gives_the_numbers_of_the_command_line_to_the_last_bit(small, command):
    printed = command("run", small, "--format", "json")
    assert printed.returncode == 0, printed.stderr
    # JSON numbers round-trip, so equal numbers here are equal bits.
    assert without_timing(headway.run(small).json) == without_timing(printed.stdout)


def test_equal_predictions_are_equal(small):
    """How long a machine took is no part of what it found."""
    a, b = headway.run(small), headway.run(small)
    assert dict(a.timing) != dict(b.timing)
    assert a == b and hash(a) == hash(b)
    other = headway.run(small, seed=5)
    assert a != other and a != "a text" and len({a, b, other}) == 2


def test_equal_records_have_one_hash():
    """As numbers are: 1 and 1.0 are one key."""
    a = Record({"a": 1, "b": [1, {"c": None}]})
    b = Record({"b": [1.0, {"c": None}], "a": 1.0})
    assert a == b and hash(a) == hash(b)
    assert len({a, b, Record({"a": 2})}) == 2


def test_a_file_that_cannot_be_written_whole_is_not_there(tmp_path):
    """Half a page would block the next try."""
    page = tmp_path / "r.html"
    code = (
        "import resource, signal, sys; from headway._files import deliver\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "deliver(sys.argv[1], bytes(5000))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, page], capture_output=True, text=True)
    assert "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []
    deliver(page, b"whole")
    with pytest.raises(FileExistsError, match="r.html"):
        deliver(page, b"another")
    (tmp_path / "link").symlink_to(page)
    deliver(tmp_path / "link", b"through the link", force=True)
    assert page.read_bytes() == b"through the link" and (tmp_path / "link").is_symlink()


def test_changes_seed_and_trials_mean_what_they_mean_on_the_command_line(small, command):
    printed = command(
        "run", small, "--format", "json", "--set", "training.global_batch=64",
        "--set", "cluster.node.gpu.memory=94 GiB", "--seed", 7, "--trials", 3,
    )  # fmt: skip
    result = headway.run(
        small,
        set={"training.global_batch": 64, "cluster.node.gpu.memory": "94 GiB"},
        seed=7,
        trials=3,
    )
    assert without_timing(result.json) == without_timing(printed.stdout)
    assert result.campaign.trials == 3
    assert result.scenario.seed == 7


def test_threads_and_folding_change_no_number(small):
    one = without_timing(headway.run(small, threads=1).json)
    assert without_timing(headway.run(small, threads=2).json) == one
    unfolded = headway.run(small, fold=False)
    assert unfolded.step.time_s == one["step"]["time_s"]
    assert unfolded.step.result_digest == one["step"]["result_digest"]


def test_network_times_the_step_by_packets_as_the_command_line_does(small, command):
    less = {"model.layers": 2, "training.global_batch": 16}
    options = [f"--set={path}={value}" for path, value in less.items()]
    printed = command("run", small, "--format", "json", "--network", "packet:dcqcn", *options)
    assert printed.returncode == 0, printed.stderr
    result = headway.run(small, set=less, network="packet:dcqcn")
    assert without_timing(result.json) == without_timing(printed.stdout)
    assert result.step.packets.transport == "dcqcn"
    assert result.campaign is None
    with pytest.raises(headway.Error, match="there is no network 'flit'"):
        headway.run(small, network="flit")
    with pytest.raises(headway.Error, match="--network packet times one step"):
        headway.run(small, network="packet", explain=True)


def test_a_result_is_a_mapping_that_cannot_be_changed(small):
    result = headway.run(small)
    assert result.step.time_s == result["step"]["time_s"]
    assert result.schema == "headway.run/1"
    assert str(result).startswith("Small\n")
    with pytest.raises(AttributeError, match="cannot be changed"):
        result.step.time_s = 1
    with pytest.raises(AttributeError, match="no 'tim_s'"):
        _ = result.step.tim_s
    assert pickle.loads(pickle.dumps(result)) == result
    assert copy.deepcopy(result.step) == result.step
    assert result.to_dict() == json.loads(result.json)


def test_errors_have_the_text_of_the_command_line(small, command):
    small.write_text(small.read_text().replace("global_batch: 32", "global_batch: 33, globl: 1"))
    printed = command("run", small)
    assert printed.returncode == 2
    with pytest.raises(headway.Error) as error:
        headway.run(small)
    assert str(error.value) == printed.stderr
    with pytest.raises(headway.Error):
        headway.check(small)
    with pytest.raises(headway.Error):
        headway.plan(small)


def test_a_scenario_may_be_made_in_python(small):
    made = Scenario(
        headway=1,
        name="Small",
        cluster=ClusterSpec(
            nodes=2,
            node=NodeSpec(use="dgx-h100"),
            fabric=FabricSpec(use="rail-optimized-ndr"),
            storage=StorageSpec(use="lustre"),
            spares=1,
        ),
        model=ModelSpec(use="llama-3.1-8b"),
        training=TrainingSpec(sequence_length=4096, global_batch=32),
        parallelism=ParallelismSpec(tensor=2, pipeline=2, data="auto", micro_batch=1),
        run=RunSpec(
            until=UntilSpec(steps=20000), failures=FailureSpec(use="llama-3-54-days"), trials=8
        ),
    )
    from_file = without_timing(headway.run(small).json)
    assert without_timing(headway.run(made).json) == from_file
    assert without_timing(headway.run(to_mapping(made)).json) == from_file
    with pytest.raises(headway.Error, match="did you mean 'name'"):
        headway.run({"headway": 1, "nam": "x"})


def test_an_infeasible_scenario_is_a_result_not_an_error(small):
    result = headway.run(small, set={"cluster.node.gpu.memory": "1 GiB"})
    assert result.status == "infeasible"
    assert result.reasons


def test_plan_gives_the_plans_of_the_command_line(small, command):
    printed = command("plan", small, "--format", "json", "--top", 3)
    assert printed.returncode == 0, printed.stderr
    result = headway.plan(small, top=3)
    assert result.verdict.startswith(f"Plan 1 is the best by step: {result.plans[0].name}. Plan 2")
    assert without_timing(result.json) == without_timing(printed.stdout)
    times = [plan.step.time_s for plan in result.plans]
    assert len(times) == 3
    assert times == sorted(times)


# Each option of the search in both, as words and as arguments.
PLAN_OPTIONS = [
    (["--vary", "tensor,pipeline"], {"vary": ["tensor", "pipeline"]}),
    (["--hold", "schedule,offload,recompute"], {"hold": ["schedule", "offload", "recompute"]}),
    (["--nodes", "1,2", "--vary", "tensor"], {"nodes": [1, 2], "vary": ["tensor"]}),
    (["--limit", "racks=8", "--set", "run.recovery.rack_nodes=2", "--vary", "tensor"],
     {"limits": {"racks": 8}, "set": {"run.recovery.rack_nodes": 2}, "vary": ["tensor"]}),
    (["--simulate", "5", "--top", "5"], {"simulate": 5, "top": 5}),
    (["--sensitivity", "--vary", "tensor"], {"sensitivity": True, "vary": ["tensor"]}),
    (["--verify", "3", "--vary", "tensor,sharding,micro_batch"],
     {"verify": 3, "vary": ["tensor", "sharding", "micro_batch"]}),
    (["--all", "--vary", "sharding"], {"all": True, "vary": "sharding"}),
    (["--fold", "off", "--vary", "tensor", "--threads", "1"],
     {"fold": False, "vary": ["tensor"], "threads": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("words", "arguments"), PLAN_OPTIONS, ids=lambda it: str(it)[:24])
def test_plan_takes_the_options_of_the_command_line(small, command, words, arguments):
    printed = command("plan", small, "--format", "json", *words)
    assert printed.returncode == 0, printed.stderr
    result = headway.plan(small, **arguments)
    assert without_timing(result.json) == without_timing(printed.stdout)


def test_plan_saves_the_files_of_the_command_line(small, command, tmp_path):
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    software = {"training.framework": {"use": "megatron-core"}}
    words = ("--set", "training.framework={use: megatron-core}")
    words += ("--vary", "tensor", "--top", 2, "--save", theirs)
    assert command("plan", small, *words).returncode == 0
    headway.plan(small, vary=["tensor"], top=2, save=mine, set=software)
    headway.plan(small, vary=["tensor", "first_stage_layers"], top=2)  # as tables call them
    names = sorted(path.name for path in theirs.iterdir())
    assert {"plan-1.yaml", "plan-1.megatron.sh"} <= {*names}
    assert names == sorted(path.name for path in mine.iterdir())
    for name in names:
        assert (mine / name).read_bytes() == (theirs / name).read_bytes()
    with pytest.raises(headway.Error, match="is there already"):
        headway.plan(small, vary=["tensor"], top=2, save=mine, set=software)
    with pytest.raises(headway.Error, match="names 2 more than once"):
        headway.plan(small, nodes=[2, 2])


def test_place_gives_the_choices_of_the_command_line(small, command, tmp_path):
    changes = {
        "cluster.occupancy": {
            "nodes": 16,
            "down": ["0"],
            "jobs": [{"name": "a", "nodes": ["2-3"], "rate": "100 GB/s"}],
        }
    }
    words = ("--set", f"cluster.occupancy={json.dumps(changes['cluster.occupancy'])}")
    options = ("--draws", 2, "--save", tmp_path / "theirs", "--format", "json")
    printed = command("plan", small, "--placement", *words, *options)
    assert printed.returncode == 0, printed.stderr
    result = headway.place(small, set=changes, draws=2, save=tmp_path / "mine")
    assert without_timing(result.json) == without_timing(printed.stdout)
    for path in (tmp_path / "theirs").iterdir():
        assert path.read_bytes() == (tmp_path / "mine" / path.name).read_bytes()
    assert result.candidates[0].cost >= 0


def test_solve_gives_the_answer_of_the_command_line(small, command):
    words = ("cluster.nodes", "--for", "step.tokens_per_s >= 400000", "--within", "1:16")
    printed = command("solve", small, *words, "--format", "json")
    assert printed.returncode == 0, printed.stderr
    result = headway.solve(small, "cluster.nodes", "step.tokens_per_s >= 4e5", within=(1, 16))
    assert result.json == printed.stdout
    value = result.answer.value
    assert headway.run(small, set={"cluster.nodes": value}).step.tokens_per_s >= 4e5
    with pytest.raises(headway.Error, match="did you mean 'cluster.nodes'"):
        headway.solve(small, "cluster.nods", "step.mfu > 0.3")


def test_check_accepts_the_catalogue():
    headway.check(*sorted((headway.configs() / "gpus").glob("*.yaml")))


def test_the_interpreter_runs_on_while_a_scenario_is_simulated(small):
    counted = 0
    thread = threading.Thread(target=headway.run, args=(small,), kwargs={"trials": 2000})
    thread.start()
    while thread.is_alive():
        counted += 1
    thread.join()
    assert counted > 100  # with the lock held the loop would not turn


def test_names_are_found_in_headway_configs(small, tmp_path, monkeypatch):
    folder = tmp_path / "mine" / "gpus"
    folder.mkdir(parents=True)
    original = (headway.configs() / "gpus" / "h100-sxm.yaml").read_text()
    (folder / "big.yaml").write_text(original.replace("80 GiB", "160 GiB"))
    monkeypatch.setenv("HEADWAY_CONFIGS", str(tmp_path / "mine"))
    result = headway.run(small, set={"cluster.node.gpu.use": "big"})
    assert result.memory.capacity_bytes == 160 * 2**30
    monkeypatch.setenv("HEADWAY_CONFIGS", str(tmp_path / "none"))
    with pytest.raises(headway.Error, match="is no folder"):
        headway.run(small)


def test_schema_is_that_of_the_command_line(command):
    assert headway.schema("gpus") == json.loads(command("schema", "gpus").stdout)


def test_the_classes_are_those_of_the_field_lists():
    committed = Path(headway.__file__).with_name("scenario.py").read_text()
    assert committed == headway._core.python_dataclasses(), (
        "run 'headway schema --python --out python/headway/scenario.py --force'"
    )


def test_a_result_shows_itself_in_a_notebook(small):
    result = headway.run(small)
    html = result._repr_html_()
    assert result.verdict == result.limit
    verdict = result.limit.replace("'", "&#39;")
    assert f'<p class="verdict">{verdict}</p>' in html
    assert "MFU" in html and "<script" not in html
    assert repr(result).startswith("<headway.run/1 'Small': The ")
    assert len(repr(result)) < 300


def test_a_result_is_written_as_a_page(small, tmp_path):
    page = tmp_path / "r.html"
    result = headway.run(small, explain=True, pictures=True)
    assert len(result.pictures.timeline.stages) == 2
    result.report(page)
    assert 'class="timeline"' in page.read_text()
    with pytest.raises(FileExistsError):
        result.report(page)
    page.chmod(0o600)
    result.report(page, force=True)
    assert page.stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.glob(".*"))


def test_a_loaded_scenario_is_the_file(small):
    loaded = headway.Scenario.load(small)
    assert loaded.cluster.nodes == 2
    of_file, of_class = headway.run(small), headway.run(loaded)
    assert of_class.scenario.digest == of_file.scenario.digest
    assert of_class.step.time_s == of_file.step.time_s
    more = headway.Scenario.load(small, set={"cluster.nodes": 4})
    assert more.cluster.nodes == 4
    with pytest.raises(headway.Error, match="nodez"):
        headway.Scenario.load(small, set={"cluster.nodez": 4})


@pytest.mark.parametrize(
    "file", sorted((headway.configs() / "scenarios").glob("*.yaml")), ids=lambda path: path.stem
)
def test_every_shipped_scenario_is_a_class(file):
    loaded = headway.Scenario.load(file)
    assert headway.Scenario(**{**vars(loaded)}) == loaded
    again = headway.scenario.from_values(
        headway.Scenario, headway._api.scenario_values(headway.scenario.to_mapping(loaded))
    )
    assert again == loaded
    assert empty_fields(loaded) == []
    assert len(repr(loaded)) < 300


def empty_fields(spec):
    """Fields that are None though their type says that a loaded scenario has them."""
    empty = []
    hints = typing.get_type_hints(type(spec))
    for field in dataclasses.fields(spec):
        value = getattr(spec, field.name)
        if value is None and type(None) not in typing.get_args(hints[field.name]):
            empty.append(f"{type(spec).__name__}.{field.name}")
        for part in value if isinstance(value, list) else [value]:
            if dataclasses.is_dataclass(part):
                empty += empty_fields(part)
    return empty


def test_a_scenario_is_shown_in_a_line(small):
    loaded = headway.Scenario.load(small)
    assert repr(loaded) == (
        "<Scenario 'Small': 16 GPUs (2 nodes of DGX H100), Llama 3.1 8B, tensor 2 x pipeline 2>"
    )
    # A section of few values is shown whole, a long one without its parts.
    node = headway.scenario.NodeSpec(use="dgx-h100")
    cluster = headway.scenario.ClusterSpec(nodes=2, node=node)
    assert repr(cluster) == "ClusterSpec(nodes=2, node=NodeSpec(use='dgx-h100'))"
    assert "node=NodeSpec('DGX H100', ...), other_nodes=[], " in repr(loaded.cluster)
    assert repr(headway.Scenario(name="Empty")) == "<Scenario 'Empty'>"


def test_values_of_a_scenario_are_changed_by_their_paths(small):
    loaded = headway.Scenario.load(small)
    changed = loaded.with_({"cluster.nodes": 4, "cluster.node.nic.bandwidth": "200 Gbps"})
    # 200 Gbit/s are 200e9 / 8 B/s.
    assert (changed.cluster.nodes, changed.cluster.node.nic.bandwidth) == (4, "25 GB/s")
    assert loaded.cluster.nodes == 2
    same = headway.run(small, set={"cluster.nodes": 4, "cluster.node.nic.bandwidth": "200 Gbps"})
    assert headway.run(changed).step.time_s == same.step.time_s
    with pytest.raises(headway.Error, match=r"cluster.nodes=many: nodes 'many' is not a number"):
        loaded.with_({"cluster.nodes": "many"})
    with pytest.raises(headway.Error, match=r"did you mean 'nodes'\?"):
        loaded.with_({"cluster.nodez": 3})
    # What breaks a rule is found at once, and named by what was set, not by a column of a text.
    with pytest.raises(
        headway.Error, match=r"parallelism.tensor=3: tensor 3 does not divide"
    ) as found:
        loaded.with_({"parallelism.tensor": 3})
    assert "<scenario>" not in str(found.value)
    with pytest.raises(
        headway.Error, match=r"\(changed: parallelism.data=64\)|parallelism.data=64: "
    ):
        loaded.with_({"parallelism.data": 64})
    with pytest.raises(AttributeError, match=r"nodes cannot be set: .* scenario.with_"):
        loaded.cluster.nodes = 4


def test_expect_and_diagnose_say_what_the_program_says(small, command, tmp_path):
    log = tmp_path / "train.log"
    log.write_text("".join(f"completed step: {i}, seconds: 9.5,\n" for i in range(20)))
    found = headway.diagnose(small, log)
    printed = command("diagnose", small, log, "--format", "json")
    assert found.suspects[0].cause == json.loads(printed.stdout)["suspects"][0]["cause"]
    table = tmp_path / "measured.csv"
    table.write_text("measure,value\nstep_time,100 h\n")
    assert headway.expect(small, table, nodes=1).status == "assert_failed"
    with pytest.raises(headway.Error, match="is no log of a training program"):
        headway.diagnose(small, table)
