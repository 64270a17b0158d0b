"""Strict JSON of run folders, and messages for what is wrong with it."""

import csv
import json
import math
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from strata.run.files import RunError
from strata.run.schema import SCHEMA_VERSIONS

R = TypeVar("R", bound=msgspec.Struct)


class WrongError(ValueError):
    """What was found in a file, what was expected, and optionally how to fix it."""

    def __init__(self, found: str, expected: str, fix: str | None = None) -> None:
        super().__init__()
        self.found, self.expected, self.fix = found, expected, fix


def refusal(path: Path, line: int | None, error: Exception, fix: str) -> RunError:
    """The message for `error`, which occurred in a file."""
    found, expected = f"{error}", "one whole JSON object"
    match error:
        case WrongError():
            found, expected, fix = error.found, error.expected, error.fix or fix
        case json.JSONDecodeError():
            found = f"broken JSON ({error.msg} at column {error.colno})"
            line = line or error.lineno
        case csv.Error():
            expected = "a table as results/schema has it"
        case UnicodeDecodeError():
            found, expected = f"byte 0x{error.object[error.start]:02x}", "UTF-8 text"
            line = line or error.object.count(b"\n", 0, error.start) + 1
    return RunError(path, line, found=found, expected=expected, fix=fix)


DEEPEST = 64
"""Objects and lists within each other, at most."""


def whole(text: str, decoder: json.JSONDecoder) -> Any:
    """JSON for `decoder`: Unicode, and of limited depth."""
    try:
        data = decoder.decode(text)
        deep = _depth(data) > DEEPEST
    except RecursionError:
        deep = True
    if deep:
        raise WrongError(f"more than {DEEPEST} nested objects or lists", "fewer")
    if "\\ud" in text.lower():
        try:
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise WrongError("half of a surrogate pair", "Unicode text") from None
    return data


def _depth(data: Any) -> int:
    depth, level = 0, [data]
    while level := [
        part
        for one in level
        if isinstance(one, dict | list)
        for part in (one.values() if isinstance(one, dict) else one)
    ]:
        depth += 1
        if depth > DEEPEST:
            break
    return depth


def strict(raw: bytes) -> dict[str, Any]:
    """A JSON object of a known version: finite numbers only, no repeated keys."""
    data = whole(raw.decode(), _JSON)
    if not isinstance(data, dict):
        raise WrongError(f"{data!r:.80}", "a JSON object")
    version = data.get("schema_version")
    if version is None:
        raise WrongError("no schema_version", "schema_version")
    if type(version) is not int or version not in SCHEMA_VERSIONS:
        expected = f"schema version {' or '.join(map(str, SCHEMA_VERSIONS))}"
        fix = f"read it with a strata that supports version {version}"
        raise WrongError(f"schema version {version}", expected, fix)
    return data


def _number(text: str) -> float:
    if not math.isfinite(float(text)):
        raise WrongError(text, "finite numbers only")
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def finite(value: object) -> float | None:
    """A finite number of a JSON file; None for others, true and false, NaN and infinity."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if abs(value) <= sys.float_info.max else None
    return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen = [key for key, _ in pairs]
        twice = min(key for key in result if seen.count(key) > 1)
        raise WrongError(f"the key {twice!r} twice in one object", "one whole JSON object")
    return result


_JSON = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_number, parse_float=_number, parse_int=_number
)


def typed(data: dict[str, Any], kind: type[R]) -> R:
    """`data` as a record; raises `WrongError` naming the wrong member."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        what, _, place = f"{error}".replace("`", "").partition(" - at $")
    missing = what.removeprefix("Object missing required field ")
    if missing != what:
        name = f"{place}.{missing}".removeprefix(".")
        raise WrongError(f"no {name}", f"{name} to be there")
    expected, _, got = what.partition("Expected ")[2].partition(", got ")
    members = list(_members(data, re.findall(r"\.(\w+)|\[(\d+|\.\.\.)\]", place)))
    wrong = [one for one in members if got in _KINDS and type(one[1]) is _KINDS[got]]
    place, value = (wrong or members or [(place, None)])[0]
    expected = expected or "a word of results/schema"
    raise WrongError(json.dumps(value)[:80], f"{expected} as {place.removeprefix('.')}")


_KINDS: dict[str, type] = {
    "int": int, "float": float, "str": str, "bool": bool, "null": type(None), "array": list,
    "object": dict,
}  # fmt: skip
"""Python's types of what msgspec calls the values of JSON."""


def _members(
    value: Any, steps: Sequence[tuple[str, str]], place: str = ""
) -> Iterator[tuple[str, Any]]:
    """The members at a path of msgspec, which names no key of a mapping: `[...]` is any of it."""
    if not steps:
        yield place, value
        return
    (key, at), *rest = steps
    if key and isinstance(value, dict) and key in value:
        yield from _members(value[key], rest, f"{place}.{key}")
    elif at == "..." and isinstance(value, dict):
        for name, member in value.items():
            yield from _members(member, rest, f"{place}.{name}")
    elif isinstance(value, list):
        for number, member in enumerate(value):
            if at in ("...", f"{number}"):
                yield from _members(member, rest, f"{place}[{number}]")
