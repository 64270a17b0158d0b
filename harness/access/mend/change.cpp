#include "harness/access/mend/change.hpp"

#include "harness/access/mend/weave.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata::access {
namespace {

constexpr std::string_view axes = "xyz";

std::array<std::uint32_t, 3> sizes_of(const Extent& extent) {
  return {extent.x, extent.y, extent.z};
}

Extent extent_of(const std::array<std::uint32_t, 3>& sizes) {
  return {sizes[0], sizes[1], sizes[2]};
}

std::array<std::uint32_t, 3> permuted(const std::array<std::uint32_t, 3>& sizes,
                                      const std::array<unsigned, 3>& order) {
  return {sizes.at(order[0]), sizes.at(order[1]), sizes.at(order[2])};
}

/// Axes that changed places: "threadIdx.x and threadIdx.y swapped".
std::string swap_text(std::string_view index, const std::array<unsigned, 3>& order) {
  std::string moved;
  for (unsigned i = 0; i < order.size(); ++i) {
    if (order.at(i) != i) moved += fmt::format("{}{}.{}", moved.empty() ? "" : " and ", index, axes[i]);
  }
  return moved.empty() ? moved : moved + " swapped";
}

std::uint32_t rounded_up(std::uint32_t count, std::uint64_t by) {
  return static_cast<std::uint32_t>((count + by - 1) / by);
}

}  // namespace

std::string text_of(const Change& change) {
  std::vector<std::string> parts;
  const auto add = [&](std::string part) {
    if (!part.empty()) parts.push_back(std::move(part));
  };
  add(swap_text("threadIdx", change.thread_axes));
  add(swap_text("blockIdx", change.block_axes));
  if (change.exchange) {
    add(fmt::format("lanes along blockIdx.{} instead of threadIdx.x", axes[change.exchange->axis]));
  }
  if (change.threads > 1) add(fmt::format("{} threads in one", change.threads));
  if (change.passes > 1) add(fmt::format("{} passes of a loop in one", change.passes));
  if (change.swizzled_row != 0) {
    add(fmt::format("shared memory swizzled by rows of {} bytes", 1U << change.swizzled_row));
  }
  if (change.bytes > 1) add(fmt::format("accesses grouped into up to {} bytes", change.bytes));
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

Extent mended_grid(const Change& change, const Extent& grid, const Extent& block) {
  auto sizes = permuted(sizes_of(grid), change.block_axes);
  std::uint32_t& along = sizes.at(change.lanes_axis());
  if (change.exchange) {
    along = rounded_up(along, std::uint64_t{change.threads} * block.x);
    sizes.at(change.exchange->free) = block.x;
  } else {
    along = rounded_up(along, change.threads);
  }
  return extent_of(sizes);
}

Extent mended_block(const Change& change, const Extent& block) {
  return extent_of(permuted(sizes_of(block), change.thread_axes));
}

Launch mended_launch(const Mended& mended, const ptx::Module& original, const ptx::Module& module,
                     Launch launch) {
  const Change& change = mended.change;
  const std::uint32_t blocks = sizes_of(launch.grid).at(change.lanes_axis());
  launch.grid = mended_grid(change, launch.grid, launch.block);
  launch.block = mended_block(change, launch.block);
  const auto kernel = std::ranges::find(module.kernels, mended.name, &ptx::Kernel::name);
  launch.kernel = static_cast<std::uint32_t>(kernel - module.kernels.begin());
  for (Buffer& buffer : launch.buffers) {
    if (buffer.symbol == ptx::no_index) continue;
    const ptx::Symbol& was = original.symbols[buffer.symbol];
    const auto is = std::ranges::find_if(module.symbols, [&](const ptx::Symbol& one) {
      return one.name == was.name && one.kernel == was.kernel;
    });
    buffer.symbol = static_cast<std::uint32_t>(is - module.symbols.begin());
  }
  if (!change.moves_blocks()) return launch;
  const ptx::Symbol& parameter = module.symbols[kernel->params.back()];
  launch.params.resize(parameter.offset + sizeof blocks);
  launch.params_known.resize(launch.params.size());
  for (unsigned b = 0; b < sizeof blocks; ++b) {
    launch.params[parameter.offset + b] = static_cast<std::uint8_t>(blocks >> (8 * b));
    launch.params_known[parameter.offset + b] = 1;
  }
  return launch;
}

}  // namespace strata::access
