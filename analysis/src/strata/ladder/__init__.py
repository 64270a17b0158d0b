"""Ladders of kernels: their rungs, what a step brought and why, and the tables of the seeds."""
