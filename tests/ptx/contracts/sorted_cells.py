"""Counts and places of agents, and the scan of CUB: inside the time of the rungs that search."""

from contract import Contract

CONTRACT = Contract(kernels=(), others=("12count_agents", "7put_ids", "10put_agents", "3cub"))
