"""Claims C1 to C10: a glossary of distributed training."""

from __future__ import annotations

from claim_checks.common import (
    A100,
    BUILT,
    CLOUD,
    HOLDS,
    IN_PART,
    LLAMA,
    NOT,
    SMALL,
    Claim,
    Json,
    Unchecked,
    Verdict,
    collective_seconds,
    minutes,
    shows,
)


def per_gpu(run: Json) -> float:
    return run["step"]["tokens_per_s_per_gpu"]


def linear(runs: list[Json]) -> Verdict:
    few, weak, strong = (per_gpu(run) for run in runs)
    word = HOLDS if weak > 0.95 * few and strong < weak else IN_PART if weak > 0.8 * few else NOT
    return word, (
        f"tokens/s a GPU: {few:.0f} on 64 GPUs, {weak:.0f} on 512 with eight times the batch, {strong:.0f} with twice: "
        f"{100 * weak / few:.0f} and {100 * strong / few:.0f} %"
    )


def per_token(runs: list[Json]) -> Verdict:
    h100, a100 = (run["cost"]["usd_per_million_tokens"] for run in runs)
    kwh = [
        run["cost"]["energy_kwh"]
        / (run["step"]["tokens_per_s"] * 86400 * run["campaign"]["wall_days"]["mean"])
        * 1e9
        for run in runs
    ]
    return HOLDS if a100 < h100 else NOT, (
        f"{h100:.3f} USD per million tokens on H100, {a100:.3f} on A100, at prices of 2026-05; "
        f"{kwh[0]:.0f} and {kwh[1]:.0f} kWh per billion"
    )


def any_pair(runs: list[Json]) -> Verdict:
    pair, everyone = (run["rows"][0]["bus_bandwidth_bytes_per_s"] / 1e9 for run in runs)
    return (
        HOLDS if everyone > 0.9 * pair else NOT,
        f"one pair {pair:.0f} GB/s; all eight GPUs to all others at once {everyone:.0f} GB/s each",
    )


def fat_tree(runs: list[Json]) -> Verdict:
    share = runs[0]["bisection_bytes_per_s"] / runs[0]["full_bisection_bytes_per_s"]
    nodes = [run["counts"]["nodes_per_leaf"] for run in runs[:2]]
    tree, rail = (collective_seconds(run) for run in runs[2:])
    word = HOLDS if share > 0.99 and nodes[1] > nodes[0] else IN_PART if share > 0.99 else NOT
    return word, (
        f"bisection {100 * share:.0f} % of what the network cards carry; one leaf joins cards of {nodes[0]} nodes in the "
        f"fat tree, of {nodes[1]} with rails, so more pairs are one switch apart (all-reduce of 64 KiB over 256 GPUs "
        f"{1e6 * tree:.0f} and {1e6 * rail:.0f} us)"
    )


def tens_of_terabytes(runs: list[Json]) -> Verdict:
    run = runs[0]
    tokens = (
        run["step"]["tokens_per_s"]
        * run["campaign"]["ettr"]["mean"]
        * run["campaign"]["wall_days"]["mean"]
        * 86400
    )
    low, high = (width * tokens / 1e12 for width in (2, 4))
    word = HOLDS if low >= 10 and high <= 100 else NOT
    return (
        word,
        f"{tokens / 1e12:.1f} T tokens of the run are {low:.0f} to {high:.0f} TB at 2 to 4 bytes each",
    )


def billing(runs: list[Json]) -> Verdict:
    hot, cold = runs
    days = [run["campaign"]["wall_days"]["mean"] for run in runs]
    usd = [run["cost"]["total_usd"]["mean"] for run in runs]
    word = HOLDS if days[0] < days[1] else IN_PART if usd[0] > usd[1] else NOT
    return word, (
        f"60 or 15 USD/TB/month at one speed: {days[0]:.2f} and {days[1]:.2f} days, {usd[0] - usd[1]:.0f} USD apart: "
        "where tiers have equal speed they are billing"
    )


def straggler(runs: list[Json]) -> Verdict:
    slow = runs[0]["step"]["slowdown"]
    return (
        HOLDS if slow > 1.05 else IN_PART,
        f"one GPU at 0.8 of its speed makes every step {100 * (slow - 1):.0f} % longer",
    )


