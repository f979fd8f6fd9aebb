"""Made pages: what the program, notebooks and rooms' READMEs say, as Markdown by address."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from site_pages.keys import keys_pages
from site_pages.program import ROOT, catalogue, headway, verbs

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
            text = scenario_page(path, text)
        elif path.endswith(".ipynb"):
            text = notebook_page(Path(path).stem, text)
        made[page] = (path, text)
    return made


def scenario_page(path: str, text: str) -> str:
    """A scenario with its name and what its first comment says of it."""
    comment = re.match(r"(?:# .*\n)*", text)
    opening = " ".join((comment[0] if comment else "").replace("\n", " ").split("# ")).strip()
    about = f": {' '.join(opening.split())}" if opening else "."
    return (
        f'# {Path(path).stem}\n\nThis scenario is "{yaml.safe_load(text)["name"]}"{about}\n\n'
        f"```\nheadway run {path}\n```\n\n```yaml\n{text}```\n"
    )


def outputs_of(notebook: str) -> list[list[dict[str, Any]]]:
    """What each cell of code of a notebook shows, as `scripts/notebooks.py` has kept it."""
    kept: list[list[dict[str, Any]]] = json.loads(
        (ROOT / f"notebooks/outputs/{notebook}.json").read_text(encoding="utf-8")
    )
    return kept


def charts_of(notebook: str) -> dict[str, dict[str, Any]]:
    """The charts among them, by the address of their picture."""
    charts = (part["chart"] for parts in outputs_of(notebook) for part in parts if "chart" in part)
    return {f"images/tutorials/{notebook}-{i}.svg": chart for i, chart in enumerate(charts, 1)}


def notebook_page(notebook: str, text: str) -> str:
    """A notebook's prose with its picture, and its code with what each cell shows."""
    parts = []
    shown_by = iter(outputs_of(notebook))
    pictures = iter(charts_of(notebook).items())
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for part in next(shown_by):
            if "chart" in part:
                address, chart = next(pictures)
                parts.append(f"![{chart.get('title', 'A chart')}](../docs/{address})")
            elif "html" in part:
                parts.append(f'<div class="output">\n{part["html"].strip()}\n</div>')
            else:
                parts.append(f"```{{ .text .output }}\n{part['text'].rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def command_line_page() -> str:
    parts = [
        "# Command line",
        f"The program has {len(verbs())} verbs, each with its options as `headway VERB --help`"
        " prints them.",
        f"```\n{headway('--help').strip()}\n```",
    ]
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
        opening = (
            f"The catalogue has {len(entries)} entries of `{kind}`, which this page lists as"
            f" `headway catalog list {kind}` does; each file says where its figures are from."
        )
        parts = [f"# Catalogue: {kind}", opening, table]
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
