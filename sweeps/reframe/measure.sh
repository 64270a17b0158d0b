#!/usr/bin/env bash
# One job of strata_checks.py, in its folder: runs a sweep, or what is left of it where the job was here before; checks
# the run; leaves its ten numbers in numbers.json.
#
#   measure.sh DEVICE SWEEP [OPTION OF strata run…]   DEVICE: host, all, or which GPU of the node, from 0
#
# Under Slurm it stops the run a minute before the job's time limit and has the job requeued, which goes on.
set -euo pipefail
device=$1
shift

case $device in
  host) options=(--device host) ;;
  all) options=() ;;
  *)  # By its UUID, which is the same for every process; the index depends on who asks.
    uuid=$(nvidia-smi --query-gpu=uuid --format=csv,noheader | sed -n "$((device + 1))p")
    [[ -n $uuid ]] || { echo "this node has no GPU $device" >&2; exit 3; }
    export CUDA_VISIBLE_DEVICES=$uuid
    options=(--device cuda:0)
    ;;
esac

seconds_left() {
  local ends
  ends=$(scontrol show job "$SLURM_JOB_ID" | sed -n 's/.*EndTime=\([^ ]*\).*/\1/p')
  ends=$(date --date "$ends" +%s 2>/dev/null) || return 1  # a job without a limit ends at "Unknown"
  echo $((ends - $(date +%s) - 60))
}

call=(strata run)
if begun=$(compgen -G 'runs/*/context.json'); then
  call+=(--resume "${begun%/context.json}")
  echo "resuming $begun"
else
  call+=("$@" "${options[@]}" --out runs)
fi
if [[ -n ${SLURM_JOB_ID:-} ]] && limit=$(seconds_left) && ((limit > 0)); then
  call=(timeout --signal INT "$limit" "${call[@]}")
fi
status=0
"${call[@]}" || status=$?
if [[ $status == 124 ]]; then
  echo "the time limit comes; the run goes on when the job is back"
  scontrol requeue "$SLURM_JOB_ID"
  sleep 60  # Slurm ends this job.
fi
[[ $status -le 1 ]] || exit "$status"  # 1: a case failed, which the reference of failed_cases judges

run=$(echo runs/*)
strata validate "$run"
strata summary --json "$run" >numbers.json
echo "measured $run"
