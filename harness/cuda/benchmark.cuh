// All that the file of a benchmark needs: to declare and describe it and, for a CUDA compiler, to
// write its kernels and launch them.
#pragma once

#include "harness/base/error.hpp"
#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "harness/measure/description.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/measure/session.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/model/lanes.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/device_facts.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#ifdef __CUDACC__
#include "harness/cuda/access.cuh"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/cuda/reduce.cuh"
#include "harness/cuda/stamps.cuh"
#include "harness/measure/engine.hpp"

#include <cuda_runtime_api.h>
#endif
