"""What mkdocs calls.

Made pages join those of `docs`, links into the tree find their page, llms.txt is written."""

from __future__ import annotations

import os.path
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from notebooks import drawn
from site_pages.made import charts_of, from_the_tree, made_pages, shown
from site_pages.pictures import PICTURES, picture
from site_pages.program import ROOT

# A picture may stand for the words of a link.
LINK = re.compile(r"(!?)\[((?:[^\]\[\n]|!\[[^\]\n]*\]\([^)\s]+\))*)\]\(([^)\s]+)\)")
SHORT = 5  # words of a sentence that the next one explains
# One has addresses from a server's root, the other needs the site's own.
OF_SERVERS = {"404.html", "sitemap.xml"}
_origin: dict[str, str] = {}  # of a made page, the file whose text it is
_first: dict[str, str] = {}  # of a page, its first sentence
_nav: list[Any] = []


def on_config(config: Any) -> Any:
    """Folders in the list of pages become the pages in them."""
    pages = sorted({*shown().values(), *made_pages()})

    def filled(entry: Any) -> Any:
        if isinstance(entry, dict):
            return {title: filled(value) for title, value in entry.items()}
        if isinstance(entry, list):
            return [filled(each) for each in entry]
        if entry.endswith("/"):
            inside = [page for page in pages if page.startswith(entry)]
            return sorted(inside, key=lambda page: (not page.endswith("index.md"), page))
        return entry

    config.nav = filled(config.nav)
    config.theme.static_templates -= OF_SERVERS
    return config


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    for name in OF_SERVERS:  # a template that is not filled would be copied
        if file := files.get_file_from_path(name):
            files.remove(file)
    for page, (path, text) in from_the_tree().items():
        _origin[page] = path
        files.append(File.generated(config, page, content=text))
    for page, text in made_pages().items():
        files.append(File.generated(config, page, content=text))
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for address, chart in charts_of(notebook.stem).items():
            files.append(File.generated(config, address, content=drawn(chart)))
    for page in PICTURES:
        files.append(File.generated(config, picture_of(page), content=picture(page)))
    return files


def picture_of(page: str) -> str:
    return f"images/{page.removesuffix('.md')}.svg"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links of a file are seen from where it lies in the tree; what is no page there is named."""
    address = page.file.src_uri
    origin = _origin.get(address) or f"docs/{address}"
    _first[address] = first_sentence(markdown)
    if address not in _origin and page.file.generated_by:
        return markdown
    site = shown()

    def mended(match: re.Match[str]) -> str:
        picture, text, target = match.groups()
        text = LINK.sub(mended, text)
        where, _, anchor = target.partition("#")
        if "://" in target or not where:
            return match.group()
        path = os.path.normpath(os.path.join(os.path.dirname(origin), where)).replace(os.sep, "/")
        known = site.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
        if known and files.get_file_from_path(known):
            relative = os.path.relpath(known, os.path.dirname(address) or ".").replace(os.sep, "/")
            return f"{picture}[{text}]({relative}{'#' + anchor if anchor else ''})"
        if (ROOT / path).exists():
            return text if text.strip("`") == path else f"{text} (`{path}`)"
        return match.group()

    parts = re.split(r"(^```.*?^```)", markdown, flags=re.M | re.S)
    text = "".join(p if p.startswith("```") else LINK.sub(mended, p) for p in parts)
    if address in PICTURES:  # after the title and the first paragraph
        title, opening, rest = text.split("\n\n", 2)
        caption = PICTURES[address][0]
        shown_at = f"../{picture_of(address)}"
        text = f"{title}\n\n{opening}\n\n![{caption}]({shown_at})\n\n*{caption}*\n\n{rest}"
    return text


def on_nav(nav: Any, config: Any, files: Any) -> None:
    _nav[:] = nav.items


def on_post_build(config: Any) -> None:
    """llms.txt: every page with its first sentence, for readers that are programs."""
    lines = [f"# {config.site_name}", "", f"> {config.site_description}"]

    def add(items: list[Any]) -> None:
        for item in items:
            if item.is_page:
                sentence = _first.get(item.file.src_uri, "")
                lines.append(
                    f"- [{item.title}]({item.url})" + (f": {sentence}" if sentence else "")
                )
            elif item.is_section:
                lines.extend(["", f"## {item.title}", ""])
                add(item.children)

    lines.append("")
    add(_nav)
    Path(config.site_dir, "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def first_sentence(markdown: str) -> str:
    """Of the first paragraph that is prose and no end of a sentence, without its links."""
    for paragraph in re.sub(r"^```.*?^```", "", markdown, flags=re.M | re.S).split("\n\n"):
        text = re.sub(r"!\[[^]]*\]\([^)]*\)", "", paragraph)
        text = LINK.sub(r"\2", " ".join(text.split()))
        if re.match(r"[A-Z0-9`\"(]", text) and not paragraph.startswith("    "):
            first, *more = re.split(r"(?<=[.?])\s", text.replace("**", ""), maxsplit=2)
            # "The command line." alone tells nobody anything.
            sentence = " ".join([first, *more[:1]] if len(first.split()) < SHORT else [first])
            return f"{sentence[:-1]}." if sentence.endswith(":") else sentence
    return ""
