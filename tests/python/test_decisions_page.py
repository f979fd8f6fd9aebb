"""The decisions of the notebooks, walked in the page of ``headway serve``.

Each is the one that the notebook of that number ends with, on a job that is simulated in a moment;
figures are held against the command line. Where there is no browser, no Playwright or no chart
library these tests are not there; the end of the run says so.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import CAN_BROWSE
from conftest import ROOT
from served import serving

if CAN_BROWSE:
    from browsing import Tab, expect

    @pytest.fixture()
    def opened(browser, program):
        @contextlib.contextmanager
        def open_page(scenario: Path) -> Iterator[Tab]:
            with serving(program, scenario) as server:
                tab = Tab(browser, server.address)
                tab.page.wait_for_selector("body[data-simulated]", timeout=60_000)
                yield tab
                tab.end(server)

        return open_page

    @pytest.fixture()
    def result(command, small):
        def of(verb: str, *words: object, scenario: object = small) -> Any:
            done = command(verb, scenario, *words, "--format", "json")
            return json.loads(done.stdout)

        return of

    def figure(text: str) -> float:
        """The number of "1.23 k s" or "-4.5 %"."""
        number, letter = re.match(r"([-+]?[\d.]+)(?: ([kMBT])\b)?", text).groups()
        return float(number) * {"k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}.get(letter, 1)

    def answered(tab: Tab, button: str, verb: str) -> None:
        tab.page.click(button)
        tab.page.wait_for_selector(f'body[data-answered="{verb}"]', timeout=60_000)

    def open_part(tab: Tab, path: str) -> None:
        part = tab.page.locator(f'#fields details[data-path="{path}"]')
        if part.get_attribute("open") is None:
            part.locator("> summary").click()

    def chart(tab: Tab, name: str):
        """The rows of the table below a chart that is drawn."""
        box = tab.page.locator(f'#result [id$="-{name}"].chart')
        expect(box.locator("svg.marks")).to_have_count(1)
        box.locator("xpath=..").locator("summary").click()
        return box.locator("xpath=..").locator("tbody tr")

    def test_01_a_first_prediction(opened, small, result):
        said = result("run")
        with opened(small) as tab:
            assert figure(tab.figure("step", 2)) == pytest.approx(said["step"]["time_s"], rel=6e-3)
            assert figure(tab.figure("MFU", 2)) == pytest.approx(
                100 * said["step"]["mfu"], abs=0.06
            )
            assert said["limit"] in tab.page.inner_text("#result .verdict")

    @pytest.mark.deep
    def test_02_choosing_a_plan(opened, small, result):
        best = result("plan")["plans"][0]
        with opened(small) as tab:
            answered(tab, "#plan", "plan")
            tab.page.locator("#answer .tools button").first.click()
            tab.simulated()
            step = figure(tab.figure("step", 2))
            assert step == pytest.approx(best["step"]["time_s"], rel=6e-3)
            for key in ("tensor", "pipeline", "micro_batch"):
                value = tab.field(f"parallelism.{key}").input_value()
                assert value == str(best["layout"][key])

    @pytest.mark.deep
    def test_03_fat_tree_or_rails(opened, small, result):
        changes = ("fat-tree-2-tier", "adaptive", "4")
        words = (
            "cluster.fabric.use",
            "cluster.fabric.routing",
            "cluster.fabric.leaf_oversubscription",
        )
        sets = [x for pair in zip(words, changes, strict=True) for x in ("--set", "=".join(pair))]
        said = result("run", "--set", "cluster.nodes=8", *sets)
        with opened(small) as tab:
            tab.change("cluster.nodes", "8")
            tab.simulated()
            tab.page.click("#pin")
            rails = tab.figure("step", 2)
            open_part(tab, "cluster")
            open_part(tab, "cluster.fabric")
            for path, value in zip(words, changes, strict=True):
                tab.change(path, value)
            tab.simulated()
            assert tab.figure("step", 3) == rails
            step = figure(tab.figure("step", 2))
            assert step == pytest.approx(said["step"]["time_s"], rel=6e-3)
            assert chart(tab, "cables").count() > 0
            assert chart(tab, "loads").count() > 0

    @pytest.mark.deep
    def test_04_interval_storage_and_goodput(opened, small, result):
        said = result("run", "--set", "run.checkpoint.interval=10 min", "--pictures")
        with opened(small) as tab:
            tab.page.click("#pin")
            tab.page.click("#tab-text")
            text = tab.page.input_value("#text")
            with tab.answered():
                tab.page.fill("#text", text + "  checkpoint: {interval: 10 min}\n")
            tab.simulated()
            ettr = figure(tab.figure("ETTR", 2))
            assert ettr == pytest.approx(100 * said["campaign"]["ettr"]["p50"], abs=0.06)
            assert tab.figure("ETTR", 4) != ""
            curve = said["campaign"]["advice"]["interval_curve"]
            assert chart(tab, "interval").count() == len(curve)
            storages = said["pictures"]["campaign"]["storage_curve"]
            assert [point["factor"] for point in storages] == [0.25, 0.5, 1, 2, 4]
            assert chart(tab, "storage").count() == 5

    @pytest.mark.deep
    def test_05_a_fire_drill(opened, small, result):
        said = result("drill", "--fault", "hang@node1")
        with opened(small) as tab:
            tab.page.select_option("#fault", "hang")
            tab.page.fill("#where", "@node1")
            answered(tab, "#drill", "drill")
            answer = tab.page.inner_text("#answer")
            assert said["remedies"][0]["name"] in answer
            moments = tab.page.locator('#answer [data-list="timeline"] tbody tr')
            assert moments.count() == len(said["timeline"])

    def test_06_calibrating(opened, small, result):
        said = result("run", "--set", "calibration.use=nccl-h100-sxm")
        with opened(small) as tab:
            before = tab.figure("step", 2)
            tab.page.click("#tab-text")
            text = tab.page.input_value("#text")
            with tab.answered():
                tab.page.fill("#text", text + "calibration: {use: nccl-h100-sxm}\n")
            tab.simulated()
            assert tab.figure("step", 2) != before
            step = figure(tab.figure("step", 2))
            assert step == pytest.approx(said["step"]["time_s"], rel=6e-3)

    def test_07_how_far_it_can_be_trusted(opened, small, result):
        low, high = result("run")["step"]["time_interval_s"]
        with opened(small) as tab:
            row = tab.page.locator("#figures tbody tr", has_text="step").first
            title = row.locator("td").nth(1).get_attribute("title")
            ends = [float(end) for end in re.findall(r"[\d.]+", title.removeprefix("90 %"))]
            assert ends == pytest.approx([low, high], rel=6e-3)

    def test_08_a_claim_that_physics_forbids(opened, small, result, tmp_path):
        claimed = tmp_path / "claimed.yaml"
        claimed.write_text(small.read_text() + "claim: {wall: 1 h, tokens: 1e12}\n")
        said = result("run", scenario=claimed)
        assert said["status"] == "infeasible"
        with opened(claimed) as tab:
            told = tab.page.inner_text("#result")
            assert "Status: infeasible" in told
            assert said["reasons"][0] in told

    @pytest.mark.deep
    def test_09_a_purchase(opened, small, result):
        bought = ("--set", "cluster.node.use=dgx-h200", "--set", "run.prices.use=h100-owned-2024")
        said = result("run", *bought)
        with opened(small) as tab:
            tab.page.click("#tab-text")
            text = tab.page.input_value("#text")
            with tab.answered():
                tab.page.fill("#text", text + "  prices: {use: h100-owned-2024}\n")
            tab.simulated()
            tab.page.click("#pin")
            tab.page.click("#tab-form")
            open_part(tab, "cluster")
            open_part(tab, "cluster.node")
            tab.change("cluster.node.use", "dgx-h200")
            tab.simulated()
            cost = figure(tab.figure("cost", 2))
            assert cost == pytest.approx(said["cost"]["total_usd"]["p50"], rel=6e-3)
            assert tab.figure("cost", 4) != ""
            answered(tab, "#compare", "compare")
            answered(tab, "#plan", "plan")

    @pytest.mark.deep
    def test_10_a_hundred_thousand_gpus(opened, result):
        large = ROOT / "configs/scenarios/llama-3.1-405b-16k-h100.yaml"
        change = ("--set", "run.recovery.detection=10 s", "--set", "run.trials=8")
        said = result("run", *change, scenario=large)
        with opened(large) as tab:
            tab.page.locator("#search").fill("recovery.detection")
            found = tab.page.locator('#found [data-path="run.recovery.detection"] input')
            found.fill("10 s")
            tab.page.locator("#search").fill("run.trials")
            tab.page.locator('#found [data-path="run.trials"] input').fill("8")
            tab.simulated()
            ettr = figure(tab.figure("ETTR", 2))
            assert ettr == pytest.approx(100 * said["campaign"]["ettr"]["p50"], abs=0.06)
