// What does it cost to access the memory of another GPU?
//
// Bytes are copied from the peer's memory (`read`), to it (`write`), or both at once, by the copy
// engine (cudaMemcpyPeerAsync) or by a kernel, timed as in transfers. In one direction, this GPU
// copies. In both directions, each GPU sends on a separate stream: two copies on one GPU would
// queue at one engine. Gate `overlap` checks that they overlap. Each GPU has just written or read
// what it sends, so its L2 holds what fits. `load` has one thread of this GPU follow a chain of
// words in the peer's memory: the latency of one load, as the slope of a short and a long chain,
// including the addition that computes an address from a word. The peer has the words in its L2, or
// has just evicted them; this GPU has none of them.
//
// The peer is the next GPU that this process sees. It must be directly accessible (over NVLink or
// PCIe, not through host memory), and no other run may hold it.
#include "harness/cuda/benchmark.cuh"
#include "micro/pattern/random_cycle.hpp"
#include "micro/transfer/copy_times.hpp"

#ifdef __CUDACC__
#include "harness/cuda/peer.hpp"
#include "micro/transfer/copy_kernel.cuh"
#endif

namespace strata::peer_copy {

constexpr long long most_bytes = 1LL << 30U;

enum class Means { copy_engine, kernel, load };
constexpr auto means = choices_of<Means>("copy_engine", "kernel", "load");
enum class Direction { read, write, both };
constexpr auto directions = choices_of<Direction>("read", "write", "both");

/// What is copied, and how.
struct Copy {
  Means by = Means::copy_engine;
  Direction direction = Direction::read;
  std::uint64_t bytes = 0;  ///< of one direction

