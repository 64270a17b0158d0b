#!/usr/bin/env bash
# compute-sanitizer over the sweep `quick`, a line a tool: what it looks for, how many errors it found.
#
#   tools/sanitize.sh [STRATA [TOOL...]]    build/cuda/bin/strata; memcheck racecheck initcheck synccheck
#
# A case gets six samples, the fewest there can be: a sanitised kernel takes up to a hundred times as long. Exit status: 0 no
# tool found anything and all cases ran; 1 otherwise. What a tool said stays in build/sanitize/TOOL.log.
set -uo pipefail
cd "$(dirname "$0")/.."
strata=${1:-build/cuda/bin/strata}
tools=("${@:2}")
[ ${#tools[@]} -gt 0 ] || tools=(memcheck racecheck initcheck synccheck)
logs=build/sanitize
mkdir -p "$logs"
status=0
for tool in "${tools[@]}"; do
  begin=$SECONDS
  # A child process is a worker: the tool goes with it, and its errors become the status.
  compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 9 --print-limit 20 \
    "$strata" run quick --device cuda:0 --counters none --out "$logs" \
    --set plan.warmups=0 --set plan.min_samples=6 --set plan.max_samples=6 --set plan.time_limit=600 \
    >"$logs/$tool.log" 2>&1
  code=$?
  errors=$(grep -oE 'ERROR SUMMARY: [0-9]+|RACECHECK SUMMARY: [0-9]+' "$logs/$tool.log" | awk '{sum += $3} END {print sum + 0}')
  cases=$(grep -oE '[0-9]+ measured, [0-9]+ skipped, [0-9]+ failed' "$logs/$tool.log" | tail -1)
  printf '%-10s %3d errors  status %d  %4d s  %s\n' "$tool" "$errors" "$code" $((SECONDS - begin)) "${cases:-no case}"
  [ "$errors" -eq 0 ] && [ "$code" -eq 0 ] || status=1
done
exit $status
