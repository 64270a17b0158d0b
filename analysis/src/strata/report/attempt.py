"""A part of a report that fails is left out and named; it does not affect the rest."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from strata.run import one_line


@contextmanager
def attempt(what: str, notices: list[str] | None = None) -> Iterator[None]:
    """Suppresses an exception inside; `notices` and standard error then name `what`."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  (whatever it is)
        left_out(what, f"{type(error).__name__}: {error}", notices)


def left_out(what: str, why: str, notices: list[str] | None = None) -> None:
    """Reports that `what` failed, and why, on standard error and in `notices`."""
    notice = one_line(f"{what} failed and is left out: {why}")
    logging.getLogger("strata").warning("strata: %s", notice)
    if notices is not None:
        notices.append(notice)
