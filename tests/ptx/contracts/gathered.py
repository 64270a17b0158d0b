"""CUB's copies of the pieces: inside the time of the rung."""

from contract import Contract

CONTRACT = Contract(kernels=(), others=("3cub",))
