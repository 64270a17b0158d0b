#include "micro/transfer/peer_copy.hpp"

#include "micro/pattern/random_cycle.hpp"

namespace strata::peer_copy {
namespace {

constexpr std::uint32_t word_bytes = sizeof(std::uint32_t);

constexpr const char* not_counted = "the counter sets do not cover links between GPUs";

std::optional<std::string> excludes(const Params& params, Backend) {
  const Copy copy = copy_of(params);
  if (copy.bytes % word_bytes != 0) return "bytes are not a multiple of the word size";
  if (copy.by != Means::load) return std::nullopt;
  if (copy.bytes != word_bytes) return "one load transfers one word";
  if (copy.direction != Direction::read) return "a load reads";
  return std::nullopt;
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "peer_copy",
      .question = "What does it cost to access the memory of another GPU?",
      .axes = {number_axis("bytes", "bytes copied in each direction", word_bytes, most_bytes,
                           copy_times::sizes(most_bytes, 16)),
               means.axis("by", "the copy engine, a copying kernel, or one load after the other"),
               directions.axis("direction", "from the peer, to the peer, or both at once")},
      .quantities = {{"transfer_time",
                      "duration of the whole copy: on the device (event), for its caller (wall)"},
                     {"bandwidth", "bytes moved ÷ that time"},
                     {"load_cycles_cached", "cycles of a load that the peer's L2 serves"},
                     {"load_cycles_uncached", "cycles of a load from the peer's memory"},
                     {"load_time_cached", "the same in seconds"},
                     {"load_time_uncached", "the same in seconds"},
                     {"core_clock", "clock of the core during the loads"}},
      .seconds_per_case = 0.15,
      .excludes = excludes};
}

Copy copy_of(const Params& params) {
  return {.by = means.of(params.at("by")),
          .direction = directions.of(params.at("direction")),
          .bytes = number_of<std::uint64_t>(params, "bytes")};
}

double least_seconds(const Copy& copy) {
  constexpr double fastest_link = 9e11;
  constexpr double start = 5e-6;
  return start + static_cast<double>(copy.bytes) / fastest_link;
}

Chain::Chain()
    : order{random_order(slots, /*seed=*/11)}, words(std::size_t{slots} * (pitch / word_bytes)) {
  for (std::uint32_t w = 0; w < words.size(); ++w)
    words[w] = hashed_word(w);
  const auto next = successors(order);
  for (std::uint32_t s = 0; s < slots; ++s)
    words[std::size_t{s} * (pitch / word_bytes)] = next[s] * pitch;
}

Experiment describe(const Copy& copy) {
  Experiment experiment = copy_times::described(static_cast<double>(copy.bytes_moved()));
  experiment.checked = "words on the receiving GPU against those sent";
  experiment.not_counted = not_counted;
  if (copy.direction == Direction::both && !copy_times::is_brief(least_seconds(copy))) {
    experiment.checks.emplace_back(Overlap{number_at(2)});
  }
  return experiment;
}

Experiment describe_loads(const Chain& chain) {
  Experiment experiment;
  const Slope slope{
      .verify = results_are([&chain](const Call& call) { return chain.after(call.length.rounds); }),
      .start = Start::evicted,  // this GPU must not have cached a word of the chain, either
      .lengths = fifth_and_whole(long_loads, 1),
      .writers = 1,
      .window = slowest_writer_by_sums()};
  experiment.slopes = {slope, slope};
  // The clock over both slopes.
  const Value hertz = [](const Sample& sample) {
    const Inside& cached = sample.slopes[0].inside;
    const Inside& uncached = sample.slopes[1].inside;
    return (cached.cycles + uncached.cycles) /
           (cached.cycles / cached.hertz + uncached.cycles / uncached.hertz);
  };
  for (const std::size_t index : {0U, 1U}) {
    const std::string state = index == 0 ? "cached" : "uncached";
    const Value cycles = outside_of(index);
    add_both(experiment, "load_cycles_" + state, "cycle", index);
    experiment.rows.push_back({"load_time_" + state, "s", By::outside,
                               [=](const Sample& one) { return cycles(one) / hertz(one); }});
  }
  experiment.core_hertz = hertz;
  experiment.checked = "chain ends against the cycle";
  experiment.unproved = {.gate = "level", .why = "the counter sets do not cover the peer's caches"};
  experiment.not_counted = not_counted;
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::peer_copy
