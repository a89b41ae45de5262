"""The fixtures that pytest finds when the package is installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ._gateway import Gateway, Phone


@pytest.fixture(scope="session")
def recado_gateway() -> Iterator[Gateway]:
    """A gateway that all tests share. It starts when the first one asks for it."""
    with Gateway() as gateway:
        yield gateway


@pytest.fixture
def recado_phone(recado_gateway: Gateway) -> Phone:
    """A phone that no other test has used."""
    return recado_gateway.phone()
