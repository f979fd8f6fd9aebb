"""The documentation: it is built whole, leads nowhere that is not there, and asks no network."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest
import yaml
from conftest import BROWSER, ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from site_pages import examples, hooks, keys, made  # noqa: E402
from site_pages import program as said  # noqa: E402
from site_pages.pictures import PICTURES  # noqa: E402

try:
    from playwright.sync_api import sync_playwright

    PLAYWRIGHT = True
except ImportError:
    PLAYWRIGHT = False


class Links(HTMLParser):
    """What a page points to, what it loads, and what in it may be pointed to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.points: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        if "id" in values:
            self.anchors.add(values["id"])
        if tag == "a" and "href" in values:
            self.points.append(values["href"])
        elif tag == "link" and values.get("rel") != "canonical" and "href" in values:
            self.loads.append(values["href"])
        elif "src" in values:
            self.loads.append(values["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    return {path: Links(path.read_text()) for path in site.rglob("*.html")}


def test_no_link_is_broken_and_nothing_is_loaded_from_a_network(site, pages):
    wrong = []
    for page, links in pages.items():
        wrong += [f"{page}: loads {url}" for url in links.loads if "://" in url]
        for url in links.points + links.loads:
            if "://" in url or url.startswith(("mailto:", "data:")):
                continue
            address, _, anchor = unquote(url).partition("#")
            target = (page.parent / address).resolve() if address else page
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                wrong.append(f"{page}: {url}")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                wrong.append(f"{page}: no {anchor} in {address}")
    assert not wrong, "\n".join(wrong)
    assert len(pages) > 80


def test_styles_load_nothing_from_a_network(site):
    for sheet in site.rglob("*.css"):
        assert not re.findall(r"url\(['\"]?https?:", sheet.read_text()), sheet


def test_every_key_is_described_in_the_words_of_explain(site, pages):
    anchors = {
        anchor for page, links in pages.items() if "keys" in page.parts for anchor in links.anchors
    }
    described = {path.replace("[]", "") for path in said.keys()}
    assert described <= anchors
    # What people write is there: every key of the shipped scenarios.
    in_scenarios = examples.in_scenarios("configs/scenarios", "")
    written = {path.replace("[]", "") for path, *_ in in_scenarios}
    assert {key for key in written if not key.endswith(("use", "source"))} - described == {
        key for key in written if key.startswith("search.")
    } - described
    text = (site / "reference/keys/run_checkpoint.html").read_text()
    assert "Useful work between saves" in text
    assert "It must be between 1 ms and 100 years." in text


def test_keys_say_their_range_default_and_an_example(site):
    """Every cell of what may be written and what is there without it; examples are valid."""
    rows = [line.split(" | ") for line in keys.table_of_keys().splitlines() if line[:3] == "| ["]
    assert len(rows) == len(said.keys())
    for row in rows:
        assert all(cell.strip() for cell in row[1:5]), row[0]
    defaults = {row[4] for row in rows}
    assert {"required", "not set", "auto", "true"} <= defaults
    ranges = {row[0].split("]")[0][3:]: row[3] for row in rows}
    assert ranges["name"] == "any text"
    assert ranges["parallelism.sharding"].startswith("one of zero0, zero1")
    assert ranges["run.checkpoint.interval"] == "between 1 ms and 100 years"
    found = examples.examples()
    assert len(found) > 0.98 * len(rows)
    definitions = json.loads(said.headway("schema"))["definitions"]
    for path, example in found.items():
        if "..." in example.text:
            continue
        value = yaml.safe_load(example.text)
        schema = {"definitions": definitions, **said.keys()[path]}
        complaints = list(jsonschema.Draft7Validator(schema).iter_errors(value))
        assert not complaints, (path, example, complaints[0].message)
    page = (site / "reference/keys/cluster_node.html").read_text()
    assert "kernels: " in page and "../catalogue/gpus.html#" in page


def test_keys_have_their_names_and_are_called_otherwise_once(site):
    text = (site / "llms.txt").read_text()
    assert "[Keys: run.bring_up](reference/keys/run_bring_up.html)" in text
    assert "[Keys: cluster.other_nodes](reference/keys/cluster_other_nodes.html)" in text
    assert {part.split(".")[0] for part in keys.pages_of_keys()} - {keys.TOP} < set(said.keys())
    for path, others in keys.also_called().items():
        assert len(others) == len(set(others)), path


def test_every_verb_entry_and_room_has_its_place(site, pages):
    verbs = pages[site / "reference/command_line.html"].anchors
    assert set(said.verbs()) <= verbs
    assert len(said.verbs()) == 26
    for kind, entries in said.catalogue().items():
        anchors = pages[site / f"reference/catalogue/{kind}.html"].anchors
        assert {name for name, _ in entries} <= anchors
    python = (site / "reference/python.html").read_text()
    assert 'id="headway.run"' in python and 'id="headway.diagnose"' in python


def test_tutorials_show_what_their_cells_do(site):
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        page = (site / f"tutorials/{notebook.stem}.html").read_text()
        shown = [part for parts in made.outputs_of(notebook.stem) for part in parts]
        assert page.count('class="output"') == sum("html" in part for part in shown)
        assert page.count('class="output highlight"') == sum("text" in part for part in shown)
        pictures = made.charts_of(notebook.stem)
        assert len(pictures) == sum("chart" in part for part in shown)
        for address in pictures:
            assert f'src="../{address}"' in page
            assert "<svg" in (site / address).read_text()
    page = (site / "tutorials/01_first_prediction.html").read_text()
    assert "The step is limited by compute: 78.2 % of 28.0 s" in page
    assert "full recompute costs 29 % of time" in html.unescape(page)


def test_each_model_has_a_picture(site):
    models = {page.name for page in (ROOT / "docs/models").glob("*.md")}
    assert {Path(page).name for page in PICTURES} == models
    for page in PICTURES:
        picture = (site / f"images/{page.removesuffix('.md')}.svg").read_text()
        assert picture.count("<path") > 5, page
        assert f"{Path(page).stem}.svg" in (site / page.replace(".md", ".html")).read_text()


def test_the_list_for_programs_names_every_page(site, pages):
    text = (site / "llms.txt").read_text()
    named = {unquote(url) for url in re.findall(r"\]\(([^)]+)\)", text)}
    assert named == {page.relative_to(site).as_posix() for page in pages}


def test_each_page_is_told_of_in_a_whole_sentence(site):
    lines = [line for line in (site / "llms.txt").read_text().splitlines() if line[:2] == "- "]
    for line in lines:
        sentence = re.fullmatch(r"- \[.+\]\([^)]+\): (.+)", line)
        assert sentence, line
        assert re.fullmatch(r'[A-Z0-9`"(].*[.?!]', sentence[1]), line
        assert len(sentence[1].split()) >= hooks.SHORT and "**" not in sentence[1], line


def test_nothing_is_there_that_only_a_server_can_use(site):
    assert not [path.name for path in site.iterdir() if path.name.startswith(("404", "sitemap"))]


def measured(table: str, line: str) -> list[str]:
    """The cells behind the first of a line of docs/validation.md, of the table so headed."""
    page = (ROOT / "docs/validation.md").read_text()
    rows = page.split(f"\n| {table} |", 1)[1].splitlines()
    row = next(row for row in rows if row.startswith(f"| {line} |"))
    return [cell.strip() for cell in row.strip("|").split("|")[1:]]


def test_the_accuracy_that_pages_quote_is_the_measured_one():
    """Errors of dense runs and of mixtures, as validation.md has them."""
    readme, faq, comparison = (
        (ROOT / name).read_text() for name in ("README.md", "docs/faq.md", "docs/comparison.md")
    )
    left_out = "leaving out one source, constants refitted without it"
    for kind, line in (("dense models", "dense NVIDIA"),) + (("mixtures of experts",) * 2,):
        rows, median, mean, tail, _, covered, _ = measured(left_out, line)
        assert f"| {kind} | {rows} | {median} | {mean} | {tail} | {covered} |" in readme
        for page in (faq, comparison):
            assert median in page, line
        share = f"{float(covered.split()[0]):.0f} %"
        assert f"{rows} {kind.split()[0]}" in faq and share in faq, line
    assert f"the dense mean is {measured(left_out, 'dense NVIDIA')[2]}" in comparison
    for line, table in (
        ("dense models", "dense NVIDIA rows"),
        ("mixtures of experts", "mixtures of experts"),
        ("dense models, sources that nothing was fitted to", "dense NVIDIA rows, not fitted"),
        (
            "mixtures of experts, sources that nothing was fitted to",
            "mixtures of experts, not fitted",
        ),
    ):
        rows, median, mean, *_ = measured(f"{table} | rows", "all")
        assert f"| {line} | {rows} | {median} | {mean} |" in readme, line
    memory = "peak memory, where a source states it, not fitted | rows"
    for software, source in (("Megatron-LM", "simumaxB200"), ("torchtitan", "titan")):
        assert f"{software} {measured(memory, source)[2]}" in comparison, software
    fitted = measured("dense NVIDIA rows | rows", "all")[1]
    assert f"{fitted} in the median on runs" in " ".join(comparison.split())
    page = (ROOT / "docs/validation.md").read_text()
    mean_of_sources = re.search(r"sources' median errors is ([\d.]+ %)", page)
    assert mean_of_sources and f"sources' medians is {mean_of_sources[1]}" in readme


def test_the_quick_start_runs(program, tmp_path):
    """Its commands as they stand, one after the other in an empty folder."""
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    page = (ROOT / "docs/quick_start.md").read_text()
    lines = [
        line
        for block in re.findall(r"^```sh\n(.*?)^```", page, flags=re.M | re.S)
        for line in block.splitlines()
    ]
    assert len(lines) >= 10
    for line in lines:
        words = shlex.split(line, comments=True)
        assert words[0] == "headway"
        done = subprocess.run(
            [program, *words[1:]], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        assert done.stdout or "--report" in words or words[1] == "init", line


def commands(page: str) -> Iterator[list[str]]:
    """The commands of a page's blocks, in order, as words."""
    text = (ROOT / page).read_text().replace("\\\n", " ")
    plain, in_fence = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            in_fence = not in_fence
        elif in_fence or line.startswith("    "):
            plain.append(line.strip())
    for line in plain:
        if line.startswith("headway "):
            yield shlex.split(line, comments=True)


WRITTEN = {"--out", "--trace", "--trace-run", "--report", "--power", "--save", "--dot", "--graphml"}
PAGES = ["README.md", *sorted(p.relative_to(ROOT).as_posix() for p in ROOT.glob("docs/**/*.md"))]


@pytest.mark.parametrize("page", PAGES)
def test_no_command_of_a_page_writes_what_an_earlier_one_has(page):
    """As the program refuses, without --force."""
    there: set[str] = set()
    for words in commands(page):
        files = {file for option, file in pairwise(words) if option in WRITTEN}
        files |= {words[2]} if words[1] == "init" else set()
        assert not files & there, " ".join(words)
        there |= files | set(words[2:])


@pytest.mark.parametrize("page", ["docs/report.md", "docs/power.md", "docs/launch_files.md"])
def test_the_commands_of_a_guide_run(page, program, small, tmp_path):
    """As they stand, one after the other, beside the files that they are given."""
    for name in ("s.yaml", "my.yaml"):
        if not any(("--out", name) in pairwise(words) for words in commands(page)):
            shutil.copy(small, tmp_path / name)

    def call(*words: str) -> None:
        done = subprocess.run(
            [program, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{words}\n{done.stderr}"

    call("run", small.name, "--format", "json", "--out", "other.json")
    call("export", "megatron", small.name, "--out", "pretrain.sh")
    ran = 0
    for words in commands(page):
        call(*words[1:])
        ran += 1
    assert ran >= 3


if BROWSER and PLAYWRIGHT:

    @pytest.fixture(scope="module")
    def tab(site: Path) -> Iterator[tuple[object, list[str]]]:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            problems: list[str] = []
            page.on("console", lambda message: problems.append(message.text))
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on(
                "request",
                lambda request: (
                    None
                    if request.url.startswith(("file:", "data:", "blob:"))
                    else problems.append(request.url)
                ),
            )
            yield page, problems
            browser.close()

    @pytest.mark.deep
    def test_a_browser_reads_and_searches_the_files(site, tab):
        page, problems = tab
        page.goto((site / "index.html").as_uri())
        page.locator("input[data-md-component='search-query']").click()
        page.keyboard.type("leaf_oversubscription")
        found = page.locator(".md-search-result__link").first
        found.wait_for()
        assert "cluster_fabric" in found.get_attribute("href")
        for asked, where in (("mtbf", "run_failures"), ("seq_length", "training")):
            page.goto((site / "index.html").as_uri())
            page.locator("input[data-md-component='search-query']").click()
            page.keyboard.type(asked)
            found = page.locator(".md-search-result__link").first
            found.wait_for()
            assert f"keys/{where}.html" in found.get_attribute("href"), asked
        page.goto((site / "models/network.html").as_uri())
        width = page.locator("article img").first.evaluate("image => image.naturalWidth")
        assert width > 300
        assert not problems

    @pytest.mark.deep
    def test_what_is_written_exactly_is_found_first(site, tab):
        """All keys, asked of the worker of the search; and one as somebody types it."""
        page, problems = tab
        page.goto((site / "index.html").as_uri())
        page.add_script_tag(url=(site / "search/search_index.js").as_uri())
        worker = next(site.glob("assets/javascripts/workers/search.*.js")).relative_to(site)
        asked = [*said.keys(), "ETTR", "micro_batch", "interval", "bring_up"]
        first = page.evaluate(
            """async ([address, asked]) => {
              const worker = new Worker(address);
              const answer = (type, data) => new Promise((resolve) => {
                worker.addEventListener("message", (event) => resolve(event.data), {once: true});
                worker.postMessage({type, data});
              });
              const {config, docs} = __index;
              await answer(0, {config, docs, options: {suggest: false}});
              const found = [];
              for (const words of asked) {
                const pages = (await answer(2, words)).data.items;
                found.push(pages[0][0].location);
              }
              return found;
            }""",
            [worker.as_posix(), asked],
        )
        found = dict(zip(asked, first, strict=True))
        assert found.pop("ETTR").startswith("faq.html#what-is-mfu-here")
        assert found.pop("micro_batch").endswith("#parallelism.micro_batch")
        assert found.pop("interval").endswith("#run.checkpoint.interval")
        assert found.pop("bring_up").endswith("#run.bring_up")
        wrong = [key for key, at in found.items() if not at.endswith("#" + key.replace("[]", ""))]
        assert not wrong
        page.locator("input[data-md-component='search-query']").click()
        page.keyboard.type("run.checkpoint.interval")
        parts = page.locator(".md-search-result__link[href*='#']")
        parts.first.wait_for()
        assert parts.first.get_attribute("href").split("?")[0].endswith("run_checkpoint.html")
        assert parts.first.get_attribute("href").endswith("#run.checkpoint.interval")
        assert not problems

    @pytest.mark.deep
    @pytest.mark.parametrize("width", [400, 1000, 1400, 1600])
    def test_no_table_runs_off_the_screen(site, tab, width):
        page, problems = tab
        page.set_viewport_size({"width": width, "height": 900})
        for name in ("reference/keys/table", "reference/catalogue/gpus", "definitions"):
            page.goto((site / f"{name}.html").as_uri())
            page.wait_for_load_state("load")
            page.wait_for_function("() => document.readyState === 'complete'")
            wide = page.evaluate(
                """() => [...document.querySelectorAll("article table")].filter((table) => {
                  const place = table.closest(".md-typeset__scrollwrap") ?? table.parentElement;
                  return table.offsetWidth > place.clientWidth + 1;
                }).length"""
            )
            assert wide == 0, name
        page.goto((site / "reference/keys/table.html").as_uri())
        row = page.locator("article table tbody tr", has_text="run.trials").first
        table = page.locator("article table").first
        stacked = table.evaluate("table => table.classList.contains('stacked')")
        assert stacked == (width < 1600)
        cell = row.locator("td").nth(4)
        before = cell.evaluate("cell => getComputedStyle(cell, '::before').content")
        assert ("default: " in before) == stacked
        page.locator(".table-filter").fill("mean time between failures")
        assert page.locator("article table tbody tr").locator("visible=true").count() < 20
        page.set_viewport_size({"width": 1400, "height": 900})
        assert not problems

    @pytest.mark.deep
    def test_tables_are_sorted_and_filtered(site, tab):
        page, problems = tab
        page.goto((site / "reference/keys/table.html").as_uri())
        rows = page.locator("article table tbody tr")
        assert rows.count() == len(said.keys())
        page.locator(".table-filter").fill("mean time between failures")
        assert rows.locator("visible=true").all_inner_texts()[0].startswith("run.failures")
        assert page.locator("[role=status]").inner_text().endswith(f"of {len(said.keys())}")
        page.locator(".table-filter").fill("")
        heading = page.locator("article th").first
        for order in ("ascending", "descending"):
            heading.click()
            assert heading.get_attribute("aria-sort") == order
            keys = rows.locator("td:first-child").all_inner_texts()
            assert keys[0] < keys[-1] if order == "ascending" else keys[0] > keys[-1]
        page.goto((site / "reference/catalogue/gpus.html").as_uri())
        page.locator(".table-filter").fill("hopper h200")
        left = page.locator("article table tbody tr").locator("visible=true").all_inner_texts()
        assert left
        assert all("hopper" in row and "h200" in row for row in left)
        assert not problems
