"""Which instructions of a loop need the result of which: def-use chains in PTX and in SASS.

The number of a latency is the time of a chain, and the number of a rate that of instructions which
do not wait for each other. Counts alone cannot tell these two apart: an addition whose operand no
longer comes from the addition before it leaves every instruction in its place, and a latency
becomes a throughput.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Order:
    """How the timed instructions of a loop hang together.

    ptx: a regular expression that finds one at the start of a PTX statement; empty: not looked at.
        Behind the opcode the compiler writes a tab, inline asm a blank alone.
    sass: the same for machine code, of opcode and operands; empty: not looked at.
    turn: how many there are in one turn of the loop.
    loops: how many such loops there are, one that warms up among them; 0: one or more.
    chains: each needs the result of the one before it in its chain, of which there are so many;
        0: none needs another's.
    step: by how much the loop's counter moves in a turn; 0: not looked at.
    at_once: how many stand side by side in a chain: each needs all of those before.
    restarts: whether the first of each chain in a turn needs none.
    together: whether none of them is needed before the last one of a turn was issued, where chains
        are none: issue is in order, and what waits for a result keeps back all that follows.
    beside: how many other statements a loop of PTX holds at most; None: not looked at.
    turn_of_sass: the same as turn where machine code has other instructions than PTX.
    """

    ptx: str
    sass: str
    turn: int
    chains: int
    step: int = 1
    at_once: int = 1
    restarts: bool = False
    together: bool = True
    turn_of_sass: int = 0
    loops: int = 1
    beside: int | None = None


@dataclass(frozen=True)
class Step:
    """One instruction: what it writes, what it reads, and whether a predicate guards it."""

    at: int
    text: str
    writes: frozenset[str]
    reads: frozenset[str]
    guarded: bool


NO_RESULT = re.compile(r"st\.|red\.|bra|bar|ret|exit|trap|cp\.|fence|membar|prefetch|discard")
SASS_NO_RESULT = re.compile(
    r"ST[GSL]?\b|RED|BRA|BAR|EXIT|BPT|BSYNC|BSSY|WARPSYNC|NOP|MEMBAR|DEPBAR|LDGDEPBAR|ERRBAR|CCTL|"
    r"LDGSTS|UBLKCP|UTMA|SYNCS|RET|CALL|NANOSLEEP|YIELD|BREAK"
)
SYNCHRONISES = re.compile(r"bar\b|barrier|fence|membar")
TWO_RESULTS = re.compile(r"U?PLOP3|U?[IFDHP]SETP|VOTE|TLD|TEX")


def statements(body: str) -> tuple[list[Step], list[list[Step]]]:
    """Every statement of a kernel's PTX, and those of each loop without another in it."""
    text = re.sub(r"//.*|^\s*\.(?:loc|pragma|section|file).*", "", body, flags=re.MULTILINE)
    labels: dict[str, int] = {}
    found: list[Step] = []
    for part in re.split(r";|(?<=:)\s*\n", text):
        statement = re.sub(r"^[\s{}]+", "", part)
        if label := re.fullmatch(r"(\$?\w+):", statement.strip()):
            labels[label[1]] = len(found)
        elif form := re.match(r"(?:@!?(\S+)\s+)?([a-z][\w.:]*)(\s*)(.*)", statement, re.DOTALL):
            guard, opcode, gap, operands = form.groups()
            first, rest = operands, ""
            if comma := re.match(r"(\{[^}]*\}|[^,{]*)(?:,(.*))?$", operands.strip(), re.DOTALL):
                first, rest = comma[1], comma[2] or ""
            if NO_RESULT.match(opcode):
                first, rest = "", operands
            found.append(
                Step(
                    at=len(found),
                    text=opcode + gap + " ".join(operands.split()),
                    writes=names(first),
                    reads=names(rest) | names(guard or ""),
                    guarded=guard is not None,
                )
            )
    spans = {
        (labels[target[1]], step.at)
        for step in found
        if (target := re.match(r"bra\S*\s+(\$?\w+)", step.text))
        and labels.get(target[1], step.at) < step.at
    }
    return found, [found[low : high + 1] for low, high in sorted(spans)]


def names(operands: str) -> frozenset[str]:
    return frozenset(re.findall(r"%\w+(?:\.[xyz])?|\b[a-z_]\w*", operands))


