"""Strata's sweeps as ReFrame checks: a job for each GPU of a node, and one for all pairs of GPUs.

STRATA_GPUS says which GPUs a node has: "0 1 2 3"; without it, the CPU is measured. docs/cluster.md
says how to run the checks. Each job leaves its run folder in ReFrame's output, and the ten numbers
of the run, its share of valid timed rows, its failed cases and whether counters could be read
become ReFrame's performance variables. References and thresholds are in references.yaml.
"""

import json
import os
import re
import shlex
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
import yaml
from reframe.core.builtins import parameter, run_before, sanity_function, variable

HERE = Path(__file__).parent
GPUS = os.environ.get("STRATA_GPUS", "host").split()


def name_of(headline):
    """A headline as ReFrame names things: "DRAM bandwidth, reading" is dram_bandwidth_reading."""
    return re.sub(r"\W+", "_", headline.lower()).strip("_")


def numbers_of(data):
    """Name: (value, unit), of what `strata summary --json` says."""
    found = {name_of(name): (one["value"], one["unit"]) for name, one in data["numbers"].items()}
    timed = data["validity"]["timed"]  # counts are hardly ever invalid
    return found | {
        "valid_share": (timed["valid"] / max(1, timed["rows"]), "1"),
        "failed_cases": (data["failed_cases"], "1"),
        "counters": (int(data["counters"] == "counted"), "1"),
    }


def references_of(file, device, sweep):
    """Name: (value, lowest, highest deviation), of the file, for a device model."""
    file = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    own = file.get(device, {}) if sweep in file["sweeps"] else {}
    return {name_of(name): tuple(one) for name, one in (file["any"] | own).items()}


class Sweep(rfm.RunOnlyRegressionTest):
    """One sweep on one device."""

    sweep = variable(str, value="default")
    options = variable(typ.List[str], value=[])
    references = variable(str, value=str(HERE / "references.yaml"))
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = None
    executable = str(HERE / "measure.sh")
    exclusive_access = True
    time_limit = "1h"
    num_tasks = 1
    keep_files = ["runs", "numbers.json"]
    device = variable(str)

    def words(self):
        """What measure.sh is told."""
        return [self.device, self.sweep, *self.options]

    @run_before("run")
    def say_what_to_measure(self):
        self.executable_opts = [shlex.quote(word) for word in self.words()]
        if self.current_partition.scheduler.registered_name in ("slurm", "squeue"):
            self.job.options += ["--requeue", "--open-mode=append"]

    @sanity_function
    def was_measured_and_is_valid(self):
        return sn.assert_found(r"^measured runs/", self.stdout)

    @run_before("performance")
    def numbers_of_the_run(self):
        data = json.loads((Path(self.stagedir) / "numbers.json").read_text(encoding="utf-8"))
        numbers = numbers_of(data)
        known = references_of(self.references, data["device"], self.sweep)
        self.perf_variables = {
            name: sn.make_performance_function(sn.defer(value), unit)
            for name, (value, unit) in numbers.items()
        }
        self.reference = {
            "*": {
                name: (*known.get(name, (0, None, None)), unit)
                for name, (_, unit) in numbers.items()
            }
        }


@rfm.simple_test
class StrataDevice(Sweep):
    """A sweep on each GPU of a node by itself, or on its CPU."""

    gpu = parameter(GPUS)

    @run_before("setup")
    def choose_the_gpu(self):
        self.device = self.gpu


@rfm.simple_test
class StrataPairs(Sweep):
    """Copies between all pairs of GPUs of a node, whatever the sweep of the others.

    Half of its rows are of copies no longer than the host's call, whose noise needs more samples.
    """

    device = "all"
    valid_systems = ["*"] if len(GPUS) > 1 else []

    def words(self):
        samples = ["--set", "plan.max_samples=401", "--set", "plan.seconds_per_case=2"]
        return [self.device, "default", "--filter", "^micro/peer_copy/", *samples]
