"""Times calls of PyTorch: batches between two events, the GPU kept waiting until the CPU has queued
them."""

from __future__ import annotations

import gc
import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from gpu_telemetry import Reading, Telemetry, mean
from sample_table import Sample, SampleTable
from traffic import calls_of_batch, rotation

Call = Callable[[], object]

#: Calls shorter than this are replayed from a CUDA graph where they can be captured.
GRAPH_BELOW_S = 20e-6
#: Clock of the waiting kernel [Hz], at least the GPU's: a slower clock only waits longer.
SLEEP_HZ = 2.0e9
LONGEST_SLEEP_S = 0.05


class ContextLost(Exception):
    """The GPU answers no call any more: nothing else can be measured by this process."""


@dataclass(frozen=True)
class Timing:
    """Seconds of one call."""

    seconds: float  #: median over batches
    spread_s: float  #: interquartile range over batches
    repeats: int  #: batches
    reading: Reading = Reading()


def summary(values: Sequence[float], reading: Reading | None = None) -> Timing:
    """Median and interquartile range of seconds a call."""
    spread = 0.0
    if len(values) > 1:
        quartiles = statistics.quantiles(values, n=4, method="inclusive")
        spread = quartiles[2] - quartiles[0]
    return Timing(statistics.median(values), spread, len(values), reading or Reading())


@dataclass
class Bench:
    """The device, how thoroughly to measure, and where the samples go."""

    device: torch.device
    tiny: bool
    table: SampleTable
    telemetry: Telemetry
    part_end: float = 0.0  #: time.monotonic() after which nothing new of the part begins

    @property
    def cuda(self) -> bool:
        return bool(self.device.type == "cuda")

    @property
    def repeats(self) -> int:
        return 3 if self.tiny else 9

    @property
    def batch_s(self) -> float:
        return 2e-4 if self.tiny else 2e-3

    def time_left(self) -> float:
        """Seconds of the part."""
        return self.part_end - time.monotonic()

    def random(
        self, *shape: int, dtype: torch.dtype = torch.bfloat16, grad: bool = False
    ) -> torch.Tensor:
        """Normal values, never zeros: power, and so the clock, depends on the bits."""
        x = torch.randn(
            shape, device=self.device, dtype=torch.float32 if dtype.itemsize > 2 else torch.bfloat16
        )
        return x.to(dtype).requires_grad_(grad)

    def sets(self, set_bytes: float) -> int:
        """How many sets of arrays to rotate, so that the L2 cache does not hold the next one."""
        if not self.cuda:
            return 1
        cache = getattr(torch.cuda.get_device_properties(self.device), "L2_cache_size", 50e6)
        return rotation(set_bytes, float(cache), 3 if self.tiny else 16)

    def synchronize(self) -> None:
        if self.cuda:
            torch.cuda.synchronize()

    def release(self) -> None:
        """Gives memory back to the device."""
        gc.collect()
        if self.cuda:
            torch.cuda.empty_cache()

    def attempt(self, name: str, measure: Call, needs_s: float = 0.0) -> bool:
        """Measures one thing if there is time (what compiles `needs_s`); whatever goes wrong is
        recorded and no more."""
        if self.time_left() <= needs_s:
            self.table.not_measured(name, "no time left")
            return False
        failed = ""
        try:
            measure()
        except Exception as fault:  # a missing kernel, a shape refused, no memory: all the same
            failed = f"{type(fault).__name__}: {fault}"
        if failed:
            self.table.not_measured(name, failed)
            try:
                self.synchronize()
            except Exception as fault:
                raise ContextLost(f"after {name}: {fault}") from fault
        if failed or (self.cuda and torch.cuda.memory_reserved() > 40e9):
            self.release()
        return not failed

    def add(self, sample: Sample, timing: Timing) -> None:
        """Keeps a sample with its timing and circumstances."""
        found = {
            "throttled": timing.reading.throttled,
            "unstable": timing.spread_s > 0.1 * timing.seconds,
        }
        self.table.add(
            replace(
                sample,
                repeats=timing.repeats,
                seconds=timing.seconds,
                spread_s=timing.spread_s,
                clock_hz=timing.reading.clock_hz,
                power_w=timing.reading.power_w,
                temperature_c=timing.reading.temperature_c,
                flags=tuple(flag for flag, holds in found.items() if holds),
            )
        )

    def time(self, calls: Sequence[Call], capturable: bool = False) -> Timing:
        """Median seconds of one call; the calls do the same work on different arrays, in turn.

        `capturable`: they launch kernels on the current stream and do nothing else, so that a CUDA
        graph may replay short ones.
        """
        return self._time_cuda(calls, capturable) if self.cuda else self._time_cpu(calls)

    def _time_cpu(self, calls: Sequence[Call]) -> Timing:
        values = []
        for i in range(self.repeats + 1):
            begin = time.perf_counter()
            calls[i % len(calls)]()
            values.append(time.perf_counter() - begin)
        return summary(values[1:])

    def _time_cuda(self, calls: Sequence[Call], capturable: bool) -> Timing:
        for call in calls:
            call()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for call in calls[:3]:
            call()
        queue_s = (time.perf_counter() - begin) / len(calls[:3])  # the CPU's time of a call
        torch.cuda.synchronize()
        few = Queue(calls, queue_s)
        one = few.seconds(few.batch(3))
        queue = few
        if capturable and one < GRAPH_BELOW_S:
            queue = self._graphed(calls, calls_of_batch(one, self.batch_s)) or few
        each = one * queue.calls_each
        number = calls_of_batch(each, self.batch_s)
        repeats = min(5, self.repeats) if number * each > 0.02 else self.repeats
        warm = queue.batch(calls_of_batch(each, 2 * self.batch_s))
        batches, readings = [warm], []
        for i in range(repeats):
            batches.append(queue.batch(number))
            if i % 4 == 2:
                readings.append(self.telemetry.read())
        torch.cuda.synchronize()
        return summary([queue.seconds(batch) for batch in batches[1:]], mean(readings))

    def _graphed(self, calls: Sequence[Call], number: int) -> Queue | None:
        """A queue whose one call is a graph of `number` calls; None: they cannot be captured."""
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                for call in itertools.islice(itertools.cycle(calls), number):
                    call()
        except Exception:
            torch.cuda.synchronize()
            return None
        graph.replay()
        torch.cuda.synchronize()
        return Queue([graph.replay], 20e-6, number)


@dataclass
class Batch:
    """Calls between two events."""

    begin: torch.cuda.Event
    end: torch.cuda.Event
    calls: int


class Queue:
    """Queues batches of calls behind a kernel that waits, so that the GPU never waits for the
    CPU within a batch."""

    def __init__(self, calls: Sequence[Call], queue_s: float, calls_each: int = 1) -> None:
        self._calls = itertools.cycle(calls)
        self._queue_s = queue_s  #: the CPU's seconds to queue one call
        self.calls_each = calls_each  #: how many of the caller's calls one of these is

    def batch(self, number: int) -> Batch:
        """Queues `number` calls; does not wait for them."""
        sleep_s = min(LONGEST_SLEEP_S, 50e-6 + 1.5 * number * self._queue_s)
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(int(sleep_s * SLEEP_HZ))
        begin.record()
        for _ in range(number):
            next(self._calls)()
        end.record()
        return Batch(begin, end, number * self.calls_each)

    def seconds(self, batch: Batch) -> float:
        """Seconds a call of the caller's, when the batch is done."""
        batch.end.synchronize()
        return 1e-3 * float(batch.begin.elapsed_time(batch.end)) / batch.calls
