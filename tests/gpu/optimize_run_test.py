"""`strata access optimize --run` keeps what is faster on a GPU, and nothing else.

optimize_run_test.py STRATA SOURCE_FOLDER [unittest flags]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

STRATA, SOURCE = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
KERNELS = f"{SOURCE}/tests/data/access/mend.ptx"
PATIENCE = 600
"""Seconds after which a command counts as hung."""


class MendRunTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def launch(self, blocks: int, held: int) -> str:
        """A launch of `bytes`, which loads two bytes a thread and stores one: `held` of those."""
        elements = 256 * blocks
        file = self.folder / f"{blocks}.yaml"
        file.write_text(
            f"schema: 1\nkernel: ^bytes$\ngrid: [{blocks}]\nblock: [256]\narguments:\n"
            f"  - {{bytes: {elements}}}\n  - {{bytes: {elements}}}\n  - {{bytes: {held}}}\n"
            f"  - u32 {elements}\n"
        )
        return str(file)

    def mended(self, *launches: str) -> tuple[dict[str, Any], int]:
        words = [STRATA, "access", "mend", KERNELS, "--kernel", "^bytes$", "--run", "--format"]
        words += ["json"]
        for launch in launches:
            words += ["--launch", launch]
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        (kernel_said,) = json.loads(done.stdout)["kernels"]
        return kernel_said, done.returncode

    def check(self, said: dict[str, Any]) -> None:
        """What was kept is faster beyond chance in some launch, and slower in none."""
        self.assertGreaterEqual(len(said["tried"]), 1)
        faster = [one["change"] for one in said["tried"] if not one["why_not"]]
        self.assertEqual(said["state"], "optimized" if faster else "unchanged", said)
        for one in said["tried"]:
            if one["why_not"]:
                continue
            self.assertTrue(any(high < 1 for _, high in one["ratios"]), one)
            self.assertFalse(any(low > 1 for low, _ in one["ratios"]), one)

    def test_what_is_faster_is_kept(self) -> None:
        said, status = self.mended(self.launch(1 << 18, 1 << 26))
        self.check(said)
        self.assertEqual((said["state"], status), ("optimized", 0), said)

    def test_all_launches_have_a_say(self) -> None:
        said, status = self.mended(*[self.launch(blocks, 256 * blocks) for blocks in (2, 4096)])
        self.check(said)
        self.assertEqual(status, 0)
        for one in said["tried"]:
            self.assertEqual(len(one["ratios"]), 2, one)

    def test_a_launch_that_leaves_its_buffers_is_told(self) -> None:
        said, status = self.mended(self.launch(8, 1024))
        self.assertEqual((said["state"], status), ("unchanged", 0), said)
        self.assertIn("wrote outside", said["why"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
