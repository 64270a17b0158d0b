"""The stamps before and after a rung's steps: both clocks, once each."""

from contract import Contract, Kernel

CONTRACT = Contract(
    kernels=(
        Kernel(
            name="5stamp",
            ptx={"%clock64": 1, "%globaltimer": 1},
            sass={r"CS2R": 2},
        ),
    ),
)
