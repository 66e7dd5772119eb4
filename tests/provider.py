"""A provider of models on this machine: a real HTTP server that answers as it is told.

It speaks `/api/tags`, `/v1/models`, chat completions under every provider's path, and
`/v1/messages`.  Each request is recorded.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from orgvault.domain.episode import Episode
from orgvault.domain.excerpt import Excerpt
from orgvault.domain.reflection import Question
from orgvault.domain.transcript import EMPTY
from orgvault.domain.wake import Outcome, Reason

NONE = '{"operations": []}'
OPERATION = {
    "why": "The build failed twice for one reason.",
    "evidence": "npm ERR! missing script: build",
    "op": "add",
    "claim": None,
    "claim_starts": None,
    "kind": "friction",
    "text": "I lose a turn whenever I run the site build before installing its dependencies.",
}
GOOD = json.dumps({"operations": [OPERATION]})
TEXTS = {
    "good": GOOD,
    "fenced": f"```json\n{GOOD}\n```",
    "prose": f"Here is what I found:\n\n{GOOD}\n\nLet me know if you need more!",
    "malformed": GOOD.replace('", "', '" "'),
    "wrong_schema": '{"lessons": ["I should install first."]}',
    "empty": " \n",
}
HALF = GOOD[: len(GOOD) // 2]
SCHEMA_KEYS = ("response_format", "output_config")


@dataclass(frozen=True)
class Request:
    """One request as it came in; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass
class Provider:
    """The server's side: its address, its manner, and what it was asked.

    `modes` are the manners of the requests for an answer in turn; the last one stays.
    """

    modes: list[str]
    text: str = GOOD
    models: Sequence[Mapping[str, Any]] = ()
    retry_after: str = ""
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    stopping: Event = field(default_factory=Event)

    @property
    def asked(self) -> list[Request]:
        """The requests for an answer."""
        return [one for one in self.requests if one.method == "POST"]


@contextmanager
def serving(
    *modes: str,
    text: str = GOOD,
    models: Sequence[Mapping[str, Any]] = (),
    retry_after: str = "",
) -> Iterator[Provider]:
    """A provider that serves until the block ends; `"500", "good"` is one that fails once."""
    provider = Provider(list(modes) or ["good"], text, models, retry_after)
    server = _Server(("127.0.0.1", 0), _Handler)
    server.provider = provider
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        provider.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


