"""Verbs as functions: what they give is what the program prints, errors and Ctrl-C included."""

from __future__ import annotations

import gzip
import html
import json
import os
import re
import sys
import sysconfig
import urllib.error
import urllib.request
from pathlib import Path

import headway
import pytest
import yaml


def printed(command, *words: object) -> dict:
    done = command(*words, "--format", "json")
    assert done.stdout, done.stderr
    values = json.loads(done.stdout)
    values.pop("timing", None)
    return values


def given(result: headway.Result) -> dict:
    values = json.loads(result.json)
    values.pop("timing", None)
    return values


def has_one_verdict(result: headway.Result) -> bool:
    """Whether JSON, terminal and page say the same sentence."""
    said = json.loads(result.json)["verdict"]
    shown = f'<p class="verdict">{said}</p>'
    table = " ".join(str(result).split())
    return result.verdict == said and said in table and shown in html.unescape(result._repr_html_())


def test_compare_and_drill_are_those_of_the_program(small, command, tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text(small.read_text().replace("nodes: 2", "nodes: 4"))
    words = ("--layers", "--set", "run.trials=3")
    result = headway.compare(small, other, layers=True, set={"run.trials": 3})
    assert given(result) == printed(command, "compare", small, other, *words)
    assert list(result.plot) == ["sides", "step_parts", "run_parts", "step_layers", "run_layers"]
    with pytest.raises(ValueError, match="'step_layers': headway.compare works it out with layers"):
        headway.compare(small, other).plot.step_layers()
    with pytest.raises(ValueError, match="'step_layers': it is the same in both"):
        headway.compare(small, small, layers=True).plot.step_layers()
    before, after = (side.figures.step_time_s for side in (result.a, result.b))
    assert sum(part.share for part in result.step_parts_s) == pytest.approx(after / before - 1)
    rows = result.plot.step().specification["data"]["values"]
    assert [row["what"] for row in rows] == [p.words for p in result.step_parts_s if p.difference]
    with pytest.raises(ValueError, match="'cost_parts': A or B has no run.until, or no"):
        result.plot.cost_parts()
    assert result.a.figures.step_time_s > result.b.figures.step_time_s
    assert has_one_verdict(result)

    result = headway.drill(small, "hang@node1", monitor={"watchdog": "off"}, hours=2)
    options = ("--fault", "hang@node1", "--monitor", "watchdog=off", "--hours", 2)
    assert given(result) == printed(command, "drill", small, *options)
    assert "hang" in str(result)
    assert has_one_verdict(result)
    quoted = headway.drill(small, "nvme-slow@node1,rate='15 MB/s'")  # as a shell is given it
    assert given(quoted) == given(headway.drill(small, "nvme-slow@node1,rate=15 MB/s"))


def test_collective_topo_and_validate_are_those_of_the_program(small, command):
    result = headway.collective("all_reduce", small, gpus=8, first="1M", last="4M", factor=2)
    options = ("--cluster", small, "--gpus", 8, "-b", "1M", "-e", "4M", "-f", 2)
    assert given(result) == printed(command, "collective", "all_reduce", *options)
    assert result.table == command("collective", "all_reduce", *options).stdout
    assert len(result.to_pandas()) == 3

    result = headway.topo("rail-optimized-ndr", nodes=8, down=["leaf:0"])
    options = ("--nodes", 8, "--down", "leaf:0")
    assert given(result) == printed(command, "topo", "rail-optimized-ndr", *options)
    assert result.table == command("topo", "rail-optimized-ndr", *options).stdout

    only = "sc21-001"
    heard = []
    result = headway.validate(only=only, quick=True, progress=lambda *told: heard.append(told))
    assert heard[-1][1:] == (1, 1)
    assert given(result) == printed(command, "validate", "--only", only, "--quick")
    assert has_one_verdict(result)


def test_the_catalogue_is_that_of_the_program(command):
    def wherever_it_lies(values: dict) -> list[dict]:  # package and program have a copy each
        return [{**row, "file": Path(row["file"]).name} for row in values["rows"]]

    result = headway.catalog("gpus")
    own = printed(command, "catalog", "list", "gpus")
    assert wherever_it_lies(given(result)) == wherever_it_lies(own)
    gpus = result.to_pandas().set_index("name")
    assert gpus.loc["h100-sxm", "bf16_flop_per_s"] == 989.4e12
    assert gpus.loc["h100-sxm", "memory_bytes"] == 80 * 2**30
    own = command("catalog", "show", "gpus", "h100-sxm").stdout
    assert headway.entry("gpus", "h100-sxm").split("\n", 1)[1] == own.split("\n", 1)[1]
    storage = headway.catalog("storage").to_pandas().set_index("name")
    assert storage.loc["lustre", "write_bandwidth_bytes_per_s"] == 57.5e9
    assert "<table" in result._repr_html_()
    assert "h100-sxm" in result._repr_mimebundle_()["text/html"]
    assert "<table" in headway.doctor()._repr_html_()
    assert {row.kind for row in headway.catalog().rows} > {"gpus", "models", "scenarios"}
    assert given(headway.catalog("constants")) == printed(command, "catalog", "constants")
    with pytest.raises(headway.Error, match="did you mean 'gpus'"):
        headway.catalog("gpu")


def test_a_scenario_to_start_from_is_written(tmp_path):
    path = headway.init(tmp_path / "my.yaml", model="llama-3.1-8b", gpus=16, gpu="h100")
    headway.check(path)
    assert headway.Scenario.load(path).cluster.nodes == 2
    with pytest.raises(headway.Error, match="exists"):
        headway.init(path)
    with pytest.raises(headway.Error, match="fill no whole nodes"):
        headway.init(tmp_path / "other.yaml", gpus=12)


def test_a_scenario_made_in_python_goes_everywhere(small):
    scenario = yaml.safe_load(small.read_text())
    assert headway.drill(scenario, "hang").scenario.name == "Small"
    assert headway.compare(scenario, small).a.name == "Small"
    assert headway.collective("all_gather", scenario, first="1M", last="1M").rows
    assert "--tensor-model-parallel-size 2" in headway.export("megatron", scenario)


def test_launch_files_come_back(small, tmp_path):
    script = tmp_path / "pretrain.sh"
    script.write_text(headway.export("megatron", small))
    text = headway.import_("megatron-args", script, gpu="h100-sxm", gpus=16)
    assert yaml.safe_load(text)["parallelism"]["tensor"] == 2


def test_one_page_of_several_results(small, tmp_path):
    page = tmp_path / "both.html"
    results = headway.run(small), headway.drill(small, "hang")
    headway.report(*results, path=page)
    assert page.read_text().count('<section id="result-') == 2
    with pytest.raises(headway.Error, match="exists"):
        headway.report(*results, path=page)
    headway.report(*results, path=page, force=True)


def test_a_sweep_is_cut_done_in_parts_and_collected(small, command, tmp_path):
    folder = tmp_path / "run"
    axes = {"parallelism.tensor": [1, 2, 4], "run.trials": [2]}
    said = headway.share("sweep", small, folder, shards=3, axes=axes, emit="slurm")
    assert "headway worker" in said
    assert (folder / "sweep.slurm").exists()
    headway.worker(folder, shard="2/3", threads=1)
    some = headway.collect(folder)
    assert (some.missing, [row.point for row in some.rows]) == (2, [1])
    assert some.best_row == some.rows[0]
    headway.worker(folder)
    whole = headway.collect(folder)
    assert given(whole) == printed(command, "collect", folder)
    assert given(whole)["rows"] == given(headway.sweep(small, axes))["rows"]
    assert whole.best_row == headway.sweep(small, axes).best_row
    with pytest.raises(headway.Error, match="another sweep"):
        headway.share("sweep", small, folder, shards=3, axes={"cluster.nodes": [1, 2]})
    with pytest.raises(headway.Error, match="4/3"):
        headway.worker(folder, shard="4/3")
    with pytest.raises(ValueError, match="axes are of a sweep or a plan"):
        headway.share("run", small, tmp_path / "other", shards=3, axes=axes)


def test_a_job_file_of_kubernetes_is_yaml(small, tmp_path):
    folder = tmp_path / "a 'b' \"c\""
    headway.share("sweep", small, folder, shards=3, axes={"run.trials": [1, 2, 3]}, emit="k8s")
    job = yaml.safe_load((folder / "sweep-job.yaml").read_text())
    assert job["spec"]["completions"] == 3
    container = job["spec"]["template"]["spec"]["containers"][0]
    assert container["volumeMounts"][0]["mountPath"] == str(folder)
    _, option, script, place = container["command"]
    assert (option, place) == ("-c", str(folder))
    assert script.endswith("--threads 1 --quiet")
    assert container["resources"]["requests"]["cpu"] == "1"


def test_trials_and_machines_are_cut_too(small, tmp_path):
    said = headway.share("run", small, tmp_path / "run", shards=2, trials=2000)
    assert "2 shards" in said
    machines = {"cluster.nodes": [1, 2]}
    said = headway.share("plan", small, tmp_path / "plan", shards=2, axes=machines)
    assert "2 shards" in said


def test_the_page_is_served_while_its_object_lives(small):
    with headway.serve(small, set={"cluster.nodes": 4}, simulations=1) as page:
        # What Ctrl-C ends of this process's group is not the server.
        assert os.getsid(page._process.pid) != os.getsid(0)
        assert page.url.startswith("http://127.0.0.1:")
        assert page.url in repr(page)
        assert "<a href" in page._repr_html_()
        with urllib.request.urlopen(page.url.split("#")[0], timeout=30) as reply:
            assert b"<title>" in reply.read()
        address = page.url.split("#")[0]
    assert repr(page) == "Page(ended)"
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=30)
    with pytest.raises(headway.Error, match=r"no-such\.yaml"):
        headway.serve("no-such.yaml")


