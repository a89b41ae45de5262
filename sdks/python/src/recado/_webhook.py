"""The check of a webhook's signature, for programs that receive webhooks."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import re
import time
from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from ._records import Event
from ._stream import event_of


class WebhookError(Exception):
    """Why a delivery is refused. Answer it with 401."""


class Headers(Protocol):
    """Headers of a request, as http.server, Django, Flask and Starlette have them."""

    def items(self) -> Iterable[tuple[str, str]]:
        ...


def verify_webhook(
    secret: str | Iterable[str],
    headers: Headers,
    body: bytes | str,
    *,
    tolerance: float = 300,
    now: datetime | None = None,
) -> Event:
    """Returns the event of a delivery that is signed with the secret, or with one of several, as
    Standard Webhooks 1.0.0 describes. Raises WebhookError for any other delivery.

    Args:
        secret: The secret of the webhook, or several.
        headers: The headers of the request.
        body: The body of the request, byte for byte: take it before anything parses it.
        tolerance: How many seconds the time of a delivery may be from now.
        now: The moment that counts as now.
    """
    said = {name.lower(): value for name, value in headers.items()}
    identifier, timestamp = said.get("webhook-id", ""), said.get("webhook-timestamp", "")
    moment = now.timestamp() if now else time.time()
    if not re.fullmatch("-?[0-9]{1,15}", timestamp) or abs(moment - int(timestamp)) > tolerance:
        raise WebhookError("the delivery is too old, or the clocks differ")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{identifier}.{timestamp}.".encode() + content
    signatures = said.get("webhook-signature", "").split()
    given = [_decoded(signature[3:]) for signature in signatures if signature.startswith("v1,")]
    secrets = [secret] if isinstance(secret, str) else secret
    for one in filter(None, secrets):
        expected = hmac.digest(_signing_key(one), signed, "sha256")
        if identifier and any(hmac.compare_digest(expected, signature or b"") for signature in given):
            return event_of(json.loads(content))
    raise WebhookError("the delivery is not signed with the secret")


def _signing_key(secret: str) -> bytes:
    """Returns the decoded part of a secret after "whsec_"; any other secret is used as it is."""
    key = _decoded(secret.removeprefix("whsec_")) if secret.startswith("whsec_") else None
    return key or secret.encode()


def _decoded(encoded: str) -> bytes | None:
    """Returns what base64 stands for, or None if it is not written as it is encoded."""
    try:
        decoded = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded if base64.b64encode(decoded).decode() == encoded else None
