"""What a contract is made of: see code_contract.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from dependencies import Order


def nothing_more(body: str) -> Iterator[str]:  # noqa: ARG001  (the shape of Kernel.more)
    """No diagnostics of a kernel's own."""
    return iter(())


@dataclass(frozen=True)
class Kernel:
    """What the generated code of one measuring kernel must hold.

    name: a regular expression found in its mangled name, and in no other kernel's of the benchmark.
    ptx: regular expressions, and how often each is found in the body of the PTX.
    sass: opcodes as regular expressions (matched whole), and how many such instructions there are.
    sass_in_loops: the same, of instructions between a backward branch and its target.
    clock: whether it reads the clock, which must then be 64 bits wide.
    order: how its timed instructions hang together, in PTX and in machine code.
    more: diagnostics of its own about a SASS listing.
    """

    name: str
    ptx: dict[str, int]
    sass: dict[str, int]
    sass_in_loops: dict[str, int] = field(default_factory=dict)
    clock: bool = True
    order: Order | tuple[Order, ...] = ()
    more: Callable[[str], Iterator[str]] = nothing_more

    @property
    def orders(self) -> tuple[Order, ...]:
        return (self.order,) if isinstance(self.order, Order) else self.order


@dataclass(frozen=True)
class Contract:
    """The kernels of one benchmark.

    others: regular expressions for the names of kernels that measure nothing (they fill, say).
    """

    kernels: tuple[Kernel, ...]
    others: tuple[str, ...] = ()
