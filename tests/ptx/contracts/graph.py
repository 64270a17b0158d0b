"""Those of rung runs: it has no kernel of its own."""

from contract import Contract

CONTRACT = Contract(kernels=())
