#!/usr/bin/env bash
# Builds the manual as a static site that opens offline: build/docs/site/index.html.
#
# The pages of the benchmarks are made of what a built program declares. MkDocs is installed once, from
# docs/requirements.lock, into build/docs/python. Exit codes: 1 a link or a page is wrong, 2 something is missing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

a_program() {
  local candidate
  for candidate in build/{cuda,gpu,cpu,host}/bin/strata; do
    if [[ -x $candidate ]]; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

readonly lock=docs/requirements.lock python=build/docs/python/bin/python
readonly installed=build/docs/python/installed-lock  # Digest of the lock file that it satisfies.

install_mkdocs() {
  [[ -z ${STRATA_OFFLINE:-} ]] || die "STRATA_OFFLINE is set, and MkDocs is not in build/docs/python; fix it with: unset STRATA_OFFLINE"
  say "installing the Python packages of $lock into build/docs/python"
  python3 -m venv --clear build/docs/python || die "python3 -m venv failed; fix it with: apt-get install -y python3-venv"
  $python -m pip install --quiet --disable-pip-version-check --no-input --only-binary :all: --require-hashes \
    --requirement $lock || die "pip could not install $lock; its message is above; fix it with: a network and this command again"
  sha256sum <$lock >$installed
}

program=$(a_program) || die "no built program to list the benchmarks; fix it with: make build"
[[ $(sha256sum <$lock) == $(cat $installed 2>/dev/null) ]] || install_mkdocs

python3 tools/docs_site.py "$program" build/docs/pages
$python -m mkdocs build --strict --quiet --clean --config-file docs/mkdocs.yml
if grep -rlE '<(script|link|img|iframe)[^>]*(src|href)="?(https?:)?//' build/docs/site --include='*.html'; then
  say "these pages would fetch something from elsewhere" >&2
  exit 1
fi
say "the manual is in $PWD/build/docs/site/index.html"
