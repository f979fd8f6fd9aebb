"""Made pages: what the program, notebooks and rooms' READMEs say, as Markdown by address."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from site_pages.program import ROOT, catalogue, examples, explained, headway, keys, verbs

# What a reader searches for most often is a key.
FOUND_FIRST = "---\nsearch: {boost: 20}\n---\n"
# Files of the tree that are pages of the site as they are, by their address there.
SHOWN = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "developers/contributing.md",
    "configs/scenarios/README.md": "reference/scenarios/index.md",
    "configs/README.md": "reference/catalogue/index.md",
    "notebooks/README.md": "tutorials/index.md",
}


def shown() -> dict[str, str]:
    """Address of every file of the tree that the site shows, by its path in the tree."""
    found = {path: page for path, page in SHOWN.items() if (ROOT / path).exists()}
    for room in [*ROOT.glob("sim/**/README.md"), *ROOT.glob("[acp]*/**/README.md")]:
        path = room.relative_to(ROOT)
        if path.as_posix() not in SHOWN and path.parts[0] in ("sim", "apps", "calibrate", "python"):
            name = "_".join(path.parent.parts).removeprefix("sim_")
            found[path.as_posix()] = f"developers/rooms/{name}.md"
    for scenario in (ROOT / "configs/scenarios").glob("*.yaml"):
        found[f"configs/scenarios/{scenario.name}"] = f"reference/scenarios/{scenario.stem}.md"
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        found[f"notebooks/{notebook.name}"] = f"tutorials/{notebook.stem}.md"
    return found


def from_the_tree() -> dict[str, tuple[str, str]]:
    """By address: the file's path in the tree and its Markdown."""
    made = {}
    for path, page in sorted(shown().items()):
        text = (ROOT / path).read_text(encoding="utf-8")
        if path.endswith(".yaml"):
            text = f"# {Path(path).stem}\n\n```\nheadway run {path}\n```\n\n```yaml\n{text}```\n"
        elif path.endswith(".ipynb"):
            text = notebook_page(text)
        made[page] = (path, text)
    return made


def notebook_page(text: str) -> str:
    """A notebook's prose with its picture, and its code."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"]).strip()
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
    return "\n\n".join(parts) + "\n"


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
            found += [each for each in (word, word.replace("-", "_")) if each not in found]
    return names


def table_of_keys() -> str:
    """All keys with kind, range, default and meaning: a row each."""
    known = keys()
    said = explained()
    pages = {path: page for page, paths in pages_of_keys().items() for path in paths}
    rows = []
    for path in known:
        lines = said[path] or [str(known[path].get("description", ""))]
        told = {
            start: next((line.removeprefix(start) for line in lines if line.startswith(start)), "")
            for start in ("What to write: ", "It must be ", "Default: ")
        }
        cells = [
            f"[{path}]({pages[path]}.md#{path.replace('[]', '')})",
            lines[0],
            *(text.rstrip(".") for text in told.values()),
            f"`{path.split('.')[-1]}: {examples()[path][0]}`" if path in examples() else "",
            ", ".join(also_called().get(path, [])),
        ]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return (
        "---\nhide: [toc]\n---\n# All keys of a scenario in one table\n\n"
        "A click on a heading sorts; the box keeps the rows that have its words.\n\n"
        "| key | meaning | what to write | range | default | example | also called |\n"
        "|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )


def pages_of_keys() -> dict[str, list[str]]:
    """Which keys a page has: one for each part of a scenario; large parts by their second word."""
    known = keys()
    pages: dict[str, list[str]] = {}
    for path in known:
        words = path.replace("[]", "").split(".")
        below = any(other.startswith(f"{path}.") for other in known)
        large = words[0] in ("cluster", "run") and (len(words) > 2 or (len(words) == 2 and below))
        name = "_".join(words[:2]) if large else words[0] if len(words) > 1 or below else "scenario"
        pages.setdefault(name, []).append(path)
    return pages


def key_section(path: str, lines: list[str]) -> str:
    """What `headway explain` says of a key, an example, and what else it is called."""
    entry = [f"## {path} {{ #{path.replace('[]', '')} }}", *lines]
    if path in examples():
        value, scenario = examples()[path]
        where = f"[{scenario}](../scenarios/{scenario}.md)"
        entry.append(f"Example: `{path.split('.')[-1]}: {value}` in {where}")
    if path in also_called():
        entry.append("Also called: " + ", ".join(also_called()[path]) + ".")
    return "\n\n".join(entry)


def keys_pages() -> dict[str, str]:
    """The pages of keys, a table of all, and what leads to them."""
    known = keys()
    said = explained()
    pages = {
        name: [key_section(p, said[p] or [str(known[p].get("description", ""))]) for p in paths]
        for name, paths in pages_of_keys().items()
    }
    index = "\n".join(f"- [{name.replace('_', '.')}]({name}.md)" for name in sorted(pages))
    head = "written from the field lists of the program; `headway explain KEY` says the same."
    made = {
        f"reference/keys/{name}.md": f"{FOUND_FIRST}# Keys: {name.replace('_', '.')}\n\n"
        + "\n\n".join(parts)
        for name, parts in pages.items()
    }
    made["reference/keys/index.md"] = (
        f"# Keys of a scenario\n\n{len(known)} keys, {head}\n\n"
        f"[All in one table](table.md), to be sorted and filtered.\n\n{index}\n"
    )
    made["reference/keys/table.md"] = table_of_keys()
    return made


def command_line_page() -> str:
    parts = ["# Command line", f"```\n{headway('--help').strip()}\n```"]
    for verb in verbs():
        parts.append(
            f"## headway {verb} {{ #{verb} }}\n\n```\n{headway(verb, '--help').strip()}\n```"
        )
    return "\n\n".join(parts) + "\n"


def catalogue_pages() -> dict[str, str]:
    """Of each kind the table of `headway catalog list`, then each file, with its sources."""
    made = {}
    for kind, entries in catalogue().items():
        table = headway("catalog", "list", kind, "--format", "md").split("\n\n", 2)[-1].strip()
        parts = [f"# Catalogue: {kind}", table]
        for name, file in entries:
            text = file.read_text(encoding="utf-8")
            if len(text) > 20_000:
                text = (
                    text[:2_000].rsplit("\n", 1)[0] + "\n# ... and so on: a table of measurements\n"
                )
            parts.append(f"## {name} {{ #{name} }}\n\n```yaml\n{text.rstrip()}\n```")
        made[f"reference/catalogue/{kind}.md"] = "\n\n".join(parts) + "\n"
    return made


def python_page() -> str:
    return (
        "# Python\n\nWhat the attributes of results mean is in [definitions](../definitions.md); "
        "their types are in `headway.results`.\n\n"
        "::: headway\n    options:\n      members_order: alphabetical\n"
    )


@cache
def made_pages() -> dict[str, str]:
    """Markdown of every page that no file has, by address."""
    return {
        **keys_pages(),
        **catalogue_pages(),
        "reference/command_line.md": command_line_page(),
        "reference/python.md": python_page(),
    }
