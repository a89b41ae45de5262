"""Lists as sequences."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import count
from typing import TypeVar

from ._records import Page

Item = TypeVar("Item")


def items(fetch: Callable[[int], Page[Item]]) -> Iterator[Item]:
    """Yields the items of all pages, which it fetches by their numbers."""
    for number in count(1):
        page = fetch(number)
        yield from page.data
        if page.is_last_page or not page.data:
            return


async def async_items(fetch: Callable[[int], Awaitable[Page[Item]]]) -> AsyncIterator[Item]:
    """Yields the items of all pages, which it fetches by their numbers."""
    for number in count(1):
        page = await fetch(number)
        for item in page.data:
            yield item
        if page.is_last_page or not page.data:
            return
