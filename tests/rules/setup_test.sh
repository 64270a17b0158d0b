#!/usr/bin/env bash
# Does set-up fetch only what is missing, and name what it cannot fix?
#
# tools/setup.sh runs in a copy of the few files it needs, on a PATH that holds nothing but fakes and plain text tools.
# Every fake that could fetch writes its call to a log. No network, no root, nothing outside a temporary folder.
# shellcheck disable=SC2016  # The fakes expand their variables themselves.
set -euo pipefail
unset STRATA_PYTHON STRATA_CHROMIUM STRATA_OFFLINE CMAKE_PREFIX_PATH CXX
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT

# --- The fake machine: its state is the files of $box/state ---------------------------------------------

# fake NAME <<SCRIPT
fake() {
  { echo "#!$(command -v bash)"; echo "box='$box'"; cat; } >"$box/bin/$1"
  chmod +x "$box/bin/$1"
}

# fresh_machine: where everything is, and root is running.
fresh_machine() {
  rm -rf "${box:?}"/*
  mkdir -p "$box"/{bin,state,checkout/tools,checkout/analysis}
  cp "$root"/tools/{setup,common}.sh "$box/checkout/tools"
  echo run >"$box/checkout/analysis/requirements.lock"
  echo test >"$box/checkout/analysis/requirements-dev.lock"
  : >"$box/log"
  echo 0 >"$box/state/uid"
  echo 3.25.1 >"$box/state/cmake"
  : >"$box/state/missing-headers"  # As the preprocessor answers: indices into the list of libraries.
  : >"$box/state/missing-modules"

  local tool
  for tool in bash cat chmod cut dirname env grep head mkdir paste rm sed sha256sum sort true; do
    ln -s "$(type -P "$tool")" "$box/bin/$tool"
  done
  fake id <<<'cat "$box/state/uid"'
  fake cmake <<<'echo "cmake version $(<"$box/state/cmake")"'
  fake ninja <<<'exit 0'
  fake git <<<'exit 0'
  fake g++ <<<'cat "$box/state/missing-headers"'
  fake clang-format-14 <<<'echo "Debian clang-format version 14.0.6"'
  fake clang-tidy <<<'echo "  LLVM version 14.0.6"'
  fake clang++ <<<'exit 0'
  fake chromium <<<'echo "Chromium 156"'
  fake slurmctld <<<'exit 0'
  fake munged <<<'exit 0'
  fake sudo <<<'[[ -e $box/state/sudo ]] && shift && exec "$@"'
  fake apt-get <<'END'
echo "apt-get $*" >>"$box/log"
case "$*" in
  *" update") [[ ! -e $box/state/no-network ]] ;;
  *) [[ -e $box/state/apt-is-useless ]] || : >"$box/state/missing-headers" ;;
esac
END
  # `python - MODULE...` prints which of these are missing; a new environment is a copy that pip completes.
  fake python3 <<'END'
case "$1 ${2:-}" in
  "-m pip") [[ ${3:-} == --version ]] || { echo "pip $*" >>"$box/log" && [[ ! -e $box/state/no-network ]] && : >"$0.complete"; } ;;
  "-m venv") mkdir -p .venv/bin && cat "$0" >.venv/bin/python && chmod +x .venv/bin/python ;;
  -\ *) shift; [[ -e $0.complete ]] || for module; do grep -x "$module" "$box/state/missing-modules"; done; exit 0 ;;
esac
END
}

# --- What is expected of a run --------------------------------------------------------------------------

failures=0
fail() {
  printf 'FAILED %s: %s\n' "$scenario" "$1" >&2
  sed 's/^/    /' "$box/output" "$box/log" >&2
  failures=$((failures + 1))
}

# setup EXPECTED_EXIT_CODE ARGUMENT...
setup() {
  local expected=$1 code=0
  shift
  : >"$box/log"
  PATH="$box/bin" "$box/bin/bash" "$box/checkout/tools/setup.sh" "$@" >"$box/output" 2>&1 </dev/null || code=$?
  [[ $code == "$expected" ]] || fail "exit code $code, not $expected"
}
prints() { grep -qF -- "$1" "$box/output" || fail "does not print: $1"; }
calls() { grep -qF -- "$1" "$box/log" || fail "does not call: $1"; }
fetches_nothing() { [[ ! -s $box/log ]] || fail "fetches something"; }
chooses() { grep -qxF -- "$1" "$box/checkout/build/python" || fail "does not choose $1"; }

begin() {
  scenario=$1
  fresh_machine
}

begin FetchesNothingWhenEverythingIsHere
for level in build run test all; do
  setup 0 $level
  fetches_nothing
  [[ $level == build ]] || chooses "$box/bin/python3"
  setup 0 --check $level
  fetches_nothing
done

begin NamesPackageAndCommandWhenNotRoot
echo 1000 >"$box/state/uid"
echo 3 >"$box/state/missing-headers"
setup 2 run
fetches_nothing
prints "missing: the header <CLI/CLI.hpp>"
prints "not root, and no sudo without a password"
prints "sudo apt-get update && sudo apt-get install -y libcli11-dev"

begin InstallsThroughSudoThatAsksNoPassword
echo 1000 >"$box/state/uid"
touch "$box/state/sudo"
echo 3 >"$box/state/missing-headers"
setup 0 run
calls "install --no-install-recommends libcli11-dev"

begin InstallsJustWhatIsMissingAndThenNothing
printf '0\n5\n' >"$box/state/missing-headers"
setup 0 run
calls "apt-get -qq -y"
calls "update"
calls "install --no-install-recommends libgtest-dev libyaml-cpp-dev"
setup 0 run
fetches_nothing

begin CheckChangesNothing
echo 3 >"$box/state/missing-headers"
setup 2 --check run
fetches_nothing
prints "apt-get install -y libcli11-dev"

begin SaysThatTheNetworkIsMissing
echo 3 >"$box/state/missing-headers"
touch "$box/state/no-network"
setup 2 run
prints "cannot install libcli11-dev: apt-get update failed (no network?)"
prints "fix it with: apt-get update && apt-get install -y libcli11-dev"

begin SaysThatThereIsNoAptGet
echo 3 >"$box/state/missing-headers"
rm "$box/bin/apt-get"
setup 2 run
prints "cannot install libcli11-dev: there is no apt-get here"

begin SaysWhenThePackagesAreTooOld
echo 3.22.1 >"$box/state/cmake"
touch "$box/state/apt-is-useless"
setup 2 run
prints "missing: CMake 3.25.1 or newer (found: 3.22.1)"
prints "the packages of this system do not provide it"

begin CountsEveryHeaderAsMissingWithoutACompiler
rm "$box/bin/g++"
setup 2 --check run
prints "a C++20 compiler: g++ 12 or newer"
libraries="libcli11-dev libfmt-dev libgmock-dev libgtest-dev libyaml-cpp-dev nlohmann-json3-dev"
prints "apt-get install -y build-essential $libraries"
setup 2 --check test
prints "apt-get install -y build-essential libbenchmark-dev $libraries"

begin InstallsNoPythonPackagesToBuild
echo jinja2 >"$box/state/missing-modules"
setup 0 build
fetches_nothing
STRATA_PYTHON=python3 setup 0 build
rm "$box/bin/python3"
setup 2 --check build
prints "apt-get install -y python3"

begin MakesThePythonEnvironmentOncePerLockFile
echo jinja2 >"$box/state/missing-modules"
setup 0 run
calls "--require-hashes --requirement analysis/requirements.lock"
chooses "$box/checkout/.venv/bin/python"
setup 0 run
fetches_nothing
setup 0 test
calls "--require-hashes --requirement analysis/requirements-dev.lock"
setup 0 test
fetches_nothing
setup 0 run
fetches_nothing
echo newer >"$box/checkout/analysis/requirements.lock"
setup 0 run
calls "--requirement analysis/requirements.lock"

begin SaysThatPipFailedAndTriesAgainNextTime
echo jinja2 >"$box/state/missing-modules"
touch "$box/state/no-network"
setup 2 run
prints "pip could not install analysis/requirements.lock"
rm "$box/state/no-network"
setup 0 run
chooses "$box/checkout/.venv/bin/python"

begin GoesOnWithoutLintersThatCannotBeInstalled
rm "$box/bin/clang-format-14"
touch "$box/state/no-network"
setup 0 test
prints "cannot install clang-format-14"
prints "going on without"
setup 0 run
fetches_nothing

begin AsksForTheBrowserApartFromTheLinters
fake chromium <<<'exit 1'
setup 0 test
fetches_nothing
rm "$box/bin/clang-format-14"
setup 0 all
calls "install --no-install-recommends clang-format-14"
calls "install --no-install-recommends chromium"
fake google-chrome <<<'echo "Google Chrome 156"'
fake clang-format-14 <<<'echo "Debian clang-format version 14.0.6"'
setup 0 all
fetches_nothing

begin AsksForTheFuzzerOfTheClangThatIsHere
fake clang++ <<<'exit 1'  # It links no libFuzzer.
setup 0 test
fetches_nothing
setup 0 all
calls "install --no-install-recommends libclang-rt-14-dev"
fake clang++-14 <<<'exit 0'
setup 0 all
fetches_nothing
rm "$box"/bin/clang++*
setup 0 all
calls "install --no-install-recommends clang-14"
calls "install --no-install-recommends libclang-rt-14-dev"

begin AsksForSlurmForAllTestsAlone
rm "$box"/bin/{slurmctld,munged}
setup 0 test
fetches_nothing
setup 0 all
calls "install --no-install-recommends munge slurm-wlm"

begin TakesTheBrowserThatIsNamed
rm "$box/bin/chromium"
fake my-browser <<<'echo "Chromium 156"'
STRATA_CHROMIUM=my-browser setup 0 all
fetches_nothing

begin SaysWhichDevelopmentToolsAPythonLacks
printf 'ruff\n' >"$box/state/missing-modules"
setup 0 test
fetches_nothing
prints "has no ruff: what needs it will be left out"

begin RefusesANamedPythonThatLacksModules
echo jinja2 >"$box/state/missing-modules"
STRATA_PYTHON=python3 setup 2 run
prints "STRATA_PYTHON (python3) lacks: jinja2"
fetches_nothing

begin FetchesNothingWhenToldSo
export STRATA_OFFLINE=1
rm "$box/bin/clang-format-14"
setup 0 test
fetches_nothing
echo jinja2 >"$box/state/missing-modules"
setup 2 run
fetches_nothing
prints "python3 lacks: jinja2"
echo 3 >"$box/state/missing-headers"
setup 2 run
fetches_nothing
prints "cannot install libcli11-dev: STRATA_OFFLINE is set"
unset STRATA_OFFLINE

begin RefusesUnknownArguments
setup 2 --all
prints "usage:"

if [[ $failures == 0 ]]; then echo "setup_test: passed"; fi
exit $((failures > 0))