def machine_code(listing: str) -> tuple[list[Step], list[list[Step]]]:
    """Every instruction of a kernel's SASS, and those of each loop."""
    found = []
    spans = set()
    for address, guard, opcode, operands in re.findall(
        r"^\s+/\*([0-9a-f]+)\*/\s+(?:@!?(U?P\w+)\s+)?([A-Z0-9_.]+)([^;]*);", listing, re.MULTILINE
    ):
        at = int(address, 16)
        parts = [part.strip() for part in operands.split(",")]
        results = 0
        if not SASS_NO_RESULT.match(opcode):
            results = 1
            if TWO_RESULTS.match(opcode):
                results = 2
            else:
                while results < len(parts) and re.fullmatch(r"U?P\w", parts[results - 1]):
                    results += 1  # predicates come before the register …
                while results < len(parts) and re.fullmatch(r"U?P[0-6]", parts[results]):
                    results += 1  # … and what an addition carries behind it
        wide = "64" in opcode.split(".") or re.match(r"D(?:ADD|MUL|FMA)|CS2R(?!\.32)", opcode)
        size = 4 if "128" in opcode else 2 if wide or "WIDE" in opcode else 1
        source = 2 if re.match(r"D(?:ADD|MUL|FMA|SETP)", opcode) else 1
        reads = {name for part in parts[results:] for name in registers(part, source)}
        writes = {name for part in parts[:results] for name in registers(part, size)}
        if opcode in ("P2R", "R2P"):  # predicates together, by a mask
            packed = {f"P{n}" for n in range(7) if int(parts[-1], 16) >> n & 1}
            reads, writes = (reads | packed, writes) if opcode == "P2R" else (reads, packed)
        if "WIDE" in opcode:
            reads |= registers(parts[-1], 2)
        found.append(
            Step(
                at=at,
                text=f"{opcode} {', '.join(parts)}",
                writes=frozenset(writes),
                reads=frozenset(reads | ({guard} if guard else set())),
                guarded=bool(guard),
            )
        )
        target = re.search(r"0x([0-9a-f]+)\s*$", operands) if opcode.startswith("BRA") else None
        if target and int(target[1], 16) < at:
            spans.add((int(target[1], 16), at))
    loops = [[one for one in found if low <= one.at <= high] for low, high in sorted(spans)]
    # Behind the last EXIT stands what divergent warps would need: it jumps back, and is no loop.
    ends = ("EXIT ", True)
    return found, [loop for loop in loops if not any((s.text, not s.guarded) == ends for s in loop)]


def registers(operand: str, size: int) -> set[str]:
    found = set()
    for kind, number, suffix in re.findall(r"\b(U?[RP])(\d+)((?:\.\w+)*)", operand):
        count = 1 if kind.endswith("P") else max(size, 2 if ".64" in suffix else 1)
        found |= {f"{kind}{int(number) + n}" for n in range(count)}
    return found


def needs(loop: Sequence[Step], timed: frozenset[int]) -> dict[int, frozenset[int]]:
    """For each step of the loop's second turn: the timed ones whose result reaches it.

    A result passes through what is not timed (moves, masks), and ends at the next timed one.
    """
    holds: dict[str, frozenset[int]] = {}
    found: dict[int, frozenset[int]] = {}
    for _ in range(2):
        for step in loop:
            reached = frozenset[int]().union(*(holds.get(name, ()) for name in step.reads))
            found[step.at] = reached
            result = frozenset([step.at]) if step.at in timed else reached
            for name in step.writes:
                kept = holds.get(name, frozenset()) if step.guarded else frozenset()
                holds[name] = result if step.at in timed else result | kept
    return found