def test_the_installation_and_the_shell_are_those_of_the_program(command):
    found = {row.what: row.found for row in headway.doctor().rows}
    assert found["version"] == headway.__version__
    for shell in ("bash", "zsh", "fish", "man"):
        assert headway.completion(shell) == command("completion", shell).stdout
    shared = Path(sysconfig.get_path("data")) / "share"
    assert (shared / "man/man1/headway.1").read_text() == headway.completion("man")
    installed = shared / "bash-completion/completions/headway"
    assert installed.read_text() == headway.completion("bash")


def test_every_verb_is_a_function(command):
    listed = command("completion", "bash").stdout
    verbs = re.search(r'words="([a-z _]+)"', listed)
    assert verbs
    functions = {"import": "import_"}
    for verb in verbs.group(1).split():
        assert callable(getattr(headway, functions.get(verb, verb), None)), verb


def test_errors_are_the_texts_of_the_program(small, command):
    for call, words in (
        (lambda: headway.drill(small, "flood"), ("drill", small, "--fault", "flood")),
        (lambda: headway.topo("no-such-fabric"), ("topo", "no-such-fabric")),
        (lambda: headway.export("megatorn", small), ("export", "megatorn", small)),
        (lambda: headway.calibrate("fti"), ("calibrate", "fti")),
        (lambda: headway.explain("nmber"), ("explain", "nmber")),
    ):
        with pytest.raises(headway.Error) as caught:
            call()
        assert str(caught.value) == command(*words).stderr
    assert "memory" in headway.explain("gpu.memory")


