"""Arguments of another kind or beyond their limits: refused at once, in words that help."""

from __future__ import annotations

import inspect
import math
import re
import typing

import headway
import numpy
import pytest
from headway import _arguments


def refusal(call) -> str:
    with pytest.raises(headway.Error) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize(
    ("verb", "argument", "values"),
    [
        ("run", "threads", (-1, 10**9)),
        ("run", "seed", (-1, 2**53 + 1, 2**64)),
        ("run", "trials", (0, 10**9)),
        ("plan", "threads", (-5, 4097)),
        ("plan", "top", (-1, 0, 1001)),
        ("plan", "simulate", (0, 1_000_001)),
        ("plan", "verify", (-1, 1_000_001)),
        ("plan", "nodes", (2**31,)),
        ("place", "draws", (-1, 1001)),
        ("solve", "precision", (0.0, 0.6, math.nan)),
        ("expect", "nodes", (2**31,)),
        ("drill", "hours", (-1, 0, 2401, math.nan, math.inf)),
        ("compare", "threads", (-1, 4097)),
        ("sweep", "threads", (-1, 4097)),
    ],
)
def test_limits_are_those_of_the_command_line(small, command, verb, argument, values):
    questions: dict[str, tuple] = {
        "drill": ("hang",),
        "solve": ("cluster.nodes", "step.mfu > 0.1"),
        "compare": (small,),
    }
    words: dict[str, tuple] = {
        "drill": ("--fault", "hang"),
        "solve": ("cluster.nodes", "--for", "step.mfu > 0.1"),
        "compare": (small,),
    }
    function = getattr(headway, verb)
    verb_of_program = ("plan", "--placement") if verb == "place" else (verb,)
    for value in values:
        said = refusal(lambda v=value: function(small, *questions.get(verb, ()), **{argument: v}))
        place = f"headway.{verb}: {argument}: "
        assert said.startswith(place)
        wrong = command(
            verb_of_program[0], small, *words.get(verb, ()), *verb_of_program[1:],
            f"--{argument}={value}",
        )  # fmt: skip
        assert wrong.returncode == 2
        told = wrong.stderr.split(f"--{argument}: ", 1)[1]
        if argument == "nodes":  # where the package has 0 for none
            told = told.replace("from 1 to", "from 0 to")
        assert said == place + told


def test_all_that_is_wrong_is_said_at_once(small):
    said = refusal(lambda: headway.plan(small, threads=-5, top=0))
    assert said == (
        "headway.plan: top: '0' must be a whole number from 1 to 1,000\n"
        "headway.plan: threads: '-5' must be a whole number from 0 to 4,096\n"
    )
    with pytest.raises(TypeError) as caught:
        headway.run(small, threads=1.5, fold="maybe")
    assert str(caught.value) == (
        "headway.run: threads must be a whole number, not 1.5;"
        " fold must be True or False, not 'maybe'"
    )


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda s: headway.run(s, threads="4"), "threads must be a whole number, not '4'"),
        (lambda s: headway.run(s, threads=True), "threads must be a whole number, not True"),
        (lambda s: headway.run(s, explain=1), "explain must be True or False, not 1"),
        (lambda s: headway.run(s, progress="yes"), "progress must be True or False or a function"),
        (lambda s: headway.run(s, trace=5), "trace must be a path, not 5"),
        (lambda s: headway.plan(s, nodes=1.5), "nodes must be a whole number or a list"),
        (lambda s: headway.plan(s, nodes=[1.5]), "each of it a whole number, not [1.5]"),
        (lambda s: headway.drill(s, 5), "fault must be a text, not 5"),
        (lambda s: headway.drill(s, "hang", hours="a"), "hours must be a number, not 'a'"),
        (lambda s: headway.sweep(s, figures="step.mfu"), "figures must be a list"),
        (lambda s: headway.topo("dgx-h100", down="leaf:3"), "down must be a list"),
        (lambda s: headway.topo("dgx-h100", stress=5), "stress must be one of 'credits', "),
        (lambda s: headway.report([], path="x.html"), "results must be a Result, not ([],)"),
        (lambda s: headway.report(path=5), "path must be a path, not 5"),
        (lambda s: headway.validate(quick="maybe"), "quick must be True or False, not 'maybe'"),
        (lambda s: headway.init(gpus=1.5), "gpus must be a whole number, not 1.5"),
        (lambda s: headway.run(s).trace("x.json", steps="2"), "steps must be a whole number"),
        (lambda s: headway.run(s, sead=1), "unexpected keyword argument 'sead'"),
        (lambda s: headway.run(), "missing 1 required positional argument: 'scenario'"),
        (lambda s: headway.run(5), "scenario must be a path or a Scenario or a mapping, not 5"),
    ],
)
def test_arguments_of_another_kind_are_named(small, tmp_path, monkeypatch, call, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError, match=re.escape(said)):
        call(small)
    assert [path.name for path in tmp_path.iterdir()] == [small.name]


