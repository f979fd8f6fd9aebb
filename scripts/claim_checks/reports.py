"""Claims D1 and D2: reports of training runs."""

from __future__ import annotations

from claim_checks.common import DEEPSEEK, HOLDS, IN_PART, NOT, Claim, Json, Unchecked, Verdict


def gpu_hours(runs: list[Json]) -> Verdict:
    published = 2.664e6
    step = runs[0]["step"]
    predicted = 14.8e12 / step["tokens_per_s_per_gpu"] / 3600
    low, high = (predicted * time / step["time_s"] for time in step["time_interval_s"])
    fits = runs[0]["memory"]["fits"]
    word = NOT if not low <= published <= high else HOLDS if fits else IN_PART
    return word, (
        f"predicted {predicted / 1e6:.2f} million, 90 % interval {low / 1e6:.2f} to {high / 1e6:.2f}, every step with the "
        f"full batch; {runs[0]['memory']['peak_bytes'] / 2**30:.0f} GiB of a GPU's 80"
    )


def fewer_bubbles(runs: list[Json]) -> Verdict:
    both, zero, one = (run["step"]["breakdown_s"]["pipeline_bubble"] for run in runs)
    weights = [run["memory"]["by_kind_bytes"]["weights"] / 2**30 for run in runs]
    word = HOLDS if both < zero < one else IN_PART if both < one else NOT
    return word, (
        f"64 equal layers over 16 stages: bubble of a step {both:.2f} s with DualPipe, {zero:.2f} s with ZB1P, {one:.2f} s with 1F1B; weights on the fullest "
        f"GPU {weights[0]:.1f}, {weights[1]:.1f} and {weights[2]:.1f} GiB; steps of {runs[0]['step']['time_s']:.1f}, "
        f"{runs[1]['step']['time_s']:.1f} and {runs[2]['step']['time_s']:.1f} s"
    )


ONE_STEP = f"run {DEEPSEEK} --trials 1"
# Equal stages, so that the schedules are compared and not how each spreads a last stage that is the slowest.
EQUAL = (
    " --set model.layers=64 --set model.moe.leading_dense_layers=0 --set model.multi_token_prediction=0"
    " --set model.vocabulary=1024 --set parallelism.chunk_layers=[]"
)
CLAIMS = [
    Claim(
        "D1",
        "DeepSeek-V3 was trained on 14.8T tokens in 2.664 million H800 GPU-hours",
        [ONE_STEP],
        gpu_hours,
    ),
    Claim(
        "D2",
        "DualPipe has fewer pipeline bubbles than 1F1B and ZB1P, for two copies of the parameters",
        [
            f"{ONE_STEP}{EQUAL} --set parallelism.schedule={schedule}"
            for schedule in ("dualpipe", "zb-h1", "1f1b")
        ],
        fewer_bubbles,
    ),
]
UNCHECKED: list[Unchecked] = []
