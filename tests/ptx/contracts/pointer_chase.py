"""Chains are written and visited here: nothing is timed."""

from contract import Contract

CONTRACT = Contract(
    kernels=(),
    others=(
        "15write_addresses",
        "14write_elements",
        "11visit_every",
        "11visit_chain",
        "11visit_steps",
    ),
)
