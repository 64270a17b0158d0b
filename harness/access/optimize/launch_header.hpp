// The header by which a program launches its optimized kernels: `launch(grid, block, arguments…)`.
#pragma once

#include "harness/access/optimize/change.hpp"
#include "harness/access/ptx.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {

/// A kernel of a module, optimized in it.
struct OptimizedKernel {
  std::string original;  ///< its symbol
  std::string name;      ///< of the struct in the header, as C++ has it
  Optimized optimized;
};

/// `module` holds all of them and the originals. `name` is that of the module, for people.
[[nodiscard]] std::string launch_header(const ptx::Module& module,
                                        const std::vector<OptimizedKernel>& kernels,
                                        std::string_view name);

/// The last part of a kernel's readable name, made a name of C++: "edges_of".
[[nodiscard]] std::string short_name(std::string_view symbol);

}  // namespace strata::access
