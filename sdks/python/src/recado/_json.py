"""JSON, as objects and back."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import lru_cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Kind = TypeVar("Kind")


class Unset(enum.Enum):
    """The type of UNSET."""

    UNSET = "UNSET"


UNSET = Unset.UNSET
"""Stands for a field that is left out, where None would be sent as null."""


def decode(kind: type[Kind], value: object) -> Kind:
    """Returns what a type describes of a value of JSON. Fields that it does not have are dropped;
    those that are not there are their default, or None."""
    return cast(Kind, _decode(kind, value))


def encode(value: object) -> object:
    """Returns what JSON has of a value."""
    if is_dataclass(value) and not isinstance(value, type):
        kind: Any = type(value)
        given = ((name, getattr(value, attribute), left_out) for attribute, name, _, left_out in _described(kind))
        return {name: encode(said) for name, said, left_out in given if said is not UNSET and said is not left_out}
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.astimezone()).isoformat()
    if isinstance(value, Mapping):
        return {name: encode(said) for name, said in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [encode(element) for element in value]
    return value


def camel(name: str) -> str:
    """Returns the name in JSON of an attribute: that of instance_id is instanceId, that of from_ is from."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in others)


@lru_cache(maxsize=None)
def _described(kind: Any) -> list[tuple[str, str, Any, object]]:
    """Returns of each field: its attribute, its name in JSON, its type, and the value that leaves it out."""
    hints = get_type_hints(kind, include_extras=True)
    described: list[tuple[str, str, Any, object]] = []
    for field in fields(kind):
        hint, name = hints[field.name], camel(field.name)
        if get_origin(hint) is Annotated:
            hint, name = get_args(hint)
        described.append((field.name, name, hint, None if field.default is None else MISSING))
    return described


def _decode(kind: Any, value: object) -> object:
    """Values that do not fit their type stay as they came."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):  # of one type with None, or UNSET
        return None if value is None else _decode(get_args(kind)[0], value)
    if origin is list and isinstance(value, list):
        return [_decode(get_args(kind)[0], element) for element in value]
    if origin is dict and isinstance(value, dict):
        return {name: _decode(get_args(kind)[1], element) for name, element in value.items()}
    if kind is datetime and isinstance(value, str):
        return _time(value)
    if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        known = {attribute: (name, hint) for attribute, name, hint, _ in _described(kind)}
        said = {attribute: _decode(hint, value[name]) for attribute, (name, hint) in known.items() if name in value}
        missing = {field.name: None for field in fields(kind) if field.name not in said and field.default is MISSING}
        return kind(**said, **missing)
    return value


def _time(text: str) -> datetime:
    """Reads a time as RFC 3339 writes it, which Python 3.10 does not do by itself."""
    found = re.fullmatch(r"([0-9-]{10})[Tt]([0-9:]{8})(?:\.([0-9]+))?([Zz]|[+-][0-9:]{5})", text)
    if not found:
        raise ValueError(f"{text[:100]!r} is no time")
    day, time, fraction, offset = found.groups()
    micros = (fraction or "")[:6].ljust(6, "0")
    return datetime.fromisoformat(f"{day}T{time}.{micros}{'+00:00' if offset in 'Zz' else offset}")