def test_charts_are_those_of_the_page(small):
    result = headway.run(
        small,
        set={"parallelism.pipeline": 4, "run.until.steps": 100000000},
        explain=True,
        pictures=True,
    )
    for chart in (
        result.plot.step(),
        result.plot.timeline(),
        result.plot.memory(),
        result.plot.goodput(),
        result.plot("cost" if "cost" in result.plot else "ledger"),
    ):
        bundle = chart._repr_mimebundle_()
        specification = bundle["application/vnd.vegalite.v6+json"]
        assert specification["data"]["values"], chart.title
        assert specification["width"] == 640
        json.dumps(bundle)
    waterfall = result.plot.step().specification["data"]["values"]
    assert sum(row["value"] for row in waterfall) == pytest.approx(result.step.time_s)
    held = result.plot.memory().specification["data"]["values"]
    fullest = max(
        (sum(v for k, v in row.items() if k not in ("stage", "seconds")), row["stage"])
        for row in held
    )
    assert held[0]["stage"] == fullest[1], "the fullest stage is shown first"
    assert fullest[0] == pytest.approx(result.memory.peak_bytes / 2**30, rel=2e-3)
    times = [row["seconds"] for row in held if row["stage"] == fullest[1]]
    assert times[0] == 0 and times == sorted(times) and len(times) > 10
    assert times[-1] == pytest.approx(result.step.time_s, rel=1e-3)
    assert {"weights", "gradients", "optimizer", "activations"} < held[0].keys()
    last = result.plot.memory(stage=3)
    assert last.specification["params"][0]["value"] == 3
    with pytest.raises(ValueError, match="and no stage 7"):
        result.plot.memory(stage=7)
    stages = {row["stage"] for row in result.plot.timeline().specification["data"]["values"]}
    assert stages == {0, 1, 2, 3}
    assert "GiB" in str(headway.run(small).plot("memory").specification["encoding"])


