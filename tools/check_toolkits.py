#!/usr/bin/env python3
"""Checks that the sources compile with other CUDA toolkits and with clang, without their compilers.

    tools/check_toolkits.py [VERSION|clang|COMPILER]...

For each CUDA version of tools/toolkits.lock, headers come from PyPI into build/toolkits/VERSION,
and g++ checks the syntax of every C++ source that includes CUDA or CUPTI: those that CMake chooses
for that toolkit. `clang`, 16 or newer, or another C++ compiler checks the host part.

Exit status: 0 all compile, or were left out, which is printed; 1 some do not; 2 bad input.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "tools/toolkits.lock"
TOOLKITS = ROOT / "build/toolkits"
OLDEST_CLANG = 16

FOLDERS = ("harness", "micro", "nbody", "tests/cupti", "tests/emulated", "tests/gpu")
INCLUDE = re.compile(r'^ *# *include *[<"]([^>"]+)[>"]', re.MULTILINE)
CUDA = re.compile(r"(cuda|cupti|nvtx3?|cub|cooperative_groups)[\w/]*(\.h|\.hpp|\.cuh)?$")
GENERATED = TOOLKITS / "generated"
#: Written by a build, like the sources that include them.
BUILT = re.compile(r"\.mended\.hpp$")
STAND_IN = re.compile(r"no_(cupti|kernel_counts|mended)\.cpp")
#: What CMake passes to single sources; any text will do.
TEXTS = ("ABSENCE_PAGE", "ACCESS_DATA", "PTX_DATA", "CAPTURE_LIBRARY", "CUPTI_FOLDER")


def locked() -> dict[str, list[str]]:
    """The wheels of each CUDA version, as pip's requirements."""
    wheels: dict[str, list[str]] = {}
    for line in LOCK.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            version, requirement = line.split(maxsplit=1)
            wheels.setdefault(version, []).append(requirement)
    return wheels


