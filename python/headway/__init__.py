"""Predicts time, MFU, goodput and cost of training on AI clusters.

>>> import headway
>>> result = headway.run("configs/scenarios/gpt-3-175b-1024-a100.yaml", set={"run.trials": 10})
>>> result.step.time_s, result.step.hfu
>>> print(result)          # the table of the command line

Scenarios, values and results are those of the program ``headway``, to the last bit.
"""

from typing import TYPE_CHECKING

from headway import scenario
from headway._api import check, diagnose, expect, place, plan, run, schema, solve
from headway._core import Error, __version__
from headway._foreign import calibrate, export, import_
from headway._plot import Chart
from headway._record import Record, Result
from headway._sweep import Sweep, sweep
from headway._verbs import (
    catalog,
    collective,
    compare,
    compare_profiles,
    drill,
    entry,
    explain,
    faults,
    init,
    replay,
    report,
    topo,
    validate,
)
from headway._words import configs
from headway._work import Page, collect, completion, doctor, serve, share, worker
from headway.scenario import Scenario

__all__ = [
    "Chart",
    "Error",
    "Page",
    "Record",
    "Result",
    "Scenario",
    "Sweep",
    "__version__",
    "calibrate",
    "catalog",
    "check",
    "collect",
    "collective",
    "compare",
    "compare_profiles",
    "completion",
    "configs",
    "diagnose",
    "doctor",
    "drill",
    "entry",
    "expect",
    "explain",
    "export",
    "faults",
    "import_",
    "init",
    "place",
    "plan",
    "replay",
    "report",
    "run",
    "scenario",
    "schema",
    "serve",
    "share",
    "solve",
    "sweep",
    "topo",
    "validate",
    "worker",
]

if not TYPE_CHECKING:  # checkers know what there is

    def __getattr__(name: str) -> object:
        if name == "load":
            raise AttributeError(
                "module 'headway' has no 'load': headway.run(path) predicts a file, and"
                " headway.Scenario.load(path) reads it"
            )
        raise AttributeError(f"module 'headway' has no attribute '{name}'")
