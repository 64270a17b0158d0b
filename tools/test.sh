#!/usr/bin/env bash
# Runs tests, the quickest first, and prints what this machine left out.
#
#   tools/test.sh          what a change needs (make test)
#   tools/test.sh all      that and everything else (make test-all)
#   tools/test.sh STEP...  these steps, in this order
#
# The steps of make test:
#   setup      tools/setup.sh on a machine of fakes
#   lint       clang-format, ruff, mypy
#   changed    clang-tidy of the sources that changed
#   host       the host part with its tests, the corpus of the fuzzer and the PTX of every kernel
#   analysis   the Python tests but those marked browser, fuzz or slow
#   docs       the manual as a site
#   gpu        where a GPU is, its tests
# make test-all has analysis_all and tidy in the place of analysis and changed, and:
#   slow       the tests labelled slow: random faults, broken code, Slurm, an installed strata
#   sanitizers the host part with address and undefined-behaviour sanitizers everywhere
#   threads    the tests that use threads, with ThreadSanitizer
#   fuzz       libFuzzer, a minute for each of its targets
#   cuda       the CUDA build, CUPTI's host side, emulated ladders
#   toolkits   the sources with the headers of other CUDA toolkits, and with other compilers
#   package    a wheel of the host part, in a new environment
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly quick_steps=(setup lint changed host analysis docs gpu)
readonly all_steps=(setup lint host slow analysis_all docs tidy sanitizers threads fuzz cuda toolkits package gpu)

export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}
STRATA_PYTHON=$(chosen_python)
export STRATA_PYTHON PYTHONPATH=analysis/src${PYTHONPATH:+:$PYTHONPATH}

step_setup() { tests/rules/setup_test.sh; }
step_lint() { tools/lint.sh quick; }
step_changed() { tools/lint.sh changed; }
step_tidy() { tools/lint.sh tidy; }

# python_tests ARGUMENT...
python_tests() {
  has_module() { "$STRATA_PYTHON" -c "import $1" 2>/dev/null; }
  has_module jsonschema || left_out "the tests that check against the JSON Schema ($STRATA_PYTHON has no jsonschema)"
  local drawing
  drawing=$("$STRATA_PYTHON" -c 'import matplotlib; print(matplotlib.__version__)')
  grep -qF "matplotlib==$drawing " analysis/requirements.lock ||
    left_out "the comparison of figures with stored images (matplotlib is $drawing, not the locked one)"
  local -a workers=()
  if has_module xdist; then workers=(-n 2 --dist loadfile); fi
  "$STRATA_PYTHON" -m pytest -c analysis/pyproject.toml "${workers[@]}" "$@" tests/analysis
}

step_analysis() { python_tests -m "not browser and not fuzz and not slow"; }

step_analysis_all() {
  a_browser >/dev/null || left_out "the tests of the report's page in a browser (no Chromium here);" \
    "to run them: apt-get install -y chromium, or STRATA_CHROMIUM=<a Chromium or Chrome>"
  "$STRATA_PYTHON" -c "import playwright" 2>/dev/null ||
    left_out "the tests of the report's page in a browser ($STRATA_PYTHON has no playwright); to run them: make setup-all"
  STRATA_TESTS=all python_tests
}

step_host() {
  has nvcc || left_out "the contracts of the generated code (no nvcc on PATH or in /usr/local/cuda/bin)"
  configure_and_build host
  ctest --preset host
}

step_slow() {
  { has slurmctld && has munged && has "$(dirname "$STRATA_PYTHON")/reframe"; } ||
    left_out "the checks of sweeps/reframe through Slurm (no slurmctld, munged, or reframe beside $STRATA_PYTHON);" \
      "to run them: make setup-all"
  if has nvcc; then cmake --build --preset host --target ptx_mutants; fi
  ctest --preset slow
}

step_sanitizers() {
  configure_and_build sanitizers
  ctest --preset sanitizers
}

step_threads() {
  configure_and_build threads
  ctest --preset threads
}

step_docs() {
  local status=0
  tools/docs.sh || status=$?
  [[ $status != 2 ]] || left_out "the site of the manual (the reason is above)"
  [[ $status == 0 || $status == 2 ]]
}

step_fuzz() {
  local clang
  if ! clang=$(fuzzing_clang); then
    left_out "libFuzzer, a minute for each of its targets (no clang here that links it and reads this system's C++" \
      "library); to run it: apt-get install -y clang-$llvm_version libclang-rt-$llvm_version-dev"
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

step_toolkits() { tools/check_toolkits.py; }

step_package() {
  if [[ -n ${STRATA_OFFLINE:-} ]]; then
    left_out "the wheel (STRATA_OFFLINE is set)"
    return
  fi
  tools/package.sh -DSTRATA_CUDA=OFF
  STRATA_PACKAGE=$(ls "$PWD"/build/package/dist/*.whl) ctest --preset slow -R installed
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
  # Requested by itself, that is a failure.
  [[ ${#steps[@]} -gt 1 ]] || die "no GPU with nvcc here"
}

case $* in
  "") steps=("${quick_steps[@]}") ;;
  all) steps=("${all_steps[@]}") ;;
  *) steps=("$@") ;;
esac
for step in "${steps[@]}"; do
  [[ " ${quick_steps[*]} ${all_steps[*]} " == *" $step "* ]] ||
    die "unknown step $step; the steps are: ${quick_steps[*]}, or of all: ${all_steps[*]}"
done
rm -f "$left_out_list"
trap '[[ $? == 0 ]] || say "--- $step: FAILED" >&2' EXIT
began=$SECONDS
for step in "${steps[@]}"; do
  say "--- $step"
  start=$SECONDS
  "step_$step"
  say "--- $step: done in $((SECONDS - start)) s"
done

if [[ -s $left_out_list ]]; then
  say "left out here:"
  sort -u "$left_out_list" | sed 's/^/  - /'
fi
say "passed in $((SECONDS - began)) s: all of ${steps[*]} that this machine can run;" \
  "commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