def headers(version: str) -> Path | None:
    """The toolkit's headers, fetched where they are missing; None where they cannot be had."""
    folder = TOOLKITS / version
    folder.mkdir(parents=True, exist_ok=True)
    wanted = "\n".join(locked()[version]) + "\n"
    complete = folder / "wheels.txt"
    if complete.exists() and complete.read_text(encoding="utf-8") == wanted:
        return folder / "include"
    if os.environ.get("STRATA_OFFLINE"):
        return None
    with tempfile.TemporaryDirectory() as place:
        requirements = Path(place) / "requirements.txt"
        requirements.write_text(wanted, encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        pip += ["--no-input", "--retries=1", "--no-deps", "--only-binary=:all:", "--require-hashes"]
        pip += [f"--dest={place}", f"--requirement={requirements}"]
        if subprocess.run(pip, check=False).returncode:
            return None
        shutil.rmtree(folder, ignore_errors=True)
        for wheel in sorted(Path(place).glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                for name in archive.namelist():
                    _, found, inside = name.partition("/include/")
                    if found and inside and "/nvvm/" not in name:
                        target = folder / "include" / inside
                        target.parent.mkdir(parents=True, exist_ok=True)
                        target.write_bytes(archive.read(name))
    complete.write_text(wanted, encoding="utf-8")
    return folder / "include"


def why_no_counters(version: str, include: Path) -> str:
    """What CMake prints where counters are left out; empty where they are built."""
    with tempfile.TemporaryDirectory() as place:
        script = Path(place) / "script.cmake"
        script.write_text(
            f'include("{ROOT}/cmake/counters.cmake")\nstrata_find_counters(why)\nmessage("${{why}}")\n',
            encoding="utf-8",
        )
        major, minor = version.split(".")
        facts = {
            "STRATA_CUDA": "ON",
            "CUDAToolkit_VERSION": version,
            "CUDAToolkit_VERSION_MAJOR": major,
            "CUDAToolkit_VERSION_MINOR": minor,
            "CUDAToolkit_INCLUDE_DIRS": str(include),
            "CUDA_cupti_LIBRARY": "libcupti.so",
        }
        words = [f"-D{name}={value}" for name, value in facts.items()]
        done = subprocess.run(
            ["cmake", *words, "-P", script], capture_output=True, text=True, check=True
        )
        return done.stderr.strip()


@cache
def included(source: Path) -> frozenset[str]:
    """The headers that a source includes, directly or through ours."""
    found: set[str] = set()
    for name in INCLUDE.findall(source.read_text(encoding="utf-8")):
        own = next((p for p in (ROOT / name, source.parent / name) if p.is_file()), None)
        found |= included(own) if own else {name}
    return frozenset(found)


def sources(*, counters: bool) -> Iterator[Path]:
    """What CMake compiles for a toolkit with or without counters, as far as it includes CUDA."""
    for folder in FOLDERS:
        for source in sorted((ROOT / folder).rglob("*.cpp")):
            names = included(source)
            if STAND_IN.fullmatch(source.name):
                wanted = not counters
            elif source.with_name(f"no_{source.name}").exists():
                wanted = counters
            else:
                needs_counters = "tests" in folder or any(n.startswith("cupti") for n in names)
                wanted = any(CUDA.match(n) for n in names) and (counters or not needs_counters)
            if wanted and not any(BUILT.search(name) for name in names):
                yield source


def generate() -> None:
    """What CMake writes from templates: any text will do in the place of what it fills in."""
    for template in ROOT.glob("micro/*/*.inc.in"):
        header = GENERATED / template.relative_to(ROOT).with_suffix("")
        header.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(template, header)


def command(include: Path, source: Path, why: str) -> list[str]:
    """A check of its syntax; `why` there are no counters."""
    defines = [f'-DSTRATA_{name}=""' for name in TEXTS] + [f'-DSTRATA_WHY_NO_COUNTERS="{why}"']
    compiler = [os.environ.get("CXX", "g++"), "-std=c++20", "-fsyntax-only"]
    compiler += [f"-I{ROOT}", f"-I{GENERATED}"]
    return [*compiler, f"-isystem{include}", *defines, str(source)]


def check(commands: Mapping[str, list[str]], what: str) -> bool:
    """Whether all of these compilers succeed. Prints what they print."""

    def output_of(words: list[str]) -> str:
        done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
        return done.stderr if done.returncode else ""

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outputs = dict(zip(commands, pool.map(output_of, commands.values()), strict=True))
    failed = {name: output for name, output in outputs.items() if output}
    for name, output in failed.items():
        print(f"{name} does not compile with {what}:\n{output}")
    print(f"strata: {what}: {len(commands) - len(failed)} of {len(commands)} sources compile")
    return not failed


def left_out(what: str) -> bool:
    """Prints it, and adds it to the list that `make test` prints at its end."""
    print(f"strata: left out: {what}")
    with (ROOT / "build/left-out.txt").open("a", encoding="utf-8") as file:
        file.write(what + "\n")
    return True


def check_toolkit(version: str) -> bool:
    """Whether the sources compile with the headers of this CUDA version."""
    include = headers(version)
    if include is None:
        return left_out(
            f"a syntax check with CUDA {version} (its headers come from PyPI: no network)"
        )
    why = why_no_counters(version, include)
    commands = {
        str(source.relative_to(ROOT)): command(include, source, why)
        for source in sources(counters=not why)
    }
    return check(commands, f"CUDA {version} ({why or 'with counters'})")


def clang() -> str | None:
    """A clang that is new enough."""
    for name in ("clang++", *(f"clang++-{v}" for v in range(OLDEST_CLANG, OLDEST_CLANG + 12))):
        if path := shutil.which(name):
            done = subprocess.run(
                [path, "-dumpversion"], capture_output=True, text=True, check=True
            )
            if int(done.stdout.split(".")[0]) >= OLDEST_CLANG:
                return path
    return None


def check_compiler(name: str) -> bool:
    """Whether the host part compiles, in CMake's unity builds."""
    compiler = clang() if name == "clang" else shutil.which(name)
    if compiler is None:
        oldest = f" {OLDEST_CLANG} or newer" if name == "clang" else ""
        return left_out(f"a syntax check with {name} (no {name}{oldest} here)")
    build = TOOLKITS / Path(compiler).name
    options = ["-GNinja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DSTRATA_CUDA=OFF"]
    options += ["-DBUILD_TESTING=OFF", f"-DCMAKE_CXX_COMPILER={compiler}"]
    configure = ["cmake", "-S", str(ROOT), "-B", str(build), *options]
    generate = ["cmake", "--build", str(build), "--target", "strata_build_info"]
    for words in (configure, generate):
        if words is generate:
            text = (build / "build.ninja").read_text(encoding="utf-8")
            generate += re.findall(r"^build (\S+/builtin_\w+\.cpp) ", text, re.MULTILINE)
        done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
        if done.returncode:
            print(f"strata: {' '.join(words)} fails:\n{done.stdout}{done.stderr}")
            return False
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        words = entry.get("arguments") or shlex.split(entry["command"])
        name = os.path.relpath(entry["file"], build)
        commands[name] = [*words, "-fsyntax-only"]
    return check(commands, Path(compiler).name)


def main(wanted: list[str]) -> int:
    """The exit status."""
    versions = locked()
    generate()
    for name in wanted:
        if name != "clang" and name not in versions and shutil.which(name) is None:
            expected = f"{', '.join(versions)}, clang or the name of a C++ compiler"
            print(
                f"strata: {name} is no toolkit or compiler here; expected {expected}",
                file=sys.stderr,
            )
            return 2
    results = [
        check_toolkit(name) if name in versions else check_compiler(name)
        for name in wanted or [*versions, "clang"]
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
