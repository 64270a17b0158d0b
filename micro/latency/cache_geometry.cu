// The CUDA backend of cache_geometry: cache_geometry.hpp says what it asks.
//
// Walks: one thread, alone on its SM. L1 does not outlive a kernel, so the block's other threads
// first bring the chain in, all at once, and leave; then the walker goes round once, to leave the
// cache as an endless walk would, and once more between two readings of the clock. Chains for L2
// pass L1 by; each is written, evicted, and read once by the walker's SM. L2 is larger than what
// one SM finds there next to it, where a chip has two halves: this is the size that an SM sees.
//
// Neighbours: pairs of loads at places that nothing touched since the kernel began (L1) or since
// everything was evicted (L2). The second one is timed by itself, from one reading of the clock to
// the next, with its value consumed in between: its cycles hold the two readings, and only tell a
// hit from a miss.
#include "harness/case/error.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/eviction.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/record/gates.hpp"
#include "micro/latency/cache_geometry.hpp"
#include "micro/latency/pointer_chase.cuh"
#include "micro/pattern/permuted_chain.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace strata::cache_geometry {
namespace {

using pointer_chase::in_whole_turns;
using pointer_chase::Stamps;

constexpr unsigned walk_threads = 256;  // bring a chain in, then one of them walks
constexpr std::uint64_t line = 128;     // a slot a line: chips' lines to date, and l1_line checks
constexpr std::uint64_t constant_line = 64;
constexpr std::uint64_t kibi = 1024;
constexpr double timed_cycles = 5e5;  // of a pair of walks over a chain that fits

/// Which cache answers: L1 and then L2, or L2 alone.
enum class Level { l1, l2 };

template <Level level>
__device__ __forceinline__ void follow_link(std::uint64_t& at) {
  if constexpr (level == Level::l1) {
    asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));  // wanted: LDG.E.64.STRONG.SM
  } else {
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));  // wanted: LDG.E.64.STRONG.GPU
  }
}

template <Level level>
__device__ __forceinline__ std::uint32_t load_word(const char* at) {
  std::uint32_t word;
  if constexpr (level == Level::l1) {
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
  } else {
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
  }
  return word;
}

/// The first `brought` slots are brought in by the whole block, then one thread walks.
template <Level level>
__global__ void __launch_bounds__(walk_threads)
    follow(const __grid_constant__ PermutedChain chain, std::uint64_t brought, std::uint64_t first,
           std::uint32_t warm, std::uint32_t loads, Stamps* stamps, std::uint32_t* sink) {
  std::uint32_t sum = 0;
#pragma unroll 1
  for (std::uint64_t i = threadIdx.x; i < brought; i += blockDim.x)
    sum ^= load_word<level>(reinterpret_cast<const char*>(chain.address_of(i)));
  if (sum == 0xA5C3F00DU) *sink = sum;  // once in 2^32: the loads are needed, and none writes
  __syncthreads();
  if (threadIdx.x != 0) return;
  pointer_chase::timed_walk(chain.address_at(first), warm, loads, stamps,
                            [](std::uint64_t& at) { follow_link<level>(at); });
}

constexpr std::uint64_t constant_bytes = 64 * kibi;  // CUDA has no more
constexpr std::size_t constant_words = constant_bytes / sizeof(std::uint32_t);
__constant__ std::uint32_t table[constant_words];

/// Words are byte offsets into the table, which the load adds to the table's place by itself.
__global__ void follow_constant(std::uint32_t begin, std::uint32_t warm, std::uint32_t loads,
                                Stamps* stamps) {
  pointer_chase::timed_walk(begin, warm, loads, stamps, [](std::uint32_t& at) {
    // Wanted: LDC R, c[0x3][R]. The empty asm keeps the load where it stands.
    at = *reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const char*>(table) + at);
    asm volatile("" : "+r"(at) : : "memory");
  });
}

__global__ void write_links(const __grid_constant__ PermutedChain chain, std::uint64_t links) {
  pointer_chase::write_addresses(chain, links);
}

__global__ void write_words(std::uint32_t* words, std::uint32_t count) {
  const std::uint32_t step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    words[i] = word_of(i);
}

__global__ void __launch_bounds__(pointer_chase::visit_threads)
    visit(const __grid_constant__ PermutedChain chain, std::uint32_t* sink) {
  pointer_chase::visit_words(chain.cycle.slots(), sink,
                             [&](std::uint64_t slot) { return chain.address_of(slot); });
}

