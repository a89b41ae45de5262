"""Repeats of requests that may succeed later."""

from __future__ import annotations

import random

import httpx

from ._errors import retry_after, temporary

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0


def pause_after(response: httpx.Response, tried: int) -> float | None:
    """Returns how many seconds to wait before a request is made again; None if its answer stays."""
    refused_undone = response.status_code == 429  # whatever it is, nothing was done
    if not refused_undone and not (repeatable(response.request) and temporary(response)):
        return None
    pause = max(pause_between(tried), retry_after(response) or 0)
    return pause if pause <= LONGEST_WAIT else None


def pause_between(tried: int) -> float:
    """Returns how many seconds to wait after a request was tried so often, and once more."""
    return jittered(FIRST_WAIT * 2**tried)


def repeatable(request: httpx.Request) -> bool:
    """Reports whether a request that is made twice has the effect of one."""
    return request.method in ("GET", "HEAD", "PUT", "DELETE") or "Idempotency-Key" in request.headers


def jittered(wait: float) -> float:
    """Returns a random wait between half of the given one and all of it, so that clients do not come
    at the same moment."""
    return wait * random.uniform(0.5, 1)
