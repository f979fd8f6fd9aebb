"""Clock, power, temperature and energy of the GPU by NVML; zeros where there is none."""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: NVML_FI_DEV_POWER_INSTANT: power [mW] now, where nvmlDeviceGetPowerUsage is a mean of a second.
POWER_INSTANT = 186
#: Clock event reasons: software power cap, hardware slowdown, software and hardware thermal
#: slowdown, power brake.
SLOWED = 0x04 | 0x08 | 0x20 | 0x40 | 0x80


@dataclass(frozen=True)
class Reading:
    """One look, or the mean of several; zero: not known."""

    clock_hz: float = 0.0  #: of the streaming multiprocessors
    power_w: float = 0.0
    temperature_c: float = 0.0
    throttled: bool = False


def mean(readings: Sequence[Reading]) -> Reading:
    """Mean of what is known; throttled if any was."""

    def of(values: list[float]) -> float:
        known = [value for value in values if value > 0]
        return statistics.fmean(known) if known else 0.0

    return Reading(
        of([r.clock_hz for r in readings]),
        of([r.power_w for r in readings]),
        of([r.temperature_c for r in readings]),
        any(r.throttled for r in readings),
    )


class Telemetry:
    """NVML's first device, or nothing."""

    def __init__(self, wanted: bool) -> None:
        self._nvml: Any = None
        self._device: Any = None
        if not wanted:
            return
        try:
            self._nvml = importlib.import_module("pynvml")
            self._nvml.nvmlInit()
            self._device = self._nvml.nvmlDeviceGetHandleByIndex(0)
        except Exception:  # no module, no library, no device: one and the same here
            self._nvml = None

    def _ask(self, function: str, *arguments: object) -> Any:
        """The answer of one of NVML's functions on the device; None: it has none."""
        if self._nvml is None:
            return None
        try:
            return getattr(self._nvml, function)(self._device, *arguments)
        except Exception:  # not supported by this GPU, driver or package
            return None

    def _power_w(self) -> float:
        answers = self._ask("nvmlDeviceGetFieldValues", [POWER_INSTANT])
        if answers and answers[0].nvmlReturn == 0 and answers[0].value.uiVal > 0:
            return 1e-3 * float(answers[0].value.uiVal)
        return 1e-3 * float(self._ask("nvmlDeviceGetPowerUsage") or 0)

    def read(self) -> Reading:
        """Now; takes up to some milliseconds."""
        if self._nvml is None:
            return Reading()
        clock = self._ask("nvmlDeviceGetClockInfo", 1)  # NVML_CLOCK_SM
        temperature = self._ask("nvmlDeviceGetTemperature", 0)  # NVML_TEMPERATURE_GPU
        reasons = self._ask("nvmlDeviceGetCurrentClocksEventReasons")
        if reasons is None:
            reasons = self._ask("nvmlDeviceGetCurrentClocksThrottleReasons")
        return Reading(
            1e6 * float(clock or 0),
            self._power_w(),
            float(temperature or 0),
            bool(int(reasons or 0) & SLOWED),
        )

    def energy_j(self) -> float:
        """Since the driver was loaded; 0: the GPU does not count it."""
        return 1e-3 * float(self._ask("nvmlDeviceGetTotalEnergyConsumption") or 0)

    def facts(self) -> dict[str, str]:
        """Driver and limits."""
        if self._nvml is None:
            return {}
        out = {}
        try:
            driver = self._nvml.nvmlSystemGetDriverVersion()
            out["driver"] = driver.decode() if isinstance(driver, bytes) else str(driver)
        except Exception:  # not a fact then
            pass
        limit = self._ask("nvmlDeviceGetEnforcedPowerLimit")
        if limit:
            out["power_limit"] = f"{1e-3 * float(limit):.0f} W"
        clock = self._ask("nvmlDeviceGetMaxClockInfo", 1)
        if clock:
            out["clock"] = f"{float(clock):.0f} MHz at most"
        return out
