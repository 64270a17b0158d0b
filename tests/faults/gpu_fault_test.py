"""End to end, on a GPU: whatever a kernel does, a run loses at most that case, and says why.

python3 gpu_fault_test.py path/to/strata_gpu_faulty [unittest flags]
"""

import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import supervision_test  # takes the program off the command line
from supervision_test import SupervisionTest

REASONS = {
    "illegal_address": "illegal memory access",
    "misaligned_address": "misaligned address",
    "assertion": "device-side assert",
    "trap": "launch failure|illegal instruction",
    "bad_launch": "invalid configuration argument|invalid argument",
    "out_of_memory": "out of memory",
    "endless": "time limit: no result after 2 s",
    "crash": r"killed by signal 11 \(SIGSEGV\)",
}


class GpuFaultTest(SupervisionTest):
    def start_sweep(self, sweep: str, *words: str, **kwargs):
        where = ("--device", "cuda:0", "--counters", "none", "--out", str(self.folder / "runs"))
        return self.start(sweep, *where, *words, **kwargs)

    def test_each_misbehaving_kernel_loses_only_its_case_and_says_how(self) -> None:
        kinds = ["ok", *REASONS]
        run = self.run_sweep(self.sweep(kinds, range(2), time_limit=2), status=1)
        self.assertEqual(run.context["state"], "complete")
        self.assertEqual(list(run.cases()), run.context["sweep"]["cases"])
        self.assertEqual(len(run.lines()), 2 * len(kinds), "each case once")
        for line in run.lines():
            kind = line["params"]["kind"]
            with self.subTest(line["case"]):
                if kind == "ok":
                    self.assertEqual(line["status"], "measured", line["reason"])
                else:
                    self.assertEqual(line["status"], "failed")
                    self.assertRegex(line["reason"], REASONS[kind])
                    self.assertNotIn("\n", line["reason"])
        self.assertEqual([row["value"] for row in run.rows()], ["0", "1"])

    def test_the_order_of_misbehaving_kernels_does_not_matter(self) -> None:
        kinds = ["ok", *REASONS]
        random.Random(15).shuffle(kinds)
        run = self.run_sweep(self.sweep(kinds, time_limit=2), status=1)
        lost = {line["params"]["kind"] for line in run.lines() if line["status"] == "failed"}
        self.assertEqual(lost, set(REASONS))


def load_tests(loader: unittest.TestLoader, _tests: object, _pattern: object) -> unittest.TestSuite:
    """Those of this file alone: its base's are of the CPU."""
    own = [name for name in loader.getTestCaseNames(GpuFaultTest) if "misbehaving_kernel" in name]
    return unittest.TestSuite(map(GpuFaultTest, own))


if __name__ == "__main__":
    if supervision_test.STRATA is None:
        sys.exit(f"usage: {Path(__file__).name} path/to/strata_gpu_faulty [unittest flags]")
    unittest.main(verbosity=2)
