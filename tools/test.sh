#!/usr/bin/env bash
# Runs the tests that this machine can run, the quickest first, and says which ones it cannot.
#
#   tools/test.sh [STEP...]   the steps, in their order: setup lint analysis host docs fuzz cuda gpu tidy
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly all_steps=(setup lint analysis host docs fuzz cuda gpu tidy)

export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}
STRATA_PYTHON=$(chosen_python)
export STRATA_PYTHON PYTHONPATH=analysis/src${PYTHONPATH:+:$PYTHONPATH}

step_setup() { tests/rules/setup_test.sh; }
step_lint() { tools/lint.sh quick; }
step_tidy() { tools/lint.sh tidy; }

step_analysis() {
  has_module() { "$STRATA_PYTHON" -c "import $1" 2>/dev/null; }
  has_module jsonschema || left_out "the tests that check against the JSON Schema ($STRATA_PYTHON has no jsonschema)"
  a_browser >/dev/null || left_out "the tests of the report's page in a browser (no Chromium here);" \
    "mend it with: apt-get install -y chromium, or STRATA_CHROMIUM=<a Chromium or Chrome>"
  local drawing
  drawing=$("$STRATA_PYTHON" -c 'import matplotlib; print(matplotlib.__version__)')
  grep -qF "matplotlib==$drawing " analysis/requirements.lock ||
    left_out "the comparison of figures with stored images (matplotlib is $drawing, not the locked one)"
  local -a workers=()
  if has_module xdist; then workers=(-n 2 --dist loadfile); fi
  "$STRATA_PYTHON" -m pytest -c analysis/pyproject.toml "${workers[@]}" tests/analysis
}

step_host() {
  { has slurmctld && has munged && has "$(dirname "$STRATA_PYTHON")/reframe"; } ||
    left_out "the checks of sweeps/reframe through Slurm (no slurmctld, munged, or reframe beside $STRATA_PYTHON);" \
      "mend it with: apt-get install -y slurm-wlm munge, and the packages of analysis/requirements-dev.lock"
  configure_and_build host
  ctest --preset host
}

step_docs() {
  local status=0
  tools/docs.sh || status=$?
  [[ $status != 2 ]] || left_out "the site of the manual (what is missing is said above)"
  [[ $status == 0 || $status == 2 ]]
}

step_fuzz() {
  local clang
  if ! clang=$(fuzzing_clang); then
    left_out "libFuzzer, a minute for each of its targets (no clang here that links it and reads this system's C++" \
      "library); mend it with: apt-get install -y clang-$llvm_version libclang-rt-$llvm_version-dev"
    return
  fi
  configure_and_build fuzz -DCMAKE_CXX_COMPILER="$clang"
  ctest --preset fuzz
}

step_cuda() {
  if ! has nvcc; then
    left_out "the CUDA build and its tests (no nvcc on PATH or in /usr/local/cuda/bin)"
    return
  fi
  configure_and_build cuda
  ctest --preset cuda
}

# How many tests are labelled gpu: as ctest counts them where they are built, else as the source shows.
count_gpu_tests() {
  if has nvcc && [[ -f build/cuda/CTestTestfile.cmake ]]; then
    ctest --test-dir build/cuda -N -L '^gpu$' | sed -n 's/^Total Tests: //p'
  else
    grep -rhoE '^(TYPED_)?TEST(_[FP])?\(' tests/gpu | wc -l
  fi
}

step_gpu() {
  local architectures
  architectures=$(gpu_architectures)
  if [[ -n $architectures ]] && has nvcc; then
    configure_and_build gpu -DCMAKE_CUDA_ARCHITECTURES="$architectures"
    CTEST_PARALLEL_LEVEL=1 ctest --preset gpu  # One GPU: tests that time things must not share it.
    return
  fi
  left_out "$(count_gpu_tests) GPU tests (no GPU with nvcc here); on a machine with both: make gpu-test," \
    "or ctest --preset gpu after a build; their names: ctest --preset gpu -N"
  # Asked for by itself, that is a failure.
  [[ ${#steps[@]} -gt 1 ]] || die "no GPU with nvcc here"
}

steps=("$@")
[[ $# -gt 0 ]] || steps=("${all_steps[@]}")
rm -f "$left_out_list"

for step in "${steps[@]}"; do
  [[ " ${all_steps[*]} " == *" $step "* ]] || die "unknown step $step; the steps are: ${all_steps[*]}"
done
trap '[[ $? == 0 ]] || say "--- $step: FAILED" >&2' EXIT
for step in "${steps[@]}"; do
  say "--- $step"
  SECONDS=0
  "step_$step"
  say "--- $step: done in $SECONDS s"
done

say "passed: all of ${steps[*]} that this machine can run"
if [[ -s $left_out_list ]]; then
  say "left out here:"
  sort -u "$left_out_list" | sed 's/^/  - /'
fi