def test_what_needs_pictures_is_drawn_on_demand(small, tmp_path):
    """The same charts, pages and traces as those of a run with pictures, of the same scenario."""
    file = tmp_path / "s.yaml"
    file.write_text(Path(small).read_text())
    told = []
    long = {"run.until.steps": 100000000}
    plain = headway.run(file, set=long, progress=lambda *words: told.append(words))
    pictured = headway.run(file, set=long, pictures=True)
    before = len(told)
    plots = plain.plot
    assert "timeline" not in plots and "timeline" in dir(plots)
    for name in ("timeline", "held", "kinds", "goodput"):
        assert plots(name).specification == pictured.plot(name).specification
    assert set(plots) == set(pictured.plot)
    plain.report(tmp_path / "plain.html")
    pictured.report(tmp_path / "pictured.html")
    pages = [(tmp_path / f"{name}.html").read_text() for name in ("plain", "pictured")]
    taken = re.compile(r"timing.*?</table>", re.S)
    assert taken.sub("", pages[0]) == taken.sub("", pages[1])
    assert "pictures" not in plain, "the result is what it was"
    assert len(told) == before, "nobody is told of a second prediction"
    changed = headway.run(file)
    file.write_text(Path(small).read_text().replace("micro_batch: 1", "micro_batch: 2"))
    with pytest.raises(ValueError, match="files have changed since this result"):
        changed.plot.timeline()
    import pickle

    with pytest.raises(ValueError, match="files have changed since this result"):
        pickle.loads(pickle.dumps(changed)).plot.timeline()


def test_copies_of_a_result_have_its_charts(small, tmp_path, monkeypatch):
    import copy
    import pickle

    monkeypatch.chdir(small.parent)
    result = headway.run(small.name, set={"run.trials": 2})
    copies = [pickle.loads(pickle.dumps(result)), copy.deepcopy(result)]
    monkeypatch.chdir("/")
    for each in copies:
        timeline = each.plot.timeline().specification
        assert timeline == result.plot.timeline().specification
        # ... and of one that was drawn before.
        assert copy.deepcopy(each).plot.timeline().specification == timeline
    copies[0].trace(tmp_path / "step.json")
    copies[0].report(tmp_path / "page.html")
    assert 'class="timeline"' in (tmp_path / "page.html").read_text()


