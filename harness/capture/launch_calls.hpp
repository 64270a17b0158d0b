// The calls of the driver that launch a kernel, as CUPTI's callbacks pass them: for libraries that
// the driver loads into a program.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <array>
#include <optional>

namespace strata {

/// One launch, whichever function of the driver it came by.
struct Launched {
  CUfunction function = nullptr;
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  std::array<unsigned, 3> cluster{};
  unsigned shared = 0;
  CUstream stream = nullptr;
  void** parameters = nullptr;
  void** extra = nullptr;
};

/// Of a call that names its shape argument by argument.
template <class Params>
Launched launched_as(const Params& of) {
  return {.function = of.f,
          .grid = {of.gridDimX, of.gridDimY, of.gridDimZ},
          .block = {of.blockDimX, of.blockDimY, of.blockDimZ},
          .cluster = {},
          .shared = of.sharedMemBytes,
          .stream = of.hStream,
          .parameters = of.kernelParams,
          .extra = nullptr};
}

/// Nothing for a call that launches no kernel.
[[nodiscard]] inline std::optional<Launched> launched_of(CUpti_CallbackId id, const void* params) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz: {
      const auto& of = *static_cast<const cuLaunchKernel_params*>(params);
      Launched made = launched_as(of);
      made.extra = of.extra;
      return made;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      return launched_as(*static_cast<const cuLaunchCooperativeKernel_params*>(params));
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: {
      const auto& of = *static_cast<const cuLaunchKernelEx_params*>(params);
      if (of.config == nullptr) return std::nullopt;
      const CUlaunchConfig& how = *of.config;
      Launched made{.function = of.f,
                    .grid = {how.gridDimX, how.gridDimY, how.gridDimZ},
                    .block = {how.blockDimX, how.blockDimY, how.blockDimZ},
                    .cluster = {},
                    .shared = how.sharedMemBytes,
                    .stream = how.hStream,
                    .parameters = of.kernelParams,
                    .extra = of.extra};
      for (unsigned i = 0; i < how.numAttrs; ++i) {
        if (how.attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
        const auto& cluster = how.attrs[i].value.clusterDim;
        made.cluster = {cluster.x, cluster.y, cluster.z};
      }
      return made;
    }
    default:
      return std::nullopt;
  }
}

inline constexpr std::array launch_calls{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                                         CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
                                         CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
                                         CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
                                         CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
                                         CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz};

}  // namespace strata