def disk_full(runs: list[Json]) -> Verdict:
    return (
        HOLDS if shows(runs[0], "no_space") else NOT,
        f"the next save fails and stops the job: {minutes(runs[0]['lost']['time_s'])} lost",
    )


def hours_lost(runs: list[Json]) -> Verdict:
    hand, auto = (run["lost"]["time_s"] for run in runs)
    return (
        HOLDS if hand > 3600 > auto else IN_PART,
        f"{minutes(hand)} by hand, {minutes(auto)} automated",
    )


def accumulation(runs: list[Json]) -> Verdict:
    few, many = (run["step"] for run in runs[:2])
    share = [100 * step["breakdown_s"]["data"] / step["time_s"] for step in (few, many)]
    fp32, bf16 = (collective_seconds(run) for run in runs[2:])
    word = HOLDS if share[1] < share[0] and bf16 < fp32 else IN_PART if share[1] < share[0] else NOT
    return word, (
        f"data-parallel communication {share[0]:.1f} % of a step of 2 micro-batches a replica, {share[1]:.1f} % of one of 4 "
        f"times as many; reducing a billion gradients over 1,024 GPUs {1e3 * fp32:.1f} ms in fp32, {1e3 * bf16:.1f} ms in bf16"
    )


LARGE = f"run {SMALL} --trials 2 --set cluster.nodes=64 --set parallelism.data=256 --set training.global_batch="
CLAIMS = [
    Claim(
        "C1",
        "Data parallelism scales linearly until communication dominates",
        [f"run {SMALL} --trials 2", LARGE + "1024", LARGE + "256"],
        linear,
    ),
    Claim(
        "C2",
        "A100 are more cost-effective than H100 for models of up to tens of billions",
        [f"run {SMALL}", f"run {A100}"],
        per_token,
    ),
    Claim(
        "C3",
        "An NVLink mesh lets any pair run at the full bandwidth",
        [
            f"collective sendrecv --cluster {BUILT} --gpus 2 -b 1G -e 1G",
            f"collective all_to_all --cluster {BUILT} --gpus 8 -b 1G -e 1G",
        ],
        any_pair,
    ),
    Claim(
        "C4",
        "A fat tree has equal bandwidth everywhere; rail-optimised fabrics need fewer hops",
        [
            *(
                f"topo {fabric} --nodes 128 --node dgx-h100"
                for fabric in ("fat-tree-2-tier", "rail-optimized-ndr")
            ),
            *(
                f"collective all_reduce --cluster {BUILT} --gpus 256 -b 64K -e 64K --set cluster.fabric.use={fabric}"
                for fabric in ("fat-tree-2-tier", "rail-optimized-ndr")
            ),
        ],
        fat_tree,
    ),
    Claim("C5", "Data sets are tens of terabytes", [f"run {LLAMA} --trials 20"], tens_of_terabytes),
    Claim(
        "C6",
        "Storage tiers, hot, warm and cold, differ in speed and price",
        [
            f"run {BUILT} --trials 20 --set 'run.prices.storage={price} USD/TB/month'"
            for price in (60, 15)
        ],
        billing,
    ),
    Claim(
        "C7",
        "One slow GPU delays all",
        [f"drill {BUILT} --no-remedies --fault gpu-slow"],
        straggler,
    ),
    Claim(
        "C8",
        "A storage that runs full halts training",
        [f"drill {LLAMA} --no-remedies --fault storage-full"],
        disk_full,
    ),
    Claim(
        "C9",
        "Without automation one node's failure loses hours",
        [
            f"drill {CLOUD} --no-remedies --fault gpu-dead --set run.recovery.use=manual",
            f"drill {LLAMA} --no-remedies --fault gpu-dead",
        ],
        hours_lost,
    ),
    Claim(
        "C10",
        "Gradient accumulation lowers communication, mixed precision its bytes",
        [
            LARGE + "256",
            LARGE + "1024",
            *(
                f"collective all_reduce --cluster {BUILT} --gpus 1024 -b {size} -e {size}"
                for size in ("4G", "2G")
            ),
        ],
        accumulation,
    ),
]
UNCHECKED: list[Unchecked] = []
