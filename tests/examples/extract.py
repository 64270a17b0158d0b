"""Write the code blocks of a page that name a file: ```cpp micro/compute/division.cpp

extract.py PAGE FOLDER
"""

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main(page: Path, folder: Path) -> None:
    for name, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text(encoding="utf-8") != code:
            file.write_text(code, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
