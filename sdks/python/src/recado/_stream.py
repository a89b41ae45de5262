"""Events of an instance, as they happen."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import httpx

from ._errors import refusal, retry_after, temporary
from ._json import decode
from ._records import Event
from ._request import Source, segment
from ._retry import FIRST_WAIT, jittered
from .types import EVENT_CLASSES

LONGEST_WAIT = 30.0
LONGEST_EVENT = 64 << 20


def event_of(said: object) -> Event:
    """Returns the event that JSON describes."""
    kind = said.get("type") if isinstance(said, dict) else None
    known = EVENT_CLASSES.get(kind, Event) if isinstance(kind, str) else Event
    return decode(known, said)


class Position:
    """Where a stream is, and how long it waits before it connects anew."""

    def __init__(
        self, source: Source, instance_id: str, types: Sequence[str] | None, after: int | None, silence: float
    ) -> None:
        self._source = source
        self._path = f"/api/instances/{segment(instance_id)}/events"
        self._types = list(types or []) or None
        self._after = after
        self._timeout = httpx.Timeout(silence)
        self._wait = FIRST_WAIT
        self._retry = 0.0
        self._alive = False

    def request(self, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """Makes the request for the events after those that were processed."""
        headers = {"accept": "text/event-stream", "Last-Event-ID": None if self._after is None else str(self._after)}
        return self._source.request(
            http, "GET", self._path, query={"types": self._types}, headers=headers, timeout=self._timeout
        )

    def read(self, message: Message) -> Event | None:
        """Returns the event of a message, if it has one."""
        if message.retry is not None:
            self._retry = message.retry / 1000
        if not message.data:
            return None
        self._alive = True
        return event_of(json.loads(message.data))

    def passed(self, message: Message) -> None:
        """Goes on behind a message. An event counts as processed when the caller asks for the next
        one. A message without one says that there are only events of other types up to its id."""
        if message.id is not None:
            self._after = message.id

    def pause(self, response: httpx.Response | None) -> float:
        """Returns how many seconds to wait before connecting anew, after a refusal, which was read, or
        a connection that ended. It raises a refusal that stays."""
        said = 0
        if response is not None:
            if not temporary(response):
                raise refusal(response)
            said = retry_after(response) or 0
        if self._alive:
            self._wait = max(FIRST_WAIT, self._retry)
        self._alive = False
        pause = max(said, jittered(self._wait))
        self._wait = min(2 * self._wait, LONGEST_WAIT)
        return pause


@dataclass
class Message:
    """A message of a stream."""

    id: int | None = None
    data: bytes = b""
    retry: int | None = None


class Messages:
    """Messages of a stream that comes in pieces. Libraries for event streams skip messages without
    data, whose id counts here."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._message = Message()

    def read(self, piece: bytes) -> Iterator[Message]:
        """Yields the messages that end in the next piece."""
        searched = len(self._rest)
        self._rest += piece
        start = 0
        while (end := self._rest.find(b"\n", max(start, searched))) >= 0:
            line = bytes(self._rest[start:end]).removesuffix(b"\r")
            start = end + 1
            if line:
                self._take(line)
            else:
                yield self._message
                self._message = Message()
        del self._rest[:start]
        if len(self._rest) + len(self._message.data) > LONGEST_EVENT:
            raise ValueError(f"an event is longer than {LONGEST_EVENT} bytes")

    def _take(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        number = int(value) if re.fullmatch(rb"[0-9]{1,18}", value) else None
        if name == b"data":
            self._message.data += value
        elif name == b"id" and number is not None:
            self._message.id = number
        elif name == b"retry" and number is not None:
            self._message.retry = number
