"""A running ``headway serve`` for tests."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# What is no failure of the server has status 200, since browsers log all others.
WRONG, REPLACED = "wrong", "replaced"


@dataclass
class Served:
    """Where it listens, and the process itself."""

    port: int
    token: str
    process: subprocess.Popen[str]
    host: str = "127.0.0.1"  #: as an address has it

    @property
    def address(self) -> str:
        return f"http://{self.host}:{self.port}/#token={self.token}"

    def request(
        self,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        timeout: float = 60,
    ) -> tuple[int, bytes, dict[str, str]]:
        """Status, body and headers of the reply; a header that is empty is left out."""
        given = {"Host": f"{self.host}:{self.port}", "Authorization": f"Bearer {self.token}"}
        given |= headers or {}
        host = self.host.strip("[]")
        connection = http.client.HTTPConnection(host, self.port, timeout=timeout)
        try:
            method = "GET" if body is None else "POST"
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            if body is not None and "Content-Length" not in given:
                given["Content-Length"] = str(len(body))
            for name, value in given.items():
                if value:
                    connection.putheader(name, value)
            connection.endheaders(body)
            reply = connection.getresponse()
            return reply.status, reply.read(), dict(reply.getheaders())
        finally:
            connection.close()

    def ask(self, path: str, **question: Any) -> tuple[int | str, Any]:
        """A question of the page: status, `WRONG` or `REPLACED`, and the JSON of its answer."""
        status, body, _ = self.request("/api/" + path, json.dumps(question).encode())
        answer = json.loads(body)
        if status == 200 and "errors" in answer:
            return REPLACED if answer.get("replaced") else WRONG, answer
        return status, answer


def hear_ctrl_c() -> None:
    """What a shell starts in the background ignores Ctrl-C, and so does all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextlib.contextmanager
def serving(program: Path, *options: object) -> Iterator[Served]:
    """Serves at a free port until the block ends."""
    words = [str(program), "serve", "--port", "0", *map(str, options)]
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_ctrl_c,
    ) as process:
        try:
            assert process.stdout
            process.stdout.readline()
            line = process.stdout.readline()
            found = re.search(
                r"http://(127\.0\.0\.1|\[::1\]):(\d+)/#token=([0-9a-f]{32})$", line.strip()
            )
            assert found, (line, process.poll())
            yield Served(int(found[2]), found[3], process, found[1])
        finally:
            if process.poll() is None:
                process.kill()
