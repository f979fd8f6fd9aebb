"""Models that learn from a teacher, from Python."""

from __future__ import annotations

import json

import headway
from headway.scenario import CachedLogitsSpec, DistillationSpec, ModelSpec, to_mapping


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


def test_cached_logits_cost_no_teacher(small):
    alone = figures(headway.run(small))
    cached = {"training.distillation": {"top_k": 256, "label_loss": True, "cached": {}}}
    taught = figures(headway.run(small, set=cached))
    assert taught["model"]["teacher_parameters"] == 0
    assert taught["model"]["logits_bytes_per_token"] == 256 * (16 + 24) / 8
    assert alone["model"]["logits_bytes_per_token"] == 0
    # The loss over the stored tokens and their copy beside the labels': less than a tenth.
    ratio = taught["step"]["time_s"] / alone["step"]["time_s"]
    assert 1.0 < ratio < 1.1


def test_classes_say_who_taught():
    spec = DistillationSpec(top_k=50, cached=CachedLogitsSpec(value_bits=7, token_id_bits=17))
    assert to_mapping(spec) == {
        "top_k": 50,
        "cached": {"value_bits": 7, "token_id_bits": 17},
    }


def test_classes_say_who_teaches():
    spec = DistillationSpec(teacher=ModelSpec(use="llama-3.1-70b"), top_k=512, label_loss=True)
    assert to_mapping(spec) == {
        "teacher": {"use": "llama-3.1-70b"},
        "top_k": 512,
        "label_loss": True,
    }
