"""The report of runs: one page, its tables and its sentences."""
