"""``headway serve`` as programs see it: who is let in, what is answered, how it ends."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from served import REPLACED, WRONG, serving


@pytest.fixture()
def server(program, small):
    with serving(program, small) as running:
        yield running


def children_of(process: subprocess.Popen) -> list[int]:
    """Processes that a process started and that are there."""
    return [
        int(child)
        for task in os.listdir(f"/proc/{process.pid}/task")
        for child in open(f"/proc/{process.pid}/task/{task}/children").read().split()
    ]


def wait_until(happened, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


# --- Who is let in -------------------------------------------------------------------------------


def test_the_page_is_there_and_its_policy_keeps_it_in(server):
    for path in ("/", "/page.css", "/page.js", "/draw.js"):
        status, body, headers = server.request(path, headers={"Authorization": ""})
        assert status == 200, path
        assert body
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "frame-src https://ui.perfetto.dev;" in headers["Content-Security-Policy"]
        assert headers["Content-Security-Policy"].count("http") == 1, (
            "and nothing else from outside"
        )
    assert server.token not in server.request("/")[1].decode(), "anybody may read the page"


@pytest.mark.parametrize("token", ["", "Bearer ", "Bearer " + "0" * 32, "Basic eA=="])
def test_without_the_token_nothing_is_answered(server, token):
    status, body, _ = server.request("/api/start", b"{}", {"Authorization": token})
    assert status == 401
    assert b"token" in body
    assert b"form" not in body


def test_tokens_differ_from_start_to_start(program, small, server):
    with serving(program, small) as other:
        assert other.token != server.token
        assert (
            server.request("/api/start", b"{}", {"Authorization": f"Bearer {other.token}"})[0]
            == 401
        )


# A name of somebody else that leads to this machine (DNS rebinding).
@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example:{port}", ""]
)
def test_another_host_is_refused(server, host):
    for body in (None, b"{}"):
        status, _, _ = server.request("/", body, {"Host": host.format(port=server.port)})
        assert status in (400, 403), host


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}"])
def test_a_page_of_another_origin_is_refused(server, origin):
    headers = {"Origin": origin.format(port=server.port)}
    assert server.request("/api/start", b"{}", headers)[0] == 403
    own = {"Origin": f"http://127.0.0.1:{server.port}"}
    assert server.request("/api/start", b"{}", own)[0] == 200


def test_localhost_is_this_machine_too(server):
    assert server.request("/", headers={"Host": f"localhost:{server.port}"})[0] == 200


def test_an_address_of_ip_6_stands_in_brackets(program, small):
    with serving(program, small, "--host", "::1") as running:
        assert running.address.startswith("http://[::1]:")
        assert running.request("/")[0] == 200
        own = {"Origin": f"http://[::1]:{running.port}"}
        assert running.request("/api/start", b"{}", own)[0] == 200
        assert running.request("/", headers={"Host": f"::1:{running.port}"})[0] == 403


def test_it_listens_to_this_machine_alone(server):
    held = [line.split() for line in open("/proc/net/tcp").read().splitlines()[1:]]
    where = [
        line[1] for line in held if line[3] == "0A" and line[1].endswith(f":{server.port:04X}")
    ]
    assert where == [f"0100007F:{server.port:04X}"]


# --- Methods and files ----------------------------------------------------------------------------


def test_head_has_no_body_and_other_methods_are_refused(server):
    def sent(method: str, path: str = "/") -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request(method, path)
        reply = connection.getresponse()
        reply.body = reply.read()
        connection.close()
        return reply

    head, page = sent("HEAD"), sent("GET")
    assert (head.status, head.body) == (200, b"")
    assert head.getheader("Content-Length") == str(len(page.body))
    for method in ("DELETE", "PUT", "PATCH", "OPTIONS"):
        refused = sent(method, "/api/start")
        assert refused.status == 405, method
        assert refused.getheader("Allow") == "GET, HEAD, POST"


def without_times(text: str) -> str:
    return re.sub(r'"timing": \{[^}]*\}', "", text)


# A whole number of seconds is 4.0 in the program's text and 4 in a browser's.
def test_what_is_downloaded_is_what_the_program_prints(server, program, small):
    _, answer = server.ask("simulate", verb="run", set=["parallelism.tensor=4"])
    words = ["--set", "parallelism.tensor=4", "--explain", "--pictures", "--format", "json"]
    printed = subprocess.run(
        [program, "run", small, *words], capture_output=True, text=True, check=True
    )
    assert without_times(answer["text"]) == without_times(printed.stdout)
    assert (
        "save('result.json', 'application/json', shown.text)"
        in server.request("/page.js")[1].decode()
    )


def test_the_trace_of_the_page_is_that_of_the_program(server, program, small, tmp_path):
    _, answer = server.ask("simulate", verb="run")
    question = {"result": answer["result"], "power": answer["power"]}
    status, trace, _ = server.request("/api/trace", json.dumps(question).encode())
    assert status == 200
    subprocess.run([program, "run", small, "--trace", tmp_path / "t.pftrace"], check=True)
    assert trace == (tmp_path / "t.pftrace").read_bytes()
    assert b"GPUs, hosts and switches [W]" in trace
    question["power"] = {"watts": 1}
    assert "simulation gave it" in server.ask("trace", **question)[1]["errors"][0]["message"]


# --- Limits --------------------------------------------------------------------------------------


def test_a_body_that_is_too_large_is_refused(server):
    headers = {"Content-Length": str(17 << 20)}
    assert server.request("/api/estimate", b"{", headers)[0] == 413
    assert server.ask("start")[0] == 200, "and the next is answered"


def test_a_body_without_a_length_is_refused(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        head = f"POST /api/start HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        head += f"Authorization: Bearer {server.token}\r\nTransfer-Encoding: chunked\r\n\r\n"
        raw.sendall(head.encode())
        assert raw.recv(100).startswith(b"HTTP/1.1 411")


def test_who_sends_half_a_request_is_left_and_others_are_answered(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as slow:
        slow.sendall(b"POST /api/start HTTP/1.1\r\nHost: ")
        assert server.ask("start")[0] == 200
        begun = time.monotonic()
        while slow.recv(1000):
            pass
        assert time.monotonic() - begun < 15


def test_connections_that_say_nothing_or_dawdle_keep_nobody_waiting(server):
    def opened():
        return socket.create_connection(("127.0.0.1", server.port), timeout=30)

    silent, slow = [opened() for _ in range(160)], [opened() for _ in range(40)]
    try:
        for each in slow:
            each.sendall(b"GET / HTTP/1.1\r\nHost: ")
        begun = time.monotonic()
        assert server.ask("start")[0] == 200
        assert time.monotonic() - begun < 4, "each may take 5 s of its own"
    finally:
        for each in silent + slow:
            each.close()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"set": "x"}',
        b'{"set": [1]}',
        b'{"text": 3}',
        b'{"verb": {"a": 1}}',
        b'{"pinned": []}',
        b'{"pinned": {"text": []}}',
        b"\xff\xfe",
        b"[" * 100000,
        b'{"text": "\\u0000"}',
        b'{"text": "a: [1"}',
        b'{"text": ""}',
        b'{"set": ["="]}',
        b'{"set": ["\xc3\x28=1"]}',
        b'{"text": "headway: 1\\nname: {use: /etc/passwd}\\n"}',
    ],
)
@pytest.mark.parametrize("path", ["estimate", "text", "report", "simulate"])
def test_bad_questions_are_errors_in_words(server, path, body):
    status, answer, _ = server.request("/api/" + path, body)
    assert status == 200, answer
    if path == "text" and "errors" not in json.loads(answer):
        return  # without changes any text is written as it is
    assert json.loads(answer)["errors"]
    for error in json.loads(answer)["errors"]:
        assert error["message"]
        assert "internal" not in error["message"]


def test_nothing_is_packed_on_its_way_to_this_machine(server):
    """Packing the charts' script takes seconds, sending it milliseconds."""
    taken = {"Accept-Encoding": "gzip, deflate, br, zstd"}
    for path, body in (("/charts.js", None), ("/page.js", None), ("/api/start", b"{}")):
        status, answer, headers = server.request(path, body, taken)
        assert status == 200, path
        assert "Content-Encoding" not in headers, path
        assert int(headers["Content-Length"]) == len(answer) > 1000, path


