#!/usr/bin/env python3
"""Writes docs/validation.md's tables and the chart docs/validation.vl.json from a validation of published runs.

usage: headway validate --runs RUNS.csv --format json --out errors.json
       scripts/fit_constants.py RUNS.csv --out fit.json          (optional)
       scripts/validation_page.py RUNS.csv errors.json [fit.json]

The text of docs/validation.md between the lines `<!-- generated -->` and `<!-- end -->` is replaced.
"""
import csv
import json
import pathlib
import statistics
import sys

PAGE = pathlib.Path("docs/validation.md")
CHART = pathlib.Path("docs/validation.vl.json")


def quantile(values, share):
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def figures(rows):
    errors = [abs(r["error"]) for r in rows]
    covered = sum(r["interval"][0] <= r["measured_tokens_per_s_per_gpu"] <= r["interval"][1] for r in rows)
    within = [sum(e <= limit for e in errors) / len(errors) for limit in (0.05, 0.10)]
    return [quantile(errors, 0.5), statistics.fmean(errors), quantile(errors, 0.9), *within, covered / len(errors)]


def table(title, parts):
    lines = [f"| {title} | rows | median | mean | 90th percentile | within 5 % | within 10 % | in 90 % interval |",
             "|---|---|---|---|---|---|---|---|"]
    for name, rows in parts:
        lines.append(f"| {name} | {len(rows)} | " + " | ".join(f"{100 * f:.1f} %" for f in figures(rows)) + " |")
    return "\n".join(lines)


def status_class(row):
    return row["status"].split(":")[0]


def memory_table(rows):
    parts = {}
    for row in rows:
        if row["measured_peak_memory_gib"]:
            parts.setdefault(row["id"].rsplit("-", 1)[0], []).append(row["predicted_peak_memory_gib"] / row["measured_peak_memory_gib"] - 1)
    lines = ["| peak memory, where a source states it | rows | median error | median absolute error | 90th percentile |", "|---|---|---|---|---|"]
    for name, errors in sorted(parts.items()):
        size = [abs(e) for e in errors]
        lines.append(f"| {name} | {len(errors)} | {100 * quantile(errors, 0.5):+.1f} % | {100 * quantile(size, 0.5):.1f} % | "
                     f"{100 * quantile(size, 0.9):.1f} % |")
    return "\n".join(lines)


def by(rows, runs, column):
    parts = {}
    for row in rows:
        key = row["id"].rsplit("-", 1)[0] if column == "source" else runs[row["id"]][column]
        parts.setdefault(key, []).append(row)
    return sorted(parts.items())


def fit_table(fit):
    lines = ["| constant | refitted / committed | standard error |", "|---|---|---|"]
    lines += [f"| {name} | {c['factor']:.3f} | {c['standard_error']:.3f} |" for name, c in fit["constants"].items()]
    for part in ("refitted", "cross-validated"):
        f = fit[part]
        lines.append(f"\n{part.capitalize()}: median {100 * f['median']:.1f} %, mean {100 * f['mean']:.1f} %, 90th percentile "
                     f"{100 * f['p90']:.1f} %, within 10 % {100 * f['within_10']:.0f} %.")
    mixtures = fit["mixtures"]
    lines.append("\nMixtures of experts, median: " + ", ".join(
        f"{part} {100 * mixtures[part]['median']:.1f} %" for part in ("as it is", "refitted", "cross-validated")) + ".")
    lines.append(f"\nStandard error of a step from catalogue values, 90th percentile of cross-validated |log error| / 1.645: "
                 f"{100 * fit['relative_error']:.1f} %.")
    return "\n".join(lines)


def chart(rows, runs):
    values = [{"run": r["id"], "source": r["id"].rsplit("-", 1)[0], "GPU": runs[r["id"]]["gpu"],
               "measured": r["measured_tokens_per_s_per_gpu"], "predicted": round(r["predicted_tokens_per_s_per_gpu"], 1)}
              for r in rows]
    scale = {"type": "log"}
    return {"$schema": "https://vega.github.io/schema/vega-lite/v5.json",
            "title": "Published training runs: predicted against measured tokens/s/GPU",
            "width": 480, "height": 480,
            "layer": [
                {"data": {"values": values}, "mark": {"type": "point", "filled": True, "size": 20, "opacity": 0.6},
                 "encoding": {"x": {"field": "measured", "type": "quantitative", "scale": scale},
                              "y": {"field": "predicted", "type": "quantitative", "scale": scale},
                              "color": {"field": "source", "type": "nominal"},
                              "tooltip": [{"field": f} for f in ("run", "GPU", "measured", "predicted")]}},
                {"data": {"values": [{"x": 20, "y": 20}, {"x": 50000, "y": 50000}]},
                 "mark": {"type": "line", "color": "gray", "strokeDash": [4, 4]},
                 "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}}}]}


def main():
    runs = {r["id"]: r for r in csv.DictReader(open(sys.argv[1]))}
    result = json.loads(pathlib.Path(sys.argv[2]).read_text())
    predicted = [r for r in result["rows"] if r["error"] is not None]
    dense, moe, other = ([r for r in predicted if r["part"] == part] for part in ("dense NVIDIA", "mixtures of experts", "AMD"))
    summary = result["summary"]
    skipped = {}
    for row in result["rows"]:
        if row["error"] is None:
            skipped[row["status"]] = skipped.get(row["status"], 0) + 1
    statuses = sorted({status_class(r) for r in dense})
    parts = [table("dense NVIDIA rows", [("all", dense)] + [(f"status {s}", [r for r in dense if status_class(r) == s]) for s in statuses]),
             table("source", by(dense, runs, "source")),
             table("GPU", by(dense, runs, "gpu")), table("precision", by(dense, runs, "precision")),
             table("mixtures of experts", [("all", moe)] + by(moe, runs, "model")),
             table("AMD, no kernel tables", [("all", other)]), memory_table(predicted),
             f"Repeats of one configuration ({summary['repeat_rows']} rows) differ from their median by "
             f"{100 * summary['repeat_mean_deviation']:.1f} % on average. Of {summary['layout_pairs']} pairs of layouts of one model, GPU, "
             f"precision and GPU count that differ by more than 10 %, {100 * summary['layout_pairs_right']:.0f} % are in the right order.",
             "Skipped: " + ("; ".join(f"{n} rows, {why.removeprefix('skipped:')}" for why, n in sorted(skipped.items())) or "none") + "."]
    if len(sys.argv) > 3:
        parts.append(fit_table(json.loads(pathlib.Path(sys.argv[3]).read_text())))
    text = PAGE.read_text()
    before, rest = text.split("<!-- generated -->\n")
    after = rest.split("<!-- end -->\n")[1]
    PAGE.write_text(before + "<!-- generated -->\n" + "\n\n".join(parts) + "\n<!-- end -->\n" + after)
    CHART.write_text(json.dumps(chart(dense + moe, runs), indent=1) + "\n")


if __name__ == "__main__":
    main()
