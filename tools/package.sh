#!/usr/bin/env bash
# Builds the release: the wheel strata-gpu, and the same as a tar archive. They run on machines without a compiler, with
# the glibc of this one or a newer one, and without a driver, too.
#
#   tools/package.sh [-DNAME=VALUE...]   such as -DSTRATA_CUDA=OFF; else device code for every major architecture
#
# What it makes is in build/package; the last lines print where.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly room=$PWD/build/package lock=tools/package/requirements.lock
readonly python=$room/python/bin/python installed=$room/python/installed-lock  # Digest of the lock file that it satisfies.
readonly most_bytes=$((60 * 1000 * 1000))
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' analysis/src/strata/__init__.py)

install_builder() {
  [[ -z ${STRATA_OFFLINE:-} ]] || die "STRATA_OFFLINE is set, and what builds a wheel is not in $room/python; fix it with: unset STRATA_OFFLINE"
  say "installing the Python packages of $lock"
  "$(chosen_python)" -m venv --clear "$room/python"
  $python -m pip install --quiet --disable-pip-version-check --no-input --only-binary :all: --require-hashes --requirement $lock
  sha256sum <$lock >"$installed"
}

# Debian and Ubuntu have Google Benchmark as a shared library only: this makes a static one of their source.
build_benchmark() {
  local -r apt=$room/apt
  local option=(-o Dir::State::Lists="$apt/lists" -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt/sources"
    -o Dir::Cache="$apt")
  { has apt-get && has dpkg-source; } ||
    die "no static Google Benchmark, nor Debian's tools to get its source; fix it with: apt-get install -y dpkg-dev, or CMAKE_PREFIX_PATH=<where libbenchmark.a is installed>"
  [[ -z ${STRATA_OFFLINE:-} ]] || die "STRATA_OFFLINE is set, and there is no static Google Benchmark; fix it with: unset STRATA_OFFLINE"
  say "building a static Google Benchmark of the source that apt-get has"
  rm -rf "$apt" && mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/sources"
  local file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
    [[ ! -f $file ]] || sed 's/^Types:.*/Types: deb-src/; s/^deb /deb-src /' "$file" >"$apt/sources/${file##*/}"
  done
  apt-get -qq "${option[@]}" update
  (cd "$apt" && apt-get -qq "${option[@]}" source benchmark >/dev/null 2>&1)
  cmake -S "$apt"/benchmark-*/ -B "$apt/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$room/static" \
    -DGIT_VERSION=0.0.0 -DBUILD_SHARED_LIBS=OFF -DBENCHMARK_ENABLE_TESTING=OFF -DBENCHMARK_INSTALL_DOCS=OFF >"$apt/log"
  cmake --build "$apt/build" --target install >>"$apt/log"
}

mkdir -p "$room"
export CMAKE_PREFIX_PATH=$room/static${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}
if has ccache; then export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}; fi
[[ $(sha256sum <$lock) == $(cat "$installed" 2>/dev/null) ]] || install_builder
IFS=: read -ra prefixes <<<"$CMAKE_PREFIX_PATH"
[[ -n $(find "${prefixes[@]}" -name libbenchmark.a 2>/dev/null || true) ]] || build_benchmark
has nvcc || say "no nvcc on PATH or in /usr/local/cuda/bin: what is built measures the CPU alone"

say "building; all architectures take an hour of one core"
rm -rf "$room/dist" "$room/whole"
flags=()
for flag; do flags+=(--config-settings "cmake.define.${flag#-D}"); done
$python -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps "${flags[@]}" --wheel-dir "$room/dist" tools/package
mapfile -t programs < <(find "$room/cmake/bin" -name strata -o -name strata-access -o -name 'libstrata_*.so')
glibc=$(tools/package/glibc.py "${programs[@]}")
$python -m wheel tags --remove --platform-tag "manylinux_${glibc/./_}_$(uname -m)" "$room"/dist/*.whl >/dev/null

name=strata-gpu-$version-linux-$(uname -m)
cmake -DSTRATA_WHEEL=OFF "$room/cmake" >/dev/null
cmake --install "$room/cmake" --strip --prefix "$room/whole/$name" >/dev/null
tar -C "$room/whole" --owner=0 --group=0 --sort=name -czf "$room/dist/$name.tar.gz" "$name"

for made in "$room"/dist/*; do
  bytes=$(stat --format %s "$made")
  say "$made: $((bytes / 1000000)) MB"
  [[ $bytes -le $most_bytes ]] || die "that is larger than $((most_bytes / 1000000)) MB"
done
say "they need glibc $glibc"