def test_unknown_paths_and_verbs(server):
    assert server.request("/api/other", b"{}")[0] == 404
    assert server.request("/%2e%2e/etc/passwd")[0] == 404
    status, answer = server.ask("simulate", verb="delete")
    assert status == WRONG
    assert "there are run, plan, drill, compare" in answer["errors"][0]["message"]


# --- Answers -------------------------------------------------------------------------------------


def test_a_simulation_says_what_the_command_line_says(server, command, small):
    change = "parallelism.micro_batch=2"
    status, answer = server.ask("simulate", verb="run", set=[change])
    assert status == 200
    done = command("run", small, "--set", change, "--explain", "--pictures", "--format", "json")
    printed = json.loads(done.stdout)
    for each in (answer["result"], printed):
        del each["timing"]
    assert answer["result"] == printed
    assert '<section id="result-0">' in answer["html"]


def test_an_estimate_is_near_and_has_the_values_of_the_form(server):
    status, answer = server.ask("estimate", set=["parallelism.tensor=4"])
    assert status == 200
    _, run = server.ask("simulate", verb="run", set=["parallelism.tensor=4"])
    simulated = run["result"]["step"]["time_s"]
    assert answer["estimate"]["time_s"] == pytest.approx(simulated, rel=0.1)
    assert answer["estimate"]["memory"] == run["result"]["memory"]
    assert answer["values"]["parallelism"]["tensor"] == "4"
    assert answer["used"]["cluster.node"] == "dgx-h100"


