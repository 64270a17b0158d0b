"""Levels, layouts and sets of fields: their order, and their display names."""

from collections.abc import Iterable, Sequence

LAYOUTS = ("aos", "soa", "aoas", "soaoas", "aosoa32")
LEVELS = ("shared", "l1", "l2", "l3", "dram", "constant", "host_memory", "peer")
FIELDS = ("all", "posmass")

_LEVEL_NAMES = {"l1": "L1", "l2": "L2", "l3": "L3", "dram": "DRAM"}
_FIELD_NAMES = {"all": "all 7 fields", "posmass": "position and mass"}


def level_name(level: str) -> str:
    """`l1` as shown: L1."""
    return _LEVEL_NAMES.get(level, level.replace("_", " "))


def fields_name(fields: str) -> str:
    """The fields of a particle that are read, in words."""
    return _FIELD_NAMES.get(fields, fields)


def rank(value: str, known: Sequence[str]) -> tuple[int, str]:
    """A sort key: known values first, in their order, then the others by name."""
    return (known.index(value) if value in known else len(known), value)


def ordered(values: Iterable[str], known: Sequence[str]) -> list[str]:
    """The distinct `values`, sorted by `rank`."""
    return sorted(set(values), key=lambda value: rank(value, known))
