"""The kernels of a profiled program."""

from strata.model.text import Table
from strata.profile.kernels import kernels, limits_of
from strata.profile.table import lenders, table
from strata.report.tables import at
from strata.run import Run


@at(211)
def kernels_of_program(run: Run) -> Table | None:
    """What limits each kernel, against the recorded ceilings of the device."""
    found = kernels(run)
    if not found:
        return None
    return table(found, limits_of(lenders("", run.context.device.slug)), explained=True)