def test_what_means_the_same_is_taken(small):
    plain = headway.run(small, trials=3, seed=7, threads=1)
    meant = headway.run(
        small, trials=numpy.int64(3), seed=7.0, threads=numpy.int32(1), fold=numpy.bool_(True)
    )
    assert meant.step == plain.step and meant.campaign == plain.campaign
    pair = headway.plan(small, nodes=numpy.array([2, 4]), top=2, trials=2)
    assert pair.plans == headway.plan(small, nodes=(2, 4), top=2, trials=2).plans


def words(kind: object) -> list[str]:
    return list(typing.get_args(kind))


def test_words_of_the_types_are_those_of_the_program(small, command):
    """Whatever checkers let through, the program has, and the other way round."""
    for kind, asked in (
        (_arguments.Foreign, ("import", "--list-words", "1")),
        (_arguments.Framework, ("export", "--list-words", "1")),
        (_arguments.JobFile, ("sweep", "--list-words", "--emit")),
        (_arguments.Table, ("calibrate", "compare", "--list-words", "--format")),
    ):
        listed = command(*asked).stdout.split()
        # Of one word there is no list to complete.
        assert words(kind) == (
            listed or re.findall(r"--engine (\w+)", command("sweep", "-h").stdout)
        )
    for kind, asked in (
        (_arguments.Kind, ("schema", "nonsense")),
        (_arguments.Kind, ("catalog", "list", "nonsense")),
        (_arguments.Collective, ("collective", "nonsense", "--cluster", small)),
        (_arguments.Transport, ("topo", small, "--stress", "nonsense")),
        (_arguments.Objective, ("plan", small, "--objective", "nonsense")),
    ):
        said = command(*asked).stderr
        listed = re.split(r"there are |known: ", said.strip())[1]
        assert words(kind) == re.split(r",? ", listed), asked
    packets = [f"packet:{transport}" for transport in words(_arguments.Transport)]
    assert words(_arguments.Network) == ["fluid", "packet", *packets]
    for verb in words(typing.get_type_hints(headway.calibrate)["verb"]):
        assert f"headway calibrate {verb} " in command("calibrate", "--help").stdout


def options(command, *verb: str) -> set[str]:
    lines = command(*verb, "--list-options").stdout.splitlines()
    return {line.split("\t")[0].removeprefix("--").replace("-", "_") for line in lines}


def test_options_of_files_are_those_of_the_program(command):
    def named(function) -> set[str]:
        parameters = inspect.signature(function).parameters.values()
        return {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}

    silent = {"help", "quiet", "color"}
    assert named(headway.import_) == options(command, "import") - silent
    verbs = words(typing.get_type_hints(headway.calibrate)["verb"])
    of_calibrate = set().union(*(options(command, "calibrate", verb) for verb in verbs))
    assert named(headway.calibrate) == of_calibrate - silent
    assert named(headway.export) == options(command, "export") - silent
