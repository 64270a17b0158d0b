"""What sorts agents with all that is known of them: inside the time of the rungs that keep it."""

from contract import Contract

CONTRACT = Contract(kernels=(), others=("12put_in_order",))
