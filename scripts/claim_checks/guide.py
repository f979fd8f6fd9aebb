"""Claims B1 to B19: a public guide to distributed training."""

from __future__ import annotations

from claim_checks.common import (
    A100_7B,
    A100_70B,
    HOLDS,
    IN_PART,
    LLAMA,
    NOT,
    PLAN,
    REDUCE,
    SITES,
    SITES_APART,
    Claim,
    Json,
    Unchecked,
    Verdict,
    alarm,
    assumed_seconds,
    collective_seconds,
    ettr,
    interruptions,
    minutes,
    tier,
)

TOKENS_PER_PARAMETER = (
    20  # Hoffmann et al. 2022 ("Chinchilla"), where a claim names no number of tokens
)


def impossible(runs: list[Json]) -> Verdict:
    reasons = runs[0]["reasons"]
    return (NOT, reasons[0]) if runs[0]["status"] == "infeasible" else (HOLDS, "physics allows it")


def memory(runs: list[Json]) -> Verdict:
    total = 4096 * runs[0]["memory"]["capacity_bytes"] / 1e12
    return HOLDS if abs(total / 50 - 1) < 0.2 else NOT, f"4,096 x one GPU's memory = {total:.0f} TB"


def needs_zero(runs: list[Json]) -> Verdict:
    whole, sharded = (run["memory"] for run in runs)
    gib = [m["peak_bytes"] / 2**30 for m in (whole, sharded)]
    word = HOLDS if whole["fits"] else IN_PART if sharded["fits"] else NOT
    return word, f"{gib[0]:.0f} GiB a GPU without sharding, {gib[1]:.0f} GiB with ZeRO-1, of 80"


def link_units(runs: list[Json]) -> Verdict:
    nvlink, nic = (tier(runs[0], name) for name in ("nvlink", "nic"))
    per_node = runs[0]["counts"]["nics"] / runs[0]["counts"]["nodes"]
    one_way = abs(nvlink / 900e9 - 1) < 0.1 and per_node == 1
    word = HOLDS if one_way else IN_PART if abs(2 * nvlink / 900e9 - 1) < 0.1 else NOT
    return word, (
        f"a GPU sends {nvlink / 1e9:.0f} GB/s over NVLink, 900 is both directions together; a node has {per_node:.0f} "
        f"cards of 400 Gbps, {8e-9 * nic:.0f} of them payload, not one"
    )


def few_failures(runs: list[Json]) -> Verdict:
    per_50_days = interruptions(runs[0]) / runs[0]["campaign"]["wall_days"]["mean"] * 50
    return (
        HOLDS if 8 <= per_50_days <= 18 else NOT,
        f"{per_50_days:.0f} in 50 days at Llama 3's rate",
    )


def slow_persist(runs: list[Json]) -> Verdict:
    seconds = assumed_seconds(runs[0], "run.checkpoint.persist")
    return HOLDS if 300 <= seconds <= 1800 else NOT, f"{seconds:.0f} s at 1 TB/s"


def rare_saves(runs: list[Json]) -> Verdict:
    one, three = (ettr(run) for run in runs)
    word = HOLDS if three > 0.9 else IN_PART if one > 0.9 else NOT
    return word, f"ETTR {one:.2f} with a save every 1,000 steps, {three:.2f} every 3,000"


def no_stall(runs: list[Json]) -> Verdict:
    seconds = assumed_seconds(runs[0], "run.checkpoint.stall")
    return (
        HOLDS if seconds < 1 else IN_PART,
        f"training stands for {seconds:.2f} s a save: what a save costs at least, and the copy of "
        "equal shares to pinned memory",
    )


def live_state(runs: list[Json]) -> Verdict:
    step = runs[0]["step"]["time_s"]
    updates = [seconds / step for seconds in (300, 1800)]
    word = NOT if updates[0] > 1 else IN_PART
    whole, torn = (run["campaign"]["ettr"]["mean"] for run in runs[1:])
    return word, (
        f"a save of the guide's own 5 to 30 minutes sees {updates[0]:.0f} to {updates[1]:.0f} optimizer updates of "
        f"{step:.0f} s, so every one is torn and no restart is possible; one torn save in ten already takes ETTR from "
        f"{whole:.2f} to {torn:.2f} at 16,384 GPUs"
    )


def wrong_file(runs: list[Json]) -> Verdict:
    names = [f"checkpoint-{step}.pt" for step in range(1000, 11000, 1000)]
    found = sorted(names)[-1]
    blind, checked = (run["lost"]["time_s"] for run in runs)
    return (
        HOLDS if found == names[-1] else NOT,
        f"after ten saves it finds {found}; loading the 10th last checkpoint costs {minutes(blind)} if people have to "
        f"notice, {minutes(checked)} if the step number is checked",
    )


def raised(runs: list[Json]) -> Verdict:
    watched, alone = (alarm(run) for run in runs)
    caught = alone["monitor"] == "process_exit"
    return (
        HOLDS if caught else NOT,
        f"a hang raises nothing: without a watchdog the alarm is that of {alone['monitor']} after {minutes(alone['at_s'])}, "
        f"with one it ends the process and the alarm comes after {minutes(watched['at_s'])} ({watched['monitor']})",
    )


