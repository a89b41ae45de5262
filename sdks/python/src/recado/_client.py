"""The clients of a gateway."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from itertools import count
from types import TracebackType
from typing import Any, TypeVar

import httpx

from ._errors import ConnectionError
from ._operations import AsyncOperations, Operations
from ._records import Event
from ._request import Source, answered, json_body
from ._retry import pause_after, pause_between, repeatable
from ._stream import Messages, Position
from ._upload import AsyncFile, File, Form
from .types import Upload

Answer = TypeVar("Answer")
Client = TypeVar("Client", bound="Recado")
AsyncClient = TypeVar("AsyncClient", bound="AsyncRecado")


class Recado(Operations):
    """Calls one gateway with one API key:

        with Recado() as recado:
            recado.send_text(instance_id=instance_id, to="5511988887766", message="Oi!")

    Each operation of the API is a method that takes the parameters of the path, of the query, and
    the fields of the body by their names. A refusal raises a RecadoError. A request that fails for
    now is made again if that does nothing twice; sends carry an Idempotency-Key for it. Threads may
    share a client.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        retries: int = 2,
        timeout: float = 300,
        http_client: httpx.Client | None = None,
    ) -> None:
        """
        Args:
            base_url: Address of the gateway; if left out, the variable RECADO_URL, or else http://127.0.0.1:8080.
            api_key: API key; if left out, the variable RECADO_API_KEY.
            retries: How often a request is repeated after the first time.
            timeout: For how many seconds an answer may be awaited, each time.
            http_client: What makes the requests, such as one with a proxy. It is yours to close.
        """
        self._source = Source(base_url, api_key)
        self._retries = retries
        self._timeout = httpx.Timeout(timeout)
        self._http = http_client or httpx.Client()
        self._owns_http = http_client is None

    def __enter__(self: Client) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        if self._owns_http:
            self._http.close()

    def stream_events(
        self,
        *,
        instance_id: str,
        types: Sequence[str] | None = None,
        after: int | None = None,
        silence: float = 45,
    ) -> Generator[Event, None, None]:
        """Yields the events of an instance in order and without a gap. It reconnects by itself and goes
        on where it was, until an error that reconnecting would not fix. To go on after a restart of
        your program, keep the `sequence` of the last event that you have processed, and pass it as
        `after`.

        Args:
            instance_id: Identifier of the instance.
            types: Types of events, such as message.received; all if left out.
            after: The sequence of the last event that was processed, 0 for none. If left out, it begins with the next event.
            silence: For how many seconds nothing may arrive before the connection counts as dead.
        """
        position = Position(self._source, instance_id, types, after, silence)
        while True:
            refused = None
            try:
                response = self._http.send(position.request(self._http), stream=True)
                try:
                    if response.is_success:
                        messages = Messages()
                        for piece in response.iter_bytes():
                            for message in messages.read(piece):
                                event = position.read(message)
                                if event is not None:
                                    yield event
                                position.passed(message)
                    else:
                        response.read()
                        refused = response
                finally:
                    response.close()
            except httpx.TransportError:
                pass  # it connects anew
            time.sleep(position.pause(refused))

    def upload(self, file: File, *, file_name: str | None = None) -> Upload:
        """Sends a file to the gateway as it is read, without holding it in memory. Afterwards every field
        for a file takes `upload:` and the id. It is not repeated by itself: a file is read once.

        Args:
            file: A path, a file that is open in binary mode, or the content piece by piece.
            file_name: Name of the file; if left out, that of the path or the open file.
        """
        form = Form(file, file_name)
        request = self._source.request(
            self._http, "POST", "/api/uploads", headers=form.headers, timeout=self._timeout, content=iter(form)
        )
        return answered(Upload, self._send(request, retries=0), None)

    def _call(
        self,
        answer: type[Answer],
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: object = None,
        told: Mapping[str, str] | None = None,
    ) -> Answer:
        request = self._source.request(
            self._http, method, path, query=query, headers=headers, timeout=self._timeout, **json_body(body)
        )
        return answered(answer, self._send(request, retries=self._retries), told)

    def _send(self, request: httpx.Request, *, retries: int) -> httpx.Response:
        for tried in count():
            last = tried >= retries
            try:
                response = self._http.send(request)
            except httpx.TransportError as error:
                if last or not repeatable(request):
                    raise ConnectionError(request.url, error) from error
                pause = pause_between(tried)
            else:
                again = pause_after(response, tried)
                if last or again is None:
                    break
                pause = again
            time.sleep(pause)
        return response


