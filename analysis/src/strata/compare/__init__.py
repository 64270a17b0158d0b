"""Two or more runs compared: what changed on a device, and how devices differ.

    from pathlib import Path
    from strata.compare import compare
    from strata.run import load_run

    found = compare(load_run(Path("before")), load_run(Path("after")))
    print(found.verdicts()["slower"])
    for change in found.flagged():
        print(change.verdict, change.before.case, change.change)

The command `strata compare` does this and writes tables, a figure and a page.
"""

from strata.compare.changes import Change, Comparison, Settings, better, compare
from strata.compare.conditions import differences, kinship

__all__ = ["Change", "Comparison", "Settings", "better", "compare", "differences", "kinship"]
