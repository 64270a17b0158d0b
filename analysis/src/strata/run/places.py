"""Where rows stand in their run: what a page numbers them by."""

from collections.abc import Sequence

from strata.run.rows import Row


class Places:
    """Where rows stand among those of their run, counted from 0."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._first: dict[str, int] = {}
        for place, row in enumerate(rows):
            self._first.setdefault(row.case, place)

    def of(self, row: Row) -> int:
        """The place of the row with the key of `row`. Raises KeyError where there is none."""
        place = self._first[row.case]
        while place < len(self._rows) and self._rows[place].case == row.case:
            if self._rows[place].key == row.key:
                return place
            place += 1
        raise KeyError(row.key)
