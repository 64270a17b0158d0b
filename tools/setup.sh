#!/usr/bin/env bash
# Makes this machine ready, fetching only what is missing, and reports each step.
#
#   tools/setup.sh [--check] [build|run|test|all]
#
#   build    what building and measuring need: no Python packages
#   run      (default) that, and the Python packages of the reports
#   test     that, and what `make test` and the linters need
#   all      that, and what `make test-all` needs: a browser, Slurm, clang with libFuzzer
#   --check  only report what is missing; change nothing
#
# It looks for the things themselves (a header, a version, a module), not for packages, so it does not
# matter how they came here. The chosen Python is left in build/python.
# Exit code 2: something is missing and could not be installed; the message names the fix.
#
# Environment: STRATA_PYTHON names the Python to use, STRATA_CHROMIUM the browser of the tests; STRATA_OFFLINE=1
# forbids every download.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check_only=false level=run
for argument; do
  case $argument in
    --check) check_only=true ;;
    build | run | test | all) level=$argument ;;
    *) die "usage: tools/setup.sh [--check] [build|run|test|all]" ;;
  esac
done

# --- What is missing ------------------------------------------------------------------------------------
# Each function prints one line per missing thing: "<apt package> <what it is>".

at_least() { [[ $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }

missing_tools() {
  local cmake_version
  cmake_version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version \([0-9.]*\).*/\1/p') || true
  at_least 3.25.1 "${cmake_version:-0}" || echo "cmake CMake 3.25.1 or newer (found: ${cmake_version:-none})"
  has ninja || echo "ninja-build Ninja"
  has git || echo "git git"
}

missing_libraries() {
  local libraries=(
    "libgtest-dev gtest/gtest.h"
    "libgmock-dev gmock/gmock.h"
    "libfmt-dev fmt/core.h"
    "libcli11-dev CLI/CLI.hpp"
    "nlohmann-json3-dev nlohmann/json.hpp"
    "libyaml-cpp-dev yaml-cpp/yaml.h"
  )
  [[ $level != test && $level != all ]] || libraries+=("libbenchmark-dev benchmark/benchmark.h")  # strata bench, and its tests
  local -r compiler=${CXX:-g++}
  local prefix index probe=$'#if !defined(__clang__) && __GNUC__ < 12\nold\n#endif\n'
  local -a prefixes=() flags=(-std=c++20 -E -P -x c++)
  IFS=':;' read -ra prefixes <<<"${CMAKE_PREFIX_PATH:-}"
  for prefix in "${prefixes[@]}"; do flags+=(-isystem "$prefix/include"); done
  for index in "${!libraries[@]}"; do
    probe+="#if !__has_include(<${libraries[index]#* }>)"$'\n'"$index"$'\n#endif\n'
  done

  local answers answer
  if ! answers=$("$compiler" "${flags[@]}" - <<<"$probe" 2>/dev/null); then
    echo "build-essential a C++20 compiler: g++ 12 or newer ($compiler does not run, or knows no C++20)"
    answers=${!libraries[*]}  # Nothing could look for the headers.
  fi
  for answer in $answers; do
    case $answer in
      old) echo "g++ g++ 12 or newer ($compiler is older; where the system has none, set CXX to a newer one)" ;;
      *) echo "${libraries[answer]% *} the header <${libraries[answer]#* }>" ;;
    esac
  done
}

missing_linters() {
  local tool
  for tool in clang-format clang-tidy; do
    llvm_tool $tool >/dev/null || echo "$tool-$llvm_version $tool $llvm_version"
  done
}

# clang comes with clang-tidy on some systems, its runtime with clang.
missing_clang() { has clang++ || has "clang++-$llvm_version" || echo "clang-$llvm_version clang $llvm_version"; }
missing_fuzzer() { fuzzing_clang >/dev/null || echo "libclang-rt-$llvm_version-dev libFuzzer, the runtime of clang"; }

