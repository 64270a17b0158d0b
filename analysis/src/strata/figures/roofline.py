"""What bounds each kernel, arithmetic or the bytes of which level, and how near to it is it?"""

from collections.abc import Sequence

from strata.figures import _roofline
from strata.reference import cite
from strata.roofline import roofline
from strata.roofline.roofline import FLOP, ONCE, Entry


def caption(entries: Sequence[Entry]) -> str:
    """What lines and points are, what was counted, and what cannot be."""
    points, ceilings = roofline.points_of(entries), roofline.ceilings_of(entries)
    words = (
        "Hierarchical roofline "
        f"{cite('williams2009roofline', 'yang2020hierarchical')}. Thick: the "
        "best that was measured, slopes the bandwidth of a level, the flat one "
        "multiply-adds of 32 bits."
    )
    if any(one.lesser for one in ceilings):
        words += " Dashed: lesser ceilings"
        if any(one.lesser and one.sloped for one in ceilings):
            words += (
                " (ungrouped: words of 4 bytes; uncoalesced: lanes far apart, of bytes that were "
                f"wanted; after van den Braak et al. {cite('vandenbraak2010access')})"
            )
        words += "."
    if any(one.basis == "theoretical" for one in ceilings):
        words += " Dotted: what lanes, pins and the clock held allow."
    if any(one.basis == "counted" for one in points):
        words += (
            " Filled: the additions, multiplications and multiply-adds (two) that were counted, "
            "against the bytes counted on their way through a level, a row for each kernel: L1 and "
            "shared memory 32 B a sector and 128 B a wavefront (shuffles take the same way; "
            "constant caches do not), L2 32 B a sector, device memory read and written."
        )
        if any(one.basis == "nominal" and one.level != ONCE for one in points):
            words += " Hollow: the same bytes with the nominal 20 operations of an interaction."
    if any(one.level == ONCE for one in points):
        words += (
            " Touched once: no bytes were counted; hollow, 20 operations of an interaction against "
            "the bytes that a step cannot do without (each body read once, each result written "
            "once): no intensity at the level that holds the bodies can be higher."
        )
    words += _roofline.sizes(entries) + _roofline.beyond(entries)
    return words + _roofline.faults(entries)


FIGURE = _roofline.figure(name="roofline", title="Roofline", order=206, form=FLOP, caption=caption)
