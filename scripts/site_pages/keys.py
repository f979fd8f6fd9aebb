"""Pages of keys: what the program says of each, how it is written, and what else it is called."""

from __future__ import annotations

import re
from functools import cache

from site_pages.examples import REQUIRED, examples, line_of
from site_pages.program import ROOT, explained, keys

# What a reader searches for most often is a key; of two of one name that of the job, not that of
# what is tried. Published figures have the names of our own, which are looked for instead.
FOUND_FIRST = {"search": 10, "sweep": 10, "claim": 1}
USUAL = 20

# What people call a key beside the names that training frameworks have for it.
SHORT_NAMES = {
    "parallelism.tensor": ["tp"],
    "parallelism.pipeline": ["pp"],
    "parallelism.data": ["dp"],
    "parallelism.context": ["cp"],
    "parallelism.expert": ["ep"],
    "parallelism.virtual": ["vpp"],
    "parallelism.micro_batch": ["mbs"],
    "training.global_batch": ["gbs", "batch_size"],
    "training.sequence_length": ["seq_len", "context length"],
    "run.failures.hazards[].mtbf": ["mean time between failures", "failure rate"],
    "run.checkpoint.interval": ["save_interval", "checkpoint frequency"],
    "cluster.nodes": ["hosts", "servers", "machines"],
}


@cache
def also_called() -> dict[str, list[str]]:
    """Other names of keys: those of `docs/launch_files.md`, and short ones."""
    names: dict[str, list[str]] = {key: list(others) for key, others in SHORT_NAMES.items()}
    for line in (ROOT / "docs/launch_files.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 2 or not line.startswith("| `") or cells[1].count("`") != 2:
            continue
        found = names.setdefault(cells[1].strip("`"), [])
        for option in cells[0].replace("`", "").split(", "):
            word = option.removeprefix("--")
            found += [word, word.replace("-", "_")]
    return {key: list(dict.fromkeys(found)) for key, found in names.items()}


def default_of(path: str) -> str:
    default = line_of(path, "Default: ")
    return "required" if default == REQUIRED else default or "not set"


def range_of(path: str) -> str:
    """Between which ends a value lies, or which words and values there are."""
    if limits := line_of(path, "It must be "):
        return limits
    write = line_of(path, "What to write: ").removesuffix("; may be left out")
    kind = write.removeprefix("a list; each: ")
    entry = re.search(r"\{use: NAME\} of 'headway catalog list (\w+)'", kind)
    if entry:
        kind = f"an entry of {entry[1]}, or its own keys"
    kind = {"text": "any text", "a mapping": "its own keys"}.get(kind, kind)
    return f"each: {kind}" if write.startswith("a list; each: ") else kind


def table_of_keys() -> str:
    """All keys with kind, range, default and meaning: a row each."""
    known = keys()
    said = explained()
    pages = {path: page for page, paths in pages_of_keys().items() for path in paths}
    rows = []
    for path in known:
        cells = [
            f"[{path}]({address_of(pages[path])}.md#{path.replace('[]', '')})",
            said[path][0] if said[path] else str(known[path].get("description", "")),
            line_of(path, "What to write: "),
            range_of(path),
            default_of(path),
            f"`{path.split('.')[-1]}: {examples()[path].text}`" if path in examples() else "",
            ", ".join(also_called().get(path, [])),
        ]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return (
        "---\nhide: [toc]\n---\n# All keys of a scenario in one table\n\n"
        "A click on a heading sorts; the box keeps the rows that have its words.\n\n"
        "| key | meaning | what to write | range | default | example | also called |\n"
        "|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )


TOP = "scenario"
"""The page of keys that have none above them and none below."""


def pages_of_keys() -> dict[str, list[str]]:
    """Which keys a page has: one for each part of a scenario; large parts by their second word."""
    known = keys()
    pages: dict[str, list[str]] = {}
    for path in known:
        words = path.replace("[]", "").split(".")
        below = any(other.startswith((f"{path}.", f"{path}[].")) for other in known)
        large = words[0] in ("cluster", "run") and (len(words) > 2 or (len(words) == 2 and below))
        name = ".".join(words[:2]) if large else words[0] if len(words) > 1 or below else TOP
        pages.setdefault(name, []).append(path)
    return pages


def address_of(part: str) -> str:
    return part.replace(".", "_")


def key_section(path: str, lines: list[str]) -> str:
    """What `headway explain` says of a key, an example, and what else it is called."""
    entry = [f"## {path} {{ #{path.replace('[]', '')} }}", *lines]
    if default_of(path) == "not set":
        entry.append("Default: not set.")
    if path in examples():
        example = examples()[path]
        where = f"[{example.name}]({example.page})" if example.page else f"`{example.name}`"
        entry.append(
            f"Example: `{path.split('.')[-1]}: {example.text}`"
            + (f" in {where}" if example.name else "")
        )
    if path in also_called():
        entry.append("Also called: " + ", ".join(also_called()[path]) + ".")
    return "\n\n".join(entry)


def opening(part: str, paths: list[str]) -> str:
    """What a page of keys is about, as one sentence."""
    if part == TOP:
        return f"{len(paths)} keys stand alone at the top of a scenario."
    meaning = explained().get(part, [""])[0].split(";")[0].rstrip(".")
    said = f": {meaning[0].lower()}{meaning[1:]}" if meaning else ""
    return f"{len(paths)} keys of a scenario are, or stand below, `{part}`{said}."


def keys_pages() -> dict[str, str]:
    """The pages of keys, a table of all, and what leads to them."""
    known = keys()
    said = explained()
    made = {}
    for part, paths in pages_of_keys().items():
        sections = [
            key_section(p, said[p] or [str(known[p].get("description", ""))]) for p in paths
        ]
        boost = f"---\nsearch: {{boost: {FOUND_FIRST.get(part, USUAL)}}}\n---\n"
        head = f"{boost}# Keys: {part}\n\n{opening(part, paths)}\n\n"
        made[f"reference/keys/{address_of(part)}.md"] = head + "\n\n".join(sections)
    index = "\n".join(f"- [{part}]({address_of(part)}.md)" for part in sorted(pages_of_keys()))
    made["reference/keys/index.md"] = (
        f"# Keys of a scenario\n\nA scenario has {len(known)} keys, written here from the field"
        " lists of the program; `headway explain KEY` says the same.\n\n"
        f"[All in one table](table.md), to be sorted and filtered.\n\n{index}\n"
    )
    made["reference/keys/table.md"] = table_of_keys()
    return made
