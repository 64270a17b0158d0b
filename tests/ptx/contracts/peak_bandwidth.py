"""It launches the kernels of `bandwidth` and has none of its own."""

from contract import Contract

CONTRACT = Contract(kernels=())
