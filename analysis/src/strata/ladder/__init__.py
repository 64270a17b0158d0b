"""Ladders of kernels: their rungs, what each step gained and why, and the tables of the seeds."""
