"""Types of the compiled module."""

__version__: str

class Error(ValueError): ...

class Watch:
    def stop(self) -> None: ...
    def state(self) -> tuple[str, int, int]: ...

def run(
    path: str,
    text: str,
    roots: list[str],
    set: list[str],
    threads: int,
    fold: bool,
    explain: bool,
    pictures: bool,
    network: str,
    watch: Watch,
) -> tuple[str, str]: ...
def plan(
    path: str,
    text: str,
    roots: list[str],
    set: list[str],
    threads: int,
    fold: bool,
    top: int,
    objectives: list[str],
    limits: list[str],
    nodes: list[int],
    simulate: int,
    verify: int,
    variants: bool,
    sensitivity: bool,
    watch: Watch,
) -> tuple[str, str, list[tuple[str, str]]]: ...
def place(
    path: str,
    text: str,
    roots: list[str],
    set: list[str],
    threads: int,
    fold: bool,
    draws: int,
    watch: Watch,
) -> tuple[str, str, list[tuple[str, str]]]: ...
def expect(
    path: str,
    text: str,
    roots: list[str],
    set: list[str],
    nodes: int,
    against: list[str],
    watch: Watch,
) -> tuple[str, str]: ...
def diagnose(
    path: str,
    text: str,
    roots: list[str],
    set: list[str],
    threads: int,
    logs: list[str],
    watch: Watch,
) -> tuple[str, str]: ...
def sweep_size(
    path: str, text: str, roots: list[str], set: list[str], figures: list[str]
) -> int: ...
def sweep_rows(
    path: str,
    text: str,
    roots: list[str],
    set: list[str],
    figures: list[str],
    points: list[int],
    threads: int,
    fold: bool,
    watch: Watch,
) -> str: ...
def sweep(
    path: str, text: str, roots: list[str], set: list[str], figures: list[str], lines: str
) -> tuple[str, str]: ...
def shard_name(manifest: str, shard: int) -> str: ...
def shard_count(manifest: str) -> int: ...

class Shards:
    def __init__(self, manifest: str, roots: list[str]) -> None: ...
    def lines(self, shard: int, threads: int, fold: bool, watch: Watch) -> str: ...

def solve(
    path: str,
    text: str,
    roots: list[str],
    set: list[str],
    key: str,
    condition: str,
    within: str,
    precision: float,
    threads: int,
    fold: bool,
    watch: Watch,
) -> tuple[str, str]: ...
def compare(
    a: tuple[str, str],
    b: tuple[str, str],
    roots: list[str],
    set: list[str],
    threads: int,
    fold: bool,
    layers: bool,
    watch: Watch,
) -> tuple[str, str]: ...
def drill(
    path: str,
    text: str,
    roots: list[str],
    set: list[str],
    fault: str,
    monitors: list[str],
    hours: float,
    remedies: bool,
    watch: Watch,
) -> tuple[str, str]: ...
def charts(json: str) -> str: ...
def check(paths: list[str], roots: list[str], set: list[str]) -> None: ...
def scenario_values(
    path: str, text: str, roots: list[str], set: list[str], checked: bool
) -> str: ...
def scenario_text(path: str, text: str, roots: list[str]) -> str: ...
def schema(kind: str) -> str: ...
def summary(json: str) -> str: ...
def trace(json: str, file: str, of_trial: bool, steps: int) -> bytes: ...
def page(json: str, command: str, charts: str) -> str: ...
def python_dataclasses() -> str: ...
