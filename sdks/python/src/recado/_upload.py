"""Files, sent as they are read."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from functools import partial
from typing import BinaryIO, Union
from urllib.parse import quote

# A path, a file that is open in binary mode, or its content piece by piece.
File = Union[str, "os.PathLike[str]", BinaryIO, Iterable[bytes]]
AsyncFile = Union[File, AsyncIterable[bytes]]

PIECE = 64 << 10


class Form:
    """A form whose one part is a file."""

    def __init__(self, file: AsyncFile, name: str | None) -> None:
        if isinstance(file, (bytes, bytearray)):
            file = [bytes(file)]
        self._file = file
        boundary = f"recado-{uuid.uuid4()}"
        quoted = "".join(quote(c) if c in '\r\n"' else c for c in name or _name(file))
        self.headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
        disposition = f'Content-Disposition: form-data; name="file"; filename="{quoted}"'
        self._head = f"--{boundary}\r\n{disposition}\r\nContent-Type: application/octet-stream\r\n\r\n".encode()
        self._tail = f"\r\n--{boundary}--\r\n".encode()

    def __iter__(self) -> Iterator[bytes]:
        yield self._head
        if isinstance(self._file, (str, os.PathLike)):
            with open(self._file, "rb") as opened:
                yield from _pieces(opened)
        elif isinstance(self._file, AsyncIterable):
            raise TypeError("only AsyncRecado sends what is read asynchronously")
        else:
            yield from _pieces(self._file)
        yield self._tail

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if isinstance(self._file, AsyncIterable):
            yield self._head
            async for piece in self._file:
                yield piece
            yield self._tail
            return
        pieces = iter(self)
        while piece := await asyncio.to_thread(lambda: next(pieces, b"")):
            yield piece


def _pieces(file: BinaryIO | Iterable[bytes]) -> Iterator[bytes]:
    read: Callable[[int], bytes] | None = getattr(file, "read", None)
    for piece in iter(partial(read, PIECE), b"") if read else file:
        if not isinstance(piece, bytes):
            raise TypeError("a file is sent as bytes: open it in binary mode")
        if piece:
            yield piece


def _name(file: object) -> str:
    name = file if isinstance(file, (str, os.PathLike)) else getattr(file, "name", None)
    return os.path.basename(name) if isinstance(name, (str, os.PathLike)) else "file"
