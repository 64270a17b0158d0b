"""tools/ncu_check.py: reads what ncu prints, and notices when it counted something else.

ncu_check_test.py SOURCE_FOLDER
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(sys.argv[1])
SCRIPT = SOURCE / "tools" / "ncu_check.py"


def load():
    spec = importlib.util.spec_from_file_location("ncu_check", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["ncu_check"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


check = load()

REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
HITS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"
L2 = "lts__t_sectors_srcunit_tex_op_read.sum"
DRAM = "dram__bytes_read.sum"
RATIO = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"
CYCLES = "sm__cycles_active.avg"
METRICS = [REQUESTS, SECTORS, HITS, L2, DRAM, RATIO, CYCLES]
AOS = "micro/layout_read/cuda/block_size=128/cores=all/layout=aos/residency=l2/warps_per_sm=4"
SOA = "micro/layout_read/cuda/block_size=128/cores=all/layout=soa/residency=l2/warps_per_sm=4"

# The form of ncu's raw page: its own lines around the table, a row of units, thousands parted.
STACK = "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
SPAN = "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
HEADER = [
    *["ID", "Process ID", "Process Name", "Host Name", STACK, SPAN, "Kernel Name", "Context"],
    *["Stream", "Block Size", "Grid Size", "Device", "CC", *METRICS],
]
UNITS = ["" for _ in HEADER[: -len(METRICS)]] + [
    *["request", "sector", "sector", "sector", "byte", "sector/request", "cycle"]
]
NOISE = [
    "==PROF== Connected to process 4711 (/usr/bin/strata)",
    '==PROF== Profiling "walk": Application replay pass 1',
    "==WARNING== Found outstanding GPU clock reset, trying to revert...Success",
]


def quoted(fields):
    return ",".join('"' + field.replace('"', '""') + '"' for field in fields)


def stack_of(case):
    tail = "none:none:none:none:none:none"
    return f'4711  "<default domain>:{case}:{tail}"  "<default domain>:counted:{tail}" '


def kernel(number, case, values):
    fixed = [str(number), "4711", "strata", "127.0.0.1", stack_of(case), "", "walk(Reads, int)"]
    return [*fixed, "1", "7", "(128, 1, 1)", "(132, 1, 1)", "0", "9.0", *values]


NOTHING = ["132", "132", "0", "264", "1,024", "1", "812.25"]
WORK = ["7,569,408", "52,985,856", "45,416,448", "7,569,920", "65,536", "7", "1,234,567.89"]
WORK_SOA = ["7,569,408", "30,277,632", "12", "30,277,700", "n/a", "4", "1,111,111.11"]
COUNTED = {
    REQUESTS: 7569408.0,
    SECTORS: 52985856.0,
    HITS: 45416448.0,
    L2: 7569920.0,
    DRAM: 65536.0,
    RATIO: 7.0,
    CYCLES: 1234567.9,
}


def page(rows, units=UNITS):
    table = [quoted(HEADER), quoted(units), *(quoted(row) for row in rows)]
    return "\n".join([*NOISE, *table, "==PROF== Disconnected from process 4711"]) + "\n"


TWO_CASES = [
    kernel(0, AOS, NOTHING),
    kernel(1, AOS, WORK),
    kernel(2, SOA, NOTHING),
    kernel(3, SOA, WORK_SOA),
]


class RawPage(unittest.TestCase):
    def test_numbers_are_read_whatever_stands_around_the_table(self):
        kernels = check.parse_raw_page(page(TWO_CASES))
        self.assertEqual([one.name for one in kernels], ["walk(Reads, int)"] * 4)
        self.assertEqual(kernels[1].readings[REQUESTS].value, 7569408)
        self.assertEqual(kernels[1].readings[CYCLES].value, 1234567.89)
        self.assertAlmostEqual(kernels[1].readings[CYCLES].resolution, 0.005)
        self.assertEqual(kernels[1].readings[RATIO].resolution, 0)
        self.assertIn(f":{AOS}:", kernels[1].ranges)

    def test_a_metric_that_ncu_does_not_have_is_left_out(self):
        kernels = check.parse_raw_page(page(TWO_CASES))
        self.assertNotIn(DRAM, kernels[3].readings)
        self.assertIn(DRAM, kernels[1].readings)

    def test_rounded_units_are_refused(self):
        units = [*UNITS[:-3], "Mbyte", *UNITS[-2:]]
        with self.assertRaisesRegex(check.CheckError, "Mbyte.*--print-units base"):
            check.parse_raw_page(page(TWO_CASES, units))

    def test_a_page_without_a_table_passes_ncus_reason_on(self):
        text = (
            "==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n"
        )
        with self.assertRaisesRegex(check.CheckError, "ERR_NVGPUCTRPERM") as caught:
            check.parse_raw_page(text)
        self.assertEqual(caught.exception.status, check.CANNOT_COUNT)

    def test_a_row_that_was_cut_off_is_refused(self):
        with self.assertRaisesRegex(check.CheckError, "19 fields"):
            check.parse_raw_page(page([TWO_CASES[0], TWO_CASES[1][:-1]]))

    def test_what_is_no_number_is_no_reading(self):
        for text in ("", "n/a", "nan", "inf", "1;2"):
            self.assertIsNone(check.parse_reading(text), text)
        self.assertEqual(check.parse_reading("1,234.50").value, 1234.5)
        self.assertEqual(check.parse_reading("-2").value, -2)


class Matching(unittest.TestCase):
    def test_the_work_of_a_case_is_its_second_kernel_whatever_the_order_of_cases(self):
        kernels = check.parse_raw_page(page(TWO_CASES))
        found = check.kernels_of_cases(kernels, [SOA, AOS])
        self.assertEqual(found[AOS], kernels[1])
        self.assertEqual(found[SOA], kernels[3])

    def test_without_names_of_ranges_the_order_of_launch_tells(self):
        rows = [kernel(i, "a name cut sho", row[13:]) for i, row in enumerate(TWO_CASES)]
        kernels = check.parse_raw_page(page(rows))
        found = check.kernels_of_cases(kernels, [AOS, SOA])
        self.assertEqual([found[AOS], found[SOA]], [kernels[1], kernels[3]])

    def test_a_kernel_too_many_or_too_few_is_a_disagreement(self):
        for rows in (TWO_CASES[:3], [*TWO_CASES, TWO_CASES[3]], TWO_CASES[:0]):
            with self.assertRaises(check.CheckError) as caught:
                check.kernels_of_cases(check.parse_raw_page(page(rows)), [AOS, SOA])
            self.assertEqual(caught.exception.status, check.DISAGREE)


class Comparing(unittest.TestCase):
    def compare(self, **changed):
        inside = dict(COUNTED)
        inside.update({globals()[name]: value for name, value in changed.items()})
        outside = check.parse_raw_page(page(TWO_CASES))[1]
        return {one.metric: one for one in check.compare(AOS, [inside], outside)}

    def test_equal_counts_agree_in_every_metric(self):
        found = self.compare()
        self.assertEqual(set(found), set(METRICS))
        self.assertTrue(all(one.agrees for one in found.values()))

    def test_one_request_or_sector_more_is_a_disagreement(self):
        self.assertFalse(self.compare(REQUESTS=7569409.0)[REQUESTS].agrees)
        self.assertFalse(self.compare(SECTORS=52985855.0)[SECTORS].agrees)

    def test_cycles_and_ratios_agree_within_half_a_percent(self):
        self.assertTrue(self.compare(CYCLES=1234567.89 * 1.0049)[CYCLES].agrees)
        self.assertFalse(self.compare(CYCLES=1234567.89 * 1.006)[CYCLES].agrees)
        self.assertFalse(self.compare(RATIO=7.04)[RATIO].agrees)

    def test_traffic_behind_l1_is_held_against_what_was_asked_of_l1(self):
        half_a_percent = 0.005 * COUNTED[SECTORS]
        self.assertTrue(self.compare(L2=COUNTED[L2] + 0.9 * half_a_percent)[L2].agrees)
        self.assertFalse(self.compare(L2=COUNTED[L2] + 1.1 * half_a_percent)[L2].agrees)
        self.assertTrue(self.compare(DRAM=COUNTED[DRAM] + 0.9 * half_a_percent * 32)[DRAM].agrees)
        self.assertFalse(self.compare(DRAM=COUNTED[DRAM] + 1.1 * half_a_percent * 32)[DRAM].agrees)
        self.assertFalse(self.compare(HITS=COUNTED[HITS] * 0.99)[HITS].agrees)

    def test_what_differs_between_runs_may_differ_twice_as_much_from_ncu(self):
        outside = check.parse_raw_page(page(TWO_CASES))[1]
        runs = [dict(COUNTED), dict(COUNTED), dict(COUNTED)]
        for run, factor in zip(runs, (1.05, 1.10, 1.15), strict=True):
            run[L2] = COUNTED[L2] * factor
        found = {one.metric: one for one in check.compare(AOS, runs, outside)}
        self.assertTrue(found[L2].agrees)
        for run in runs:
            run[L2] = COUNTED[L2] * 1.10
        found = {one.metric: one for one in check.compare(AOS, runs, outside)}
        self.assertFalse(found[L2].agrees)

    def test_an_exact_count_may_not_differ_between_runs(self):
        outside = check.parse_raw_page(page(TWO_CASES))[1]
        runs = [dict(COUNTED), {**COUNTED, SECTORS: COUNTED[SECTORS] + 1}]
        with self.assertRaisesRegex(check.CheckError, "differs between runs"):
            check.compare(AOS, runs, outside)

    def test_only_what_the_kernel_itself_decides_is_exact(self):
        exact = [
            *[REQUESTS, SECTORS, "smsp__inst_executed.sum", "sm__inst_executed_pipe_xu.sum"],
            *["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "sm__warps_launched.sum"],
        ]
        near = [HITS, L2, DRAM, RATIO, CYCLES, "smsp__inst_issued.sum", "sm__inst_executed.avg"]
        self.assertTrue(all(check.EXACT.match(metric) for metric in exact))
        self.assertFalse(any(check.EXACT.match(metric) for metric in near))


class RunFolder(unittest.TestCase):
    def test_only_totals_of_counted_lines_are_taken(self):
        def row(quantity, provenance, method, value):
            return {
                "quantity": quantity,
                "provenance": provenance,
                "method": method,
                "samples": [value],
            }

        def line(kind, rows):
            return json.dumps(
                {"kind": kind, "case": AOS, "status": "measured", "measurements": rows}
            )

        counts = check.parse_counts(
            iter(
                [
                    line("case", [row("read_cycles", "timed", "clock64_slope", 1.0)]),
                    line(
                        "counts",
                        [
                            row("l1_load_requests", "counted", REQUESTS, 5.0),
                            row("requests_per_read", "counted", "cupti_net", 7.0),
                            row("requests_per_read", "modelled", "coalescing_model", 7.0),
                        ],
                    ),
                ]
            ),
            METRICS,
        )
        self.assertEqual(counts, {AOS: {REQUESTS: 5.0}})

    def test_a_run_without_counts_says_why(self):
        text = json.dumps(
            {"counters": {"state": "unavailable", "reason": "busy", "mend": "end it"}}
        )
        with self.assertRaisesRegex(check.CheckError, "busy; end it") as caught:
            check.parse_context(text)
        self.assertEqual(caught.exception.status, check.CANNOT_COUNT)


class Choosing(unittest.TestCase):
    def test_a_sweep_of_cases_holds_each_at_its_one_point(self):
        cases = ["micro/timer_check/cuda/residency=l1", "micro/coalescing/cuda/stride=2/width=4"]
        text = check.sweep_of(cases)
        self.assertIn("  - benchmark: timer_check\n    axes: {residency: [l1]}\n", text)
        self.assertIn("  - benchmark: coalescing\n    axes: {stride: [2], width: [4]}\n", text)

    def test_the_usual_cases_are_one_of_each_kind_in_the_order_of_the_sweep(self):
        def layout_read(layout, level, warps):
            return (
                f"micro/layout_read/cuda/block_size=128/cores=all/fields=all/layout={layout}/"
                f"residency={level}/warps_per_sm={warps}"
            )

        known = [
            "micro/coalescing/cuda/misalignment=0/permutation=identity/stride=7/width=4",
            "micro/coalescing/cuda/misalignment=0/permutation=identity/stride=70/width=4",
            layout_read("aos", "l1", 4),
            layout_read("aos", "l1", 64),
            layout_read("aos", "dram", 4),
            "micro/timer_check/cuda",
        ]
        self.assertEqual(check.choose_cases(known, []), [known[0], known[2], known[4], known[5]])
        self.assertEqual(check.choose_cases(known, ["stride"]), known[:2])
        with self.assertRaises(check.CheckError):
            check.choose_cases(known, ["no such"])


FAKE_STRATA = """#!{python}
import json, pathlib, sys
words = sys.argv[1:]
if words[0] == "list":
    print({case!r})
