"""A configuration of ReFrame for machines that have none: this machine by itself, or Slurm.

One job at a time on this machine: measurements must not disturb each other. `squeue` is Slurm
without its accounting; with it, `slurm` does as well.
"""


def partition(name, scheduler, most_jobs):
    """A partition whose jobs use what is on the PATH."""
    return {
        "name": name,
        "scheduler": scheduler,
        "launcher": "local",
        "environs": ["builtin"],
        "max_jobs": most_jobs,
    }


site_configuration = {
    "systems": [
        {
            "name": "here",
            "hostnames": [".*"],
            "partitions": [partition("local", "local", 1), partition("slurm", "squeue", 1000)],
        }
    ]
}
