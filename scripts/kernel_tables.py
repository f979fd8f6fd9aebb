#!/usr/bin/env python3
"""Thins measured kernel times to the tables of configs/kernels.

usage: scripts/kernel_tables.py MEASURED_FOLDER NAME OUT.yaml
    MEASURED_FOLDER  holds gemm_NAME.csv and attention_forward_causal.csv
    NAME             GPU as the files name it, such as h100_sxm

A table holds, at the nodes of a coarse grid, the values whose multilinear interpolation in
logarithms comes nearest to all measured points (least squares on log utilization): finer grids
predict points between their nodes no better, because what remains is the sawtooth of tiles and
waves. Values are relative to large products (median of m, n, k >= 4,096) and, for attention, to
8,192 tokens and 32 heads of width 128.
"""

from __future__ import annotations

import csv
import statistics
import sys
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Axes = list[list[int]]
Points = Sequence[tuple[int, ...]]

GEMM_FORMATS = {"bfloat16": "bf16", "fp8": "fp8", "nvfp4": "nvfp4"}
TOKENS = [128, 512, 1024, 2048, 4096, 8192, 32768]
WIDTHS = [256, 1024, 2048, 4096, 8192, 16384, 65536]
SEQUENCES = [512, 1024, 2048, 4096, 8192, 16384]
HEADS = [4, 16, 64, 256]
LARGE = 4096


def basis(axes: Axes, points: Points) -> Array:
    """Multilinear weights of every grid node (columns) at every point (rows), in logarithms of the
    coordinates."""
    weights = np.ones((len(points), 1))
    for axis, x in zip(axes, np.log(np.asarray(points, float)).T, strict=False):
        nodes = np.log(np.asarray(axis, float))
        x = np.clip(x, nodes[0], nodes[-1])
        low = np.clip(np.searchsorted(nodes, x, side="right") - 1, 0, len(nodes) - 2)
        share = (x - nodes[low]) / (nodes[low + 1] - nodes[low])
        one = np.zeros((len(points), len(nodes)))
        one[np.arange(len(points)), low] = 1 - share
        one[np.arange(len(points)), low + 1] += share
        weights = (weights[:, :, None] * one[:, None, :]).reshape(len(points), -1)
    return weights


def fit(axes: Axes, points: Points, rates: Array) -> tuple[Array, float]:
    """Values at the grid's nodes; nodes without points near them follow a weak pull to their
    neighbours' mean."""
    matrix = basis(axes, points)
    target = np.log(rates)
    center = target.mean()
    pull = 0.03 * np.eye(matrix.shape[1])
    nearest = np.array([target[np.argmin(np.abs(row))] for row in neighbour_distance(axes, points)])
    solution = (
        np.linalg.lstsq(
            np.vstack([matrix, pull]),
            np.concatenate([target - center, 0.03 * (nearest - center)]),
            rcond=None,
        )[0]
        + center
    )
    residual = np.abs(np.exp(matrix @ solution - target) - 1)
    return np.exp(solution), float(np.median(residual))


def neighbour_distance(axes: Axes, points: Points) -> Iterator[Array]:
    grid = np.stack(
        [g.ravel() for g in np.meshgrid(*[np.log(a) for a in axes], indexing="ij")], axis=1
    )
    logs = np.log(np.asarray(points, float))
    for node in grid:
        yield np.sum((logs - node) ** 2, axis=1)


def gemm_tables(folder: str, name: str) -> Iterator[tuple[str, Axes, Array, float, float, int]]:
    rows = list(csv.DictReader(open(f"{folder}/gemm_{name}.csv")))
    for source, precision in GEMM_FORMATS.items():
        points = [(int(r["m"]), int(r["n"]), int(r["k"])) for r in rows if r["dtype"] == source]
        if not points:
            continue
        times = [float(r["time_us"]) for r in rows if r["dtype"] == source]
        rates = np.array(
            [2e-6 * m * n * k / t for (m, n, k), t in zip(points, times, strict=False)]
        )
        large = statistics.median(r for p, r in zip(points, rates, strict=False) if min(p) >= LARGE)
        tokens = [t for t in TOKENS if t <= max(p[0] for p in points)]
        axes = [tokens, WIDTHS, WIDTHS]
        values, error = fit(axes, points, rates / large)
        yield precision, axes, values, large, error, len(points)


def attention_tables(folder: str, name: str) -> Iterator[tuple[int, Array, float, float, int]]:
    rows = [
        r
        for r in csv.DictReader(open(f"{folder}/attention_forward_causal.csv"))
        if r["gpu"] == name and r["window"] == "0" and not r["kernel"].endswith("fa4")
    ]

    def flops(r: dict[str, str]) -> float:
        return (
            2e-6 * int(r["batch"]) * int(r["n_heads"]) * int(r["seq_len"]) ** 2 * int(r["head_dim"])
        )

    large = statistics.median(
        flops(r) / float(r["time_us"])
        for r in rows
        if r["head_dim"] == "128"
        and r["seq_len"] == "8192"
        and int(r["batch"]) * int(r["n_heads"]) == 32
    )
    for width in sorted({int(r["head_dim"]) for r in rows}):
        kept = [r for r in rows if int(r["head_dim"]) == width]
        if width > 256:
            continue
        points = [(int(r["seq_len"]), int(r["batch"]) * int(r["n_heads"])) for r in kept]
        rates = np.array([flops(r) / float(r["time_us"]) for r in kept]) / large
        values, error = fit([SEQUENCES, HEADS], points, rates)
        yield width, values, large, error, len(points)


def numbers(values: Sequence[float] | Array) -> str:
    return "[" + ", ".join(str(v) if isinstance(v, int) else f"{v:.3g}" for v in values) + "]"


def main() -> None:
    folder, name, out = sys.argv[1:4]
    lines = [
        (
            f"# Shape dependence of kernels measured on {name.replace('_', ' ').upper()}: "
            "relative rates on a grid, thinned by scripts/kernel_tables.py."
        ),
        (
            'source: "public tables of ai-dynamo/aiconfigurator (Apache-2.0; NVIDIA '
            'CORPORATION), vLLM kernels, medians over builds, 2026"'
        ),
        f"name: {name.replace('_', ' ').upper()}",
        "gemm:",
    ]
    for precision, axes, values, large, error, n in gemm_tables(folder, name):
        lines += [
            (
                f"  # {n} products; large ones {large:.0f} TFLOP/s (burst); median distance of "
                f"the table {100 * error:.1f} %"
            ),
            f"  - precision: {precision}",
        ]
        lines += [f"    {key}: {numbers(axis)}" for key, axis in zip("mnk", axes, strict=False)]
        lines += ["    shares:"]
        plane = len(axes[2])
        rows = [numbers(values[i : i + plane])[1:-1] for i in range(0, len(values), plane)]
        lines += ["      [" + (",\n       ").join(rows) + "]"]
    lines.append("attention:")
    for width, values, large, error, n in attention_tables(folder, name):
        lines += [
            (
                f"  # {n} kernels; {large:.0f} TFLOP/s at 8,192 tokens, 32 heads of 128; median "
                f"distance {100 * error:.1f} %"
            ),
            f"  - head_dim: {width}",
            f"    sequence: {numbers(SEQUENCES)}",
            f"    heads: {numbers(HEADS)}",
            "    shares:",
        ]
        rows = [
            numbers(values[i : i + len(HEADS)])[1:-1] for i in range(0, len(values), len(HEADS))
        ]
        lines += ["      [" + ",\n       ".join(rows) + "]"]
    open(out, "w").write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