/// The trials of one launch: cycles of each second load, 64 bits wide, or ptxas reads half a clock.
template <Level level>
__global__ void probe(const char* base, const __grid_constant__ Neighbours plan,
                      std::uint64_t* cycles, Stamps* stamps) {
  std::uint32_t sum = 0;
  const std::uint64_t nanoseconds = global_nanoseconds();
  const std::uint64_t began = cycles_now();
#pragma unroll 1
  for (std::uint32_t t = 0; t < plan.places(); ++t) {
    const char* const second = base + plan.second_of(t);
    const std::uint32_t here = load_word<level>(base + plan.first_of(t));
    consume(here);
    const std::uint64_t start = cycles_now();
    const std::uint32_t there = load_word<level>(second);
    consume(there);
    cycles[t] = cycles_now() - start;
    sum = joined(sum, here, there);
  }
  stamps->cycles = cycles_now() - began;
  stamps->nanoseconds = global_nanoseconds() - nanoseconds;
  stamps->end = sum;
  stamps->sm = sm_id();
}

/// A load that only threads know the address of, so that it goes by the cache of constants and not
/// by that of uniform operands.
__device__ __forceinline__ std::uint32_t load_constant(std::uint32_t offset) {
  std::uint32_t word =
      *reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const char*>(table) + offset);
  asm volatile("" : "+r"(word) : : "memory");
  return word;
}

/// The same for constant memory, whose first level is small: what other launches left there is
/// displaced by walking through the upper half of the table, which no trial touches.
__global__ void probe_constant(const __grid_constant__ Neighbours plan, std::uint32_t displacing,
                               std::uint32_t zero, std::uint64_t* cycles, Stamps* stamps) {
  std::uint32_t sum = 0;
  const std::uint64_t nanoseconds = global_nanoseconds();
  const std::uint64_t began = cycles_now();
  std::uint32_t other = threadIdx.x;
#pragma unroll 1
  for (std::uint32_t i = 0; i < displacing; ++i) {
    constexpr std::uint32_t half = constant_bytes / 2;
    // Each address needs the word before, though nothing of it.
    other = load_constant(half + (i * constant_line) % half + (other & zero));
    consume(other);
  }
#pragma unroll 1
  for (std::uint32_t t = 0; t < plan.places(); ++t) {
    const std::uint32_t here =
        load_constant(static_cast<std::uint32_t>(plan.first_of(t)) + (other & zero));
    consume(here);
    // The address depends on the word that was waited for, so the load cannot begin earlier, and
    // the sum is ready before the clock is read.
    std::uint32_t second = static_cast<std::uint32_t>(plan.second_of(t)) + (here & zero);
    consume(second);
    const std::uint64_t start = cycles_now();
    asm volatile("" : "+r"(second) : : "memory");
    const std::uint32_t there = load_constant(second);
    consume(there);
    cycles[t] = cycles_now() - start;
    sum = joined(sum, here, there);
  }
  stamps->cycles = cycles_now() - began;
  stamps->nanoseconds = global_nanoseconds() - nanoseconds;
  stamps->end = sum;
  stamps->sm = sm_id();
}

std::uint64_t number(const Facts& facts, const char* name) {
  return static_cast<std::uint64_t>(std::get<std::int64_t>(facts.at(name)));
}

/// The memory of the chains and what all of them need.
struct Ground {
  explicit Ground(std::uint64_t bytes) : data{bytes} { sink.poison(0, stream.get()); }
  DeviceBuffer<char> data;
  Stream stream;
  DeviceBuffer<std::uint32_t> sink{1};
};

constexpr std::uint64_t l2s = 4;  // walked at most: far beyond any knee

Ground& ground_of(Session& session) {
  (void)session.cache().shared<Eviction>();
  // A window may reach a little beyond the largest footprint of the search.
  const std::uint64_t bytes = (l2s + 1) * number(session.device().identity().facts, "l2_bytes");
  constexpr std::uint64_t least = std::uint64_t{16} << 20U;
  return session.cache().keep<Ground>("cache_geometry",
                                      [&] { return Ground{std::max(bytes, least)}; });
}

std::uint64_t address_word(const PermutedChain& chain, std::uint64_t step) {
  return chain.address_at(step);
}

