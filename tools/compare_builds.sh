#!/usr/bin/env bash
# Runs the benchmarks whose kernels differ between two builds alternately on one device, and compares them.
#
#   tools/compare_builds.sh OLD NEW [OPTION...] [-- OPTIONS OF strata run]
#
#   OLD, NEW          programs strata, or build folders that contain bin/strata
#   --only NAME,...   these benchmarks; otherwise those whose machine code differs (needs cuobjdump)
#   --sweep NAME      their cases (quick)
#   --rounds N        runs of each build, at least 2: old, new, old, new, ... (3)
#   --power SIZE      change that must be noticed in half of the timed rows (2%)
#   --out FOLDER      new folder for the runs; build/compare-builds if not given, which is replaced
#
# Exit status: as `strata compare`: 0 nothing is slower, 1 something is, or the power is not reached, 2 usage.
# A build may change a number without a change of what is measured (docs/hardening.md): look at the rows that became
# faster, too.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

program() {
  [ -d "$1" ] && set -- "$1/bin/strata"
  [ -x "$1" ] || die "$1: not a program; give a strata or the build folder that contains bin/strata"
  realpath "$1"
}
[ $# -ge 2 ] || die "usage: tools/compare_builds.sh OLD NEW [--only NAME,...] [--sweep NAME] [--rounds N] [--power SIZE] [--out FOLDER]"
old=$(program "$1")
new=$(program "$2")
shift 2
only='' sweep=quick rounds=3 power=2% out=''
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  [ $# -ge 2 ] || die "$1: needs a value"
  case $1 in
    --only) only=$2 ;;
    --sweep) sweep=$2 ;;
    --rounds) rounds=$2 ;;
    --power) power=$2 ;;
    --out) out=$2 ;;
    *) die "$1: unknown option; --only, --sweep, --rounds, --power, --out or --" ;;
  esac
  shift 2
done
[ "${1:-}" = -- ] && shift
[[ $rounds =~ ^[1-9][0-9]?$ && $rounds -ge 2 ]] || die "--rounds $rounds: expected 2 to 99, since the noise is taken from repeats"
if [ -z "$out" ]; then
  out=build/compare-builds
  rm -rf "$out"
fi
[ -e "$out" ] && die "$out: exists; name a new folder"
mkdir -p "$out"

[ -n "$only" ] || only=$(python3 tests/ptx/changed_benchmarks.py "$old" "$new")
if [ -z "$only" ]; then
  say 'no kernel of a benchmark differs: nothing to compare'
  exit 0
fi
say "compares $only"
runs_of_old=() runs_of_new=()
for ((round = 1; round <= rounds; ++round)); do
  for build in old new; do
    # Exit code 1: some case failed, which the comparison reports.
    "${!build}" run "$sweep" --filter "^[a-z]+/(${only//,/|})/" --counters none --out "$out/$build.$round" "$@" || [ $? -eq 1 ] ||
      die "$build: the run failed"
    declare -n runs="runs_of_$build"
    runs+=("$out/$build.$round")
  done
done
same=()
for run in "${runs_of_old[@]:1}" "${runs_of_new[@]:1}"; do same+=(--same "$run"); done
"$new" compare --require-power "$power" "${same[@]}" --out "$out/comparison" "${runs_of_old[0]}" "${runs_of_new[0]}"
