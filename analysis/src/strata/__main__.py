"""`python -m strata`."""

import gc

from strata.cli import main

if __name__ == "__main__":
    gc.disable()  # a command ends before its garbage would pay for the looking
    main()
