"""Requests and answers, the same for both clients."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from datetime import datetime
from types import NoneType
from typing import Any, TypeVar
from urllib.parse import quote

import httpx

from ._errors import refusal
from ._json import decode, encode

Answer = TypeVar("Answer")


def segment(value: str) -> str:
    """Writes a value into a path."""
    if value in ("", ".", ".."):
        raise ValueError(f"{value!r} is no identifier")
    return quote(value, safe="")


class Source:
    """A gateway, and the key to it."""

    def __init__(self, base_url: str | None, api_key: str | None) -> None:
        self.base_url = (base_url or os.environ.get("RECADO_URL") or "http://127.0.0.1:8080").rstrip("/")
        url = httpx.URL(self.base_url)
        if url.scheme not in ("http", "https") or not url.host:
            raise ValueError(f"{self.base_url!r} is no address of a gateway")
        key = api_key or os.environ.get("RECADO_API_KEY")
        if not key:
            raise ValueError("an API key is missing: pass api_key, or set RECADO_API_KEY")
        if not (key.isascii() and key.isprintable()):
            raise ValueError("the API key has a character that no key has, such as the end of a line")
        self._key = key

    def request(
        self,
        http: httpx.Client | httpx.AsyncClient,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        timeout: httpx.Timeout,
        **content: Any,
    ) -> httpx.Request:
        """Makes a request. What is None is left out, but for the Idempotency-Key: the same one is
        sent with every repeat of this request, and no other."""
        sent = {"x-api-key": self._key, "user-agent": "recado-python"}
        for name, value in (headers or {}).items():
            if name == "Idempotency-Key":
                value = value or str(uuid.uuid4())
            if value is not None:
                sent[name] = value
        said = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        return http.build_request(method, self.base_url + path, params=said, headers=sent, timeout=timeout, **content)


def json_body(body: object) -> dict[str, Any]:
    """Returns what a request has for a body."""
    return {} if body is None else {"json": encode(body)}


def answered(kind: type[Answer], response: httpx.Response, told: Mapping[str, str] | None) -> Answer:
    """Returns what the gateway has answered, or raises its refusal."""
    if not response.is_success:
        raise refusal(response)
    if kind is NoneType or not response.content:
        return decode(kind, None)
    try:
        said = response.json()
    except ValueError as error:  # of something in front of the gateway
        raise refusal(response) from error
    if isinstance(said, dict):
        said["accepted"] = response.status_code == 202
        for name, header in (told or {}).items():
            said[name] = header in response.headers
    return decode(kind, said)


def _text(value: object) -> str:
    """Writes a value into a query."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return str(encode(value))
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(map(str, value))
    return str(value)