class AsyncRecado(AsyncOperations):
    """Calls one gateway with one API key, as Recado does, for programs on asyncio:

    async with AsyncRecado() as recado:
        await recado.send_text(instance_id=instance_id, to="5511988887766", message="Oi!")
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        retries: int = 2,
        timeout: float = 300,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """
        Args:
            base_url: Address of the gateway; if left out, the variable RECADO_URL, or else http://127.0.0.1:8080.
            api_key: API key; if left out, the variable RECADO_API_KEY.
            retries: How often a request is repeated after the first time.
            timeout: For how many seconds an answer may be awaited, each time.
            http_client: What makes the requests, such as one with a proxy. It is yours to close.
        """
        self._source = Source(base_url, api_key)
        self._retries = retries
        self._timeout = httpx.Timeout(timeout)
        self._http = http_client or httpx.AsyncClient()
        self._owns_http = http_client is None

    async def __aenter__(self: AsyncClient) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._owns_http:
            await self._http.aclose()

    async def stream_events(
        self,
        *,
        instance_id: str,
        types: Sequence[str] | None = None,
        after: int | None = None,
        silence: float = 45,
    ) -> AsyncGenerator[Event, None]:
        """Yields the events of an instance in order and without a gap. It reconnects by itself and goes
        on where it was, until an error that reconnecting would not fix. To go on after a restart of
        your program, keep the `sequence` of the last event that you have processed, and pass it as
        `after`.

        Args:
            instance_id: Identifier of the instance.
            types: Types of events, such as message.received; all if left out.
            after: The sequence of the last event that was processed, 0 for none. If left out, it begins with the next event.
            silence: For how many seconds nothing may arrive before the connection counts as dead.
        """
        position = Position(self._source, instance_id, types, after, silence)
        while True:
            refused = None
            try:
                response = await self._http.send(position.request(self._http), stream=True)
                try:
                    if response.is_success:
                        messages = Messages()
                        async for piece in response.aiter_bytes():
                            for message in messages.read(piece):
                                event = position.read(message)
                                if event is not None:
                                    yield event
                                position.passed(message)
                    else:
                        await response.aread()
                        refused = response
                finally:
                    await response.aclose()
            except httpx.TransportError:
                pass  # it connects anew
            await asyncio.sleep(position.pause(refused))

    async def upload(self, file: AsyncFile, *, file_name: str | None = None) -> Upload:
        """Sends a file to the gateway as it is read, without holding it in memory. Afterwards every field
        for a file takes `upload:` and the id. It is not repeated by itself: a file is read once.

        Args:
            file: A path, a file that is open in binary mode, or the content piece by piece.
            file_name: Name of the file; if left out, that of the path or the open file.
        """
        form = Form(file, file_name)
        request = self._source.request(
            self._http, "POST", "/api/uploads", headers=form.headers, timeout=self._timeout, content=aiter(form)
        )
        return answered(Upload, await self._send(request, retries=0), None)

    async def _call(
        self,
        answer: type[Answer],
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: object = None,
        told: Mapping[str, str] | None = None,
    ) -> Answer:
        request = self._source.request(
            self._http, method, path, query=query, headers=headers, timeout=self._timeout, **json_body(body)
        )
        return answered(answer, await self._send(request, retries=self._retries), told)

    async def _send(self, request: httpx.Request, *, retries: int) -> httpx.Response:
        for tried in count():
            last = tried >= retries
            try:
                response = await self._http.send(request)
            except httpx.TransportError as error:
                if last or not repeatable(request):
                    raise ConnectionError(request.url, error) from error
                pause = pause_between(tried)
            else:
                again = pause_after(response, tried)
                if last or again is None:
                    break
                pause = again
            await asyncio.sleep(pause)
        return response
