#!/usr/bin/env bash
# Builds, runs the quick sweep on whatever device is here, writes the report, and builds `strata access` last.
#
# The first numbers need no Python and no network but for what building needs. Where the Python packages of the report
# cannot be installed, it is left out.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tools/setup.sh build
tools/build.sh strata
strata=$(<build/strata)

mkdir -p runs report build
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

report() {
  STRATA_PYTHON=$(chosen_python)
  export STRATA_PYTHON PYTHONPATH=analysis/src${PYTHONPATH:+:$PYTHONPATH}
  "$strata" report "$run" --out report >/dev/null  # the run has printed its numbers
  page=$(newest '*.html' report)
  [[ -n $page ]] || die "no report came out under report/"
  "$strata" summary --map "$run"
}

page='' problems=build/setup-problems.txt
if tools/setup.sh run 2>$problems; then
  report
else
  grep -v '^strata: ' $problems >&2 || true  # what pip or apt-get printed
  say "the report was left out: $(sed -n 's/^strata: //p' $problems | head -n 1);" \
    "for it later: make setup && $strata report $run --out report" >&2
fi

[[ $status == 0 || -z $page ]] || say "some case failed; the report names it" >&2
say "the run is in    $run"
[[ -z $page ]] || say "the report is in $PWD/$page"
say "building strata access, which counts what a kernel's accesses move; a minute or two"
tools/build.sh strata-access
exit $status