  [[nodiscard]] constexpr std::uint64_t bytes_moved() const {
    return direction == Direction::both ? 2 * bytes : bytes;
  }
};

/// Data that one GPU sends to the other; all words of both differ.
[[nodiscard]] constexpr HashedWords sent_by(bool peer) {
  return {.step = 2, .first = peer ? 1U : 0U};
}

/// The chain: words `pitch` bytes apart, each with the byte offset of the next, in random order.
/// Longer than any launch follows it, so that no word is loaded twice in one.
constexpr std::uint32_t slots = 16384;
constexpr std::uint32_t pitch = 512;
constexpr std::uint32_t long_loads = 640;  // a short launch has a fifth
constexpr std::uint32_t load_unroll = 16;

struct Chain {
  Chain() {
    for (std::uint32_t w = 0; w < words.size(); ++w)
      words[w] = hashed_word(w);
    const auto next = successors(order);
    for (std::uint32_t s = 0; s < slots; ++s)
      words[std::size_t{s} * (pitch / sizeof(std::uint32_t))] = next[s] * pitch;
  }
  /// The byte offset after `loads` loads.
  [[nodiscard]] std::uint32_t after(std::uint32_t loads) const {
    return order[loads % slots] * pitch;
  }
  std::vector<std::uint32_t> order = random_order(slots, /*seed=*/11);
  /// All of its memory.
  std::vector<std::uint32_t> words = std::vector<std::uint32_t>(std::size_t{slots} * pitch / 4);
};

constexpr std::uint32_t word_bytes = sizeof(std::uint32_t);

constexpr const char* not_counted = "the counter sets do not cover links between GPUs";

namespace {

Copy copy_of(const Params& params) {
  return {.by = means.of(params.at("by")),
          .direction = directions.of(params.at("direction")),
          .bytes = number_of<std::uint64_t>(params, "bytes")};
}

std::optional<std::string> excludes(const Params& params, Backend) {
  const Copy copy = copy_of(params);
  if (copy.bytes % word_bytes != 0) return "bytes are not a multiple of the word size";
  if (copy.by != Means::load) return std::nullopt;
  if (copy.bytes != word_bytes) return "one load transfers one word";
  if (copy.direction != Direction::read) return "a load reads";
  return std::nullopt;
}

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

/// Approximate duration; never too long on the known links.
double least_seconds(const Copy& copy) {
  constexpr double fastest_link = 9e11;
  constexpr double start = 5e-6;
  return start + static_cast<double>(copy.bytes) / fastest_link;
}

Experiment describe_copies(const Copy& copy) {
  Experiment experiment = copy_times::described(static_cast<double>(copy.bytes_moved()));
  experiment.checked = "words on the receiving GPU against those sent";
  experiment.not_counted = not_counted;
  if (copy.direction == Direction::both && !copy_times::is_brief(least_seconds(copy))) {
    experiment.checks.emplace_back(Overlap{number(&copy_times::Seconds::overlap)});
  }
  return experiment;
}

/// The first slope is for data in the peer's L2, the second for data in its memory only; per load.
Experiment describe_loads() {
  Experiment experiment;
  const Slope slope{
      .verify = results_are(
          [chain = Chain{}](const Call& call) { return chain.after(call.length.rounds); }),
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

Experiment describe(const Params& params, const GpuFacts& /*gpu*/) {
  const Copy copy = copy_of(params);
  return copy.by == Means::load ? describe_loads() : describe_copies(copy);
}

#ifdef __CUDACC__

// Each GPU fills, poisons and checks its own buffers. The case enables access to the peer's memory
// and disables it again.

template <class Element>
__global__ void __launch_bounds__(copy_times::carry_threads)
    carry(const Element* from, Element* to, std::uint64_t count) {
  copy_times::carry_elements(from, to, count);
}
constexpr copy_times::CopyKernels copy_kernels{carry<uint4>, carry<std::uint32_t>};

/// One thread follows the chain of words at `words`, in the peer's memory. Loads bypass L1, which
/// may cache the peer's data. Wanted: LDG.E.STRONG.GPU whose address is the last word added to the
/// base.
__global__ void follow_chain(const char* words, std::uint32_t first, std::uint32_t loads,
                             Stamp* stamp) {
  std::uint32_t at = first;
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t i = 0; i < loads; i += load_unroll) {
#pragma unroll
    for (std::uint32_t u = 0; u < load_unroll; ++u)
      at = load_word<Access::global_cg>(words + at);
  }
  consume(at);
  leave(stamp, begin, reading_after(), at);
}

/// One GPU's buffers: what it sends, and where it receives what the other one sends.
struct Side {
  Side(int on, bool is_peer, std::size_t count)
      : device{on}, peer{is_peer}, source{count}, target{count} {
    fill(source.data(), count, sent_by(peer), stream.get());
    stream.synchronize();
  }
  void poison() {
    constexpr int byte = 0xA5;
    const Finally current = current_device(device);
    target.poison(byte, stream.get());
    stream.synchronize();
  }
  void verify(Tally& tally) {
    const Finally current = current_device(device);
    tally.checked += target.size();
    tally.different += check.different(target.data(), target.size(), sent_by(!peer), stream.get());
  }
  int device;
  bool peer;
  DeviceBuffer<std::uint32_t> source;
  DeviceBuffer<std::uint32_t> target;
  WordCheck check;
  Stream stream;
};

struct Payload {
  Payload(const Peer& peer, std::size_t words)
      : here{peer.here(), false, words}, there{made_on(peer.there(), [&] {
          return Side{peer.there(), true, words};
        })} {}
  Side here;
  Side there;
};

void copy_one_way(const Copy& copy, const Side& from, const Side& to, unsigned sms,
                  const Stream& stream) {
  if (copy.by == Means::copy_engine) {
    cuda_check(cudaMemcpyPeerAsync(to.target.data(), to.device, from.source.data(), from.device,
                                   copy.bytes, stream.get()));
  } else {
    copy_times::copy_by_kernel(copy_kernels, from.source.data(), to.target.data(), copy.bytes, sms,
                               stream.get());
  }
}

void run_copies(Session& session, const Copy& copy, const Peer& peer, Experiment& experiment) {
  Payload& payload = session.cache().keep<Payload>(
      "peer_copy " + session.param("bytes") + " cuda:" + std::to_string(peer.there()), [&] {
        return Payload{peer, copy.bytes / sizeof(std::uint32_t)};
      });
  const Finally access = peer_access(peer.there());
  CudaMachine machine{session, 0};
  const auto sms = static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount));
  const bool reads = copy.direction != Direction::write;
  const bool writes = copy.direction != Direction::read;
  Finally peer_writes;
  if (reads && writes) {
    peer_writes = made_on(peer.there(), [&] { return peer_access(peer.here()); });
  }
  Side& here = payload.here;
  Side& there = payload.there;
  copy_times::Ways ways;
  if (writes) ways.there = [&](const Stream& on) { copy_one_way(copy, here, there, sms, on); };
  if (reads) {
    ways.back = [&](const Stream& on) {
      const Finally sender = current_device(writes ? there.device : here.device);
      copy_one_way(copy, there, here, sms, on);
    };
  }
  const double least = least_seconds(copy);
  experiment.prepare = [&] {
    here.poison();
    there.poison();
  };
  if (copy.by == Means::kernel) experiment.kernels = copy_kernels.code();
  experiment.facts = [&](const Experiment&) {
    Facts facts = peer.facts();
    facts["copies_per_sample"] = std::int64_t{copy_times::copies_per_sample(least)};
    facts["copy_engines"] = std::int64_t{device_attribute(cudaDevAttrAsyncEngineCount)};
    return facts;
  };
  copy_times::measure_copies(
      session, machine, experiment, ways, least, copy_times::is_brief(least),
      [&](Tally& tally) {
        if (reads) here.verify(tally);
        if (writes) there.verify(tally);
      },
      made_on(there.device, [] { return Beside{}; }));
}

void run_loads(Session& session, Peer& peer, Experiment& experiment) {
  const Chain chain;
  // Access comes first, so that it is disabled last, after everything made below is destroyed.
  const Finally access = peer_access(peer.there());
  const auto words =
      made_on(peer.there(), [&] { return DeviceBuffer<std::uint32_t>{chain.words}; });
  CudaMachine machine{session, 1};
  for (Slope& slope : experiment.slopes) {
    const bool cached = &slope == &experiment.slopes.front();
    slope.prepare = [&, cached](const Call&) {
      peer.prepare(cached ? Start::in_l2 : Start::evicted, words.data(), words.size_bytes());
    };
    slope.launch = [&](const Call& call) {
      follow_chain<<<1, 1, 0, machine.stream().get()>>>(reinterpret_cast<const char*>(words.data()),
                                                        chain.after(0), call.length.rounds,
                                                        machine.device_stamps());
    };
  }
  experiment.kernels = {reinterpret_cast<const void*>(follow_chain)};
  experiment.facts = [&](const Experiment&) { return peer.facts(); };
  measure(session, machine, experiment);
}

void run(Session& session) {
  const Copy copy = copy_of(session.params());
  Experiment experiment = describe(session.params(), session.gpu());
  require_timed(session, experiment);
  Peer peer;
  if (copy.by == Means::load) {
    run_loads(session, peer, experiment);
  } else {
    run_copies(session, copy, peer, experiment);
  }
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::peer_copy
