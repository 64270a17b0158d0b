#!/usr/bin/env bash
# Holds the style: the formatters and linters, quick ones first.
#
#   tools/lint.sh quick     clang-format, ruff, mypy
#   tools/lint.sh tidy      clang-tidy over the host part
#   tools/lint.sh changed   clang-tidy over the host sources that changed since STRATA_BASE; without it, since the branch that
#                           this one follows, and where nothing did, in the last commit
#   tools/lint.sh fix       rewrites what the formatters can fix
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly most_changed=12  # sources that clang-tidy reads in two minutes
readonly cpp_folders=(harness micro nbody tests)
readonly python_folders=(analysis sweeps tests tools)
readonly ruff_options=(--config analysis/pyproject.toml)

cpp_sources() {
  local folder present=()
  for folder in "${cpp_folders[@]}"; do
    if [[ -d $folder ]]; then present+=("$folder"); fi
  done
  find "${present[@]}" -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh' \) -print0
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
  python_tool mypy --config-file analysis/pyproject.toml  # which lists the files
}

fix() {
  clang_format -i
  python_tool ruff check --fix "${ruff_options[@]}" "${python_folders[@]}"
  python_tool ruff format "${ruff_options[@]}" "${python_folders[@]}"
}

# The compilation database of clang-tidy in build/tidy, and its name in tool; fails where it cannot run.
configure_tidy() {
  if ! tool=$(llvm_tool clang-tidy) || ! driver=$(command -v "run-$tool"); then
    left_out "clang-tidy $llvm_version (not installed)"
    return 1
  fi
  configure tidy >/dev/null
  # clang 14 and the C++ library of g++ 13 do not agree on every header.
  local -r probe=build/tidy/probe.cpp
  echo '#include <chrono>' >$probe
  if ! "$tool" --checks='-*,misc-definitions-in-headers' $probe -- -std=c++20 >/dev/null 2>&1; then
    left_out "clang-tidy $llvm_version (cannot read this system's C++ library; it can that of g++ 12)"
    return 1
  fi
}

# run_tidy ARGUMENT...: regular expressions of sources. g++ wrote the command lines, and it has warnings that clang does not
# know. It looks for names that hide others in each source by itself; in several compiled as one there are more of them.
run_tidy() {
  local -r log=build/tidy/clang-tidy.log
  if ! "$driver" -clang-tidy-binary "$(command -v "$tool")" -p build/tidy -quiet -checks=-bugprone-suspicious-include \
    -extra-arg=-Wno-unknown-warning-option -extra-arg=-Wno-shadow "$@" >"$log" 2>&1; then
    # Without the command lines and the counts of suppressed warnings.
    grep -vE "^$(command -v "$tool") |[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter" "$log" || true
    exit 1
  fi
}

tidy() {
  local tool driver
  configure_tidy || return 0
  # The sources that a build generates are compiled with others.
  ninja -C build/tidy -t targets all | sed -n 's|^\([^/].*\.cpp\): CUSTOM_COMMAND$|\1|p' | xargs ninja -C build/tidy >/dev/null
  run_tidy '/build/tidy/(harness|micro|nbody)/' "$PWD/(harness|micro|nbody)/"
}

changed() {
  shopt -s globstar
  local tool driver base
  local -a sources
  base=$(git rev-parse --verify --quiet "${STRATA_BASE:-@{upstream\}}" 2>/dev/null) || base=HEAD
  base=$(git merge-base HEAD "$base") || base=HEAD
  if git diff --quiet "$base" -- && ! base=$(git rev-parse --verify --quiet HEAD~1); then
    left_out "clang-tidy of what changed (this clone has one commit)"
    return
  fi
  mapfile -t sources < <(git diff --name-only --diff-filter=d "$base" -- 'harness/*.[ch]pp' 'micro/*.[ch]pp' 'nbody/*.[ch]pp' |
    sed 's/hpp$/cpp/' | sort -u | xargs -r ls 2>/dev/null)
  if [[ ${#sources[@]} -gt $most_changed ]]; then
    left_out "clang-tidy of ${#sources[@]} changed sources, more than $most_changed; run it with: make lint"
    return
  fi
  [[ ${#sources[@]} -gt 0 ]] && configure_tidy || return 0
  local -r read=(build/tidy/compile_commands.json build/tidy/**/unity_*.cxx)
  local source
  for source in "${sources[@]}"; do
    if grep -qF "$PWD/$source\"" "${read[@]}"; then printf '%s\0' "$source"; fi  # not what needs CUDA's headers
  done | xargs -0 -r -n 1 -P "$(nproc)" "$tool" -p build/tidy --quiet --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-shadow
}

case ${1:-} in
  quick | tidy | changed | fix) "$1" ;;
  *) die "usage: tools/lint.sh quick|tidy|changed|fix" ;;
esac