missing_cluster() {
  has slurmctld || echo "slurm-wlm Slurm, through which the tests run the checks of sweeps/reframe"
  has munged || echo "munge munge, by which Slurm knows its user"
}

missing_browser() { a_browser >/dev/null || echo "chromium Chromium, which the tests of the report's page drive"; }

# --- Python ---------------------------------------------------------------------------------------------

readonly run_lock=analysis/requirements.lock test_lock=analysis/requirements-dev.lock
readonly installed_locks=.venv/installed-locks  # Digests of the lock files that .venv satisfies.
readonly development_tools=(ruff mypy jsonschema reframe)
modules=(numpy pandas pyarrow pybtex matplotlib msgspec scipy tabulate jinja2 typer rich)
lock=$run_lock
if [[ $level == test || $level == all ]]; then
  modules+=(pytest hypothesis)
  lock=$test_lock
fi
if [[ $level == all ]]; then modules+=(playwright); fi  # Drives Chromium.

# lacks PYTHON MODULE...: prints what PYTHON lacks; nothing when it has it all. Looks modules up rather than
# importing them, which would take seconds.
lacks() {
  local -r python=$1
  shift
  "$python" - "$@" 2>/dev/null <<'END' || echo "a working Python"
import sys
from importlib.metadata import version
from importlib.util import find_spec

lacking = [name for name in sys.argv[1:] if find_spec(name) is None]
if sys.version_info < (3, 11):
    lacking.append("Python 3.11 or newer")
if "pandas" in sys.argv[1:] and "pandas" not in lacking:
    if tuple(int(part) for part in version("pandas").split(".")[:2]) < (2, 2):
        lacking.append("pandas 2.2 or newer")
print(*lacking, sep=", ")
END
}

digest() { sha256sum <"$1"; }

venv_is_current() {
  grep -qxF "$(digest "$lock")" $installed_locks 2>/dev/null && [[ -z $(lacks .venv/bin/python "${modules[@]}") ]]
}

# Prints the Python that has all modules already, or fails.
ready_python() {
  if [[ -n ${STRATA_PYTHON:-} ]]; then
    echo "$STRATA_PYTHON"
  elif venv_is_current; then
    echo "$PWD/.venv/bin/python"
  elif has python3 && [[ -z $(lacks python3 "${modules[@]}") ]]; then
    command -v python3
  else
    return 1
  fi
}

missing_python() {
  if ready_python >/dev/null; then return; fi
  if ! has python3; then
    echo "python3 Python 3.11 or newer"
  elif [[ -n $(lacks python3) ]]; then
    echo "python3 Python 3.11 or newer (found: $(python3 --version 2>&1))"
  fi
  if [[ -n $(lacks python3 ensurepip) ]]; then echo "python3-venv the Python module ensurepip"; fi
}

install_venv() {
  [[ -z ${STRATA_OFFLINE:-} ]] ||
    die "STRATA_OFFLINE is set, and no Python here has what is needed; python3 lacks: $(lacks python3 "${modules[@]}")" \
      "fix it with: unset STRATA_OFFLINE, or STRATA_PYTHON=<a Python that has ${modules[*]}>"
  say "installing the Python packages of $lock into .venv"
  if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    python3 -m venv --clear .venv || die "python3 -m venv failed; fix it with: apt-get install -y python3-venv"
  fi
  rm -f $installed_locks
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input --no-compile --only-binary :all: \
    --require-hashes --requirement "$lock" ||
    die "pip could not install $lock; its message is above" \
      "fix it with: a network and this command again, or STRATA_PYTHON=<a Python that has ${modules[*]}>"
  # What the tests need includes what a run needs.
  for file in "$run_lock" "$lock"; do digest "$file"; done | sort -u >$installed_locks
}

# --- Installing system packages -------------------------------------------------------------------------

list() { while read -r _ what; do say "missing: $what"; done <<<"$1"; }
packages() { cut -d' ' -f1 <<<"$1" | sort -u | paste -sd' '; }

