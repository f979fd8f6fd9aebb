"""Models that learn from a teacher, from Python."""

from __future__ import annotations

import json

import headway
from headway.scenario import DistillationSpec, ModelSpec, to_mapping


def figures(result) -> dict:
    return json.loads(result.json)


def test_a_teacher_costs_its_forward(small):
    alone = figures(headway.run(small))
    teacher = {"training.distillation": {"teacher": {"use": "llama-3.1-8b"}}}
    taught = figures(headway.run(small, set=teacher))
    assert taught["model"]["teacher_parameters"] == alone["model"]["parameters"]
    assert alone["model"]["teacher_parameters"] == 0
    # A forward beside a forward and a backward: a third more, less the label loss.
    ratio = taught["step"]["time_s"] / alone["step"]["time_s"]
    assert 1.2 < ratio < 1.5
    assert taught["memory"]["peak_bytes"] > alone["memory"]["peak_bytes"]


def test_classes_say_who_teaches():
    spec = DistillationSpec(teacher=ModelSpec(use="llama-3.1-70b"), top_k=512, label_loss=True)
    assert to_mapping(spec) == {
        "teacher": {"use": "llama-3.1-70b"},
        "top_k": 512,
        "label_loss": True,
    }
