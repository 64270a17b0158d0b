#!/usr/bin/env bash
# compute-sanitizer over the sweep `quick`, a line a tool: what it looks for, how many errors it found.
#
#   tools/sanitize.sh [STRATA [TOOL[:PART]...]]   build/gpu/bin/strata; memcheck initcheck racecheck synccheck; parts
#                                                 from 0 on, all of them by default, or an expression like theirs
#   SANITIZE_DEVICES=N                            devices 0 to N - 1, which take the parts in turn; 1 where it is not set
#   SANITIZE_JOBS=N                               parts at a time; one for each device where it is not set: processes that
#                                                 share a device wait for each other
#   SANITIZE_LAUNCHES=N                           only the first N launches of each part are checked: for a case that
#                                                 takes a tool more than its ten minutes. Not for initcheck, which takes
#                                                 for unwritten what the other launches write, nor for kernels with
#                                                 clusters: the first that is not checked fails (CUDA 13.0)
#
# A sanitised kernel takes up to a thousand times as long, so a case gets six samples, the fewest there can be; ladders and
# reads of another SM's shared memory get small problems, which the same kernels solve; and the sweep runs in parts, side
# by side: nothing that is timed here is believed. Exit status: 0 no tool found anything and all cases ran, but for chains
# that a tool makes too slow to be timed; 1 otherwise; 2 wrong usage. The output of a tool stays in
# build/sanitize/TOOL.PART.log.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
strata=${1:-build/gpu/bin/strata}
tools=("${@:2}")
[ ${#tools[@]} -gt 0 ] || tools=(memcheck initcheck racecheck synccheck)
parts=(
  '^micro/(timer_check|layout_traffic|coalescing)/'
  '^micro/layout_read/.*cores=one'
  '^micro/layout_read/.*warps_per_sm=8$'
  '^micro/layout_read/.*warps_per_sm=32$'
  '^micro/latency_vs_footprint/'
  '^micro/(cache_geometry|distributed_shared|request_merging)/'
  '^micro/l2_partition/'
  '^micro/(bandwidth|peak_bandwidth|stride_gather|bank_conflicts)/'
  '^micro/instruction_cost/'
  '^micro/ceilings/'
  '^micro/async_copy/'
  '^nbody/(naive|tiled|one_launch)/'
  '^nbody/(fast_math|pair_once|register|tensor|unrolled)'
  '^neighbours/'
  '^fstat/'
)
# Whatever the others leave: a benchmark that is new is in no list.
listed=$(printf '%s\n' "${parts[@]}" | sed -E 's/^\^//; s/\.\*.*//' | sort -u | paste -sd'|')
parts+=("^(?!$listed)")
# A chase through so much memory takes minutes, in the kernel of the smaller ones.
small='(?!.*footprint=\d{8})'
small_problems=(--set "distributed_shared.warps=1,2")
for rung in naive tiled one_launch fast_math unrolled registers register_banks pair_once tensor_cores; do
  small_problems+=(--set "$rung.bodies=4096" --set "$rung.systems=1")
done
for rung in lazy runs; do small_problems+=(--set "neighbours_$rung.agents=4096"); done
if [[ -n ${SANITIZE_LAUNCHES:-} && " ${tools[*]}" == *' initcheck'* ]]; then
  echo "SANITIZE_LAUNCHES: not for initcheck, which must see every launch; unset it, or name the other tools" >&2
  exit 2
fi
logs=build/sanitize
rm -rf "$logs"
mkdir -p "$logs"

# run_part DEVICE TOOL PART: a device lock of its own, since parts share a device. Strata's workers are child processes; the tool
# goes with them, and its errors become the status.
run_part() {
  local folder cases=$3 run=$logs/$2.${3//[^[:alnum:]]/_}
  folder=$(mktemp -d)
  [[ $3 == *[!0-9]* ]] || cases=${parts[$3]}
  TMPDIR=$folder compute-sanitizer --tool "$2" --target-processes all --error-exitcode 9 --print-limit 20 \
    ${SANITIZE_LAUNCHES:+--launch-count "$SANITIZE_LAUNCHES"} \
    "$strata" run quick --device "cuda:$1" --counters none --out "$run" --filter "^$small($cases)" \
    --set plan.warmups=0 --set plan.min_samples=6 --set plan.max_samples=6 --set plan.seconds_per_case=0.01 \
    --set plan.time_limit=600 "${small_problems[@]}" >"$run.log" 2>&1
  echo "status $?" >>"$run.log"
  rm -rf "$folder"
}
jobs=${SANITIZE_JOBS:-${SANITIZE_DEVICES:-1}}
device=0
run_next() {
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  run_part "$device" "$@" &
  device=$(((device + 1) % ${SANITIZE_DEVICES:-1}))
}

# all_ran LOG
all_ran() {
  grep -qx 'status 0' "$1" && return
  # Where the lists hold every benchmark, nothing is left for the last part.
  grep -qx 'status 2' "$1" && grep -q ': matches none of the ' "$1" && return
  grep -qx 'status 1' "$1" && grep -qE '^[0-9]+ measured, .* 0 still to do' "$1" &&
    ! grep '^failed: ' "$1" | grep -qv ': the chain is too short to be timed$'
}

for tool in "${tools[@]}"; do
  wanted=("${!parts[@]}")
  [[ $tool != *:* ]] || wanted=("${tool#*:}")
  for part in "${wanted[@]}"; do
    run_next "${tool%%:*}" "$part"
  done
done
wait
status=0
mapfile -t names < <(printf '%s\n' "${tools[@]%%:*}" | sort -u)
for tool in "${names[@]}"; do
  log=$(cat "$logs/$tool".*.log)
  errors=$(grep -oE 'ERROR SUMMARY: [0-9]+|RACECHECK SUMMARY: [0-9]+' <<<"$log" | awk '{sum += $3} END {print sum + 0}')
  cases=$(grep -E '^[0-9]+ measured, ' <<<"$log" |
    awk '{measured += $1; skipped += $3; failed += $5; todo += $7}
      END {print measured + 0 " measured, " skipped + 0 " skipped, " failed + 0 " failed, " todo + 0 " to do"}')
  printf '%-10s %3d errors  %s\n' "$tool" "$errors" "$cases"
  [ "$errors" -eq 0 ] || status=1
  for log in "$logs/$tool".*.log; do all_ran "$log" || status=1; done
done
exit $status
