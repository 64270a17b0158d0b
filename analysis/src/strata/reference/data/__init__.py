"""Stands for `results/reference`: a wheel carries the tables of that folder in this one's place."""
