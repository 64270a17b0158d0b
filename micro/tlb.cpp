// The declaration of tlb: tlb.hpp says what it asks.
#include "micro/tlb.hpp"

#include "harness/core/octaves.hpp"
#include "harness/core/text.hpp"
#include "micro/pointer_chase.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace strata::tlb {
namespace {

constexpr std::uint64_t default_stride = std::uint64_t{2} << 20U;
constexpr unsigned default_per_octave = 8;

std::vector<std::string> default_footprints() {
  std::vector<std::string> texts;
  for (const auto bytes :
       octaves(least_footprint, most_footprint, default_per_octave, default_stride))
    texts.push_back(std::to_string(bytes));
  return texts;
}

std::optional<std::string> excluded(const Params& params, Backend backend) {
  if (backend == Backend::host) return "the pages of a CPU are asked another way";
  const auto number = [&](const char* axis) {
    return static_cast<std::uint64_t>(whole_number(params.find(axis)->second).value());
  };
  const std::uint64_t footprint = number("footprint");
  const std::uint64_t stride = number("stride");
  if (footprint % stride != 0 || footprint < 2 * stride) {
    return "the footprint is no whole number of slots, two at least";
  }
  if (footprint / stride > most_slots) return "L2 would not hold a line of each slot";
  return std::nullopt;
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "tlb",
      .question =
          "How much memory do the kept address translations cover, and what does a miss cost?",
      .axes = {{.name = "allocation",
                .meaning = "where the memory is from: cudaMalloc, or cuMemCreate mapped by hand",
                .choices = {"malloc", "vmm"},
                .defaults = {"malloc", "vmm"}},
               {.name = "stride",
                .meaning = "bytes from slot to slot, one load in each",
                .choices = {"65536", "2097152", "4194304", "33554432"},
                .defaults = {"2097152"}},
               {.name = "footprint",
                .meaning = "bytes that the chain spans",
                .choices = {},
                .minimum = static_cast<long long>(least_footprint),
                .maximum = static_cast<long long>(most_footprint),
                .defaults = default_footprints()}},
      .data_axes = 1,
      .quantities = {{"load_cycles", "cycles of one dependent load from L2, translation included"},
                     {"load_time", "the same in seconds"},
                     {"core_clock", "clock of the core while it read"}},
      .seconds_per_case = 0.015,
      .excludes = excluded};
}

std::uint32_t warm_loads_for(std::uint64_t slots) {
  constexpr std::uint64_t few = 64;
  constexpr std::uint64_t most = 2048;  // a walk of a million cycles
  return static_cast<std::uint32_t>(std::clamp(pointer_chase::in_whole_turns(slots), few, most));
}

STRATA_DECLARED(declare);

}  // namespace strata::tlb
