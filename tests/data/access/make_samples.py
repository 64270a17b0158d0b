"""Make the PTX of kernels of micro/access that the tests of `strata access` evaluate.

    python3 make_samples.py REPOSITORY

Needs nvcc on PATH. Lines that name source positions are left out, and the hash in the name of an
anonymous namespace, which hangs on the folder.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

#: Of a source, the kernels that are kept, by a part of their names.
KERNELS = {
    "sobel": ["8OriginalE", "8SeedToolE"],
    "rotation_forward": ["8OriginalI"],
    "rotation_backward": ["8OriginalI", "8SeedToolI"],
    "dct": ["directILj1E", "4bestE", "along_rows"],
    "short_words": ["addILj4ELj4ELj1E", "addILj1ELj1ELj4E", "addILj1ELj16ELj1E"],
    "coalescing": ["gatherILj4E"],
    "mend": [""],  # all of them
    "contents": [""],
    "stage": [""],
}
FLAGS = ["-std=c++20", "--expt-relaxed-constexpr", "-arch=compute_90", "-ptx"]


def pruned(text: str, wanted: list[str]) -> str:
    """The header, the declarations and the wanted kernels."""
    text = re.sub(r"//[^\n]*", "", text)
    # "51_GLOBAL__N__…" has the length of what follows in front.
    while (found := re.search(r"(\d+)(?=_GLOBAL__N__)", text)) is not None:
        whole = text[found.start() : found.end() + int(found[1])]
        text = text.replace(whole, "9anonymous")
    kept = []
    for part in re.split(r"(?m)^(?=\.visible \.entry|\.entry|\.weak \.entry)", text):
        name = re.match(r"(?:\.visible |\.weak )?\.entry (\S+)\(", part)
        if name is None or any(word in name[1] for word in wanted):
            kept.append(part)
    text = "".join(kept)
    text = "\n".join(line.rstrip() for line in text.splitlines())
    return re.sub(r"\n{2,}", "\n", text).strip() + "\n"


def main() -> None:
    root = Path(sys.argv[1]).resolve()
    here = Path(__file__).parent
    for source, wanted in KERNELS.items():
        out = here / f"{source}.ptx"
        beside = here / f"{source}.cu"
        kernel = str(beside if beside.exists() else root / "micro/access" / f"{source}.cu")
        command = ["nvcc", *FLAGS, f"-I{root}", kernel, "-o", str(out)]
        subprocess.run(command, check=True)
        text = pruned(out.read_text(encoding="utf-8"), wanted)
        for word in wanted:
            if word not in text:
                raise SystemExit(f"{source}: no kernel {word}")
        out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
