"""A message is one load that waits and one store of what it brought, plus one.

The first block of a round stores before it waits, so the loop has two places that wait.
"""

from contract import Contract, Kernel

# Route -> its number, PTX that looks and sends, SASS of both.
ROUTES = {
    "l2": (
        0,
        (r"ld\.{}\.gpu\.global\.u32", r"st\.{}\.gpu\.global\.u32"),
        (r"LDG\.E\.STRONG\.GPU", r"STG\.E\.STRONG\.GPU"),
    ),
    "distributed_shared": (
        1,
        (r"ld\.{}\.cluster\.shared::cta\.u32", r"st\.{}\.cluster\.shared::cluster\.u32"),
        (r"LDS", r"ST\.E\.STRONG\.GPU"),
    ),
}
ORDERS = (("relaxed", "relaxed"), ("acquire", "release"))
WAITS = 2


def kernel(route: str, order: int) -> Kernel:
    """What the kernel of a case must hold."""
    number, (look, send), (load, store) = ROUTES[route]
    # A word in L2 is cleared by a store that is always relaxed.
    clears = route == "l2"
    sends = 2 if clears and order == 0 else 1
    return Kernel(
        name=rf"pass_onIL.*RouteE{number}E.*OrderE{order}E",
        ptx={
            look.format(ORDERS[order][0]): WAITS,
            send.format(ORDERS[order][1]): sends,
            "%clock64": 4,
        },
        sass={load: WAITS},
        sass_in_loops={store: 2 if clears else 1},
    )


CONTRACT = Contract(
    kernels=tuple(kernel(route, order) for route in ROUTES for order in range(len(ORDERS))),
)
