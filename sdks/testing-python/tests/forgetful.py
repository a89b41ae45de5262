"""A program that starts a gateway, says where it is, and never stops it."""

from __future__ import annotations

import sys

from pytest_recado import Gateway

print(Gateway().base_url, flush=True)
if sys.argv[1] == "is killed":
    sys.stdin.read()
