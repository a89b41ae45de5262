"""The gateway that the tests talk to, which check.sh has started, and what stands before it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from recado import AsyncRecado, Recado

with open(os.environ["RECADO_READY_FILE"], encoding="utf-8") as _ready:
    GATEWAY: dict[str, Any] = json.load(_ready)


def as_phone(path: str, body: object = None) -> Any:
    """Asks the sandbox's phones."""
    answer = httpx.request("POST" if body else "GET", f"{GATEWAY['baseUrl']}/sandbox/api/phones/{path}", json=body)
    answer.raise_for_status()
    return answer.json() if answer.content else None


class Blocking:
    """An AsyncRecado that is called like a Recado, so that the same tests try both."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = AsyncRecado(*args, **options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **arguments: Any) -> Any:
            called = getattr(self._client, name)(*args, **arguments)
            return self._each(called) if hasattr(called, "__anext__") else self._loop.run_until_complete(called)

        return call

    def _each(self, sequence: Any) -> Iterator[Any]:
        try:
            while True:
                try:
                    item = self._loop.run_until_complete(sequence.__anext__())
                except StopAsyncIteration:
                    return
                yield item
        finally:
            self._loop.run_until_complete(sequence.aclose())

    def __enter__(self) -> Blocking:
        self._loop.run_until_complete(self._client.__aenter__())
        return self

    def __exit__(self, *error: Any) -> None:
        self._loop.run_until_complete(self._client.__aexit__(None, None, None))
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


@pytest.fixture(params=[Recado, Blocking], ids=["sync", "async"])
def connect(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Makes clients, of both kinds, and closes them after the test."""
    with contextlib.ExitStack() as clients:
        yield lambda *args, **options: clients.enter_context(request.param(*args, **options))


@pytest.fixture
def recado(connect: Callable[..., Any]) -> Any:
    """A client of the gateway."""
    return connect(GATEWAY["baseUrl"], GATEWAY["apiKey"])


Answer = Callable[[BaseHTTPRequestHandler, bytes], None]


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], str]]:
    """Answers requests by a function, and returns the address."""
    servers = []

    def start(answer: Answer) -> str:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                answer(self, self.rfile.read(int(self.headers.get("Content-Length", 0))))

            do_GET = do_POST = do_PATCH = handle_any

            def log_message(self, *_: Any) -> None:
                """Tests have no log."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.socket.close()


def reply(request: BaseHTTPRequestHandler, status: int, body: str, **headers: str) -> None:
    """Answers a request with JSON."""
    content = body.encode()
    request.send_response(status)
    for name, value in {"content_type": "application/json", "content_length": str(len(content)), **headers}.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(content)


class Cable:
    """Listens before the gateway; cut breaks the connections that are open."""

    def __init__(self) -> None:
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        at = urlsplit(GATEWAY["baseUrl"])
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection((str(at.hostname), int(at.port or 80)))
                self._open |= {near, far}
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._pipe, args=ends, daemon=True).start()

    def _pipe(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                target.sendall(piece)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        """Breaks the connections that are open."""
        while self._open:
            end = self._open.pop()
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        """Listens no more."""
        self.cut()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def cable() -> Iterator[Cable]:
    """A cable to the gateway."""
    made = Cable()
    yield made
    with contextlib.suppress(OSError):
        made.close()