/// One launch of one walker, and whether it ended where it must.
class Launches {
 public:
  template <class Launch>
  double cycles_of(const PermutedChain& chain, std::uint32_t warm, std::uint32_t loads,
                   const Stream& stream, Launch&& launch) {
    constexpr int byte = 0xA5;
    stamps_.poison(byte, stream.get());
    launch(stamps_.data());
    cuda_check(cudaGetLastError());
    landed_.download_from(stamps_, stream.get());
    stream.synchronize();
    const Stamps& stamps = landed_.span().front();
    ++checked_;
    if (stamps.end != chain.address_at(std::uint64_t{warm} + loads)) ++different_;
    return static_cast<double>(stamps.cycles) / loads;
  }
  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_, "chain ends against the cycle");
  }

 private:
  DeviceBuffer<Stamps> stamps_{1};
  PinnedBuffer<Stamps> landed_{1};
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

PermutedChain chain_of(std::uint64_t footprint, std::uint64_t stride, unsigned lap,
                       std::uint64_t base) {
  constexpr std::uint64_t seed = 2009;
  return {.cycle = PermutedCycle{footprint / stride, seed + lap}, .base = base, .stride = stride};
}

/// Walks through global memory: what is there before, and the launch.
class GlobalWalker {
 public:
  GlobalWalker(Session& session, Level level, std::uint64_t shared_bytes)
      : ground_{ground_of(session)},
        eviction_{session.cache().shared<Eviction>()},
        level_{level},
        shared_bytes_{shared_bytes} {}

  double operator()(std::uint64_t footprint, std::uint64_t stride, unsigned lap) {
    if (footprint > ground_.data.size_bytes()) throw Skipped{"the search left its memory"};
    const PermutedChain chain = at(footprint, stride, lap);
    settle(chain);
    const auto lap_loads = static_cast<std::uint32_t>(in_whole_turns(chain.cycle.slots()));
    const std::uint32_t warm = level_ == Level::l1 ? lap_loads : few_warm;
    const std::uint32_t loads = level_ == Level::l1 ? std::max(lap_loads, least_loads) : l2_loads;
    return launches_.cycles_of(chain, warm, loads, ground_.stream, [&](Stamps* stamps) {
      launch(chain, 0, warm, loads, stamps, ground_.stream.get());
    });
  }

  /// Times a chain that fits by two timers, and adds that and the gates.
  void time(Session& session, std::uint64_t footprint) {
    const PermutedChain chain = at(footprint, line, 0);
    settle(chain);
    const auto start = [&](std::uint64_t first, std::uint64_t /*gap*/, std::uint32_t warm,
                           std::uint32_t loads, Stamps* stamps,
                           cudaStream_t on) { launch(chain, first, warm, loads, stamps, on); };
    const auto ready = [] {};
    pointer_chase::Chase<decltype(start), decltype(ready)> chase{
        chain, address_word, chain.cycle.slots(), 1, ground_.stream, start, ready};
    constexpr std::uint32_t pilot = 256;
    const std::uint32_t warm = level_ == Level::l1
                                   ? static_cast<std::uint32_t>(in_whole_turns(chain.cycle.slots()))
                                   : few_warm;
    chase.size_walks(warm, pilot, timed_cycles);
    const auto seen = collect(chase, session.plan());
    pointer_chase::report(session, seen, 1, {});
    session.add(chase.result());
  }

  [[nodiscard]] Gate result() const { return launches_.result(); }
  [[nodiscard]] const void* kernel() const {
    return level_ == Level::l1 ? reinterpret_cast<const void*>(follow<Level::l1>)
                               : reinterpret_cast<const void*>(follow<Level::l2>);
  }

 private:
  static constexpr std::uint32_t few_warm = 64;
  static constexpr std::uint32_t least_loads = 256;  // far above the cost of reading the clock
  static constexpr std::uint32_t l2_loads = 2048;    // a sample of the lines

  [[nodiscard]] PermutedChain at(std::uint64_t footprint, std::uint64_t stride,
                                 unsigned lap) const {
    return chain_of(footprint, stride, lap, reinterpret_cast<std::uintptr_t>(ground_.data.data()));
  }

  /// Writes the chain, and leaves of it in L2 what one reading leaves.
  void settle(const PermutedChain& chain) {
    const cudaStream_t stream = ground_.stream.get();
    write_links<<<pointer_chase::write_blocks, pointer_chase::write_threads, 0, stream>>>(
        chain, chain.cycle.slots());
    cuda_check(cudaGetLastError());
    if (level_ == Level::l1) return;  // far smaller than L2, where it is now
    eviction_.evict(stream);
    visit<<<1, pointer_chase::visit_threads, 0, stream>>>(chain, ground_.sink.data());
    cuda_check(cudaGetLastError());
  }

