"""`python -m strata`."""

from strata.cli import main

if __name__ == "__main__":
    main()
