"""The client of a Recado gateway, which gives programs an HTTP API to WhatsApp accounts.

`recado.types` has what requests take, what answers carry, and the events.
"""

from ._client import AsyncRecado, Recado
from ._errors import (
    ConflictError,
    ConnectionError,
    ForbiddenError,
    NotFoundError,
    PaymentRequiredError,
    RateLimitedError,
    RecadoError,
    UnauthorizedError,
    UnavailableError,
    ValidationError,
)
from ._webhook import WebhookError, verify_webhook

__all__ = [
    "AsyncRecado",
    "ConflictError",
    "ConnectionError",
    "ForbiddenError",
    "NotFoundError",
    "PaymentRequiredError",
    "RateLimitedError",
    "Recado",
    "RecadoError",
    "UnauthorizedError",
    "UnavailableError",
    "ValidationError",
    "WebhookError",
    "verify_webhook",
]