elif words[0] == "run":
    folder = pathlib.Path(words[words.index("--out") + 1]) / "run"
    folder.mkdir()
    counters = {{"state": "counted", "quantities": [{{"metric": m}} for m in {counts!r}]}}
    (folder / "context.json").write_text(json.dumps({{"counters": counters}}))
    rows = [
        {{"quantity": "q", "provenance": "counted", "method": m, "samples": [v]}}
        for m, v in {counts!r}.items()
    ]
    line = {{"kind": "counts", "case": {case!r}, "status": "measured", "measurements": rows}}
    (folder / "samples.jsonl").write_text(json.dumps(line) + "\\n")
    print(folder)
"""
FAKE_NCU = """#!{python}
import pathlib, sys
words = sys.argv[1:]
assert words[words.index("--nvtx-include") + 1] == "counted/", words
assert words[words.index("--counters") + 1] == "external", words
assert words[words.index("--metrics") + 1] == ",".join({metrics!r}), words
pathlib.Path(words[words.index("--log-file") + 1]).write_text({page!r})
"""


class Program(unittest.TestCase):
    def run_with(self, rows, counts):
        with tempfile.TemporaryDirectory() as folder:
            commands = []
            for name, text in (
                ("strata", FAKE_STRATA.format(python=sys.executable, case=AOS, counts=counts)),
                (
                    "ncu",
                    FAKE_NCU.format(python=sys.executable, metrics=list(counts), page=page(rows)),
                ),
            ):
                file = Path(folder) / name
                file.write_text(text)
                file.chmod(0o755)
                commands += [f"--{name}", str(file)]
            return subprocess.run(
                [sys.executable, str(SCRIPT), *commands, "--filter", "layout_read"],
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )

    def test_agreement_ends_with_0_and_a_table(self):
        done = self.run_with(TWO_CASES[:2], COUNTED)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("7 of 7 agree", done.stdout)
        self.assertIn(AOS, done.stdout)

    def test_a_count_that_differs_ends_with_1_and_is_marked(self):
        done = self.run_with(TWO_CASES[:2], {**COUNTED, REQUESTS: 1.0})
        self.assertEqual(done.returncode, 1, done.stderr)
        (marked,) = (line for line in done.stdout.splitlines() if "FAIL" in line)
        self.assertIn(REQUESTS, marked)

    def test_kernels_that_are_missing_end_with_1_and_one_line(self):
        done = self.run_with(TWO_CASES[1:2], COUNTED)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_a_machine_without_ncu_is_told_so_in_one_line(self):
        done = subprocess.run(
            [sys.executable, str(SCRIPT), "--ncu", "/no/such/ncu"],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
