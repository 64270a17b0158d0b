"""Boxes, keys and groups, and CUB's sort: inside the time, which is that of the rungs' sums."""

from contract import Contract

CONTRACT = Contract(
    kernels=(), others=("6survey", "9find_keys", "12forget_radii", "6gather", "3cub")
)
