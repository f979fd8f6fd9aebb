"""Hostile command lines: each case follows from its seed and number alone."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from samples import CONFIG_JSON, CONFIG_SCENARIO, Sample, samples
from values import INTEGERS, NUMBERS, WORDS, Field, mutated, scenario_fields, value_of


@dataclass
class Case:
    """One run of the program in an empty folder."""

    arguments: list[str]
    files: dict[str, bytes] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    prelude: str = ""  # lines of shell that make links, folders, permissions
    streams: str = ""  # redirections of shell
    nobody: bool = False  # without the rights of the administrator
    own_fault: bool = False  # exit code 1 is right: the result cannot be printed


# Scenarios whose step takes well under a second, with every kind of model and of machine.
BASES = ["small-llama-8b-64-h100"] * 6 + [
    "claim-burn-in-1024-h100",
    "claim-blast-radius-1024-h100",
    "gpt-3-175b-1024-a100",
    "coreweave-30b-1024-h100",
    "deepseek-v3-2048-h800",
    "reference-purpose-built",
    "nemotron-3-nano-16-h100",
    "qwen3-next-80b-64-b200",
    "qwen2.5-vl-7b-own-stage-48-h100",
    "nsa-27b-64-h100",
    "shampoo-llama-8b-64-h100",
    "distill-llama-8b-from-70b-64-h100",
    "distill-llama-8b-from-cached-logits-64-h100",
    "lora-llama-70b-8-h100",
    "two-sites-diloco-llama-70b-1024-h100",
    "two-sites-failing-ways-llama-70b-1024-h100",
    "unequal-llama-70b-256-h100-a100",
]
# What a scenario of a kind has and others have not: elsewhere these keys are but refused.
OWN_KEYS: dict[str, str | tuple[str, ...]] = {
    "nemotron": "model.mixer.",
    "qwen3-next": "model.mixer.",
    "qwen2.5-vl": "model.vision.",
    "nsa": "model.native_sparse.",
    "distill": "training.distillation.",
    "lora": "model.adapters.",
    "two-sites": ("cluster.sites.", "training.local_steps."),
    "unequal": "cluster.other_nodes",
}
FAULTS = [
    "gpu-dead", "hbm-error", "nvme-slow", "nvme-stalled", "nic-down", "link-half-rate",
    "optic-flapping", "leaf-down", "gpu-slow", "hang", "silent-corruption", "loss-spike",
    "storage-slow", "storage-full", "rack-power-loss", "wrong-checkpoint", "host-dead",
    "software-crash", "site-cut", "site-slow",
]  # fmt: skip
DEGREES = [
    "parallelism.tensor", "parallelism.context", "parallelism.pipeline", "parallelism.data",
    "parallelism.expert", "parallelism.expert_tensor", "parallelism.virtual",
    "parallelism.micro_batch", "parallelism.shard_group_size", "cluster.nodes", "cluster.node.gpus",
    "cluster.node.nic.count", "cluster.fabric.planes", "cluster.fabric.tiers", "cluster.spares",
    "training.global_batch", "training.sequence_length", "model.layers", "model.hidden",
    "model.heads", "model.key_value_heads", "model.vocabulary", "model.experts.count",
    "model.experts.top_k", "model.multi_token_prediction", "run.trials",
]  # fmt: skip
KINDS = "all_reduce all_gather reduce_scatter all_to_all broadcast send_receive".split()


class Generator:
    """Draws cases."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.fields = scenario_fields(root)
        self.samples = samples(root)
        self.entries = sorted((root / "configs").glob("*/*.yaml"))
        self.classes: list[tuple[int, Callable[[Random], Case]]] = [
            (34, self.extreme_values),
            (14, self.extreme_degrees),
            (10, self.mutated_yaml),
            (16, self.mutated_imports),
            (4, self.mutated_config_json),
            (10, self.hostile_options),
            (6, self.hostile_files),
            (3, self.hostile_streams),
            (3, self.hostile_environment),
        ]

    def case(self, seed: int, number: int) -> Case:
        """The case of this number."""
        rng = Random(f"{seed}:{number}")
        weights = [weight for weight, _ in self.classes]
        make = rng.choices([make for _, make in self.classes], weights)[0]
        return make(rng)

    def own_fields(self, scenario: str) -> list[Field]:
        """The keys that scenarios of this kind alone have."""
        name = Path(scenario).name
        own = [prefixes for kind, prefixes in OWN_KEYS.items() if name.startswith(kind)]
        return [field for field in self.fields if own and field.path.startswith(own[0])]

    def scenario(self, rng: Random) -> str:
        return str(self.root / "configs/scenarios" / (rng.choice(BASES) + ".yaml"))

    def verb_line(self, rng: Random, scenario: str) -> list[str]:
        """A verb that reads a scenario, mostly `run`."""
        json_out = ["--format", "json"]
        pick = rng.random()
        if pick < 0.70:
            return ["run", scenario, "--trials", "2", "--progress", "json", *json_out]
        if pick < 0.78:
            return ["check", scenario]
        if pick < 0.83:
            return ["topo", scenario, *json_out]
        if pick < 0.88:
            size = ["-b", "1M", "-e", "64M", "-f", "8"]
            return ["collective", rng.choice(KINDS), "--cluster", scenario, *size, *json_out]
        if pick < 0.94:
            return ["drill", scenario, "--fault", self.fault(rng), *json_out]
        if pick < 0.95:
            framework = rng.choice(["megatron", "torchtitan", "nemo", "deepspeed", "maxtext"])
            return ["export", framework, scenario]
        if pick < 0.97:
            small = str(self.root / "configs/scenarios/small-llama-8b-64-h100.yaml")
            return ["plan", small, "--top", "1", "--trials", "2", *json_out]
        return ["compare", scenario, scenario, "--trials", "2", *json_out]

    def fault(self, rng: Random) -> str:
        place = rng.choice(
            ["", "@node0", "@node1/gpu0", "@leaf0", "@rack0", "@site0", "@node999999999999"]
        )
        key = rng.choice(["", "", ",rate=1 B/s", ",after=1e300 s", ",for=nan s", ",x=1", ",,", "="])
        return rng.choice(FAULTS) + place + key

    def extreme_values(self, rng: Random) -> Case:
        scenario = self.scenario(rng)
        line = self.verb_line(rng, scenario)
        own = self.own_fields(scenario)
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            chosen = rng.choice(own if own and rng.random() < 0.5 else self.fields)
            path = chosen.path
            if rng.random() < 0.03:
                path = rng.choice([path + "[0]", path + ".x", path[:-1], "." + path, path + ".."])
            line += ["--set", f"{path}={value_of(rng, chosen)}"]
        return Case(line)

    def extreme_degrees(self, rng: Random) -> Case:
        scenario = self.scenario(rng)
        line = self.verb_line(rng, scenario)
        own = [field.path for field in self.own_fields(scenario) if field.kind == "integer"]
        for path in rng.sample(DEGREES + own, rng.choice([1, 2, 2, 3, 4])):
            line += ["--set", f"{path}={value_of(rng, Field(path, 'integer'))}"]
        if rng.random() < 0.4:
            line += ["--set", "parallelism.data=auto"]
        return Case(line)

    def mutated_yaml(self, rng: Random) -> Case:
        path = Path(self.scenario(rng)) if rng.random() < 0.6 else rng.choice(self.entries)
        data = mutated(rng, path.read_bytes())
        name = f"{path.parent.name}/{path.name}"
        if path.parent.name != "scenarios":
            return Case(["check", name], {name: data})
        return Case(["run", name, "--trials", "2", "--format", "json"], {name: data})

    def mutated_imports(self, rng: Random) -> Case:
        sample = rng.choice(self.samples)
        data = mutated(rng, sample.text.encode())
        if rng.random() < 0.1:
            data = gzip.compress(data, mtime=0)
            data = mutated(rng, data) if rng.random() < 0.5 else data
        return Case(self.reading(sample), {sample.file: data})

    @staticmethod
    def reading(sample: Sample) -> list[str]:
        return [sample.file if word == "FILE" else word for word in sample.command]

    def mutated_config_json(self, rng: Random) -> Case:
        files = {
            "s.yaml": CONFIG_SCENARIO.encode(),
            "config.json": mutated(rng, CONFIG_JSON.encode()),
        }
        return Case(["run", "s.yaml", "--format", "json"], files)

    def hostile_options(self, rng: Random) -> Case:
        scenario = str(self.root / "configs/scenarios/small-llama-8b-64-h100.yaml")
        fabric = str(self.root / "configs/fabrics/rail-optimized-ndr.yaml")
        verb, options = rng.choice(
            [
                (
                    ["run", scenario],
                    [
                        "--seed",
                        "--trials",
                        "--threads",
                        "--fold",
                        "--format",
                        "--set",
                        "--progress",
                        "--out",
                    ],
                ),
                (
                    ["plan", scenario, "--trials", "2"],
                    ["--top", "--objective", "--nodes", "--limit"],
                ),
                (
                    ["drill", scenario, "--fault", "hang"],
                    ["--hours", "--monitor", "--fault", "--set"],
                ),
                (
                    ["collective", "all_reduce", "--cluster", "dgx-h100"],
                    [
                        "--gpus",
                        "--nodes",
                        "-b",
                        "-e",
                        "-f",
                        "-d",
                        "--granularity",
                        "--set",
                        "--compare",
                    ],
                ),
                (
                    ["topo", fabric, "--nodes", "4"],
                    ["--nodes", "--node", "--down", "--set", "--dot"],
                ),
                (["import", "ibnetdiscover", "f"], ["--rate", "--name", "--gpu", "--out"]),
                (
                    ["calibrate", "import", "nccl-tests", "f"],
                    ["--ranks", "--ranks-per-node", "--collective"],
                ),
                (["calibrate", "fit", "f"], ["--tolerance", "--gpu", "--name", "--flagged"]),
                (["calibrate", "anchor", scenario], ["--step", "--name", "--set"]),
                (["validate", "--runs", "f"], ["--only", "--anchor", "--runs", "--goodput"]),
                (["catalog"], ["list", "show", "constants"]),
                (["schema"], ["", "gpus", "--python", "--out"]),
                (["completion"], ["", "bash", "fish", "man", "--words"]),
                (["explain"], ["", "mtbf", "step.mfu", "run.failures.hazards[", "\x1b[31m"]),
                (["report", "f"], ["--out", "--force", "f"]),
                (["init"], ["--model", "--gpus", "--gpu", "--name", "--force"]),
                (
                    ["run", scenario, "--trials", "2"],
                    ["--show", "--full", "--explain", "--pictures", "--report", "--color"],
                ),
                (["check"], [scenario, fabric, "f", "--set"]),
                (["rnu"], ["--help"]),
            ]
        )
        line = list(verb)
        for _ in range(rng.choice([1, 1, 2])):
            option = rng.choice(options)
            line.append(option)
            if option.startswith("-"):
                line.append(self.option_value(rng))
        samples_of = {"import": self.samples[0], "calibrate": self.samples[5]}
        sample = samples_of.get(verb[0], self.samples[12])
        if verb[:2] == ["calibrate", "fit"]:
            sample = self.samples[11]
        return Case(line, {"f": sample.text.encode()})

    @staticmethod
    def option_value(rng: Random) -> str:
        pick = rng.random()
        if pick < 0.45:
            return rng.choice(INTEGERS + NUMBERS)
        if pick < 0.6:
            unit = rng.choice(["s", "d", "USD", "Gbps", "K", "G", "E", "B/s", "%"])
            return rng.choice(NUMBERS) + rng.choice(["", " "]) + unit
        if pick < 0.75:
            key = rng.choice(
                ["deadline", "budget", "gpus", "watchdog", "cluster.nodes", "name", "leaf"]
            )
            return key + rng.choice(["=", ":"]) + rng.choice(NUMBERS + WORDS)
        return rng.choice(WORDS)

    def hostile_files(self, rng: Random) -> Case:
        """What a file's name can lead to."""
        name = rng.choice(
            [
                "missing.yaml",
                "folder",
                "loop",
                "dangling",
                "closed.yaml",
                "closed/x.yaml",
                "/dev/zero",
                "/dev/null",
                "/dev/full",
                "x" * 300,
                "a\nb.yaml",
                "\x1b[31m.yaml",
                "\udcff.yaml",
                "",
                "/proc/self/mem",
                "/proc/self/maps",
                "good.yaml/x",
                "./good.yaml",
                "bomb.gz",
                "empty",
            ]
        )
        good = Path(self.scenario(rng)).read_bytes()
        files = {
            "good.yaml": good,
            "closed.yaml": good,
            "empty": b"",
            "bomb.gz": gzip.compress(bytes(300 << 20), 9, mtime=0) if name == "bomb.gz" else b"",
        }
        prelude = "mkdir folder closed; ln -s loop loop; ln -s nowhere dangling; "
        prelude += "chmod 0 closed.yaml closed"
        reader = rng.choice(
            [
                ["run"],
                ["check"],
                ["topo"],
                ["plan"],
                ["validate", "--runs"],
                ["report"],
                ["import", "ibnetdiscover"],
                ["import", "nccl-xml", "--gpu", "h100-sxm"],
                ["calibrate", "import", "torch-profiler"],
                ["validate", "--goodput"],
                ["calibrate", "fit"],
                ["validate", "--collectives"],
            ]
        )
        use = rng.choice(["model.use", "model.huggingface", "cluster.node.gpu.use"])
        line = rng.choice(
            [
                [*reader, name],
                ["run", "good.yaml", "--set", f"{use}={name}"],
                ["schema", "--out", name, *rng.choice([[], ["--force"]])],
                [
                    "topo",
                    "rail-optimized-ndr",
                    "--nodes",
                    "2",
                    "--dot",
                    name,
                    "--graphml",
                    "folder",
                ],
            ]
        )
        return Case(line, files, prelude=prelude, nobody=rng.random() < 0.7)

    def hostile_streams(self, rng: Random) -> Case:
        """Streams that are closed or full, a working folder that is gone."""
        scenario = self.scenario(rng)
        line = rng.choice(
            [
                ["run", scenario, "--trials", "2"],
                ["run", "nope.yaml"],
                ["--help"],
                ["schema"],
                ["doctor"],
                ["run", scenario, "--trials", "2", "--progress", "plain", "--out", "r.json"],
            ]
        )
        streams = rng.choice(
            [">/dev/full", ">&-", "2>/dev/full", "2>&-", "<&-", ">&- 2>&- <&-", "2>/dev/full <&-"]
        )
        gone = rng.random() < 0.3
        return Case(
            line,
            prelude="mkdir gone; cd gone; rmdir ../gone" if gone else "",
            streams=streams,
            own_fault=">&-" in streams.replace("2>&-", "")
            or ">/dev/full" in streams.replace("2>", ""),
        )

    def hostile_environment(self, rng: Random) -> Case:
        configs = str(self.root / "configs")
        value = rng.choice(
            [
                "",
                ":",
                "::::",
                "missing",
                "folder",
                "loop",
                configs,
                f"{configs}:{configs}",
                "x" * 5000,
                "/dev/zero",
                "closed",
                "\udcff",
                "folder:missing",
                f"folder:{configs}",
            ]
        )
        variable = rng.choice(
            ["HEADWAY_CONFIGS"] * 6 + ["TMPDIR", "HOME", "LC_ALL", "LANG", "TERM"]
        )
        line = rng.choice(
            [
                ["doctor"],
                ["catalog", "list"],
                ["run", self.scenario(rng), "--trials", "2"],
                ["topo", "rail-optimized-ndr", "--nodes", "4"],
                ["catalog", "show", "gpus", "h100-sxm"],
            ]
        )
        entry = rng.choice(self.entries)
        files = {f"folder/{entry.parent.name}/{entry.name}": mutated(rng, entry.read_bytes())}
        prelude = "mkdir -p folder closed; ln -s loop loop; chmod 0 closed"
        return Case(line, files, {variable: value}, prelude, nobody=rng.random() < 0.5)


def write_files(case: Case, folder: Path) -> None:
    """The files of a case, before its prelude."""
    for name, data in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def argument_bytes(case: Case) -> list[bytes]:
    """Arguments as the system takes them; a zero byte cannot be passed."""
    return [os.fsencode(word.replace("\0", "")) for word in case.arguments]
