#include "micro/transfer/async_copy.hpp"

#include "harness/base/error.hpp"
#include "harness/model/word_patterns.hpp"

#include <algorithm>

namespace strata::async_copy {
namespace {

constexpr std::uint32_t rounds_unit = 5;  // of which a short launch has one
constexpr double timed_cycles = 4e5;      // 0.2 ms, hundreds of timer steps
constexpr double distant_cycles = 800;    // from requesting a tile until it has arrived

std::optional<std::string> excludes(const Params& params, Backend) {
  const CopyCase wanted = case_of(params);
  if (wanted.bytes % 16 != 0) return "bytes are not a multiple of 16";
  if (wanted.method == CopyMethod::tensor && wanted.bytes > widest_row &&
      wanted.bytes % widest_row != 0) {
    return "a tile of a tensor map is one row of up to 1 KiB, or several of 1 KiB";
  }
  if (wanted.is_distributed() != (wanted.residency == Residency::shared)) {
    return "only the distributed method copies from another block's shared memory, and only from "
           "there";
  }
  if (wanted.is_distributed() == (wanted.cluster == 1)) {
    return "another block needs a cluster of two or more";
  }
  if (!wanted.is_latency() &&
      (wanted.bytes < smallest_streamed || wanted.bytes > largest_streamed)) {
    return "several tiles of that size are too few bytes in flight, or do not fit";
  }
  return std::nullopt;
}

std::uint32_t whole_units(double rounds) {
  return rounds_unit * std::max(4U, static_cast<std::uint32_t>(rounds) / rounds_unit);
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "async_copy",
      .question = "What does it cost to copy a tile into shared memory, by each method?",
      .axes = {residencies.axis("residency",
                                "source of the tiles: L2, memory, another block's shared memory"),
               measures.axis("measure", "one tile at a time, or as many as the chip sustains"),
               methods.axis("method", "copy instructions"),
               number_axis("bytes", "bytes of a tile", 16, 65536,
                           {"16", "256", "1024", "4096", "16384", "32768"}),
               listed_axis("cluster", "blocks per cluster; 1: no cluster", {"1", "2", "4", "8"},
                           {"1", "2"})},
      .quantities = {{"tile_latency", "cycles from requesting a tile until it can be read"},
                     {"tile_cycles", "SM cycles per tile on a full chip"},
                     {"bandwidth", "bytes copied per second, all SMs"},
                     {"bandwidth_per_sm", "bytes that an SM copies per cycle"},
                     {"core_clock", "clock of the core during the copies"}},
      .seconds_per_case = 0.03,
      .excludes = excludes};
}

CopyCase case_of(const Params& params) {
  return {.method = methods.of(params.at("method")),
          .residency = residencies.of(params.at("residency")),
          .measure = measures.of(params.at("measure")),
          .bytes = number_of<std::uint32_t>(params, "bytes"),
          .cluster = number_of<std::uint32_t>(params, "cluster")};
}

void require_capability(CopyMethod method, int of_chip, int of_code) {
  const int needed = needs(method);
  const std::string words = std::to_string(needed / 10) + '.' + std::to_string(needed % 10);
  if (of_chip < needed) throw Skipped{"it needs compute capability " + words};
  if (of_code < needed) throw Skipped{"this build has no code for compute capability " + words};
}

Tiles tiles_for(std::uint32_t bytes, std::uint64_t footprint) {
  constexpr std::uint32_t apart = 256;  // a miss fetches at most 128 bytes, or a pair of lines
  const std::uint32_t pitch = std::max(bytes, apart);
  return {.bytes = bytes,
          .pitch = pitch,
          .count = static_cast<std::uint32_t>(std::max<std::uint64_t>(footprint / pitch, 1))};
}

std::size_t array_words(const GpuFacts& gpu) {
  constexpr std::uint64_t enough = std::uint64_t{1} << 30U;
  return std::min(enough, gpu.memory_bytes / 8) / word_bytes;
}

Tiles tiles_of(const CopyCase& wanted, const GpuFacts& gpu) {
  std::uint64_t footprint = array_words(gpu) * word_bytes;
  if (wanted.residency != Residency::dram) {
    footprint = std::min<std::uint64_t>(gpu.l2_bytes / 4, footprint);
  }
  return tiles_for(wanted.bytes, footprint);
}

std::size_t shared_bytes(const CopyCase& wanted, const GpuFacts& gpu) {
  constexpr std::size_t static_bytes = 1024;  // more than the kernels and the system use
  const std::size_t tiles =
      (wanted.is_latency() ? 1 : stages) + (wanted.is_distributed() ? 1U : 0U);
  std::size_t bytes = tiles * wanted.bytes;
  if (!wanted.is_latency()) bytes = std::max(bytes, gpu.shared_per_sm / 2 + static_bytes);
  if (bytes + static_bytes > gpu.shared_per_block) {
    throw Skipped{"a block needs " + std::to_string(bytes) +
                  " bytes of shared memory, but may have only " +
                  std::to_string(gpu.shared_per_block)};
  }
  return bytes;
}

std::uint32_t expected_sum(const Tiles& tiles, std::uint32_t rounds) {
  std::uint32_t sum = 0;
  for (std::uint32_t round = 0; round < rounds; ++round)
    sum += expected_sum_of_one(tiles, tiles.tile(0, 1, round), 1);
  return sum;
}

std::uint32_t expected_sum_of_one(const Tiles& tiles, std::uint32_t tile, std::uint32_t rounds) {
  return rounds * hashed_word(tiles.first_word(tile) + tiles.bytes / word_bytes - 1);
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

Experiment describe(const CopyCase& wanted, const Tiles& tiles, unsigned blocks) {
  const bool latency = wanted.is_latency();
  const bool from_dram = wanted.residency == Residency::dram;
  const std::uint32_t rounds =
      latency ? latency_rounds(wanted.bytes)
              : stream_rounds(wanted.bytes, from_dram ? tiles.count / blocks : UINT32_MAX);
  Experiment experiment;
  experiment.slopes = {
      {.verify =
           [=](const Call& call, std::span<const Stamp> stamps, Tally& tally) {
             const std::uint32_t words = (latency ? 1 : stages) * (tiles.bytes / word_bytes);
             for (const Stamp& stamp : stamps) {
               tally.checked += words;
               tally.different += stamp.result;
             }
             if (!latency) return;
             const std::uint32_t done = call.length.rounds;
             const std::uint32_t expected =
                 wanted.is_distributed()
                     ? expected_sum_of_one(tiles, 1 % wanted.cluster % tiles.count, done)
                     : expected_sum(tiles, done);
             tally.checked += done;
             if (stamps.front().tag != expected) tally.different += done;
           },
       .start = from_dram                           ? Start::evicted
                : wanted.residency == Residency::l2 ? Start::in_l2
                                                    : Start::as_left,
       .bytes = tiles.size(),
       .lengths = fifth_and_whole(rounds, 1),
       .writers = latency ? 1 : blocks,
       // Work between the readings of the two clocks cancels: after an eviction this may include
       // fetching the instructions that follow the first of them.
       .window = slowest_writer_by_sums()}};
  add_both(experiment, latency ? "tile_latency" : "tile_cycles", "cycle");
  if (!latency) {
    const double bytes = wanted.bytes;
    experiment.rows.push_back({"bandwidth", "B/s", By::outside, per_second(blocks * bytes)});
    experiment.rows.push_back({"bandwidth_per_sm", "B/cycle", By::inside, per_cycle(bytes)});
    experiment.placement = Placement{.cores = blocks, .per_core = 1};
  }
  experiment.checked = "copied words against the array";
  if (!wanted.is_distributed()) experiment.unproved = {.gate = "level"};
  experiment.not_counted = "the counter sets have no loads that bypass the registers";
  experiment.facts = [=](const Experiment&) {
    return Facts{{"rounds", std::int64_t{rounds}},
                 {"blocks", std::int64_t{blocks}},
                 {"footprint_bytes", static_cast<std::int64_t>(tiles.size())},
                 {"addresses_in_registers", true}};  // earlier kernels computed them again
  };
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::async_copy