  void launch(const PermutedChain& chain, std::uint64_t first, std::uint32_t warm,
              std::uint32_t loads, Stamps* stamps, cudaStream_t on) {
    if (level_ == Level::l1) {
      follow<Level::l1><<<1, walk_threads, shared_bytes_, on>>>(
          chain, chain.cycle.slots(), first, warm, loads, stamps, ground_.sink.data());
    } else {
      follow<Level::l2>
          <<<1, walk_threads, 0, on>>>(chain, 0, first, warm, loads, stamps, ground_.sink.data());
    }
  }

  Ground& ground_;
  const Eviction& eviction_;
  Level level_;
  std::uint64_t shared_bytes_;
  Launches launches_;
};

/// Walks through constant memory.
class ConstantWalker {
 public:
  explicit ConstantWalker(Session& session) : ground_{ground_of(session)} {}

  double operator()(std::uint64_t footprint, std::uint64_t stride, unsigned lap) {
    const PermutedChain chain = chain_of(footprint, stride, lap, 0);
    write(chain);
    const auto warm = static_cast<std::uint32_t>(laps * in_whole_turns(chain.cycle.slots()));
    const std::uint32_t loads = std::max(warm / laps, least_loads);
    return launches_.cycles_of(chain, warm, loads, ground_.stream, [&](Stamps* stamps) {
      launch(chain, 0, warm, loads, stamps, ground_.stream.get());
    });
  }

  void time(Session& session, std::uint64_t footprint) {
    const PermutedChain chain = chain_of(footprint, constant_line, 0, 0);
    write(chain);
    const auto start = [&](std::uint64_t first, std::uint64_t /*gap*/, std::uint32_t warm,
                           std::uint32_t loads, Stamps* stamps,
                           cudaStream_t on) { launch(chain, first, warm, loads, stamps, on); };
    const auto ready = [] {};
    pointer_chase::Chase<decltype(start), decltype(ready)> chase{
        chain, address_word, chain.cycle.slots(), 1, ground_.stream, start, ready};
    constexpr std::uint32_t pilot = 256;
    chase.size_walks(static_cast<std::uint32_t>(laps * in_whole_turns(chain.cycle.slots())), pilot,
                     timed_cycles);
    const auto seen = collect(chase, session.plan());
    pointer_chase::report(session, seen, 1, {});
    session.add(chase.result());
  }

  [[nodiscard]] Gate result() const { return launches_.result(); }

 private:
  static constexpr std::uint32_t laps = 2;
  static constexpr std::uint32_t least_loads = 256;

  void write(const PermutedChain& chain) {
    const std::uint64_t bytes = chain.cycle.slots() * chain.stride;
    words_.resize(bytes / sizeof(std::uint32_t));
    for (std::uint64_t step = 0; step < chain.cycle.slots(); ++step) {
      words_[chain.address_at(step) / sizeof(std::uint32_t)] =
          static_cast<std::uint32_t>(chain.address_at(step + 1));
    }
    cuda_check(cudaMemcpyToSymbol(table, words_.data(), bytes));
    cuda_check(cudaDeviceSynchronize());
  }
  static void launch(const PermutedChain& chain, std::uint64_t first, std::uint32_t warm,
                     std::uint32_t loads, Stamps* stamps, cudaStream_t on) {
    follow_constant<<<1, 1, 0, on>>>(static_cast<std::uint32_t>(chain.address_at(first)), warm,
                                     loads, stamps);
  }

  Ground& ground_;
  std::vector<std::uint32_t> words_;
  Launches launches_;
};

void add_spills(Session& session, const void* kernel) {
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, kernel));
  session.add(spill_gate(attributes.localSizeBytes, attributes.numRegs));
}