def test_errors_are_at_their_fields(server):
    changes = ["parallelism.tensor=3", "cluster.spares=-1"]
    status, answer = server.ask("estimate", set=changes[1:])
    assert status == WRONG
    assert answer["errors"][0]["field"] == "cluster.spares"
    status, answer = server.ask("estimate", set=changes[:1])
    assert "parallelism.tensor" in [error["field"] for error in answer["errors"]]
    _, start = server.ask("start")
    text = start["text"].replace("global_batch: 32", "global_batch: 31")
    status, answer = server.ask("estimate", text=text)
    assert status == WRONG
    assert answer["errors"][0]["field"] == "training.global_batch"
    assert "31" in answer["errors"][0]["place"], "the line of the text"


def test_plan_drill_and_compare(server):
    status, answer = server.ask("simulate", verb="plan")
    assert status == 200
    assert answer["result"]["schema"] == "headway.plan/1"
    status, answer = server.ask("simulate", verb="drill", fault="hang@node1")
    assert status == 200
    assert answer["result"]["schema"] == "headway.drill/1"
    status, answer = server.ask(
        "simulate", verb="compare", set=["cluster.nodes=4"], pinned={"set": []}
    )
    assert status == 200
    assert (
        answer["result"]["b"]["figures"]["step_time_s"]
        < answer["result"]["a"]["figures"]["step_time_s"]
    )
    assert server.ask("simulate", verb="compare")[0] == WRONG
    assert server.ask("simulate", verb="drill", fault="flood")[0] == WRONG


def test_the_text_takes_the_changes_and_a_report_is_a_page(server, tmp_path, command):
    _, answer = server.ask("text", set=["cluster.nodes=4"])
    (tmp_path / "written.yaml").write_text(answer["text"])
    done = command("check", tmp_path / "written.yaml")
    assert done.returncode == 0, done.stderr
    assert "use: dgx-h100" in answer["text"]
    _, run = server.ask("simulate", verb="run")
    body = json.dumps({"result": run["result"]}).encode()
    status, page, headers = server.request("/api/report", body)
    assert status == 200
    assert headers["Content-Type"].startswith("text/html")
    assert b"<h1>Small</h1>" in page


def test_it_starts_without_a_scenario_and_with_changes(program):
    with serving(program, "--set", "cluster.nodes=16") as running:
        _, start = running.ask("start")
        assert start["set"] == ["cluster.nodes=16"]
        assert running.ask("estimate")[0] == 200
        assert "ParallelismSpec" in start["form"]["types"]