is_root() { [[ $(id -u) == 0 ]]; }
as_root() { if is_root; then "$@"; else sudo -n "$@"; fi; }

# fix_of MISSING: the command that a person would type.
fix_of() {
  local sudo=''
  is_root || sudo='sudo '
  echo "${sudo}apt-get update && ${sudo}apt-get install -y $(packages "$1")"
}

why_no_apt() {
  if [[ -n ${STRATA_OFFLINE:-} ]]; then
    echo "STRATA_OFFLINE is set"
  elif ! has apt-get; then
    echo "there is no apt-get here"
  elif ! is_root && ! sudo -n true 2>/dev/null; then
    echo "not root, and no sudo without a password"
  fi
}

# What goes wrong is on standard error; standard output has a few lines for each of the packages.
apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Acquire::Retries=1 -o Acquire::http::Timeout=30 \
    -o Dpkg::Use-Pty=0 "$@" >/dev/null
}

# install MISSING: fails, after a message, when that is not possible.
install() {
  local reason
  reason=$(why_no_apt)
  if [[ -z $reason ]]; then
    say "installing with apt-get: $(packages "$1")"
    # shellcheck disable=SC2046  # One word per package.
    if ! apt_get update; then
      reason="apt-get update failed (no network?); its message is above"
    elif ! apt_get install --no-install-recommends $(packages "$1"); then
      reason="apt-get install failed; its message is above"
    else
      return 0
    fi
  fi
  say "cannot install $(packages "$1"): $reason" >&2
  return 1
}

# --- Do it ----------------------------------------------------------------------------------------------

all_needed() {
  missing_tools
  missing_libraries
  if [[ $level != build ]]; then
    missing_python
  elif ! has python3; then
    echo "python3 Python, which the tests of the build need"
  fi
}

if [[ -n ${STRATA_PYTHON:-} && $level != build ]]; then
  lacking=$(lacks "$STRATA_PYTHON" "${modules[@]}")
  [[ -z $lacking ]] || die "STRATA_PYTHON ($STRATA_PYTHON) lacks: $lacking; install that, or unset STRATA_PYTHON"
fi

needed=$(all_needed)
wanted=()  # Apart from each other, because one of them may have no package here.
if [[ $level == test || $level == all ]]; then wanted+=("$(missing_linters)"); fi
if [[ $level == all ]]; then wanted+=("$(missing_clang)" "$(missing_fuzzer)" "$(missing_browser)" "$(missing_cluster)"); fi

if [[ -n $needed ]]; then list "$needed"; fi
for some in "${wanted[@]}"; do
  if [[ -n $some ]]; then list "$some"; fi
done

if $check_only; then
  [[ -z $needed ]] || die "fix it with: $(fix_of "$needed")"
  [[ $level == build ]] || ready_python >/dev/null || die "missing: Python packages (${modules[*]}); fix it with: make setup"
  say "everything needed is here"
  exit 0
fi

if [[ -n $needed ]]; then
  install "$needed" || die "fix it with: $(fix_of "$needed")"
  still=$(all_needed)
  if [[ -n $still ]]; then
    list "$still" >&2
    die "the packages of this system do not provide it: install it by hand, then run this again"
  fi
fi
# A machine without these can still run the other tests; the steps that need them report again what they leave out.
for some in "${wanted[@]}"; do
  if [[ -n $some ]] && ! install "$some"; then
    say "going on without; fix it with: $(fix_of "$some")"
  fi
done

if [[ $level == build ]]; then exit; fi

ready_python >/dev/null || install_venv
python=$(ready_python) || die "the Python packages of $lock were installed, yet .venv/bin/python does not find them all"
if [[ $level != run ]]; then
  lacking=$(lacks "$python" "${development_tools[@]}")
  [[ -z $lacking ]] || say "$python has no $lacking: what needs it will be left out"
fi

mkdir -p build
echo "$python" >build/python
say "ready; Python is $python"
