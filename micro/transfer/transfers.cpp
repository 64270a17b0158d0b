#include "micro/transfer/transfers.hpp"

namespace strata::transfers {
namespace {

std::optional<std::string> excludes(const Params& params, Backend) {
  const Transfer transfer = transfer_of(params);
  constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);
  if (transfer.bytes % (word_bytes * transfer.pieces) != 0) {
    return "bytes are not a multiple of the word size in each piece";
  }
  if (transfer.pieces == 1 && transfer.packed) return "one piece needs no packing";
  const bool both = transfer.direction == Direction::both;
  if (transfer.pieces > 1 && transfer.memory == Memory::mapped) {
    return "a kernel reads the pieces directly";
  }
  if (transfer.pieces > 1 && both) return "pieces are copied in one direction only";
  if (both && transfer.memory == Memory::pageable) {
    return "copies of pageable memory do not overlap";
  }
  return std::nullopt;
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "transfers",
      .question = "What does it cost to copy data to the GPU and back, in one piece or many?",
      .axes = {memories.axis("memory",
                             "host memory: pageable, pinned, or pinned and accessed by a kernel"),
               number_axis("bytes", "bytes of the payload, in each direction",
                           sizeof(std::uint32_t), 1LL << 30U, copy_times::sizes(256LL << 20U, 4)),
               number_axis("pieces", "number of pieces of the payload on the host", 1, 4096, {"1"}),
               packings.axis(
                   "packing",
                   "whether each piece is copied separately, or the host packs them into one",
                   {"none"}),
               directions.axis("direction", "direction; both: two streams at once")},
      .quantities =
          {{"transfer_time",
            "duration for the whole payload: on the device (event), for its caller (wall)"},
           {"bandwidth", "bytes moved ÷ that time"}},
      .seconds_per_case = 0.15,
      .excludes = excludes};
}

Transfer transfer_of(const Params& params) {
  return {.memory = memories.of(params.at("memory")),
          .direction = directions.of(params.at("direction")),
          .bytes = number_of<std::uint64_t>(params, "bytes"),
          .pieces = number_of<std::uint32_t>(params, "pieces"),
          .packed = packings.of(params.at("packing"))};
}

double least_seconds(const Transfer& transfer) {
  constexpr double fastest_link = 6e10;
  constexpr double call = 1e-6;
  constexpr double start = 5e-6;
  const double copies = transfer.packed ? 1 : transfer.pieces;
  return start + call * copies + static_cast<double>(transfer.bytes) / fastest_link;
}

bool is_held_back(const Transfer& transfer) {
  return copy_times::is_brief(least_seconds(transfer)) && transfer.can_be_queued();
}

Experiment describe(const Transfer& transfer) {
  Experiment experiment = copy_times::described(static_cast<double>(transfer.bytes_moved()));
  experiment.checked = "words at their target against those sent";
  experiment.partly_host_time = true;
  experiment.not_counted = "the counter sets do not cover the copy engines";
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::transfers
