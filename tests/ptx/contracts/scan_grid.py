"""As rung host_grid; and all agents are looked at by tiles in shared memory, for each cell."""

from contract import Contract, Kernel
from neighbours_contract import searches

CONTRACT = Contract(
    kernels=(
        *searches(numbers=(58, 15, 24), ids=(5, 5, 9), loads=(14, 14, 30)),
        *(
            Kernel(
                name=name,
                ptx={r"\bld\.global\.f32\b": 3, r"\bld\.shared\.u32\b": looked_at},
                sass={},
                sass_in_loops={r"LDG\..*": 3, r"LDS.*": looked_at // 4},
                clock=False,
            )
            for name, looked_at in ((r"\d5countE", 32), (r"\d4fillE", 16))
        ),
    ),
)
