"""What many answers have, and the events of all kinds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class Page(Generic[Item]):
    """A page of a list."""

    data: list[Item]
    is_first_page: bool
    is_last_page: bool
    current_page: int
    previous_page: int | None
    next_page: int | None
    page_count: int
    total_count: int


@dataclass(frozen=True, kw_only=True)
class FieldError:
    """What is wrong with a field of a request."""

    field: str
    message: str


@dataclass(frozen=True, kw_only=True)
class EventMediaLink:
    """A link to a file, which needs no API key."""

    url: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class Event:
    """What webhooks and streams carry. There is a class for each kind, such as MessageReceivedEvent;
    an event of a kind that this package does not know is an Event, with data as they came."""

    id: str
    """The same on every delivery."""
    type: str
    """The kind, such as message.received."""
    timestamp: datetime
    instance_id: str
    sequence: int
    """Counts the events of an instance, without a gap."""
    data: Any
    media_link: EventMediaLink | None = None
    """A link to the file of the message, if the webhook has such links."""