def utilisation(runs: list[Json]) -> Verdict:
    spins = any(e["symptom"] == "no_step" and "100 %" in e["text"] for e in runs[0]["timeline"])
    first = alarm(runs[0])
    return (
        NOT if spins and first["monitor"] != "health_check" else HOLDS,
        f"a hang spins at 100 %; the alarm comes after {minutes(first['at_s'])} from {first['monitor']}",
    )


def data_parallel_cost(runs: list[Json]) -> Verdict:
    few, many = (collective_seconds(run) for run in runs)
    return (
        HOLDS if few / many > 4 else NOT,
        f"all-reduce of 1 GiB: {1e3 * few:.2f} ms over 64 GPUs, {1e3 * many:.2f} ms over 1,024; O(P / DP) would be 16 times less",
    )


def one_bit(runs: list[Json]) -> Verdict:
    whole, half, bit = (collective_seconds(run) for run in runs)
    word = HOLDS if half / bit > 25 else IN_PART if half / bit > 2 else NOT
    return word, (
        f"bytes: 32 times fewer than fp32, 16 times fewer than the bf16 gradients in use; time to reduce a billion of "
        f"them over 1,024 GPUs: fp32 {1e3 * whole:.2f}, bf16 {1e3 * half:.2f}, one bit {1e3 * bit:.2f} ms, so "
        f"{half / bit:.1f} times less than bf16, scale factors and error feedback not counted"
    )


def pay(run: Json, days: float) -> float:
    """Bill of `days` of a run [USD]."""
    return run["cost"]["total_usd"]["mean"] / run["campaign"]["wall_days"]["mean"] * days


def costs(runs: list[Json]) -> Verdict:
    small, middle, large = (pay(run, days) for run, days in zip(runs, (7, 14, 50), strict=False))
    needed = runs[2]["campaign"]["wall_days"]["mean"]
    whole = runs[2]["cost"]["total_usd"]["mean"]
    rates = [small / 25e3, middle / 500e3, large / 10e6]
    rates_fit = all(0.5 <= rate <= 2 for rate in rates)
    word = HOLDS if rates_fit and whole < 2 * 10e6 else IN_PART if rates_fit else NOT
    return word, (
        f"the durations it names cost {small / 1e3:.1f} k, {middle / 1e3:.0f} k and {large / 1e6:.1f} M USD; "
        f"but 405B on 10T tokens takes {needed:.0f} days and {whole / 1e6:.1f} M"
    )


def tariffs(runs: list[Json]) -> Verdict:
    kwh = [
        run["cost"]["energy_kwh"] / run["campaign"]["wall_days"]["mean"] * days
        for run, days in zip(runs, (7, 14, 50), strict=False)
    ]
    implied = [usd / energy for usd, energy in zip((5e3, 50e3, 500e3), kwh, strict=False)]
    spread = max(implied) / min(implied)
    word = HOLDS if spread < 1.5 else NOT
    rows = ", ".join(
        f"{energy / 1e3:.3g} MWh at {price:.3g} USD/kWh"
        for energy, price in zip(kwh, implied, strict=False)
    )
    billed = ", ".join(f"{0.0977 * energy / 1e3:.3g} k" for energy in kwh)
    return (
        word,
        f"the three rows imply {rows}, {spread:.1f} times apart; at 0.0977 USD/kWh they are {billed} USD",
    )


def weeks(runs: list[Json]) -> Verdict:
    words, parts = [], []
    for name, parameters, claimed, run in (
        ("7B", 6.74e9, 7, runs[0]),
        ("70B", 70.6e9, 14, runs[1]),
    ):
        a_day = run["step"]["tokens_per_s"] * run["campaign"]["ettr"]["mean"] * 86400
        days = TOKENS_PER_PARAMETER * parameters / a_day
        words.append(days <= claimed)
        parts.append(
            f"{name}: {claimed * a_day / 1e9:.0f} billion tokens in {claimed} days, {days:.0f} days for 20 tokens a parameter"
        )
    return HOLDS if all(words) else IN_PART if any(words) else NOT, "; ".join(parts)


def between_sites(r: list[Json]) -> Verdict:
    one, narrow, wide, apart = (run["step"]["time_s"] for run in r)
    payload = r[1]["step"]["sites"]["payload_bytes_per_s"] * 8 / 1e9
    holds = wide < 1.25 * one and apart < 1.05 * one
    return (
        IN_PART if holds else NOT,
        f"which circuits there are no model can say; what they carry: 100 Gbps are {payload:.0f} of "
        f"payload, and a step of 70B on two sites of 512 H100 takes {narrow:.1f} s at 100 Gbps, "
        f"{wide:.1f} s at 800, {one:.1f} s on one site; sites that meet every 100 steps in 4 bits "
        f"take {apart:.1f} s at 100 Gbps, what that does to the loss left out",
    )


