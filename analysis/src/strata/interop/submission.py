"""A run made ready to be given to others: checked, without its owner's data, and packed.

What stays is on a list. Of `context.json` the parts and members below, and of the facts in them
those of `strata.run.private.SHOWN`; of the facts of a case its numbers and the words of
`WORDS_OF_CASES`. The UUID of the device becomes a digest, which distinguishes chips. Paths in
reasons and details are cut down to their last names.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import partial
from gzip import compress
from pathlib import Path
from typing import Any
from zlib import crc32

from strata.interop.plain_csv import encode
from strata.model.truth import load_run
from strata.run import COLUMNS, Run, RunError, files, load_context
from strata.run.files import CONTEXT_FILE, MEASUREMENTS_FILE, SAMPLES_FILE, opened, packed
from strata.run.private import SHOWN, hidden, without_paths
from strata.run.validate import findings, refuse_unusable

Json = dict[str, Any]

AS_IT_IS = "schema_version run started finished state backend benchmarks rungs ladders"
MEMBERS = {
    "strata": "version commit dirty source_digest build_type compiler cuda_compiler flags "
    "cuda_architectures",
    "device": "slug name uuid",
    "host": "cpu cores os kernel memory_bytes caches",
    "libraries": "",
    "timer": "",
    "counters": "asked state reason mend chip sets passes quantities absent counting_seconds "
    "timing_seconds",
}
"""Parts of `context.json`, and what of each stays beside the facts that may be shown."""
WORDS_OF_CASES = (
    "before", "change", "instructions", "layout", "scan", "starts_from", "stopped_by", "window",
)  # fmt: skip
"""Facts of cases that are words of the harness, not of a machine."""
MOST_TO_SUBMIT = 1 << 30
"""Bytes of samples, unpacked, of a run that others shall check: eight times any recorded one."""

_pack = partial(compress, mtime=0)


def refuse_large(folder: Path) -> None:
    """Raises `RunError` for samples beyond `MOST_TO_SUBMIT`, without parsing any."""
    load_context(folder)  # refuses anything but a run folder
    left = MOST_TO_SUBMIT
    with opened(folder / SAMPLES_FILE) as file:
        while left >= 0 and (data := file.read(1 << 20)):
            left -= len(data)
    if left < 0:
        found = f"more than {MOST_TO_SUBMIT >> 20} MiB of samples"
        fix = "measure fewer cases, or each in a run"
        _refuse(folder, found, "at most that, unpacked", fix)


def submit(run: Run, out: Path, *, force: bool = False) -> Path:
    """Write `run` below `out` as `results/` has it, DEVICE/RUN packed; the path of that folder.

    Raises `RunError` where the run breaks its contract, is not complete, has rows that cannot be
    checked (an import, launches of the user's own kernels), has a word in its table that a
    spreadsheet would run, or is there already; or OSError.
    """
    folder, context = run.folder, run.context
    for found in findings(run):
        _refuse(folder, found, "a run that keeps its contract", "measure again")
    refuse_unusable(run)
    if context.state != "complete":
        fix = "complete it: strata run --resume"
        _refuse(folder, f"a run that is {context.state}", "a complete one", fix)
    with opened(folder / CONTEXT_FILE) as file:
        header: Json = json.loads(files.at_once(file, folder / CONTEXT_FILE, files.MOST_OF_LINE))
    if "imported" in header or any(case.suite in ("access", "profile") for case in run.cases):
        found = "what another tool measured" if "imported" in header else "kernels of yours"
        _refuse(folder, found, "a sweep that others can repeat", "measure one: strata run default")
    for cell in (getattr(row, name) for row in run.recorded.rows for name in COLUMNS):
        if files.runs_as_formula(cell):  # measurements.csv is exact
            _refuse(folder, f"{cell!r}", "no word that a spreadsheet would run", "measure again")
    target = out / context.device.slug / context.run
    if target.parent.is_symlink():
        _refuse(target.parent, "a link", "a folder of the device", "name another --out")
    files.refuse_taken(target, ours=files.is_run(target), force=force)
    with opened(folder / SAMPLES_FILE) as file:
        samples = b"".join(_line(raw) for raw in files.lines(file, folder) if raw.endswith(b"\n"))
    kept = json.dumps(_context(header), indent=2, ensure_ascii=False)
    parts = {CONTEXT_FILE: f"{kept}\n".encode(), packed(Path(SAMPLES_FILE)).name: _pack(samples)}
    table = packed(Path(MEASUREMENTS_FILE)).name
    made = files.place_folder(
        target, parts, lambda part: {table: _pack(encode(load_run(part).recorded, exact=True))}
    )
    for found in findings(load_run(made)):
        _refuse(made, found, "the same run", "report this")
    return made


def _refuse(path: Path, found: str, expected: str, fix: str) -> None:
    raise RunError(path, found=found, expected=expected, fix=fix)


def _context(header: Mapping[str, Any]) -> Json:
    kept = _some(header, AS_IT_IS.split())
    kept["command"] = ["strata", "run", "--anonymous"]
    for name, members in MEMBERS.items():
        if name in header:
            kept[name] = header[name] and _some(header[name], [*members.split(), *SHOWN])
    kept["device"]["uuid"] = kept["device"]["uuid"] and hidden(kept["device"]["uuid"])
    kept["strata"]["flags"] = without_paths(kept["strata"]["flags"])
    if counters := kept.get("counters"):
        counters["asked"] = [Path(file).name for file in counters["asked"]]
        counters |= {name: without_paths(counters[name]) for name in ("reason", "mend")}
    clocks, sweep = header["clocks"], header["sweep"]
    kept["clocks"] = clocks and {when: of and _some(of, SHOWN) for when, of in clocks.items()}
    # A sweep that comes with Strata keeps its text; of another there is a digest.
    name, text = sweep["name"], sweep.get("text")
    kept["sweep"] = {"name": name, "file": name, "plan": _numbers(sweep["plan"])}
    if text is not None and sweep["file"] == name:
        kept["sweep"]["text"] = text
    else:
        digest = f"sha256:{hashlib.sha256((text or '').encode()).hexdigest()}"
        kept["sweep"]["digest"] = sweep["digest"] if text is None else digest
    kept["sweep"]["cases"] = sweep["cases"]
    return {name: kept[name] for name in header if name in kept}


def _line(raw: bytes) -> bytes:
    """A line of samples.jsonl, sealed anew."""
    line: Json = json.loads(raw)
    line.pop("crc32", None)
    facts = line.get("facts", {})
    line["facts"] = _numbers(facts) | _some(facts, WORDS_OF_CASES)
    line["reason"] = without_paths(line["reason"])
    for gate in (*line.get("gates", ()), *(one["noise"] for one in line.get("measurements", ()))):
        gate["detail"] = without_paths(gate["detail"])
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode().removesuffix(b"}")
    return b'%s,"crc32":"%08x"}\n' % (text, crc32(text))


def _some(members: Mapping[str, Any], names: Iterable[str]) -> Json:
    kept = frozenset(names)
    return {name: members[name] for name in members if name in kept}


def _numbers(facts: Mapping[str, Any]) -> Json:
    return {name: fact for name, fact in facts.items() if isinstance(fact, int | float)}
