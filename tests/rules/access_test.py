"""`strata access` as a user meets it: inputs, formats, launches, exit codes and messages.

access_test.py STRATA SOURCE_FOLDER [unittest flags]
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

STRATA = str(Path(sys.argv[1]).resolve())
DATA = Path(sys.argv[2]) / "tests" / "data" / "ptx"
FAULTS = Path("../access/faults")
PATIENCE = 900
"""Seconds after which a command counts as hung: with sanitizers, on a busy machine, it is slow."""
NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")

PACKAGES = Path(os.environ.get("STRATA_PYTHON", sys.executable)).parent.parent / "lib"
NVDISASM = shutil.which("nvdisasm") or next(
    map(str, PACKAGES.glob("python*/site-packages/nvidia/*/bin/nvdisasm")), None
)
"""From a toolkit, or the package nvidia-cuda-nvdisasm of the Python that runs this."""

Json = dict[str, Any]


class Access(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)

    def answer(
        self, *arguments: str | Path, code: int = 0, path: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "TMPDIR": str(self.out)}
        if path is not None:
            environment["PATH"] = path
        answer = subprocess.run(
            [STRATA, "access", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
            cwd=DATA,
            env=environment,
            check=False,
        )
        self.assertEqual(answer.returncode, code, answer.stderr)
        left = [one.name for one in self.out.iterdir() if one.name.startswith("strata-access-")]
        self.assertEqual(left, [], "private folders are removed")
        return answer

    def refusal(self, *arguments: str | Path) -> str:
        answer = self.answer(*arguments, code=2)
        self.assertEqual(len(answer.stderr.strip().splitlines()), 1, answer.stderr)
        self.assertEqual(answer.stdout, "")
        return answer.stderr

    def accesses(self, *arguments: str | Path) -> list[Json]:
        document = json.loads(self.answer(*arguments, "--format", "json").stdout)
        self.assertEqual(document["schema_version"], 1)
        return [one for kernel in document["kernels"] for one in kernel["accesses"]]

    def rows(self, *arguments: str | Path) -> list[dict[str, str]]:
        text = self.answer(*arguments, "--format", "csv").stdout
        return list(csv.DictReader(io.StringIO(text, newline="")))

    def test_each_line_of_the_source_has_its_sectors(self) -> None:
        found = self.accesses("nvcc_inlined.ptx")
        self.assertEqual(
            [one["instruction"] for one in found], 4 * ["ld.global.f32"] + ["st.global.f32"]
        )
        mass, speed, result = found[0], found[1], found[4]
        # 28 bytes apart, 32 lanes touch 28 sectors, whichever field it is.
        for one in found[:4]:
            self.assertEqual(one["verdict"], "uncoalesced")
            self.assertEqual((one["proved"]["least"], one["proved"]["most"]), (28, 28))
            self.assertEqual(one["proved"]["ideal"], 4)
            self.assertEqual(one["moved_over_ideal"], 7)
            self.assertEqual(one["steps"][0], {"index": "threadIdx.x", "bytes": 28, "text": "28"})
            self.assertIsNotNone(one["remedy"])
        self.assertEqual(result["verdict"], "coalesced")
        self.assertEqual(result["moved_over_ideal"], 1)
        self.assertIsNone(result["remedy"])
        source = (DATA / "inlined.cu").read_text().splitlines()
        self.assertIn("particles[i].mass", source[mass["source"]["line"] - 1])
        self.assertIn("result[i] =", source[mass["inlined_into"][0]["line"] - 1])
        self.assertIn("p.vx * p.vx", source[speed["source"]["line"] - 1])
        self.assertIn("squared_speed", speed["source"]["function"])
        self.assertEqual(len(speed["inlined_into"]), 2)
        self.assertEqual(result["inlined_into"], [])

    def test_a_launch_gives_exact_numbers(self) -> None:
        for sample in ("nvcc_inlined.ptx", "clang_inlined.ptx"):
            for one in self.accesses(sample, "--launch", "energies.yaml"):
                (exact,) = one["exact"]
                (traffic,) = exact["traffic"]
                self.assertTrue(exact["is_exact"])
                self.assertEqual((exact["warps"], exact["lanes"]), (32, 1000))
                self.assertEqual(exact["outside"], 0)
                # 1000 particles of 28 bytes, all of whose sectors are touched; or 1000 floats.
                reads = one["kind"] == "load"
                self.assertEqual(traffic["sectors"], 28000 // 32 if reads else 4000 // 32)
                self.assertEqual(exact["ideal_sectors"], 4000 // 32)

    def test_what_is_usual_is_told_apart_from_what_is_proved(self) -> None:
        sample = "packages/triton_transpose.ptx"
        rows = [one for one in self.accesses(sample) if one["space"] == "global"]
        self.assertEqual({one["verdict"] for one in rows}, {"depends"})
        for one in rows:
            self.assertEqual(
                one["usual"], {"verdict": "coalesced", "where": "param_2 is 4096"}, one
            )
        self.assertIn("usually coalesced, where param_2 is 4096", self.answer(sample).stdout)
        (gathered,) = [
            one
            for one in self.accesses("packages/warp_gather.ptx")
            if one["kind"] == "load" and one["verdict"] == "unknown" and one["ptx_line"] > 150
        ]
        self.assertEqual(gathered["usual"]["verdict"], "uncoalesced")
        self.assertIn("is scattered", gathered["usual"]["where"])

    def test_generations_are_counted_by_their_own_rules(self) -> None:
        rows = self.rows("nvcc_inlined.ptx", "--launch", "energies.yaml", "--generation", "1.0,9.0")
        exact = [row for row in rows if row["method"] == "exact"]
        self.assertEqual({row["generation"] for row in exact}, {"1.0-1.1", "7.x"})
        self.assertEqual(len(exact), 2 * 5)
        requests = {row["generation"]: row["requests"] for row in exact}
        # Half-warps make requests of their own; of the last warp 8 lanes take part.
        self.assertEqual(requests, {"1.0-1.1": "63", "7.x": "32"})
        self.assertIn("9.9.9", self.refusal("nvcc_inlined.ptx", "--generation", "9.9.9"))

    def test_csv_and_table_say_what_json_says(self) -> None:
        arguments = ("nvcc_inlined.ptx", "--launch", "energies.yaml")
        table = self.answer(*arguments).stdout
        self.assertLessEqual(max(map(len, table.splitlines())), 100)
        self.assertIn("5 accesses, 1 coalesced, 4 uncoalesced; 4 move over 2 times", table)
        rows = iter(self.rows(*arguments))
        for one in self.accesses(*arguments):
            proved, exact = next(rows), next(rows)
            for row in (proved, exact):
                self.assertEqual(row["line"], str(one["source"]["line"]))
                self.assertEqual(row["ptx_line"], str(one["ptx_line"]))
                self.assertEqual(row["instruction"], one["instruction"])
                self.assertEqual(float(row["moved_over_ideal"]), one["moved_over_ideal"])
            self.assertEqual(proved["moved_least"], str(one["proved"]["least"]))
            self.assertEqual(exact["moved_most"], str(one["exact"][0]["traffic"][0]["sectors"]))
            self.assertIn(f"inlined.cu:{one['source']['line']} ", table)
        self.assertIsNone(next(rows, None))

    def test_a_table_begins_with_the_most_wasteful_access(self) -> None:
        table = self.answer("nvcc_inlined.ptx", "--launch", "energies.yaml").stdout
        rows = [line.split() for line in table.splitlines() if line.startswith("inlined.cu:")]
        # Three fields of one line, one of another, and the store; 32 bytes per sector too many.
        self.assertEqual(
            [row[:4] for row in rows][:2],
            [
                ["inlined.cu:31", "←", "40", "ld.global.f32"],
                ["inlined.cu:35", "←", "40", "ld.global.f32"],
            ],
        )
        self.assertEqual([row[-2:] for row in rows], [["72", "kB"], ["24", "kB"], ["0", "B"]])
        self.assertEqual(rows[0][4:-2], ["×3", "4", "96", "2625", "375", "7.00"])
        self.assertIn("    return p.vx * p.vx", table)
        self.assertIn(
            "4 blocks of 256 threads; 3625 sectors of global memory moved, 625 needed; exact", table
        )
        self.assertNotIn("premise", table)
        self.assertEqual(
            table.count("lanes are 28 bytes apart"), 2, "no advice where nothing is wasted"
        )

    def test_a_table_has_ten_rows_or_all(self) -> None:
        sample = ("nvcc_declarations.ptx", "--kernel", "^mixed")

        def rows(*flags: str) -> int:
            table = self.answer(*sample, *flags).stdout
            return sum(bool(re.match(r"\S*:\d+ ", line)) for line in table.splitlines())

        self.assertEqual(rows(), 10)
        everything = rows("--all")
        self.assertGreater(everything, 10)
        self.assertIn(f"… and {everything - 10} more, which waste", self.answer(*sample).stdout)

    def test_a_line_number_is_never_cut(self) -> None:
        table = self.answer(FAULTS / "long_file_name.ptx").stdout
        self.assertRegex(table, r"(?m)^k_with_a_rather\S*…:3 ")
        self.assertRegex(table, r"(?m)^sm_32_intr\S*…:495 ← 4 ")

    def test_advice_and_proof_fit_the_launch(self) -> None:
        along_y = (FAULTS / "lanes_along_y.ptx", "--launch", FAULTS / "lanes_along_y.yaml")
        table = self.answer(*along_y).stdout
        self.assertIn("1.00", table)
        self.assertNotIn("swap", table)
        self.assertNotIn("usual", self.answer(along_y[0]).stdout)
        square = (FAULTS / "square_block.ptx", "--launch", FAULTS / "square_block.yaml")
        (load, _) = self.accesses(*square)
        self.assertEqual(load["moved_over_ideal"], 2)
        self.assertEqual(
            load["exact"][0]["not_covered_by_proof"],
            "blockDim.x is a multiple of 32, and here it is 16",
        )
        self.assertIn(
            "the proof does not cover this launch", self.answer(*square, "--proof").stdout
        )
        self.assertNotIn("does not cover", self.answer(*along_y[:1], "--proof").stdout)

    def test_without_nvdisasm_the_numbers_are_those_of_the_ptx(self) -> None:
        merged = (FAULTS / "merged.ptx", "--launch", FAULTS / "merged.yaml")
        text = self.answer(*merged, path="/nowhere").stdout
        if "nvdisasm" in text or "ptxas" in text:
            self.assertIn("The numbers are those of the PTX", text)
        self.assertRegex(text, r"(?m)^k.cu:6 +ld.shared.f32 ×4 +4 +32 +128 +32 ")

    @unittest.skipUnless(NVCC and NVDISASM, "no ptxas or nvdisasm")
    def test_accesses_that_ptxas_merges_have_both_numbers(self) -> None:
        path = os.pathsep.join([str(Path(str(tool)).parent) for tool in (NVCC, NVDISASM)])
        merged = (FAULTS / "merged.ptx", "--launch", FAULTS / "merged.yaml")
        text = self.answer(*merged, path=path).stdout
        self.assertRegex(text, r"(?m)^k.cu:6 +ld.shared.f32 ×4 +4 +32 +128 +32 ")
        self.assertIn("machine code, merged to LDS.128: 8 requests, 64 wavefronts", text)
        self.assertNotIn("numbers are those of the PTX", text)

    def test_files_may_follow_two_hyphens(self) -> None:
        sample = "nvcc_inlined.ptx"
        self.assertEqual(self.answer("--", sample).stdout, self.answer(sample).stdout)

    def test_lines_of_a_table_fit_whatever_a_name_is(self) -> None:
        for sample in sorted(DATA.glob("*.ptx")):
            table = self.answer(sample).stdout
            self.assertLessEqual(max(map(len, table.splitlines())), 100, sample)

    def test_most_decides_the_exit_status(self) -> None:
        self.answer("nvcc_inlined.ptx")
        self.answer("nvcc_inlined.ptx", "--most", "2", code=1)
        self.answer("nvcc_inlined.ptx", "--most", "7")
        self.answer("nvcc_inlined.ptx", "--most", "6.9", "--launch", "energies.yaml", code=1)
        self.answer("triton_scale.ptx", "--most", "1.5")
        for wrong in ("0", "-1", "nan"):
            self.assertIn("--most", self.refusal("nvcc_inlined.ptx", "--most", wrong))

    def test_sarif_has_the_shape_that_its_schema_asks_for(self) -> None:
        answer = self.answer("nvcc_inlined.ptx", "numba_transpose.ptx", "--format", "sarif")
        document = json.loads(answer.stdout)
        self.assertEqual(document["version"], "2.1.0")
        (run,) = document["runs"]
        driver = run["tool"]["driver"]
        rules = [rule["id"] for rule in driver["rules"]]
        self.assertEqual(len(set(rules)), len(rules))
        self.assertTrue(run["results"])
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])
            self.assertIn(result["level"], {"none", "note", "warning", "error"})
            self.assertTrue(result["message"]["text"])
            for location in (*result["locations"], *result.get("relatedLocations", ())):
                physical = location["physicalLocation"]
                self.assertRegex(physical["artifactLocation"]["uri"], r"^[A-Za-z0-9/._~%:-]+$")
                self.assertGreaterEqual(physical["region"]["startLine"], 1)
                self.assertGreaterEqual(physical["region"].get("startColumn", 1), 1)
        levels = {result["ruleId"]: result["level"] for result in run["results"]}
        self.assertEqual(levels["uncoalesced"], "warning")
        texts = [json.dumps(result) for result in run["results"]]
        self.assertEqual(len(set(texts)), len(texts), "no result is repeated")

    def test_kernels_are_chosen_by_any_of_their_names(self) -> None:
        def kernels(expression: str) -> list[str]:
            text = self.answer(
                "nvcc_declarations.ptx", "--kernel", expression, "--format", "json"
            ).stdout
            return [kernel["name"] for kernel in json.loads(text)["kernels"]]

        self.assertEqual(kernels("^mixed"), ["mixed(Options, float const*, float*, int)"])
        self.assertEqual(kernels("^_Z5mixed"), kernels("^mixed"))
        self.assertIn(
            "did you mean 'energies'", self.refusal("nvcc_inlined.ptx", "--kernel", "energie_")
        )
        self.assertIn("--kernel", self.refusal("nvcc_inlined.ptx", "--kernel", "("))

    def test_a_function_that_is_called_proves_nothing_of_its_parameters(self) -> None:
        loads = [
            one
            for one in self.accesses("nvcc_declarations.ptx", "--kernel", "^blurred")
            if one["space"] == "global"
        ]
        self.assertTrue(loads)
        for one in loads:
            self.assertEqual(one["verdict"], "unknown")
            self.assertIn("may differ between lanes", one["reason"])
            self.assertIsNone(one["proved"])

    def test_what_is_not_followed_is_listed_nevertheless(self) -> None:
        found = self.accesses("triton_product.ptx")
        whys = {one["reason"] for one in found if one["verdict"] == "unmodelled"}
        self.assertIn("a matrix in shared memory that a descriptor names", whys)

    def test_bad_input_ends_in_one_line(self) -> None:
        file = self.out / "bad.ptx"
        for content, word in (
            (b"", "bad.ptx:1: nothing; expected '.version'"),
            (b"int main() {}", "bad.ptx:1: 'int'"),
            (b".version 9.0\n\0", "bad.ptx:2: a NUL"),
            (b".version 9.0\n.entry k() {", "bad.ptx:2: the text ends"),
            (b".version 12.3\n", "bad.ptx:1: PTX 12.3"),
            (b"\xff\xfe", "bad.ptx:1: bytes that are not UTF-8"),
        ):
            file.write_bytes(content)
            self.assertIn(word, self.refusal(file))
        self.assertIn("cannot be read", self.refusal("no-such-file.ptx"))
        self.assertIn(
            "no-such-file.yaml", self.refusal("nvcc_inlined.ptx", "--launch", "no-such-file.yaml")
        )
        self.assertIn("FILES", self.refusal())

    def test_without_a_compiler_a_source_is_refused_by_name(self) -> None:
        message = self.refusal("inlined.cu", "--compiler", "no-such-compiler")
        self.assertIn("no-such-compiler", message)
        self.assertIn("inlined.cu", message)

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_a_source_is_compiled(self) -> None:
        found = self.accesses("inlined.cu", "--compiler", str(NVCC), "--arch", "sm_90")
        self.assertEqual([one["verdict"] for one in found], 4 * ["uncoalesced"] + ["coalesced"])
        self.assertEqual(found[0]["source"]["file"], "inlined.cu")
        broken = self.out / "broken.cu"
        broken.write_text("int main() { return nothing; }\n")
        answer = self.answer(broken, "--compiler", str(NVCC), code=2)
        self.assertIn("broken.cu(1): error", answer.stderr)
        self.assertIn("exited with status", answer.stderr.splitlines()[-1])

    def test_rows_of_a_launch_go_into_a_run_folder(self) -> None:
        launched = ("nvcc_inlined.ptx", "--launch", "energies.yaml", "--out", self.out / "runs")
        answer = self.answer(*launched)
        self.assertIn("18 of 18 rows valid, in ", answer.stderr)
        (folder,) = (self.out / "runs").iterdir()
        with (folder / "measurements.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        whole = [row["value"] for row in rows if row["benchmark"] == "kernel_launch"]
        self.assertEqual(whole, ["160", "3625", "625"])
        moved = [
            row["value"]
            for row in rows
            if row["benchmark"] == "kernel_access" and row["quantity"] == "sectors"
        ]
        self.assertEqual(moved, ["875", "875", "875", "875", "125"])
        self.assertEqual(
            {row["reasons"] for row in rows}, {"model: not counted: --run was not given"}
        )
        context = json.loads((folder / "context.json").read_text())
        self.assertEqual(context["state"], "complete")
        self.assertEqual(set(context["benchmarks"]), {"kernel_access", "kernel_launch"})
        self.assertIn("kernel: energies", context["sweep"]["text"])
        resumed = subprocess.run(
            [STRATA, "run", "--resume", str(folder)], capture_output=True, text=True, check=False
        )
        self.assertEqual(resumed.returncode, 2)
        self.assertIn("run strata access again", resumed.stderr)

    def test_a_run_folder_needs_a_launch_and_a_place(self) -> None:
        self.assertIn("--launch", self.refusal("nvcc_inlined.ptx", "--out", self.out / "runs"))
        launched = ("nvcc_inlined.ptx", "--launch", "energies.yaml")
        old = ("--generation", "1.0", "--out", self.out / "runs")
        self.assertIn("7.x", self.refusal(*launched, *old))
        other = ("nvcc_declarations.ptx", "--kernel", "mixed", "--out", self.out / "runs")
        answer = self.answer("nvcc_inlined.ptx", *launched[1:], *other, code=2)
        self.assertIn("these launches have no accesses", answer.stderr)
        (self.out / "file").write_text("")
        answer = self.answer(*launched, "--out", self.out / "file", code=1)
        self.assertEqual(len(answer.stderr.strip().splitlines()), 1)
        self.assertFalse((self.out / "runs").exists())

    def test_capture_ends_in_one_line_where_it_cannot(self) -> None:
        def refused(*words: str | Path, codes: tuple[int, ...] = (2,)) -> str:
            done = subprocess.run(
                [
                    STRATA,
                    "access",
                    "capture",
                    "--out",
                    str(self.out / "captured"),
                    *map(str, words),
                ],
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            self.assertIn(done.returncode, codes, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertEqual(done.stdout, "")
            return done.stderr

        self.assertIn("no such program", refused("--", "no-such-program"))
        self.assertIn("no such program", refused("--", DATA / "energies.yaml"))
        self.assertIn("PROGRAM", refused())
        self.assertIn("--megabytes", refused("--megabytes", "-1", "--", "true"))
        self.assertFalse((self.out / "captured").exists())
        # Without CUPTI that is reported, else that the program does not use CUDA.
        message = refused("--", "true", codes=(2, 3))
        self.assertTrue(
            "libstrata_capture.so" in message or "made no CUDA driver call" in message, message
        )
        self.assertFalse((self.out / "captured").exists())
        (self.out / "captured").mkdir()
        (self.out / "captured" / "file").write_text("")
        self.assertIn("is not empty", refused("--", "true"))

    def test_it_explains_itself(self) -> None:
        text = self.answer("--help").stdout
        for word in (
            "--kernel",
            "--launch",
            "--generation",
            "--format",
            "--most",
            "--out",
            "Exit status",
        ):
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