# --- Many at a time ------------------------------------------------------------------------------

# What takes long enough to be interrupted: many trials of a run that fails all the time.
LONG = ["run.trials=1000000", "run.until.steps=10000000"]


def test_a_newer_question_replaces_an_older_one(server):
    with ThreadPoolExecutor() as pool:
        old = pool.submit(server.ask, "simulate", verb="run", page="p", set=LONG)
        wait_until(lambda: children_of(server.process))
        status, _ = server.ask("simulate", verb="run", page="p")
        assert status == 200
        assert old.result()[0] == REPLACED


def test_further_simulations_are_refused_and_stopped_ones_end(server):
    with ThreadPoolExecutor() as pool:
        running = [
            pool.submit(server.ask, "simulate", verb="run", page=page, set=LONG) for page in "ab"
        ]
        wait_until(lambda: len(children_of(server.process)) == 2)
        status, answer = server.ask("simulate", verb="run", page="c")
        assert status == 503
        assert "other simulations" in answer["errors"][0]["message"]
        assert server.ask("estimate")[0] == 200, "estimates need no process"
        for page in "ab":
            assert server.ask("stop", verb="run", page=page)[0] == 200
        assert [each.result()[0] for each in running] == [REPLACED, REPLACED]
    wait_until(lambda: not children_of(server.process))


def test_estimates_of_many_threads_are_each_their_own(server):
    sizes = [2, 4, 8, 16] * 4
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda n: server.ask("estimate", set=[f"cluster.nodes={n}"]), sizes)
        )
    for size, (status, answer) in zip(sizes, answers, strict=True):
        assert status == 200
        assert answer["values"]["cluster"]["nodes"] == str(size)


def test_a_simulation_has_its_time(program, small):
    with serving(program, small, "--limit", 1) as running:
        begun = time.monotonic()
        status, answer = running.ask("simulate", verb="run", set=LONG)
        assert status == 504
        assert time.monotonic() - begun < 20
        assert "--limit" in answer["errors"][0]["message"]
        wait_until(lambda: not children_of(running.process))


# --- How it ends ---------------------------------------------------------------------------------


def ended(pid: int) -> bool:
    try:
        return open(f"/proc/{pid}/stat").read().split()[2] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize(("by", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15)])
def test_it_ends_at_once_and_with_it_what_it_started(server, by, code):
    def ask() -> None:
        with pytest.raises((OSError, http.client.HTTPException)):
            server.ask("simulate", verb="run", set=LONG)

    asking = threading.Thread(target=ask)
    asking.start()
    wait_until(lambda: children_of(server.process))
    children = children_of(server.process)
    begun = time.monotonic()
    server.process.send_signal(by)
    assert server.process.wait(timeout=10) == code
    assert time.monotonic() - begun < 1
    asking.join()
    wait_until(lambda: all(ended(child) for child in children))


def test_what_is_nested_too_deep_is_refused(server):
    for opened, closed in ((b'{"pinned":', b"}"), (b"[", b"]")):
        deep = opened * 40_000 + b"1" + closed * 40_000
        if opened == b"[":
            deep = b'{"result":' + deep + b"}"
        status, body, _ = server.request("/api/text", deep)
        assert status == 200
        assert b"nested more than 50 levels deep" in body
    assert server.process.poll() is None
    assert server.ask("text")[0] == 200


def test_a_taken_port_and_a_missing_file_are_said(server, command, small, tmp_path):
    done = command("serve", small, "--port", server.port)
    assert done.returncode == 2
    assert "--port 0" in done.stderr
    done = command("serve", tmp_path / "none.yaml", "--port", 0)
    assert done.returncode == 2
    assert "none.yaml" in done.stderr
    assert command("serve", small, "--port", 70000).returncode == 2
    assert command("serve", small, "--host", "203.0.113.1").returncode == 2


def test_nothing_is_written(program, small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    with serving(program, small) as running:
        assert running.ask("simulate", verb="run")[0] == 200
    assert sorted(path.name for path in tmp_path.iterdir()) == before
