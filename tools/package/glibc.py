#!/usr/bin/env python3
"""The oldest glibc that programs and libraries run with: its version, such as 2.36.

glibc.py FILE…

Reads the output of `objdump -p` for each file. Exit status 1: one needs a library that is not the C
library's, so that it would not start where that is not installed.
"""

import re
import subprocess
import sys

C_LIBRARY = re.compile(r"(ld-linux[\w-]*|lib(c|m|dl|rt|util|pthread))\.so\.\d+")
#: Opened by the driver where CUPTI is there; it reports itself what is missing.
OPTIONAL = {
    f"libstrata_{name}.so": re.compile(r"libcupti\.so\.\d+") for name in ("capture", "profile")
}


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def needs(headers: str, name: str) -> tuple[list[str], list[str]]:
    """The libraries that are not glibc's, and the versions of glibc, of what objdump prints."""
    libraries = re.findall(r"^\s+NEEDED\s+(\S+)$", headers, re.MULTILINE)
    allowed = OPTIONAL.get(name, C_LIBRARY)
    others = [one for one in libraries if not (C_LIBRARY.fullmatch(one) or allowed.fullmatch(one))]
    return others, re.findall(r" GLIBC_(\d+(?:\.\d+)+)$", headers, re.MULTILINE)


def main(files: list[str]) -> int:
    newest, status = "0", 0
    for file in files:
        headers = subprocess.run(
            ["objdump", "-p", file], capture_output=True, text=True, check=True
        ).stdout
        others, versions = needs(headers, file.rpartition("/")[2])
        if others:
            print(f"{file} needs {', '.join(others)}; link it statically", file=sys.stderr)
            status = 1
        newest = max([newest, *versions], key=version)
    print(newest)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
