#!/usr/bin/env bash
# Builds, runs the quick sweep on whatever device is here, and writes the report.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tools/build.sh
strata=$(<build/strata)
STRATA_PYTHON=$(chosen_python)
export STRATA_PYTHON PYTHONPATH=analysis/src${PYTHONPATH:+:$PYTHONPATH}

mkdir -p runs report
started=$(mktemp)
trap 'rm -f "$started"' EXIT

# newest NAME FOLDER: the file that this run of the script wrote.
newest() { find "$2" -name "$1" -newer "$started" -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-; }

# A sweep in which some case failed (1) is still worth a report.
status=0
"$strata" run sweeps/quick.yaml --out runs || status=$?
[[ $status -le 1 ]] || exit $status
context=$(newest context.json runs)
[[ -n $context ]] || die "the sweep left no run folder under runs/"
run=${context%/context.json}

"$strata" report "$run" --out report >/dev/null  # the run has told its numbers
page=$(newest '*.html' report)
[[ -n $page ]] || die "no report came out under report/"

"$strata" summary --map "$run"
[[ $status == 0 ]] || say "some case failed; the report names it" >&2
say "the run is in    $run"
say "the report is in $PWD/$page"
exit $status
