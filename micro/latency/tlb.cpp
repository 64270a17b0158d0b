#include "micro/latency/tlb.hpp"

#include "harness/case/choices.hpp"
#include "harness/case/octaves.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace strata::tlb {
namespace {

constexpr std::uint64_t default_stride = std::uint64_t{2} << 20U;
constexpr std::uint64_t small_stride = 4096;  // of the host
constexpr unsigned default_per_octave = 8;

std::vector<std::string> default_footprints() {
  std::vector<std::string> texts;
  constexpr std::uint64_t page = 4096;
  constexpr unsigned few_per_octave = 4;
  for (const auto bytes :
       octaves(least_host_footprint, least_footprint - page, few_per_octave, page))
    texts.push_back(std::to_string(bytes));
  for (const auto bytes :
       octaves(least_footprint, most_footprint, default_per_octave, default_stride))
    texts.push_back(std::to_string(bytes));
  return texts;
}

std::optional<std::string> excluded(const Params& params, Backend backend) {
  const auto footprint = number_of<std::uint64_t>(params, "footprint");
  const auto stride = number_of<std::uint64_t>(params, "stride");
  if (footprint % stride != 0 || footprint < 2 * stride) {
    return "the footprint is no whole number of slots, two at least";
  }
  const std::string& allocation = params.find("allocation")->second;
  const bool of_host = allocation == small_pages || allocation == huge_pages;
  if (of_host != (backend == Backend::host)) return "a GPU has other pages than a CPU";
  if (backend == Backend::host) {
    if (stride != small_stride && (allocation != huge_pages || stride != default_stride)) {
      return "on a CPU chains visit each page of 4 KiB, or each of 2 MiB";
    }
    if (footprint > most_host_footprint || footprint / stride > most_host_slots) {
      return "on a CPU the chain would take long to write";
    }
    return std::nullopt;
  }
  if (stride == small_stride || footprint < least_footprint) return "less than a GPU's page";
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
                .meaning =
                    "where the memory is from: cudaMalloc, or cuMemCreate mapped by hand; on the "
                    "host pages of 4 KiB or of 2 MiB",
                .choices = {"malloc", "vmm", std::string{small_pages}, std::string{huge_pages}},
                .defaults = {"malloc", "vmm", std::string{small_pages}, std::string{huge_pages}}},
               {.name = "stride",
                .meaning = "bytes from slot to slot, one load in each",
                .choices = {"4096", "65536", "2097152", "4194304", "33554432"},
                .defaults = {"4096", "2097152"}},
               {.name = "footprint",
                .meaning = "bytes that the chain spans",
                .choices = {},
                .minimum = static_cast<long long>(least_host_footprint),
                .maximum = static_cast<long long>(most_footprint),
                .defaults = default_footprints()}},
      .data_axes = 1,
      .quantities =
          {{"load_cycles",
            "cycles of one dependent load from L2 (host: of the caches), translation included"},
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

Experiment describe(pointer_chase::Chase& chase) {
  Experiment experiment = pointer_chase::describe(chase, {});
  experiment.unproved = {.gate = "level"};
  experiment.counts = pointer_chase::counts_of(chase, /*sectors_of_miss=*/1);
  experiment.counts->served_by = ServedBy::l2;
  experiment.counts->memory_is_no_proof = true;
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::tlb
