// The declaration and the report of transfers: transfers.hpp says what it asks.
#include "micro/transfer/transfers.hpp"

#include "harness/measure/timed.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::transfers {
namespace {

std::optional<std::string> excludes(const Params& params, Backend /*backend*/) {
  const auto word = [&](const char* axis) -> const std::string& {
    return params.find(axis)->second;
  };
  const long long bytes = std::stoll(word("bytes"));
  const long long pieces = std::stoll(word("pieces"));
  const bool packed = word("packing") == "packed";
  constexpr long long word_bytes = sizeof(std::uint32_t);
  if (bytes % (word_bytes * pieces) != 0) return "bytes are not whole words in each piece";
  if (pieces == 1 && packed) return "one piece needs no packing";
  if (pieces > 1 && word("memory") == "mapped") return "a kernel reads its pieces itself";
  if (pieces > 1 && word("direction") == "both") return "pieces go one way at a time";
  if (word("direction") == "both" && word("memory") == "pageable") {
    return "copies of pageable memory do not run beside each other";
  }
  return std::nullopt;
}

/// Powers of 4, from a word to 256 MiB.
std::vector<std::string> sizes() {
  constexpr long long largest = 256LL << 20U;
  std::vector<std::string> bytes;
  for (long long size = 4; size <= largest; size *= 4)
    bytes.push_back(std::to_string(size));
  return bytes;
}

}  // namespace

Benchmark declare() {
  return {.suite = "micro",
          .name = "transfers",
          .question = "What does it cost to bring bytes to the GPU and back, in one copy or many?",
          .axes = {{.name = "memory",
                    .meaning = "host memory: pageable, page-locked, or page-locked and used by a "
                               "kernel itself",
                    .choices = {"pageable", "pinned", "mapped"},
                    .defaults = {"pageable", "pinned", "mapped"}},
                   {.name = "bytes",
                    .meaning = "bytes of the payload, in each direction",
                    .minimum = sizeof(std::uint32_t),
                    .maximum = most_bytes,
                    .defaults = sizes()},
                   {.name = "pieces",
                    .meaning = "pieces that the payload lies in on the host",
                    .minimum = 1,
                    .maximum = most_pieces,
                    .defaults = {"1"}},
                   {.name = "packing",
                    .meaning = "whether each piece is a copy, or the host packs them into one",
                    .choices = {"none", "packed"},
                    .defaults = {"none"}},
                   {.name = "direction",
                    .meaning = "where the payload goes; both: two streams at once",
                    .choices = {"to_device", "to_host", "both"},
                    .defaults = {"to_device", "to_host", "both"}}},
          .quantities = {{"transfer_time",
                          "of the whole payload: on the device (event), for its caller (wall)"},
                         {"bandwidth", "bytes moved ÷ that time"}},
          .seconds_per_case = 0.15,
          .excludes = excludes};
}

Transfer transfer_of(const Session& session) {
  const std::string& memory = session.param("memory");
  const std::string& direction = session.param("direction");
  return {.memory = memory == "pageable" ? Memory::pageable
                    : memory == "pinned" ? Memory::pinned
                                         : Memory::mapped,
          .to_device = direction != "to_host",
          .to_host = direction != "to_device",
          .bytes = static_cast<std::uint64_t>(session.whole("bytes")),
          .pieces = static_cast<std::uint32_t>(session.integer("pieces")),
          .packed = session.param("packing") == "packed"};
}

double least_seconds(const Transfer& transfer) {
  constexpr double fastest_link = 6e10;
  constexpr double call = 1e-6;
  constexpr double start = 5e-6;
  const double copies = transfer.packed ? 1 : transfer.pieces;
  return start + call * copies + static_cast<double>(transfer.bytes) / fastest_link;
}

bool is_brief(const Transfer& transfer) {
  return copy_times::is_brief(least_seconds(transfer));
}

std::uint32_t transfers_per_sample(const Transfer& transfer) {
  return copy_times::copies_per_sample(least_seconds(transfer));
}

void report(Session& session, const Collection<Observation>& seen, const Transfer& transfer) {
  copy_times::report(session, seen, static_cast<double>(transfer.bytes_moved()));
}

STRATA_DECLARED(declare);

}  // namespace strata::transfers
