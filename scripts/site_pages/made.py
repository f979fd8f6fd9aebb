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
            text = notebook_page(text, f"images/notebooks/{Path(path).stem}.svg")
        made[page] = (path, text)
    return made


def notebook_page(text: str, picture: str) -> str:
    """A notebook's prose and code, and its picture where it is drawn."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"]).strip()
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        if "picture" in cell.get("metadata", {}).get("tags", []):
            parts.append(f"![What this cell draws](../docs/{picture})")
    return "\n\n".join(parts) + "\n"


def keys_pages() -> dict[str, str]:
    """A page for each part of a scenario; large parts by their second word."""
    known = keys()
    said = explained(list(known))
    pages: dict[str, list[str]] = {}
    for path, node in known.items():
        words = path.replace("[]", "").split(".")
        below = any(other.startswith(f"{path}.") for other in known)
        large = words[0] in ("cluster", "run") and (len(words) > 2 or (len(words) == 2 and below))
        name = "_".join(words[:2]) if large else words[0] if len(words) > 1 or below else "scenario"
        lines = said[path] or [str(node.get("description", ""))]
        entry = [f"## {path} {{ #{path.replace('[]', '')} }}", *lines]
        if path in examples():
            value, scenario = examples()[path]
            where = f"[{scenario}](../scenarios/{scenario}.md)"
            entry.append(f"Example: `{path.split('.')[-1]}: {value}` in {where}")
        pages.setdefault(name, []).append("\n\n".join(entry))
    index = "\n".join(f"- [{name.replace('_', '.')}]({name}.md)" for name in sorted(pages))
    head = "written from the field lists of the program; `headway explain KEY` says the same."
    made = {
        f"reference/keys/{name}.md": f"{FOUND_FIRST}# Keys: {name.replace('_', '.')}\n\n"
        + "\n\n".join(parts)
        for name, parts in pages.items()
    }
    made["reference/keys/index.md"] = (
        f"# Keys of a scenario\n\n{len(known)} keys, {head}\n\n{index}\n"
    )
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
    return "# Python\n\n::: headway\n    options:\n      members_order: alphabetical\n"


@cache
def made_pages() -> dict[str, str]:
    """Markdown of every page that no file has, by address."""
    return {
        **keys_pages(),
        **catalogue_pages(),
        "reference/command_line.md": command_line_page(),
        "reference/python.md": python_page(),
    }
