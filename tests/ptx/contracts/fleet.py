"""It drives GPUs by the kernels of rungs and has none of its own."""

from contract import Contract

CONTRACT = Contract(kernels=())
