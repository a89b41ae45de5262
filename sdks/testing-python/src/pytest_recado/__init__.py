"""A gateway for the time of a test, and its simulated phones."""

from __future__ import annotations

from ._gateway import Gateway, Phone
from ._program import StartError

__all__ = ["Gateway", "Phone", "StartError"]