def test_what_is_drawn_later_is_of_the_same_files(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = headway.run(small.name)
    plots = result.plot
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    hidden = tmp_path / "hidden.yaml"
    small.rename(hidden)
    with pytest.raises(headway.Error, match="no such file"):
        plots.timeline()
    hidden.rename(small)
    assert plots.timeline().specification["data"]["values"], "a failure is not the last word"
    # Files that a scenario made in Python names, and those of changes, are those of the folder too.
    (tmp_path / "fabric.yaml").write_text("name: Mine\nuse: rail-optimized-ndr\n")
    monkeypatch.chdir(tmp_path)
    values = yaml.safe_load(small.read_text())
    changed = headway.run(values, set={"cluster.fabric.use": "fabric.yaml"})
    values["cluster"]["fabric"] = {"use": "fabric.yaml"}
    made = headway.run(values)
    monkeypatch.chdir(tmp_path / "elsewhere")
    for each in (made, changed):
        assert each.plot.timeline().specification["data"]["values"]
    # Nothing is predicted again for a chart that no prediction would have.
    step = headway.run(small, set={"run.until": "null"})
    assert "goodput" not in dir(step.plot)
    headway.report(result, result, path="two.html")
    assert Path("two.html").read_text().count('id="result-1-timeline"') == 1


def test_files_of_a_scenario_made_in_python(small, tmp_path, monkeypatch):
    """Names of files in it are those of the folder, for the program too."""
    monkeypatch.chdir(tmp_path)
    values = yaml.safe_load(small.read_text())
    Path("fabric.yaml").write_text("name: Mine\nuse: rail-optimized-ndr\n")
    values["cluster"]["fabric"] = {"use": "fabric.yaml"}
    assert headway.run(values, power="p.csv").status == "ok"
    assert Path("p.csv").read_text().startswith("time")
    headway.expect(values, nvcre="e.json")
    with pytest.raises(headway.Error, match=r"e\.json: there already"):
        headway.expect(values, nvcre="e.json", cvs="c.json")
    assert not Path("c.json").exists(), "nothing is half written"
    with pytest.raises(headway.Error, match="--network packet"):
        headway.run(small, network="packet", power="q.csv")
    with pytest.raises(headway.Error, match="--trace-ranks adds ranks to the file of --trace"):
        headway.run(small, trace_ranks="0-1")
    with pytest.raises(ValueError, match="one step of packets has no pictures"):
        headway.run(small, network="packet").plot.timeline()


def test_a_log_that_cannot_be_read_is_an_error_with_its_name(small, tmp_path, monkeypatch):
    """As the program says it; what a cut progress bar left does not make a log unreadable."""
    monkeypatch.chdir(tmp_path)
    Path("packed.log").write_bytes(gzip.compress(b"step 1 time 0.5\n" * 1000)[:-20])
    Path("wide.log").write_bytes(b"\xff\xfes\x00")
    Path("zeros.log").write_bytes(gzip.compress(bytes(257 << 20), 1))
    for name in ("none.log", "packed.log", "zeros.log", "."):
        with pytest.raises(headway.Error, match=re.escape(name)):
            headway.diagnose(small, name)
        with pytest.raises(headway.Error, match=re.escape(name)):
            headway.expect(small, name)
    with pytest.raises(headway.Error, match="wide.log.*UTF-16"):
        headway.diagnose(small, "wide.log")
    log = "".join(
        f" iteration {i}/ 100 | elapsed time per iteration (ms): 900.0 |\n" for i in range(1, 60)
    )
    Path("bars.log").write_bytes(b"\xe2\x96 31%\n" + log.encode())
    assert headway.diagnose(small, "bars.log").suspects


def test_every_chart_has_a_method_and_completion_names_it(small):
    run = headway.run(small, set={"run.until.steps": 100000000}, explain=True, pictures=True)
    compared = headway.compare(small, small, set={"run.until": "null"})
    for result in (run, headway.plan(small, top=3), headway.drill(small, "hang"), compared):
        for name in result.plot:
            named = getattr(result.plot, name)()
            # `memory` is what is asked for most: over the step, where there are pictures.
            same = "kinds" if name == "memory" and "kinds" in result.plot else name
            assert named.specification == result.plot(same).specification
        assert set(result.plot) <= set(dir(result.plot))
    assert {"step", "ettr", "ledger", "cascade"} & set(dir(run.plot)) == {"step", "ettr", "ledger"}
    assert run.plot.ettr().title == run.plot("interval").title
    with pytest.raises(ValueError, match="the scenario has no run.until, or no run.prices"):
        headway.plan(small, top=3).plot.pareto()


def test_a_chart_that_is_not_there_says_why(small):
    """By what the result lacks."""
    calm = headway.run(small, set={"run.failures": "null"}, pictures=True)
    with pytest.raises(ValueError, match=r"nothing fails in this run: .* a goodput of [0-9.]+ %"):
        calm.plot.goodput()
    step = headway.run(small, set={"run.until": "null"})
    with pytest.raises(ValueError, match="the scenario has no run.until"):
        step.plot.cost()
    with pytest.raises(ValueError, match="with explain=True"):
        step.plot.sensitivities()
    # By the name that was asked for, not the one that the chart has inside.
    with pytest.raises(ValueError, match=r"no chart 'timeline'.* a result of `plan`"):
        headway.plan(small, top=1).plot.timeline()
    assert headway.plan(small, top=1).plot.memory().title.startswith("Memory of the fullest GPU")
    with pytest.raises(ValueError, match="a chart of `drill`, this is a result of `run`"):
        step.plot.cascade()
    with pytest.raises(ValueError, match="there is no chart 'goodputs'"):
        step.plot("goodputs")


def test_answers_without_a_plan_or_in_sentences_say_so(small):
    solved = headway.solve(small, "parallelism.micro_batch", "step.mfu >= 0.1")
    assert solved.verdict == " ".join(solved.sentences) and solved.verdict in repr(solved)
    assert "Small" in repr(solved) and solved.answer.value in solved._repr_html_()
    none = headway.plan(small, nodes=2, limits={"deadline": "1 h"}, simulate=2)
    assert none.status == "infeasible" and none.verdict == " ".join(none.reasons)
    assert none.to_pandas().empty
    assert list(headway.catalog("gpus").plot) == []


def test_a_notebook_shows_figures_and_the_main_chart(small, monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    result = headway.run(small)
    bundle = result._repr_mimebundle_()
    assert "<svg" not in bundle["text/html"]
    # What knows HTML alone has the chart as a picture, where it can be drawn.
    assert result._repr_html_() == bundle["text/html"] + result.plot.step().to_svg()
    assert bundle["application/vnd.vegalite.v6+json"] == result.plot.step().specification
    result._ipython_display_()
    figures, chart = shown
    assert figures["text/html"] == bundle["text/html"]
    assert chart["application/vnd.vegalite.v6+json"]["title"] == "Where the step goes"
    # A result without charts is shown by its figures alone.
    shown.clear()
    headway.topo("rail-optimized-ndr", nodes=4)._ipython_display_()
    assert [list(bundle) for bundle in shown] == [["text/html", "text/plain"]]
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert result._repr_html_() == bundle["text/html"]


def test_charts_are_drawn_by_another_program_too(small):
    """vl-convert has Vega-Lite's own compiler: a specification that is wrong is refused."""
    result = headway.run(small, set={"run.until.steps": 100000000}, explain=True, pictures=True)
    for name in result.plot:
        assert "<svg" in result.plot(name).to_svg(), name


def test_results_are_tables(small):
    run = headway.run(small)
    frame = run.to_pandas()
    assert frame["step.time_s"][0] == run.step.time_s
    plans = headway.plan(small, top=3)
    frame = plans.to_pandas()
    assert list(frame["step.time_s"]) == [plan.step.time_s for plan in plans.plans]
    assert len(headway.drill(small, "hang").to_pandas()) > 3
    both = headway.compare(small, small)
    frame = both.to_pandas()
    assert list(frame.columns) == ["a", "b", "difference", "ratio"]
    assert frame.loc["step_time_s", "a"] == both.a.figures.step_time_s
    assert frame.loc["step_time_s", "ratio"] == 1
    found = headway.solve(small, "cluster.nodes", "step.tokens_per_s >= 3e5")
    frame = found.to_pandas()
    assert list(frame["value"]) == [point.value for point in found.points]
    assert list(frame["figure"].dropna()) == [
        point.figure for point in found.points if point.figure is not None
    ]


def test_a_profile_beside_its_scenario(small, command, tmp_path):
    events = []
    for step in range(3):
        begin = 1e6 * step
        mark = {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}"}
        events.append({**mark, "ts": begin, "dur": 1e6})
        kernel = {"ph": "X", "cat": "kernel", "args": {}}
        events.append({**kernel, "name": "gemm", "ts": begin + 10, "dur": 4e5})
        events.append({**kernel, "name": "ncclDevKernel_AllReduce", "ts": begin + 3e5, "dur": 2e5})
    profile = tmp_path / "rank3.json"
    info = {"rank": 3, "world_size": 16}
    profile.write_text(json.dumps({"traceEvents": events, "distributedInfo": info}))
    told = []
    result = headway.compare_profiles(small, profile, progress=lambda *what: told.append(what))
    assert ("comparing profiles", 1, 1) in told
    assert given(result) == printed(command, "compare", small, profile)
    rows = {row.figure: row for row in result.rows}
    assert [rows[key].measured for key in ("step", "compute")] == pytest.approx([1, 0.4])
    assert rows["non_compute"].measured == pytest.approx(0.09999)
    assert rows["overlap"].measured == pytest.approx(0.50005)
    total = sum(rows[key].predicted for key in ("compute", "non_compute", "idle"))
    assert total == pytest.approx(rows["step"].predicted)
    assert rows["step"].interval[0] < rows["step"].predicted < rows["step"].interval[1]
    assert result.ranks[0].rank == 3
    with pytest.raises(headway.Error, match="a job of 16 ranks, the scenario has 32 GPUs"):
        headway.compare_profiles(small, profile, set={"cluster.nodes": 4})