def chained(loop: Sequence[Step], timed: Sequence[int], order: Order) -> Iterator[str]:
    """Complain unless the timed steps are the chains of an order, all of one length."""
    reached = needs(loop, frozenset(timed))
    links = [frozenset(timed[n : n + order.at_once]) for n in range(0, len(timed), order.at_once)]
    before = {link: {reached[at] for at in link} for link in links}
    wrong = sum(len(befores) != 1 or not befores <= set(links) for befores in before.values())
    begun = sum(befores == {frozenset()} for befores in before.values())
    if wrong != (begun if order.restarts else 0) or begun != order.restarts * order.chains:
        yield f"{wrong} of {len(links)} timed instructions do not need the one before, and it alone"
        return
    lengths = []
    left = set(links)
    while left:
        link, length = (max if order.restarts else min)(left, key=min), 0
        while link in left:
            left.remove(link)
            (link,) = before[link]
            length += 1
        lengths.append(length)
    if lengths != [len(links) // order.chains] * order.chains:
        yield f"chains of {lengths} timed instructions, not {order.chains} of one length"


def apart(loop: Sequence[Step], timed: Sequence[int], *, issued: bool) -> Iterator[str]:
    """Complain where a timed step waits for another, or a step between two of them does.

    issued: whether the loop stands in the order in which it is issued. PTX does not.
    """
    reached = needs(loop, frozenset(timed))
    if any(reached[at] for at in timed):
        yield "a timed instruction needs the result of another"
    pending: set[int] = set()
    for step in loop if issued else ():
        if step.at > timed[-1]:
            break
        if reached[step.at] & pending:
            yield "a result is used before the last timed instruction of its turn was issued"
            break
        pending |= {step.at} & set(timed)


def counts_by(step: int, steps: Sequence[Step], loop: Sequence[Step]) -> Iterator[str]:
    """Complain unless what ends a loop of PTX moves by so much a turn, up to what was given."""
    branch = loop[-1]
    test = next((s for s in reversed(loop) if s.writes & branch.reads), None)
    if test is None or not test.text.startswith("setp"):
        yield "no comparison ends the loop"
        return
    moves = [
        int(move[3])
        for s in loop
        if (move := re.match(r"add\.[su](?:32|64)\s+(%\w+), (%\w+), (-?\d+)$", s.text))
        and s.writes & (test.reads | backward(loop, test.reads))
    ]
    if not moves or any(abs(move) != step for move in moves):
        yield f"the counter of the loop moves by {moves}, not by {step}"
    inside = frozenset[str]().union(*(s.writes for s in loop))
    for name in test.reads - inside:
        made = [s for s in steps if name in s.writes]
        if any(re.match(r"shr|div|sub|add|mul|mad|rem", s.text) for s in made):
            yield "the loop ends at another number than was given"


def clocked(steps: Sequence[Step], rounds: Sequence[tuple[list[Step], list[int]]]) -> Iterator[str]:
    """Complain unless the clock is read before and after a loop of timed instructions."""
    clocks = [step.at for step in steps if "%clock64" in step.text]
    if (
        clocks
        and rounds
        and not any(clocks[0] < loop[0].at and loop[-1].at < clocks[-1] for loop, _ in rounds)
    ):
        yield "no loop of timed instructions is between two readings of the clock"


def backward(loop: Sequence[Step], wanted: frozenset[str]) -> frozenset[str]:
    """What the wanted names are moves of."""
    return frozenset[str]().union(
        *(s.reads for s in loop if s.writes & wanted and s.text.startswith("mov"))
    )


Code = tuple[Sequence[Step], Sequence[list[Step]]]


def of_ptx(order: Order, code: Code) -> Iterator[str]:
    if order.ptx:
        yield from diagnostics(order, order.ptx, order.turn, code, counted=True)


def of_sass(order: Order, code: Code) -> Iterator[str]:
    if order.sass:
        turn = order.turn_of_sass or order.turn
        yield from diagnostics(order, order.sass, turn, code, counted=False)


def diagnostics(
    order: Order, pattern: str, turn: int, code: Code, *, counted: bool
) -> Iterator[str]:
    """Complain unless a loop holds the timed instructions, and all that do keep the order."""
    steps, loops = code
    rounds = rounds_of(pattern, turn, loops)
    if len(rounds) != (order.loops or max(1, len(rounds))):
        yield f"{len(rounds)} loops hold {turn} of {pattern}, not {order.loops or 1}"
    if counted:
        yield from clocked(steps, rounds)
    for loop, timed in rounds:
        if order.chains:
            yield from chained(loop, timed, order)
        else:
            yield from apart(loop, timed, issued=order.together and not counted)
        if counted and order.beside is not None and len(loop) > turn + order.beside:
            yield f"{len(loop) - turn} statements beside those of a loop, not {order.beside}"
        if counted and any(s.text.startswith("bra") and s.at < timed[-1] for s in loop):
            yield "a branch may leave out timed instructions"
        if counted and any(SYNCHRONISES.match(s.text) for s in loop if s.at not in timed):
            yield "a barrier or fence in a loop of timed instructions"
        if counted and order.step:
            yield from counts_by(order.step, steps, loop)


def rounds_of(
    pattern: str, turn: int, loops: Sequence[list[Step]]
) -> list[tuple[list[Step], list[int]]]:
    """The loops that hold so many timed steps, the innermost ones, and where those are."""
    found = []
    for loop in loops:
        timed = [step.at for step in loop if re.match(pattern, step.text)]
        if len(timed) == turn:
            found.append((loop, timed))
    return [
        (loop, timed)
        for loop, timed in found
        if not any(other == timed and len(around) < len(loop) for around, other in found)
    ]
