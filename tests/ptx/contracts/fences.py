"""Fences and ordered accesses, as many as a turn has, with the stores before each of them.

A load takes its address from the one before it; a fence and a store return nothing.
"""

from contract import Contract, Kernel
from dependencies import Order

UNROLL = 8
SCOPES = ("cta", "cluster", "gpu", "sys")
STORES = (0, 1, 8)
# Operation -> its number, PTX before the scope and behind it, SASS of the operation.
OPERATIONS = {
    "fence_acq_rel": (0, r"fence\.acq_rel\.", ";", r"MEMBAR\.ALL\..*"),
    "fence_sc": (1, r"fence\.sc\.", ";", r"MEMBAR\.SC\..*"),
    "proxy_async": (2, r"fence\.proxy\.async\.shared::", "::", r"FENCE\.VIEW\.ASYNC\.S"),
    "load_relaxed": (3, r"ld\.relaxed\.", r"\.global\.u64", r"LDG\.E\.64\.STRONG\..*"),
    "load_acquire": (4, r"ld\.acquire\.", r"\.global\.u64", r"LDG\.E\.64\.STRONG\..*"),
    "store_relaxed": (5, r"st\.relaxed\.", r"\.global\.u32", r"STG\.E\.STRONG\..*"),
    "store_release": (6, r"st\.release\.", r"\.global\.u32", r"STG\.E\.STRONG\..*"),
}


def kernel(operation: str, scope: int, stores: int) -> Kernel:
    """What the kernel of a case must hold."""
    number, before, behind, sass = OPERATIONS[operation]
    is_load = operation.startswith("load")
    is_shared = operation == "proxy_async"
    text = rf"{before}{SCOPES[scope]}{behind}"
    if is_shared:
        text = r"fence\.proxy\.async\.shared::cta;"
    space = "shared" if is_shared else "global"
    return Kernel(
        name=rf"repeatIL.*OperationE{number}E.*ScopeE{scope}ELi{stores}E",
        ptx={text: UNROLL, rf"\bst\.{space}\.u32 \[%\w+\], ": UNROLL * stores},
        sass={},
        sass_in_loops={sass: UNROLL, **({r"STS": UNROLL * stores} if is_shared else {})},
        order=Order(text, sass, turn=UNROLL, chains=1) if is_load else (),
    )


CONTRACT = Contract(
    kernels=tuple(
        kernel(operation, scope, stores)
        for operation in OPERATIONS
        for scope in range(len(SCOPES))
        for stores in STORES
        if not (operation.startswith("load") and stores)
        and not (operation == "proxy_async" and scope)
    ),
)
