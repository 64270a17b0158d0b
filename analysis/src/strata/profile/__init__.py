"""Profiles of programs: their kernels by time, and what limits each of them."""
