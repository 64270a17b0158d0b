#!/usr/bin/env bash
# Holds the style: the formatters and linters, quick ones first.
#
#   tools/lint.sh quick   clang-format, ruff, mypy
#   tools/lint.sh tidy    clang-tidy over the host-only build
#   tools/lint.sh fix     rewrites what the formatters can mend
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly cpp_folders=(harness micro nbody tests)
readonly python_folders=(analysis sweeps tests tools)
readonly ruff_options=(--config analysis/pyproject.toml)

cpp_sources() {
  local folder present=()
  for folder in "${cpp_folders[@]}"; do
    if [[ -d $folder ]]; then present+=("$folder"); fi
  done
  find "${present[@]}" -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh' \) ! -name '*.mended.hpp' -print0
}

# clang_format ARGUMENT...
clang_format() {
  local tool
  if ! tool=$(llvm_tool clang-format); then
    left_out "clang-format $llvm_version (not installed)"
    return
  fi
  cpp_sources | xargs -0 --no-run-if-empty "$tool" --style=file "$@"
}

# python_tool NAME ARGUMENT...: a tool of the chosen Python.
python_tool() {
  local python
  python=$(chosen_python)
  if "$python" -m "$1" --version >/dev/null 2>&1; then
    "$python" -m "$@"
  else
    left_out "$1 (not in $python)"
  fi
}

quick() {
  clang_format --dry-run -Werror
  python_tool ruff check "${ruff_options[@]}" "${python_folders[@]}"
  python_tool ruff format --check "${ruff_options[@]}" "${python_folders[@]}"
  python_tool mypy --config-file analysis/pyproject.toml  # It says there which files.
}

fix() {
  clang_format -i
  python_tool ruff check --fix "${ruff_options[@]}" "${python_folders[@]}"
  python_tool ruff format "${ruff_options[@]}" "${python_folders[@]}"
}

tidy() {
  local tool driver
  if ! tool=$(llvm_tool clang-tidy) || ! driver=$(command -v "run-$tool"); then
    left_out "clang-tidy $llvm_version (not installed)"
    return
  fi
  configure tidy
  # clang 14 and the C++ library of g++ 13 do not agree on every header.
  local -r probe=build/tidy/probe.cpp
  echo '#include <chrono>' >$probe
  if ! "$tool" --checks='-*,misc-definitions-in-headers' $probe -- -std=c++20 >/dev/null 2>&1; then
    left_out "clang-tidy $llvm_version (cannot read this system's C++ library; it can that of g++ 12)"
    return
  fi

  # g++ wrote the command lines, and it has warnings that clang does not know. It looks for names that hide others
  # in each source by itself; in a group of sources there are more of them than in any program.
  python3 tools/tidy_groups.py build/tidy harness micro nbody
  local -r log=build/tidy/clang-tidy.log
  if ! "$driver" -clang-tidy-binary "$(command -v "$tool")" -p build/tidy/groups -quiet \
    -extra-arg=-Wno-unknown-warning-option -extra-arg=-Wno-shadow >"$log" 2>&1; then
    # Without the command lines and the counts of suppressed warnings.
    grep -vE "^$(command -v "$tool") |[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter" "$log" || true
    exit 1
  fi
}

case ${1:-} in
  quick | tidy | fix) "$1" ;;
  *) die "usage: tools/lint.sh quick|tidy|fix" ;;
esac
