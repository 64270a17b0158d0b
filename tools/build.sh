#!/usr/bin/env bash
# The Release build for the device that is here: where a GPU and nvcc are, device code for that GPU's architecture;
# else the host part alone. Leaves the path of the program in build/strata.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

architectures=$(gpu_architectures)
preset=cpu flags=()
if [[ -n $architectures ]]; then
  if has nvcc; then
    preset=gpu flags=(-DCMAKE_CUDA_ARCHITECTURES="$architectures")
  else
    say "there is a GPU but no nvcc: building for the host alone; install the CUDA toolkit to measure the GPU"
  fi
fi

say "building with the preset $preset"
configure $preset "${flags[@]}"
cmake --build --preset $preset --target strata
echo "build/$preset/bin/strata" >build/strata
