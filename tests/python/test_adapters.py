"""Models that are trained in part, from Python."""

from __future__ import annotations

import json

import headway
from headway.scenario import AdaptersSpec, FrozenSpec, ModelSpec, to_mapping


def figures(result) -> dict:
    return json.loads(result.json)


def test_adapters_are_trained_alone(small):
    whole = figures(headway.run(small))
    result = figures(headway.run(small, set={"model.adapters.rank": 16}))
    assert result["model"]["trained_parameters"] < 0.01 * whole["model"]["trained_parameters"]
    assert result["model"]["parameters"] == whole["model"]["parameters"]
    assert result["step"]["time_s"] < whole["step"]["time_s"]
    assert result["memory"]["peak_bytes"] < whole["memory"]["peak_bytes"]


def test_classes_say_what_is_trained():
    model = ModelSpec(
        use="llama-3.1-8b",
        adapters=AdaptersSpec(rank=8, products=["query", "value"], base="nf4"),
        frozen=FrozenSpec(layers=4),
    )
    assert to_mapping(model) == {
        "use": "llama-3.1-8b",
        "adapters": {"rank": 8, "products": ["query", "value"], "base": "nf4"},
        "frozen": {"layers": 4},
    }
