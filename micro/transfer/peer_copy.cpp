// The declaration, the chain and the reports of peer_copy: peer_copy.hpp says what it asks.
#include "micro/transfer/peer_copy.hpp"

#include "harness/measure/timed.hpp"
#include "micro/pattern/random_cycle.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace strata::peer_copy {
namespace {

constexpr std::uint32_t word_bytes = sizeof(std::uint32_t);
constexpr const char* load_bytes = "4";

std::optional<std::string> excludes(const Params& params, Backend /*backend*/) {
  const std::string& bytes = params.at("bytes");
  if (std::stoll(bytes) % word_bytes != 0) return "bytes are not whole words";
  if (params.at("by") != "load") return std::nullopt;
  if (bytes != load_bytes) return "one load brings one word";
  if (params.at("direction") != "read") return "a load reads";
  return std::nullopt;
}

/// Powers of 16, from a word to 1 GiB.
std::vector<std::string> sizes() {
  std::vector<std::string> bytes;
  for (long long size = word_bytes; size <= most_bytes; size *= 16)
    bytes.push_back(std::to_string(size));
  return bytes;
}

}  // namespace

Benchmark declare() {
  return {.suite = "micro",
          .name = "peer_copy",
          .question = "What does it cost to reach the memory of the GPU beside this one?",
          .axes = {{.name = "bytes",
                    .meaning = "bytes that are copied, in each direction",
                    .choices = {},
                    .minimum = word_bytes,
                    .maximum = most_bytes,
                    .defaults = sizes()},
                   {.name = "by",
                    .meaning = "the copy engine, a kernel that copies, or one load after the other",
                    .choices = {"copy_engine", "kernel", "load"},
                    .defaults = {"copy_engine", "kernel", "load"}},
                   {.name = "direction",
                    .meaning = "from the peer, to the peer, or two streams at once",
                    .choices = {"read", "write", "both"},
                    .defaults = {"read", "write", "both"}}},
          .quantities = {{"transfer_time",
                          "of the whole copy: on the device (event), for its caller (wall)"},
                         {"bandwidth", "bytes moved ÷ that time"},
                         {"load_cycles_cached", "cycles of a load of what the peer's L2 holds"},
                         {"load_cycles_uncached", "cycles of a load from the peer's memory"},
                         {"load_time_cached", "the same in seconds"},
                         {"load_time_uncached", "the same in seconds"},
                         {"core_clock", "clock of the core while it loaded"}},
          .seconds_per_case = 0.15,
          .excludes = excludes};
}

Copy copy_of(const Session& session) {
  const std::string& by = session.param("by");
  const std::string& direction = session.param("direction");
  return {.by = by == "copy_engine" ? By::copy_engine
                : by == "kernel"    ? By::kernel
                                    : By::load,
          .read = direction != "write",
          .write = direction != "read",
          .bytes = static_cast<std::uint64_t>(session.whole("bytes"))};
}

double least_seconds(const Copy& copy) {
  constexpr double fastest_link = 9e11;
  constexpr double start = 5e-6;
  return start + static_cast<double>(copy.bytes) / fastest_link;
}

bool is_brief(const Copy& copy) {
  return copy_times::is_brief(least_seconds(copy));
}

std::uint32_t copies_per_sample(const Copy& copy) {
  return copy_times::copies_per_sample(least_seconds(copy));
}

void report(Session& session, const Collection<Observation>& seen, const Copy& copy) {
  copy_times::report(session, seen, static_cast<double>(copy.bytes_moved()));
}

Chain::Chain()
    : order_{random_order(slots, /*seed=*/11)}, words_(std::size_t{slots} * (pitch / word_bytes)) {
  for (std::uint32_t w = 0; w < words_.size(); ++w)
    words_[w] = hashed_word(w);
  const auto next = successors(order_);
  for (std::uint32_t s = 0; s < slots; ++s)
    words_[std::size_t{s} * (pitch / word_bytes)] = next[s] * pitch;
}

std::uint32_t Chain::after(std::uint32_t loads) const {
  return order_[loads % slots] * pitch;
}

void report(Session& session, const Collection<LoadObservation>& seen) {
  const Timed timed{session, seen};
  const auto both = [&](const char* cycles, const char* seconds, Latency LoadObservation::*which) {
    const auto inside = [which](const LoadObservation& o) { return (o.*which).inside; };
    const auto outside = [which](const LoadObservation& o) { return (o.*which).outside; };
    timed.add(cycles, "cycle", "clock64_slope", inside);
    timed.add(cycles, "cycle", "event_slope", outside);
    timed.add(seconds, "s", "event_slope",
              [which](const LoadObservation& o) { return (o.*which).outside / o.core_hertz; });
    timed.timers(inside, "clock64_slope", outside, "event_slope");
  };
  both("load_cycles_cached", "load_time_cached", &LoadObservation::cached);
  both("load_cycles_uncached", "load_time_uncached", &LoadObservation::uncached);
  timed.core_clock("clock64_over_globaltimer", &LoadObservation::core_hertz);
}

STRATA_DECLARED(declare);

}  // namespace strata::peer_copy
