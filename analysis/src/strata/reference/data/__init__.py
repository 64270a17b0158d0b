"""Placeholder for `results/reference`: a wheel contains its tables in this package."""