def between_racks(runs: list[Json]) -> Verdict:
    gbps = [8e-9 * tier(run, "nic") for run in runs]
    # 64b/66b coding, headers: payload is 0.92 of the line.
    word = HOLDS if all(180 <= rate <= 400 for rate in gbps) else NOT
    return (
        word,
        f"payload of one card over the leaves {gbps[0]:.0f} (HDR) and {gbps[1]:.0f} Gbps (NDR), of 200 and 400 on the line",
    )


CLAIMS = [
    Claim(
        "B1",
        "405B parameters on 10T tokens with 4,096 H100 in 50 days",
        [f"run {PLAN} --trials 4"],
        impossible,
    ),
    Claim("B2", "4,096 H100 have about 50 TB of memory", [f"run {PLAN} --trials 4"], memory),
    Claim(
        "B3",
        "Data 64 x tensor 8 x pipeline 8 holds a 405B model",
        [f"run {PLAN} --trials 4 --set parallelism.sharding=zero0", f"run {PLAN} --trials 4"],
        needs_zero,
    ),
    Claim(
        "B4",
        "NVLink moves 900 GB/s between GPUs, InfiniBand 400 Gbps between nodes",
        ["topo rail-optimized-ndr --nodes 128 --node dgx-h100"],
        link_units,
    ),
    Claim(
        "B5", "8 to 18 failures in 50 days on 4,096 H100", [f"run {PLAN} --trials 20"], few_failures
    ),
    Claim(
        "B6", "A background save takes 5 to 30 minutes", [f"run {PLAN} --trials 4"], slow_persist
    ),
    Claim(
        "B7",
        "A checkpoint every 1,000 or few thousand steps is enough",
        [
            f"run {PLAN} --trials 20",
            f"run {PLAN} --trials 20 --set run.checkpoint.interval_steps=3000",
        ],
        rare_saves,
    ),
    Claim(
        "B8",
        "With asynchronous saves training continues immediately",
        [f"run {PLAN} --trials 4"],
        no_stall,
    ),
    Claim(
        "B9",
        "A thread may write the live optimizer state while training goes on",
        [
            f"run {PLAN} --trials 4",
            f"run {LLAMA} --trials 20",
            f"run {LLAMA} --trials 20 --set run.checkpoint.unreadable=0.1",
        ],
        live_state,
    ),
    Claim(
        "B10",
        "sorted(glob('checkpoint-*.pt'))[-1] finds the last checkpoint",
        [
            f"drill {LLAMA} --no-remedies --fault wrong-checkpoint",
            f"drill {LLAMA} --no-remedies --fault wrong-checkpoint --monitor restart_check=on",
        ],
        wrong_file,
    ),
    Claim(
        "B11",
        "Catching the exception and reloading in the process recovers a job",
        [
            f"drill {LLAMA} --no-remedies --fault hang",
            f"drill {LLAMA} --no-remedies --fault hang --monitor watchdog=off",
        ],
        raised,
    ),
    Claim(
        "B12",
        "GPU utilisation above 80 % means that training is healthy",
        [f"drill {LLAMA} --no-remedies --fault hang"],
        utilisation,
    ),
    Claim(
        "B13",
        "The cost of data-parallel communication falls as O(P / DP)",
        [f"{REDUCE} 64 -b 1G -e 1G", f"{REDUCE} 1024 -b 1G -e 1G"],
        data_parallel_cost,
    ),
    Claim(
        "B14",
        "1-bit Adam saves 32 times the communication",
        [f"{REDUCE} 1024 -b {size} -e {size}" for size in ("4G", "2G", "128M")],
        one_bit,
    ),
    Claim(
        "B15",
        "Training costs 25 k USD (64 A100, a week), 500 k (512 A100, two weeks), 10 M (405B on 4,096 H100)",
        [f"run {A100_7B}", f"run {A100_70B}", f"run {PLAN} --trials 4"],
        costs,
    ),
    Claim(
        "B16",
        "Its electricity costs 5 k, 50 k and 500 k USD",
        [f"run {A100_7B}", f"run {A100_70B}", f"run {PLAN} --trials 4"],
        tariffs,
    ),
    Claim(
        "B17",
        "A model of 7B trains in a week on 64 A100, one of 70B in two weeks on 512",
        [f"run {A100_7B}", f"run {A100_70B}"],
        weeks,
    ),
    Claim(
        "B18",
        "Data centres are connected at 100 to 800 Gbps",
        [
            f"run {SITES} --set cluster.sites=null",
            f"run {SITES} --set 'cluster.sites.bandwidth=100 Gbps'",
            f"run {SITES} --set 'cluster.sites.bandwidth=800 Gbps'",
            f"run {SITES_APART} --set 'cluster.sites.bandwidth=100 Gbps'",
        ],
        between_sites,
    ),
    Claim(
        "B19",
        "Racks are connected at 200 to 400 Gbps",
        [
            "topo rail-optimized-hdr --nodes 64 --node dgx-a100",
            "topo rail-optimized-ndr --nodes 128 --node dgx-h100",
        ],
        between_racks,
    ),
]
UNCHECKED: list[Unchecked] = []
