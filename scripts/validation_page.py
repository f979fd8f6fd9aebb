#!/usr/bin/env python3
"""Writes docs/validation.md's tables and docs/validation.vl.json from the published runs.

usage: scripts/validation_page.py [--headway PROGRAM]

The runs are those of configs/validation, predicted by the program as it is built. The text of the
page between the lines `<!-- generated -->` and `<!-- end -->` is replaced.
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "validation.md"
CHART = ROOT / "docs" / "validation.vl.json"
RUNS = ROOT / "configs" / "validation"
TABLES = {
    "": RUNS / "training_runs.csv",
    ", not fitted": RUNS / "training_runs_unfitted.csv",
    ", layout sweep": RUNS / "layout_sweep.csv",
}
PARTS = {
    "dense NVIDIA": "dense NVIDIA rows",
    "mixtures of experts": "mixtures of experts",
    "AMD": "AMD, no kernel tables",
}

Row = dict[str, Any]

# What was found wrong with version 0.1.0 on sources that it had never seen: the source, its median
# error then, the causes, and the keys and readings that came of each (empty: nothing yet).
CAUSES = {
    ("titan", "48 %"): {
        "words of a GPU's name that were not understood": "watts, memory and stacks are read",
        "attention kernel by GPU and release": "`attention_kernels`",
        "per-operator checkpointing": "`recompute: operators`",
        "FSDP2 with pipelines: no reshard, late reduction": "`gather_once`",
        "loss in fp32, not fused": "`loss`",
        "eager elementwise kernels": "`elementwise`, `host.launch`",
        "asynchronous tensor parallelism too good": "`tensor_interference`",
        "rowwise and blockwise fp8": "`scaling`",
        "PyTorch's ring attention loses 1.4 times at context 4 and 8": "",
    },
    ("ibmfsdp", "8.5 %"): {
        "a stated torch_compile=no was overlooked": "one reader of flags",
        "part of the blocks recomputed": "`recompute_layers`",
        "reduction in bf16": "`reduce_bytes`",
    },
    ("simumaxB200", "17 %"): {
        "B200's products taken from racks of 1,200 W": "shares measured on that machine",
        "a cut model with the whole one's prediction modules": "cuts have none",
        "launches of experts": "`grouped_launch`, `host.launch`",
        "fp32 gradients": "`gradient_bytes`",
        "80 ms a step hide slopes: apart they are 40 ms and 7 % too fast": "",
    },
    ("nemoA100", "19 %"): {"attention was not fused": "`attention_kernels: unfused` by era"},
    ("megascale", "21 %"): {"attention was not fused": "`attention_kernels: unfused` by era"},
    ("nemoLong", "13 to 16 %"): {
        "generation of the attention kernel": "`attention_kernels`, both ways where open",
    },
    ("fold", "38 % (mixtures)"): {
        "dispatcher of the recipe": "`expert_dispatch`, measured curves of DeepEP",
        "expert-tensor parallelism": "`expert_tensor`",
        "exchange that hides half, not 80 %": "`expert_overlap`, as streams and SMs allow",
        "FSDP of mixtures gathers experts": "profile `megatron-fsdp-2025`",
        "probabilities as wide as the router's input": "`wide_probabilities`",
    },
    ("nano", "83 %"): {
        "steps that the host bounds": "`host.layer`, `host.stall`, `host.piece`",
        "the memory cliff": "`allocation.retry`; `plan` keeps away from it",
        "EFA's fall-off by nodes": "`fabric.node_latency`",
        "tensor ranks across nodes": "as flows",
        "a slow mode that no column tells": "",
    },
}


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def figures(rows: list[Row]) -> list[float]:
    errors = [abs(r["error"]) for r in rows]
    covered = sum(
        r["interval"][0] <= r["measured_tokens_per_s_per_gpu"] <= r["interval"][1] for r in rows
    )
    within = [sum(e <= limit for e in errors) / len(errors) for limit in (0.05, 0.10)]
    middle = [quantile(errors, 0.5), statistics.fmean(errors), quantile(errors, 0.9)]
    return [*middle, *within, covered / len(errors)]


def table(title: str, parts: list[tuple[str, list[Row]]]) -> str:
    lines = [
        f"| {title} | rows | median | mean | 90th percentile | within 5 % | within 10 % "
        "| in 90 % interval |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, rows in parts:
        shown = " | ".join(f"{100 * figure:.1f} %" for figure in figures(rows))
        lines.append(f"| {name} | {len(rows)} | {shown} |")
    return "\n".join(lines)


def source(row: Row) -> str:
    return str(row["id"]).rsplit("-", 1)[0]


def status_class(row: Row) -> str:
    return str(row["status"]).split(":")[0]


def grouped(rows: list[Row], key: str) -> list[tuple[str, list[Row]]]:
    """The rows by what the published table says of them, or by source."""
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(source(row) if key == "source" else row["run"][key], []).append(row)
    return sorted(parts.items())


def memory_table(rows: list[Row], of: str) -> str:
    lines = [
        f"| peak memory, where a source states it{of} | rows | median error "
        "| median absolute error | 90th percentile |",
        "|---|---|---|---|---|",
    ]
    stated = [row for row in rows if row["measured_peak_memory_gib"]]
    for name, part in grouped(stated, "source"):
        errors = [
            row["predicted_peak_memory_gib"] / row["measured_peak_memory_gib"] - 1 for row in part
        ]
        size = [abs(e) for e in errors]
        lines.append(
            f"| {name} | {len(errors)} | {100 * quantile(errors, 0.5):+.1f} % "
            f"| {100 * quantile(size, 0.5):.1f} % | {100 * quantile(size, 0.9):.1f} % |"
        )
    return "\n".join(lines)


def left_out_table(title: str, parts: dict[str, dict[str, Any]]) -> str:
    lines = [
        f"| {title} | rows | median | mean | 90th percentile | within 10 % | in 90 % interval "
        "| its half width |",
        "|---|---|---|---|---|---|---|---|",
    ]
    keys = (
        "median_abs_error mean_abs_error p90_abs_error within_10 coverage_90 median_half_width"
    ).split()
    for name, part in parts.items():
        if part["n"]:
            shown = " | ".join(f"{100 * part[key]:.1f} %" for key in keys)
            lines.append(f"| {name} | {part['n']} | {shown} |")
    return "\n".join(lines)


def left_out(result: dict[str, Any]) -> list[str]:
    """What the errors are where the constants have not seen the source."""
    out = result["left_out"]
    parts = left_out_table("leaving out one source, constants refitted without it", out["parts"])
    mean = 100 * out["mean_of_source_medians"]
    texts = [parts, f"The mean of the sources' median errors is {mean:.1f} %."]
    texts += [
        left_out_table(f"{what} left out", out[key])
        for what, key in (("source", "sources"), ("framework", "frameworks"), ("GPU", "gpus"))
    ]
    lines = [
        "| constant judged from runs | refitted / committed | standard error | sources "
        "| decided by |",
        "|---|---|---|---|---|",
    ]
    for c in out["constants"]:
        one = " (one source)" if c["sources"] == 1 else ""
        lines.append(
            f"| {c['name']} | {c['factor']:.3f} | {100 * c['standard_error']:.0f} % "
            f"| {c['sources']}{one} | {c['decided_by']} |"
        )
    return [*texts, "\n".join(lines)]


def causes(sources: dict[str, dict[str, Any]]) -> str:
    """What became of each cause, beside the error of its source then and now."""
    lines = [
        "| unseen by version 0.1.0 | its median error | now, left out | cause | what there is |",
        "|---|---|---|---|---|",
    ]
    for (name, then), found in CAUSES.items():
        now = f"{100 * sources[name]['median_abs_error']:.1f} %"
        heads = [f"{name} | {then} | {now}", *[" | | "] * (len(found) - 1)]
        for head, (cause, what) in zip(heads, found.items(), strict=True):
            lines.append(f"| {head} | {cause} | {what or 'nothing yet'} |")
    return "\n".join(lines)


def open_fields() -> str:
    """What blanks of fields that rows state move."""
    lines = [
        "| blank | models | sources | of them moved | rows | moved by more than 1 % | error "
        "| half the distance of its readings |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with (RUNS / "open_fields.csv").open(newline="") as file:
        for field in csv.DictReader(file):
            half = float(field["half_distance"])
            shown = f"{100 * half:.1f} %" if half > 0 else "-"
            lines.append(
                f"| {field['field']} | {field['kind']} | {field['sources']} "
                f"| {field['moving']} | {field['rows']} "
                f"| {100 * float(field['moved']):.0f} % | {100 * float(field['error']):.1f} % "
                f"| {shown} |"
            )
    return "\n".join(lines)


def layouts(summary: dict[str, Any]) -> str:
    lines = [
        "| layouts of | pairs that differ by 10 % | in the right order | decisions "
        "| mean regret | worst |",
        "|---|---|---|---|---|---|",
    ]
    for part in summary["layouts"]:
        right = f"{100 * part['pairs_right']:.1f} %" if part["pairs"] else "-"
        source = part["source"] + (", without contradictory rows" if part["consistent"] else "")
        lines.append(
            f"| {source} | {part['pairs']} | {right} | {part['decisions']} "
            f"| {100 * part['mean_regret']:.1f} % | {100 * part['worst_regret']:.1f} % |"
        )
    return "\n".join(lines)


def checks(summary: dict[str, Any]) -> str:
    return (
        f"Repeats of one configuration ({summary['repeat_rows']} rows) differ from their median by "
        f"{100 * summary['repeat_mean_deviation']:.1f} % on average. Of {summary['layout_pairs']} "
        "pairs of layouts of one model, GPU, precision and GPU count that differ by more than "
        f"10 %, {100 * summary['layout_pairs_right']:.0f} % are in the right order."
    )


def skipped(rows: list[Row]) -> str:
    why = Counter(row["status"].removeprefix("skipped:") for row in rows if row["error"] is None)
    return "Skipped: " + ("; ".join(f"{n} rows, {w}" for w, n in sorted(why.items())) or "none")


def section(every: list[Row], of: str) -> list[str]:
    """The tables of one table of runs."""
    predicted = [row for row in every if row["error"] is not None]
    part = {name: [r for r in predicted if r["part"] == name + of] for name in PARTS}
    dense = part["dense NVIDIA"]
    statuses = [
        (f"status {status}", [r for r in dense if status_class(r) == status])
        for status in sorted({status_class(r) for r in dense})
    ]
    texts = [table(PARTS["dense NVIDIA"] + of, [("all", dense), *statuses])]
    for key, title in (("source", "source"), ("gpu", "GPU"), ("precision", "precision")):
        texts.append(table(title + of, grouped(dense, key)))
    for name, key in (("mixtures of experts", "model"), ("AMD", "source")):
        if part[name]:
            shown = [("all", part[name]), *grouped(part[name], key)]
            texts.append(table(PARTS[name] + of, shown))
    texts.append(memory_table(predicted, of))
    return [*texts, skipped(every) + "."]


def chart(rows: list[Row]) -> dict[str, Any]:
    values = [
        {
            "run": row["id"],
            "source": source(row),
            "GPU": row["run"]["gpu"],
            "fitted": row["fitted"],
            "measured": row["measured_tokens_per_s_per_gpu"],
            "predicted": round(row["predicted_tokens_per_s_per_gpu"], 1),
        }
        for row in rows
        if row["error"] is not None
        and row["table"] != ", layout sweep"
        and "AMD" not in row["part"]
    ]
    scale = {"type": "log"}
    points = {
        "x": {"field": "measured", "type": "quantitative", "scale": scale},
        "y": {"field": "predicted", "type": "quantitative", "scale": scale},
        "color": {"field": "source", "type": "nominal"},
        "shape": {"field": "fitted", "type": "nominal"},
        "tooltip": [{"field": f} for f in ("run", "GPU", "measured", "predicted")],
    }
    diagonal = {
        "x": {"field": "x", "type": "quantitative"},
        "y": {"field": "y", "type": "quantitative"},
    }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": "Published training runs: predicted against measured tokens/s/GPU",
        "width": 480,
        "height": 480,
        "layer": [
            {
                "data": {"values": values},
                "mark": {"type": "point", "filled": True, "size": 20, "opacity": 0.6},
                "encoding": points,
            },
            {
                "data": {"values": [{"x": 20, "y": 20}, {"x": 50000, "y": 50000}]},
                "mark": {"type": "line", "color": "gray", "strokeDash": [4, 4]},
                "encoding": diagonal,
            },
        ],
    }


def predict(program: str) -> dict[str, Any]:
    """What the program says of its tables, each row with the published run it is of."""
    command = [program, "validate", "--format", "json", "--quiet"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    published: dict[str, tuple[str, dict[str, str]]] = {}
    for of, runs in TABLES.items():
        with runs.open(newline="") as file:
            published.update({run["id"]: (of, run) for run in csv.DictReader(file)})
    for row in result["rows"]:
        row["table"], row["run"] = published[row["id"]]
        row["fitted"] = row["table"] == ""
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--headway", default=str(ROOT / "build" / "release" / "bin" / "headway"))
    arguments = parser.parse_args()
    result = predict(arguments.headway)
    texts = [
        *left_out(result),
        causes(result["left_out"]["sources"]),
        open_fields(),
        layouts(result["summary"]),
        checks(result["summary"]),
    ]
    for of in ("", ", not fitted"):
        texts += section([row for row in result["rows"] if row["table"] == of], of)
    before, rest = PAGE.read_text().split("<!-- generated -->\n")
    after = rest.split("<!-- end -->\n")[1]
    generated = "\n\n".join(texts) + "\n"
    PAGE.write_text(f"{before}<!-- generated -->\n{generated}<!-- end -->\n{after}")
    # A row a line, so that a change of one row is one line of a difference.
    CHART.write_text(json.dumps(chart(result["rows"])).replace('{"run"', '\n{"run"') + "\n")


if __name__ == "__main__":
    main()
