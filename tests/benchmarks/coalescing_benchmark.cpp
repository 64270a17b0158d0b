// How fast is the coalescing model? Warp-reads of 4 bytes a lane at strides of 1 to 32 words, under
// the rules of each generation.
#include "harness/model/coalescing.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace strata {
namespace {

std::vector<WarpAccess> strided_reads() {
  std::vector<WarpAccess> reads(warp_lanes);
  for (std::size_t stride = 1; stride <= reads.size(); ++stride) {
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane)
      reads[stride - 1].addresses[lane] = 4 * stride * lane;
  }
  return reads;
}

void warp_reads_are_coalesced(benchmark::State& state) {
  const Generation generation = generations()[static_cast<std::size_t>(state.range(0))].generation;
  const auto reads = strided_reads();
  constexpr std::uint64_t used = std::uint64_t{4} * warp_lanes * warp_lanes;
  SequenceTraffic moved;
  for (auto _ : state)
    moved = traffic(generation, std::span{reads});
  if (moved.total.bytes_used != used || moved.total.bytes_moved <= used) {
    state.SkipWithError("strided reads move as much as they use");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(reads.size()));
}
BENCHMARK(warp_reads_are_coalesced)
    ->DenseRange(0, static_cast<int>(generations().size()) - 1)
    ->ArgName("generation");

}  // namespace
}  // namespace strata
