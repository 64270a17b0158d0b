// The declaration and the model of short_words: short_words.hpp says what it asks.
#include "micro/access/short_words.hpp"

#include "harness/model/coalescing.hpp"
#include "harness/model/lanes.hpp"

#include <optional>
#include <string>

namespace strata::short_words {
namespace {

std::optional<std::string> excludes(const Params& params, Backend backend) {
  const int element = std::stoi(params.at("element"));
  const int group = std::stoi(params.at("group"));
  if (group < element) return "a group is one element or more";
  if (group == element && params.at("access") == "apart") {
    return "one element is not taken apart";
  }
  if (backend == Backend::host && params.at("order") == "coalesced" &&
      params.at("access") == "apart") {
    return "along a row the elements of a group follow each other anyway";
  }
  return std::nullopt;
}

}  // namespace

Benchmark declare() {
  return {.suite = "micro",
          .name = "short_words",
          .question = "What do uncoalesced accesses and short words cost a matrix addition?",
          .axes = {{.name = "element",
                    .meaning = "bytes of an element of the matrices",
                    .choices = {"1", "2", "4"},
                    .defaults = {"1", "2", "4"}},
                   {.name = "order",
                    .meaning = "whether neighbouring threads, or turns of a CPU's loop, take "
                               "neighbouring elements",
                    .choices = {"coalesced", "uncoalesced"},
                    .defaults = {"coalesced", "uncoalesced"}},
                   {.name = "group",
                    .meaning = "bytes of neighbouring elements that a thread, or turn, takes",
                    .choices = {"1", "2", "4", "8", "16"},
                    .defaults = {"1", "2", "4", "8", "16"}},
                   {.name = "access",
                    .meaning = "one access for each element of a group, or one for all",
                    .choices = {"apart", "together"},
                    .defaults = {"apart", "together"}}},
          .quantities = {{"kernel_time", "one addition of the matrices, a GPU's start-up included"},
                         {"useful_bandwidth", "bytes of the three matrices over that time"},
                         {"core_clock", "clock of the core between the additions"},
                         {"l1_load_sectors_per_launch", "counted beside modelled"}},
          .seconds_per_case = 0.1,
          .excludes = excludes};
}

Form form_of(const Session& session) {
  return {.element = static_cast<std::uint32_t>(session.integer("element")),
          .group = static_cast<std::uint32_t>(session.integer("group")),
          .together = session.param("access") == "together",
          .coalesced = session.param("order") == "coalesced"};
}

Prediction predicted(const Form& form) {
  // All warps are alike: each begins at a multiple of the 32 groups, or of the sector, that hold
  // it.
  const std::uint32_t accesses = form.group / form.access();
  const std::uint64_t stride = std::uint64_t{form.thread_step()} * accesses;
  std::uint64_t sectors = 0;
  for (std::uint32_t part = 0; part < accesses; ++part) {
    const auto elements = lane_elements(stride, part, Permutation::identity);
    sectors += traffic(Generation::cc7, access_of(form.access(), elements)).sectors;
  }
  const std::uint64_t warps = std::uint64_t{form.blocks()} * threads / warp_lanes;
  constexpr std::uint64_t sources = 2;
  return {.load_requests = sources * warps * accesses,
          .load_sectors = sources * warps * sectors,
          .store_sectors = warps * sectors};
}

STRATA_DECLARED(declare);

}  // namespace strata::short_words
