"""Refusals of the gateway, and calls that did not reach it."""

from __future__ import annotations

import builtins

import httpx

from ._json import decode
from ._records import FieldError


class RecadoError(Exception):
    """The gateway's answer to a request that it refused."""

    status_code: int
    """The HTTP status."""
    code: str
    """What is wrong, for programs, such as INSTANCE_NOT_CONNECTED; empty if the answer is not the gateway's."""
    details: list[FieldError]
    """Each field of the request that is not valid."""
    path: str
    """The path of the request."""
    retry_after: int | None
    """After how many seconds the request may be repeated; None if the gateway does not say."""
    request_id: str | None
    """The identifier of the request in the gateway's log; None if the answer is not the gateway's."""

    def __init__(self, response: httpx.Response) -> None:
        said = _said(response)
        code, message, details = said.get("error"), said.get("message"), said.get("details")
        self.status_code = response.status_code
        self.code = code if isinstance(code, str) else ""
        self.details = decode(list[FieldError], details) if isinstance(details, list) else []
        self.path = response.request.url.path
        self.retry_after = retry_after(response)
        self.request_id = response.headers.get("x-request-id")
        text = message if isinstance(message, str) else response.reason_phrase
        super().__init__(f"{self.status_code} {self.code}".strip() + (f": {text}" if text else ""))


class ValidationError(RecadoError):
    """400: the request is not valid; `details` names the fields."""


class UnauthorizedError(RecadoError):
    """401: the API key is missing or wrong."""


class PaymentRequiredError(RecadoError):
    """402: the instance is not paid for."""


class ForbiddenError(RecadoError):
    """403: the API key, or the account, may not do this."""


class NotFoundError(RecadoError):
    """404: there is no such thing."""


class ConflictError(RecadoError):
    """409: the instance, or the thing, is not in the state for this."""


class RateLimitedError(RecadoError):
    """429: too many requests; `retry_after` says when to repeat it."""


class UnavailableError(RecadoError):
    """5xx: the gateway or the platform can't carry it out now."""


class ConnectionError(builtins.ConnectionError):
    """The gateway could not be reached, or did not answer in time. `__cause__` is why."""

    def __init__(self, url: httpx.URL, cause: Exception) -> None:
        why = "no answer in time" if isinstance(cause, httpx.TimeoutException) else str(cause) or type(cause).__name__
        super().__init__(f"the gateway at {url.scheme}://{url.netloc.decode()} can't be reached: {why}")


_CLASSES = {
    400: ValidationError,
    401: UnauthorizedError,
    402: PaymentRequiredError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitedError,
}


def refusal(response: httpx.Response) -> RecadoError:
    """Makes the error of an answer that was read."""
    other = UnavailableError if response.status_code >= 500 else RecadoError
    return _CLASSES.get(response.status_code, other)(response)


def temporary(response: httpx.Response) -> bool:
    """Reports whether the same request may get another answer later."""
    status = response.status_code
    return status >= 500 or status in (408, 429) or (status == 409 and retry_after(response) is not None)


def retry_after(response: httpx.Response) -> int | None:
    """Returns the seconds of Retry-After."""
    seconds = response.headers.get("retry-after", "")
    return int(seconds) if seconds.isdecimal() and len(seconds) < 10 else None


def _said(response: httpx.Response) -> dict[str, object]:
    """The answer may come from a proxy in front of the gateway, and then has another body."""
    try:
        said = response.json()
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
