"""Break the real code of every kernel, and see that its contract complains.

    broken_code.py ptx FILE...     the PTX that nvcc wrote
    broken_code.py sass BINARY     the machine code in an executable (needs cuobjdump)

Of a chain one instruction forgets the result before it, and one instruction is gone; of
instructions that stand apart one waits for another; the loop of either counts by another number.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace

import dependencies
from code_contract import asked_for, by_benchmark, dump_of, kernels_of_ptx, kernels_of_sass
from contract import Contract
from dependencies import Code, Order, Step

Kernels = Iterable[tuple[str, str]]


def with_step(code: Code, at: int, changed: Step | None) -> Code:
    """The same code with another step in the place of one, or with none."""

    def edited(steps: Iterable[Step]) -> list[Step]:
        return [new for s in steps if (new := changed if s.at == at else s) is not None]

    steps, loops = code
    return edited(steps), [edited(loop) for loop in loops]


def broken(order: Order, code: Code, kind: str) -> Iterator[tuple[str, Code]]:
    """Kinds of code that measures something else."""
    pattern = order.ptx if kind == "ptx" else order.sass
    turn = order.turn if kind == "ptx" else order.turn_of_sass or order.turn
    if not pattern:
        return
    for loop, timed in dependencies.rounds_of(pattern, turn, code[1])[:1]:
        at = {step.at: step for step in loop}
        one = at[timed[-1]]
        if order.loops:
            yield "one instruction less", with_step(code, one.at, None)
        before = at[timed[0]]
        if order.chains:
            forgets = replace(one, reads=frozenset[str]())
            yield "a chain that forgets", with_step(code, one.at, forgets)
        elif before.writes and before is not one:
            waits = replace(one, reads=one.reads | before.writes)
            yield "a wait", with_step(code, one.at, waits)
        counter = next((s for s in reversed(loop) if s.text.endswith(f", {order.step}")), None)
        if kind == "ptx" and order.step and counter:
            text = re.sub(r"\d+$", str(2 * order.step), counter.text)
            yield "half the rounds", with_step(code, counter.at, replace(counter, text=text))


def unnoticed(contract: Contract, kernels: Kernels, kind: str) -> tuple[int, list[str]]:
    """How often the code of a benchmark was broken, and what its contract did not see."""
    parse = dependencies.statements if kind == "ptx" else dependencies.machine_code
    judge = dependencies.of_ptx if kind == "ptx" else dependencies.of_sass
    total, found = 0, []
    for name, body in kernels:
        for kernel in contract.kernels:
            if not kernel.orders or not re.search(kernel.name, name):
                continue
            code = parse(body)
            for order in kernel.orders:
                for what, changed in broken(order, code, kind):
                    total += 1
                    if not any(judge(order, changed)):
                        found.append(f"{name}: {what} goes unseen")
    return total, found


def main() -> int:
    kind, known, files = asked_for()
    listings: list[tuple[str, Kernels]] = []
    if kind == "ptx":
        listings = [*by_benchmark(k for file in files for k in kernels_of_ptx(file)).items()]
    else:
        listings = [pair for part in kernels_of_sass(dump_of(files)) for pair in part.items()]
    total, found = 0, []
    for benchmark, kernels in listings:
        if benchmark in known:
            some, missed = unnoticed(known[benchmark], kernels, kind)
            total += some
            found += missed
    if total == 0:
        found.append("nothing was broken")
    print("\n".join(found) or f"{total} breaks were noticed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
