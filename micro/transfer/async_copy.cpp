// The declaration and the report of async_copy: async_copy.hpp says what it asks.
#include "micro/transfer/async_copy.hpp"

#include "harness/measure/timed.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/gates.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace strata::async_copy {
namespace {

constexpr std::array names{"registers", "cp_async_4",  "cp_async_8", "cp_async_16",
                           "bulk",      "distributed", "tensor"};
constexpr std::uint32_t rounds_unit = 5;  // of which a short launch has one
constexpr double timed_cycles = 4e5;      // 0.2 ms, hundreds of timer steps
constexpr double distant_cycles = 800;    // from asking for a tile until it is there

std::vector<std::string> method_names() {
  return {names.begin(), names.end()};
}

std::optional<std::string> excludes(const Params& params, Backend /*backend*/) {
  const auto word = [&](const char* axis) -> const std::string& {
    return params.find(axis)->second;
  };
  const long long bytes = std::stoll(word("bytes"));
  const bool distributed = word("method") == "distributed";
  if (bytes % 16 != 0) return "bytes are not a whole number of 16";
  if (word("method") == "tensor" && bytes > widest_row && bytes % widest_row != 0) {
    return "a tile by a tensor map is a row of up to 1 KiB, or some of 1 KiB";
  }
  if (distributed != (word("residency") == "shared")) {
    return "from another block's shared memory there is one way, and it leads nowhere else";
  }
  if (distributed == (word("cluster") == "1"))
    return "another block takes a cluster of two or more";
  if (word("measure") == "bandwidth" && (bytes < smallest_streamed || bytes > largest_streamed)) {
    return "several tiles of that size are too little to be in flight, or too much to hold";
  }
  return std::nullopt;
}

std::uint32_t whole_units(double rounds) {
  return rounds_unit * std::max(4U, static_cast<std::uint32_t>(rounds) / rounds_unit);
}

}  // namespace

Benchmark declare() {
  constexpr long long most = 65536;
  return {.suite = "micro",
          .name = "async_copy",
          .question = "What does it cost to bring a tile into shared memory, by each way to do it?",
          .axes = {{.name = "residency",
                    .meaning = "where the tiles are: L2, memory, another block's shared memory",
                    .choices = {"l2", "dram", "shared"},
                    .defaults = {"l2", "dram", "shared"}},
                   {.name = "measure",
                    .meaning = "one tile at a time, or as many as the chip takes",
                    .choices = {"latency", "bandwidth"},
                    .defaults = {"latency", "bandwidth"}},
                   {.name = "method",
                    .meaning = "instructions that copy",
                    .choices = method_names(),
                    .defaults = method_names()},
                   {.name = "bytes",
                    .meaning = "bytes of a tile",
                    .minimum = 16,
                    .maximum = most,
                    .defaults = {"16", "256", "1024", "4096", "16384", "32768"}},
                   {.name = "cluster",
                    .meaning = "blocks of a cluster; 1: no cluster",
                    .choices = {"1", "2", "4", "8"},
                    .defaults = {"1", "2"}}},
          .quantities = {{"tile_latency", "cycles from asking for a tile until it can be read"},
                         {"tile_cycles", "SM cycles of a tile where the chip is full"},
                         {"bandwidth", "bytes copied a second, all SMs"},
                         {"bandwidth_per_sm", "bytes that an SM copies in a cycle"},
                         {"core_clock", "clock of the core while it copied"}},
          .seconds_per_case = 0.03,
          .excludes = excludes};
}

Method method_of(const Session& session) {
  return static_cast<Method>(std::ranges::find(names, session.param("method")) - names.begin());
}

int needs(Method method) {
  constexpr int any = 75;
  constexpr int ampere = 80;
  constexpr int hopper = 90;
  switch (method) {
    case Method::registers:
      return any;
    case Method::cp_async_4:
    case Method::cp_async_8:
    case Method::cp_async_16:
      return ampere;
    case Method::bulk:
    case Method::distributed:
    case Method::tensor:
      return hopper;
  }
  return hopper;
}

Tiles tiles_for(std::uint32_t bytes, std::uint64_t footprint) {
  constexpr std::uint32_t apart = 256;  // at most 128 bytes come with a miss, or a pair of lines
  const std::uint32_t pitch = std::max(bytes, apart);
  return {.bytes = bytes,
          .pitch = pitch,
          .count = static_cast<std::uint32_t>(std::max<std::uint64_t>(footprint / pitch, 1))};
}

std::uint32_t expected_sum(const Tiles& tiles, std::uint32_t rounds) {
  std::uint32_t sum = 0;
  for (std::uint32_t round = 0; round < rounds; ++round)
    sum += expected_sum_of_one(tiles, tiles.tile(0, 1, round), 1);
  return sum;
}

std::uint32_t expected_sum_of_one(const Tiles& tiles, std::uint32_t tile, std::uint32_t rounds) {
  constexpr std::uint32_t word = sizeof(std::uint32_t);
  return rounds * hashed_word(tiles.first_word(tile) + tiles.bytes / word - 1);
}

std::uint32_t latency_rounds(std::uint32_t bytes) {
  constexpr double bytes_a_cycle = 16;
  return whole_units(timed_cycles / (distant_cycles + bytes / bytes_a_cycle));
}

std::uint32_t stream_rounds(std::uint32_t bytes, std::uint64_t most) {
  constexpr double fastest_bytes_a_cycle = 32;
  const double rate = std::min(fastest_bytes_a_cycle, stages * bytes / distant_cycles);
  const double rounds = timed_cycles * rate / bytes;
  return whole_units(std::min(rounds, static_cast<double>(most)));
}

void report(Session& session, const Collection<Observation>& seen, bool latency,
            std::uint32_t bytes) {
  const Timed timed{session, seen};
  const char* const cycles = latency ? "tile_latency" : "tile_cycles";
  timed.add(cycles, "cycle", "clock64_slope", &Observation::inside);
  timed.add(cycles, "cycle", "event_slope", &Observation::outside);
  if (!latency) {
    timed.add("bandwidth", "B/s", "event_slope",
              [bytes](const Observation& one) { return one.tiles_per_second * bytes; });
    timed.add("bandwidth_per_sm", "B/cycle", "clock64_slope",
              [bytes](const Observation& one) { return bytes / one.inside; });
  }
  timed.core_clock("clock64_over_globaltimer", &Observation::core_hertz);
  timed.timers(&Observation::inside, "clock64_slope", &Observation::outside, "event_slope");
}

STRATA_DECLARED(declare);

}  // namespace strata::async_copy
