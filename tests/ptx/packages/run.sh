#!/usr/bin/env bash
# Measures `strata access` on what other people's compilers write. Needs no GPU; 3 GB of disk and
# the network for the first run, as the compilers come from PyPI, at the versions that are locked.
#
#   tests/ptx/packages/run.sh STRATA [FOLDER]    FOLDER (build/packages) keeps packages and PTX
#
# It ends with 1 where a file is refused, or less is followed or told right than is promised.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly strata=${1:?STRATA is missing: the path of the program}
readonly folder=${2:-$here/../../../build/packages}

python=$folder/venv/bin/python
if [[ ! $folder/venv/locked -nt $here/requirements.lock ]]; then
  python3 -m venv --clear "$folder/venv"
  "$python" -m pip install --quiet --disable-pip-version-check --require-hashes \
    -r "$here/requirements.lock"
  touch "$folder/venv/locked"
fi
rm -rf "$folder/ptx"
"$python" "$here/generate.py" "$folder/ptx"
"$python" "$here/mending.py" "$strata" "$folder/ptx"
"$python" "$here/coalescing.py" "$strata" "$folder/ptx"
