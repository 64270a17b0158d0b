"""`python -m strata`."""

import gc

from strata.cli import main

if __name__ == "__main__":
    gc.disable()  # commands end before garbage collection would pay off
    main()
