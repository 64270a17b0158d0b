#!/usr/bin/env bash
# The Release build for the device that is here: where a GPU and nvcc are, device code for that GPU's architecture;
# else the host part alone. Leaves the path of the program in build/strata.
#
#   tools/build.sh [TARGET...]   without a target: strata and strata-access, which `strata access` starts
#   ARCH=90 tools/build.sh       device code for that compute capability, for a GPU elsewhere; several: ARCH='80;90'
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[[ $# -gt 0 ]] || set -- strata strata-access

architectures=${ARCH:-$(gpu_architectures)}
preset=cpu flags=()
if [[ -n ${ARCH:-} ]]; then
  [[ $ARCH =~ ^([0-9]+[af]?(;|$))+$ ]] || die "ARCH=$ARCH: expected a compute capability without its dot, such as 90 or '80;90'"
  has nvcc || die "ARCH=$ARCH needs nvcc, which is neither on the PATH nor in /usr/local/cuda/bin; install the CUDA toolkit"
fi
if has nvcc && [[ -n $architectures ]]; then
  preset=gpu flags=(-DCMAKE_CUDA_ARCHITECTURES="$architectures")
elif [[ -n $architectures ]]; then
  say "there is a GPU but no nvcc: building for the host alone; install the CUDA toolkit to measure the GPU"
elif has nvcc; then
  say "nvcc is here but no GPU: building for the host alone; for a GPU elsewhere: make build ARCH=90 (its compute capability)"
fi

say "building with the preset $preset ${flags[*]}"
configure $preset "${flags[@]}"
cmake --build --preset $preset --target "$@"
echo "build/$preset/bin/strata" >build/strata
