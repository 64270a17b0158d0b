#!/usr/bin/env bash
# The Release build for the device that is here: with CUDA where nvcc is, for the GPU's own architecture.
# Leaves the path of the program in build/strata.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

architectures=$(gpu_architectures)
if has nvcc; then
  # Without a GPU the device code is only compiled, and one architecture is enough for that.
  preset=cuda flags=(-DCMAKE_CUDA_ARCHITECTURES="${architectures:-90}")
else
  preset=cpu flags=()
  [[ -z $architectures ]] || say "there is a GPU but no nvcc: building for the host alone; install the CUDA toolkit to measure the GPU"
fi

say "building with the preset $preset"
configure $preset "${flags[@]}"
cmake --build --preset $preset --target strata
echo "build/$preset/bin/strata" >build/strata