/// Splits the SM's memory for the walks through L1. Returns the bytes of shared memory that they
/// must be launched with. Throws Skipped where the chip has no such step.
std::uint64_t split_l1(Session& session, unsigned kib) {
  const Facts& facts = session.device().identity().facts;
  const auto& capability = std::get<std::string>(facts.at("compute_capability"));
  const auto carveouts = carveouts_of(capability);
  if (kib != 0 && (!carveouts ||
                   std::ranges::find(carveouts->shared_kib, kib) == carveouts->shared_kib.end())) {
    throw Skipped{"compute capability " + capability + " has no carve-out of " +
                  std::to_string(kib) + " KiB that is published"};
  }
  const auto most_kib = static_cast<unsigned>(number(facts, "shared_bytes_per_sm") / kibi);
  const auto bytes = bytes_that_force(kib, number(facts, "shared_bytes_per_block_optin"));
  const auto set = [](cudaFuncAttribute which, int value) {
    cuda_check(
        cudaFuncSetAttribute(reinterpret_cast<const void*>(follow<Level::l1>), which, value));
  };
  set(cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  set(cudaFuncAttributePreferredSharedMemoryCarveout, carveout_percent(kib, most_kib));
  return bytes;
}

Search search_in_l1() {
  return {.least = 4 * kibi, .most = 512 * kibi, .granule = line, .stride = line};
}

Search search_in_l2(const Facts& facts) {
  const std::uint64_t bytes = number(facts, "l2_bytes");
  constexpr std::uint64_t parts = 128;  // of what the driver says, in the last step
  return {.least = std::max(bytes / 64 / line, std::uint64_t{8}) * line,
          .most = l2s * bytes,
          .granule = std::max(bytes / parts / line, std::uint64_t{1}) * line,
          .stride = line,
          .whole_laps = false};
}

unsigned repetitions_of(const Session& session) {
  return static_cast<unsigned>(session.plan().min_samples);
}

void measure_global(Session& session, Property property) {
  const Facts& facts = session.device().identity().facts;
  const bool is_l1 = property == Property::l1_size || property == Property::l1_line;
  const auto shared =
      is_l1 ? split_l1(session, static_cast<unsigned>(session.whole("carveout"))) : 0;
  GlobalWalker walker{session, is_l1 ? Level::l1 : Level::l2, shared};
  const Walk walk = [&](std::uint64_t footprint, std::uint64_t stride, unsigned lap) {
    return walker(footprint, stride, lap);
  };
  const Search search = is_l1 ? search_in_l1() : search_in_l2(facts);
  const bool is_size = property == Property::l1_size || property == Property::l2_size;
  const Found size = find_size(search, walk, is_size ? repetitions_of(session) : 3);
  if (is_size) {
    report(session, property, size);
  } else {
    // The first stride beyond a line of 128 bytes leaves out a ninth (L1) or a fifth (L2) of them.
    const std::uint64_t step = is_l1 ? 16 : 32;
    const std::uint64_t parts = is_l1 ? 16 : 8;
    constexpr std::uint64_t most = 480;
    const auto strides = strides_of(32, most, step, 2 * line);
    Found found =
        find_line(footprint_beyond(size.bytes, parts), strides, walk, repetitions_of(session));
    found.walks += size.walks;
    report(session, property, found);
    session.fact("size_bytes", static_cast<std::int64_t>(size.bytes));
  }
  session.add(walker.result());
  walker.time(session, std::max(size.bytes / 2 / line, std::uint64_t{2}) * line);
  add_spills(session, walker.kernel());
}

void measure_constant(Session& session, Property property) {
  ConstantWalker walker{session};
  const Walk walk = [&](std::uint64_t footprint, std::uint64_t stride, unsigned lap) {
    return walker(footprint, stride, lap);
  };
  const bool is_first = property == Property::constant_l1_size;
  const Search search{.least = is_first ? 256U : 4 * kibi,
                      .most = is_first ? 16 * kibi : constant_bytes,
                      .granule = constant_line,
                      .stride = constant_line};
  const Found found = find_size(search, walk, repetitions_of(session));
  report(session, property, found);
  session.add(walker.result());
  walker.time(session, std::max(found.bytes / 2 / constant_line, std::uint64_t{2}) * constant_line);
  add_spills(session, reinterpret_cast<const void*>(follow_constant));
}

/// Launches of trials: the cycles of each, and what the SM's clock did.
struct Trials {
  std::vector<std::vector<std::uint64_t>> cycles;
  std::vector<double> hertz;
  std::size_t different = 0;
};

template <class Launch>
Trials run_trials(const Neighbours& plan, int launches, const Stream& stream, Launch&& launch) {
  DeviceBuffer<std::uint64_t> cycles{plan.places()};
  DeviceBuffer<Stamps> stamps{1};
  Trials trials;
  Neighbours turn = plan;
  // The first launch meets code and translations for the first time, and is not kept.
  for (int i = -1; i < launches; ++i) {
    constexpr int byte = 0xA5;
    cycles.poison(byte, stream.get());
    stamps.poison(byte, stream.get());
    launch(turn, cycles.data(), stamps.data());
    cuda_check(cudaGetLastError());
    const auto took = cycles.to_host();
    const Stamps landed = stamps.to_host().front();
    if (landed.end != sum_of_trials(turn)) ++trials.different;
    if (i < 0) continue;
    trials.cycles.push_back(took);
    constexpr double nano = 1e-9;
    trials.hertz.push_back(static_cast<double>(landed.cycles) /
                           (static_cast<double>(landed.nanoseconds) * nano));
    ++turn.turn;
  }
  return trials;
}

void report_trials(Session& session, Property property, const Neighbours& plan,
                   const Trials& trials, const void* kernel) {
  Found found = find_sector(scan_of(plan, trials.cycles));
  found.walks = static_cast<unsigned>(trials.cycles.size());
  report(session, property, found);
  session.add(Measurement{.quantity = "core_clock",
                          .unit = "Hz",
                          .provenance = Provenance::timed,
                          .method = "clock64_over_globaltimer",
                          .samples = trials.hertz});
  session.add(clock_gate(trials.hertz));
  session.add(result_gate(trials.cycles.size() + 1, trials.different, "sums of what was loaded"));
  add_spills(session, kernel);
}

void measure_neighbours(Session& session, Property property) {
  Ground& ground = ground_of(session);
  const Eviction& eviction = session.cache().shared<Eviction>();
  const cudaStream_t stream = ground.stream.get();
  const bool is_l1 = property == Property::l1_sector;
  // A place begins a page: no distance leaves it, and no two places are neighbours.
  constexpr std::uint32_t page = 4096;
  const Neighbours plan{.distances = 64, .step = is_l1 ? 4U : 8U, .trials = 16, .spacing = page};
  const auto first = reinterpret_cast<std::uintptr_t>(ground.data.data());
  char* const base = ground.data.data() + (page - first % page) % page;
  const auto words = static_cast<std::uint32_t>(plan.bytes() / sizeof(std::uint32_t));
  write_words<<<pointer_chase::write_blocks, pointer_chase::write_threads, 0, stream>>>(
      reinterpret_cast<std::uint32_t*>(base), words);
  cuda_check(cudaGetLastError());
  const auto trials =
      run_trials(plan, session.plan().min_samples, ground.stream,
                 [&](const Neighbours& turn, std::uint64_t* cycles, Stamps* stamps) {
                   if (is_l1) {
                     probe<Level::l1><<<1, 1, 0, stream>>>(base, turn, cycles, stamps);
                   } else {
                     eviction.evict(stream);
                     probe<Level::l2><<<1, 1, 0, stream>>>(base, turn, cycles, stamps);
                   }
                 });
  report_trials(session, property, plan, trials,
                is_l1 ? reinterpret_cast<const void*>(probe<Level::l1>)
                      : reinterpret_cast<const void*>(probe<Level::l2>));
}

void measure_constant_neighbours(Session& session) {
  Ground& ground = ground_of(session);
  const cudaStream_t stream = ground.stream.get();
  // The lower half of the table, one trial of each distance; the upper half displaces.
  const Neighbours plan{.distances = 64, .step = 4, .trials = 1, .spacing = 512};
  constexpr std::uint32_t displacing = 2048;
  std::vector<std::uint32_t> words(constant_words);
  for (std::uint32_t i = 0; i < constant_words; ++i)
    words[i] = word_of(i);
  cuda_check(cudaMemcpyToSymbol(table, words.data(), constant_bytes));
  cuda_check(cudaDeviceSynchronize());
  const auto trials = run_trials(
      plan, session.plan().min_samples, ground.stream,
      [&](const Neighbours& turn, std::uint64_t* cycles, Stamps* stamps) {
        probe_constant<<<1, 1, 0, stream>>>(turn, displacing, /*zero=*/0, cycles, stamps);
      });
  report_trials(session, Property::constant_l1_line, plan, trials,
                reinterpret_cast<const void*>(probe_constant));
}

void run(Session& session) {
  if (session.counters() != nullptr) {
    throw Skipped{"what is found is where levels change; no level is claimed"};
  }
  const Property property = property_from(session.param("property")).value();
  switch (property) {
    case Property::l1_sector:
    case Property::l2_sector:
      return measure_neighbours(session, property);
    case Property::constant_l1_line:
      return measure_constant_neighbours(session);
    case Property::constant_l1_size:
    case Property::constant_l15_size:
      return measure_constant(session, property);
    default:
      return measure_global(session, property);
  }
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::cache_geometry
