"""A product kept up for seconds, all of the time or a share of it: what clock and power become."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial

import torch
from gpu_telemetry import Reading, mean
from sample_table import Sample
from torch_timing import Bench, summary

SHARES = (100, 70, 50)  #: percent of the time that the product runs


@dataclass
class Window:
    """About a second of a load."""

    begin: float  #: time.monotonic()
    energy_j: float  #: the counter when it began
    seconds: list[float] = field(default_factory=list)  #: of one product, by period
    busy_s: float = 0.0
    readings: list[Reading] = field(default_factory=list)  #: while products ran


class Load:
    """Products of [size, size], queued by periods of `products`; two periods lie in the queue
    where there is no pause between them."""

    def __init__(self, bench: Bench, size: int, period_s: float) -> None:
        self._bench = bench
        self._size = size
        self._x, self._y = bench.random(size, size), bench.random(size, size)
        call = partial(torch.mm, self._x, self._y)
        self._product_s = bench.time([call]).seconds
        self._call = call
        self._period_s = period_s

    def _queue(self, products: int) -> tuple[torch.cuda.Event, torch.cuda.Event]:
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(products):
            self._call()
        end.record()
        return begin, end

    def run(self, share: int, load_s: float, window_s: float) -> None:
        """Adds a sample a window."""
        products = max(1, round(0.01 * share * self._period_s / self._product_s))
        start = time.monotonic()
        window = Window(start, self._bench.telemetry.energy_j())
        ahead = self._queue(products) if share == 100 else None
        while time.monotonic() < start + load_s:
            period = time.monotonic()
            begin, end = ahead or self._queue(products)
            if share == 100:
                ahead = self._queue(products)
            window.readings.append(self._bench.telemetry.read())
            end.synchronize()
            busy_s = 1e-3 * float(begin.elapsed_time(end))
            window.busy_s += busy_s
            window.seconds.append(busy_s / products)
            if share < 100:
                time.sleep(max(0.0, period + 100 * busy_s / share - time.monotonic()))
            if time.monotonic() >= window.begin + window_s:
                self._keep(share, window, time.monotonic() - start)
                window = Window(time.monotonic(), self._bench.telemetry.energy_j())
        self._bench.synchronize()

    def _keep(self, share: int, window: Window, elapsed_s: float) -> None:
        wall_s = time.monotonic() - window.begin
        reading = mean(window.readings)
        spent_j = self._bench.telemetry.energy_j() - window.energy_j
        if spent_j > 0:
            reading = replace(reading, power_w=spent_j / wall_s)
        print(
            f"load {share} %: busy {100 * window.busy_s / wall_s:.1f} %, {reading.power_w:.0f} W, "
            f"{1e-6 * reading.clock_hz:.0f} MHz after {elapsed_s:.1f} s",
            flush=True,
        )
        size = self._size
        sample = Sample("gemm", "forward", f"load_{share}", "bf16", m=size, n=size, k=size, batch=1)
        sample = replace(sample, beside="idle", elapsed_s=elapsed_s)
        self._bench.add(sample, replace(summary(window.seconds), reading=reading))


def measure(bench: Bench) -> None:
    """Equal times of each share."""
    if not bench.cuda:
        bench.table.not_measured("load", "the paces of a load need a GPU")
        return
    loads: list[Load] = []

    def prepare() -> None:
        loads.append(Load(bench, 1024 if bench.tiny else 8192, 0.02))

    if not bench.attempt("load products", prepare):
        return
    load_s, window_s = (0.25, 0.1) if bench.tiny else (5.1, 1.0)
    load_s = min(load_s, max(0.0, bench.time_left()) / len(SHARES))
    for share in SHARES:
        bench.attempt(
            f"load {share} %", partial(loads[0].run, share, load_s, min(window_s, load_s))
        )
