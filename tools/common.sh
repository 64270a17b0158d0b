# shellcheck shell=bash
# What the scripts of this folder share. Source it first: it sets the shell options and goes to the root.
# Exit codes of all of them: 0 ok, 1 a check or a test failed, 2 usage or a missing prerequisite.
set -Eeuo pipefail
trap 'code=$?; exit $((code == 2 ? 2 : 1))' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The formatter and the linter are pinned, because their verdicts change from one release to the next.
readonly llvm_version=14

# The CUDA toolkit's installers do not put it on the PATH.
PATH+=:/usr/local/cuda/bin

# Every check that this machine could not run; `make test` ends by printing it.
readonly left_out_list=build/left-out.txt

say() { printf 'strata: %s\n' "$*"; }
die() {
  printf 'strata: %s\n' "$@" >&2
  exit 2
}
has() { command -v "$1" >/dev/null 2>&1; }

left_out() {
  say "left out: $*"
  mkdir -p build
  printf '%s\n' "$*" >>"$left_out_list"
}

# llvm_tool NAME: the pinned release of an LLVM tool, under whichever of its two names it goes.
llvm_tool() {
  local candidate
  for candidate in "$1-$llvm_version" "$1"; do
    if "$candidate" --version 2>/dev/null | grep -q "version $llvm_version\."; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# A clang that makes libFuzzer targets with sanitizers: it needs its runtime, and must be able to read this system's C++
# library.
fuzzing_clang() {
  local candidate
  for candidate in clang++ "clang++-$llvm_version"; do
    if "$candidate" -std=c++20 -fsanitize=fuzzer,address,undefined -x c++ -o /dev/null - 2>/dev/null <<'END'; then
#include <chrono>
extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }
END
      echo "$candidate"
      return
    fi
  done
  return 1
}

# The browser that tests/analysis/browsers.py drives: the same names in the same order. A name that does not run is
# none: Ubuntu's only prints how to get it.
a_browser() {
  local candidate
  for candidate in "${STRATA_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable chrome; do
    if [[ -n $candidate ]] && "$candidate" --version >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# The compute capabilities of the GPUs here as CMake writes them ("90"); nothing when no GPU answers.
gpu_architectures() {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    sed -n 's/^ *\([0-9]*\)\.\([0-9]\) *$/\1\2/p' | sort -u | paste -sd';' || true
}

# The interpreter that tools/setup.sh chose.
chosen_python() {
  [[ -s build/python ]] || die "nothing is set up yet; fix it with: make setup-dev"
  cat build/python
}

# configure PRESET [CMAKE FLAG...]
configure() {
  if has ccache; then
    export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
    # What another clone has compiled is not compiled again: the path of the sources makes no difference.
    export CCACHE_BASEDIR=${CCACHE_BASEDIR-$PWD} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR-1}
  fi
  cmake --preset "$@"
}

# configure_and_build PRESET [CMAKE FLAG...]
configure_and_build() {
  configure "$@"
  cmake --build --preset "$1"
}
