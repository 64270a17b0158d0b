// A named stretch of time for profilers. Without one attached, a push and a pop are a null check
// each.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <string>

namespace strata {

/// From construction to destruction, in one thread; ranges nest.
class NvtxRange {
 public:
  explicit NvtxRange(const std::string& name) { (void)nvtxRangePushA(name.c_str()); }
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
  NvtxRange(NvtxRange&&) = delete;
  NvtxRange& operator=(NvtxRange&&) = delete;
  ~NvtxRange() { (void)nvtxRangePop(); }
};

}  // namespace strata