def question(prompt: str = "What was learned?") -> Question:
    """A question of this prompt about a run without content."""
    episode = Episode(
        id="e-1", agent="nova", run="run-9", wakes=(), reason=Reason.TASK, card=None,
        outcome=Outcome.DONE, exit_code=0, turns=3, cost_usd=None, duration_s=None,
        tokens_in=None, tokens_out=None, model=None, log=None, transcript=None, client=None,
        summary="I worked and finished after 3 turns: the site is live.", prompt_sha256=None,
        core_sha256=None, session=None, session_cost_usd=None, reflect_skipped=None,
        started_at=None, finished_at="2026-11-27T16:40:51Z",
    )  # fmt: skip
    return Question(episode, Excerpt(()), EMPTY, (), (), (), prompt)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    provider: Provider

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients that go away are what is tested."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        provider = self._recorded({})
        path = self.path.partition("?")[0]
        if path.endswith("/api/tags"):
            if provider.modes[0] in {"slow", "drip"}:
                MODES[provider.modes[0]](self, {})
            else:
                self.reply({"models": list(provider.models)})
        elif path.endswith("/models"):
            rows = [{"id": one["name"], "object": "model"} for one in provider.models]
            self.reply({"object": "list", "data": rows})
        else:
            self.reply({"error": {"message": "no such page"}}, 404)

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", "0"))
        body = json.loads(self.rfile.read(size))
        provider = self._recorded(body)
        path = self.path.partition("?")[0]
        if not path.endswith(("/chat/completions", "/v1/messages")):
            self.reply({"error": {"message": "no such page"}}, 404)
            return
        mode = provider.modes[0]
        if len(provider.modes) > 1:
            provider.modes.pop(0)
        MODES[mode](self, body)

    def say(self, text: str, stop: str = "", refusal: str | None = None) -> None:
        """An answer of this text, in the words of the wire that asked."""
        self.reply(self.completion(text, stop, refusal))

    def completion(self, text: str, stop: str = "", refusal: str | None = None) -> object:
        if self.path.partition("?")[0].endswith("/v1/messages"):
            content = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": text}]
            stop = {"": "end_turn", "length": "max_tokens"}.get(stop, stop)
            stop = "refusal" if refusal else stop
            return {
                "type": "message", "role": "assistant", "content": content, "stop_reason": stop,
                "usage": {"input_tokens": 900, "cache_read_input_tokens": 100, "output_tokens": 50},
            }  # fmt: skip
        message = {"role": "assistant", "content": text, "refusal": refusal}
        usage: dict[str, float] = {"prompt_tokens": 1000, "completion_tokens": 50, "cost": 0.01}
        choice = {"index": 0, "message": message, "finish_reason": stop or "stop"}
        return {"object": "chat.completion", "choices": [choice], "usage": usage}

    def reply(self, value: object, status: int = 200, **headers: str) -> None:
        self.send(json.dumps(value).encode(), status, **headers)

    def send(self, body: bytes, status: int = 200, **headers: str) -> None:
        given = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        self.send_response(status)
        for name, value in (given | {k.replace("_", "-"): v for k, v in headers.items()}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def drip(self, body: bytes) -> None:
        """Send bytes one at a time, for half a minute at most."""
        with suppress(OSError):
            for at in range(len(body)):
                self.wfile.write(body[at : at + 1])
                if self.server.provider.stopping.wait(0.05):
                    return

    def _recorded(self, body: Mapping[str, Any]) -> Provider:
        provider = self.server.provider
        headers = {name.lower(): value for name, value in self.headers.items()}
        provider.requests.append(Request(self.command, self.path, headers, body))
        return provider


Mode = Callable[[_Handler, Mapping[str, Any]], None]


def _fails(status: int, error: Mapping[str, object]) -> Mode:
    def mode(at: _Handler, _: Mapping[str, Any]) -> None:
        after = at.server.provider.retry_after
        at.reply({"error": error}, status, **({"Retry_After": after} if after else {}))

    return mode


def _says(text: str) -> Mode:
    return lambda at, _: at.say(text)


def _without(parameters: Sequence[str], message: str, status: int = 400) -> Mode:
    """Refuse a request that has one of these parameters."""

    def mode(at: _Handler, body: Mapping[str, Any]) -> None:
        if any(one in body for one in parameters):
            at.reply({"error": {"message": message, "type": "invalid_request_error"}}, status)
        else:
            at.say(at.server.provider.text)

    return mode


def _only_objects(at: _Handler, body: Mapping[str, Any]) -> None:
    """As older servers of llama.cpp: any JSON may be asked for, a schema may not."""
    if body.get("response_format", {}).get("type") == "json_schema":
        what = 'response_format type must be one of "text" or "json_object", but got: json_schema'
        at.reply({"error": {"code": 500, "message": what, "type": "server_error"}}, 500)
    else:
        at.say(at.server.provider.text)


def _slow(at: _Handler, _: Mapping[str, Any]) -> None:
    if not at.server.provider.stopping.wait(30):
        at.say(GOOD)


def _thoughtful(at: _Handler, _: Mapping[str, Any]) -> None:
    at.server.provider.stopping.wait(1)
    at.say(at.server.provider.text)


def _drip(at: _Handler, _: Mapping[str, Any]) -> None:
    body = json.dumps(at.completion(GOOD)).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
    at.wfile.write(head.encode())
    at.drip(body)


def _drip_head(at: _Handler, _: Mapping[str, Any]) -> None:
    at.drip(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 600)


def _cut(at: _Handler, _: Mapping[str, Any]) -> None:
    at.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{"choices": [')
    at.close_connection = True


def _html(at: _Handler, _: Mapping[str, Any]) -> None:
    at.send(b"<!doctype html><title>Sign in</title>", 200, Content_Type="text/html")


def _no_json(at: _Handler, _: Mapping[str, Any]) -> None:
    at.send(b"upstream connected", 200, Content_Type="text/plain")


def _oversized(at: _Handler, _: Mapping[str, Any]) -> None:
    at.say("x" * (2 << 20))


def _redirect(at: _Handler, _: Mapping[str, Any]) -> None:
    at.send(b"", 307, Location=f"{at.server.provider.url}/v1/chat/completions?again")


MODES: Mapping[str, Mode] = {
    **{name: _says(text) for name, text in TEXTS.items()},
    "given": lambda at, _: at.say(at.server.provider.text),
    "truncated": lambda at, _: at.say(HALF, "length"),
    "refusal": lambda at, _: at.say("No.", refusal="I cannot help with that."),
    "filtered": lambda at, _: at.say("No.", "content_filter"),
    "long": _says("[" + "1, " * 20_000 + "1]"),
    "error_in_200": lambda at, _: at.reply({"error": {"code": 502, "message": "upstream"}}),
    "other_form": lambda at, _: at.reply({"data": []}),
    "slow": _slow,
    "thoughtful": _thoughtful,
    "drip": _drip,
    "drip_head": _drip_head,
    "cut": _cut,
    "html": _html,
    "no_json": _no_json,
    "oversized": _oversized,
    "redirect": _redirect,
    "401": _fails(401, {"message": "Bad key sk-secret-1234567890", "code": "invalid_api_key"}),
    "404": _fails(404, {"message": "The model does not exist", "code": "model_not_found"}),
    "429": _fails(429, {"message": "Slow down", "type": "rate_limit_error"}),
    "500": _fails(500, {"message": "Oops", "type": "server_error"}),
    "503": _fails(503, {"message": "Busy", "type": "overloaded_error"}),
    "400_schema": _without(SCHEMA_KEYS, "Invalid parameter: response_format, or output_config"),
    "422_schema": _without(SCHEMA_KEYS, "json_schema is not supported", 422),
    "500_schema": _only_objects,
    "400_temperature": _without(["temperature"], "temperature is not supported with this model"),
    "400_limit": _without(["max_tokens"], "Use 'max_completion_tokens' instead of 'max_tokens'."),
    "400_effort": _without(["reasoning_effort"], "Unknown field: reasoning_effort"),
    "400": _fails(400, {"message": "Something else is wrong"}),
}
