"""End to end, on a GPU: whatever a kernel does, a run loses at most that case, and says why.

    python3 gpu_fault_test.py path/to/strata_gpu_faulty [unittest flags]

STRATA_FAULT_REPEATS: how often each kind of fault comes at a random place; without it, once.
STRATA_FAULT_SEED: other places.
"""

import os
import random
import shutil

from supervised import SupervisedTest, main

REASONS = {
    "illegal_address": "illegal memory access",
    "misaligned_address": "misaligned address",
    "assertion": "device-side assert",
    "trap": "launch failure|illegal instruction",
    "bad_launch": "invalid configuration argument|invalid argument",
    "out_of_memory": "out of memory",
    "endless": r"time limit: no result after (2|7) s",
    "crash": r"killed by signal 11 \(SIGSEGV\)",
}


class GpuFaultTest(SupervisedTest):
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

    def test_a_misbehaving_kernel_anywhere_loses_only_its_case(self) -> None:
        random.seed(os.environ.get("STRATA_FAULT_SEED", "15"))
        kept, repeats = [], int(os.environ.get("STRATA_FAULT_REPEATS", "1"))
        for repetition in range(repeats):
            # The index is also how many kernels of the case do well before.
            kinds = [*REASONS, *["ok"] * 4]
            places = random.sample(range(100), len(kinds))
            entries = [([at], [kind]) for at, kind in zip(places, kinds, strict=True)]
            random.shuffle(entries)
            with self.subTest(repetition):
                run = self.run_sweep(self.sweep_of(entries, time_limit=2), status=1)
                self.assertEqual(run.context["state"], "complete")
                self.assertEqual(list(run.cases()), run.context["sweep"]["cases"])
                self.assertEqual(len(run.lines()), len(kinds), "each case once")
                for line in run.lines():
                    self.assertRegex(line["reason"], REASONS.get(line["params"]["kind"], "^$"))
                kept.append(self.folder / f"kept-{repetition}" / run.folder.name)
                shutil.move(run.folder, kept[-1])
        self.validate(kept, "12 cases, 4 rows")


if __name__ == "__main__":
    main()
