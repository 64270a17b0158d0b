#include "harness/base/finally.hpp"
#include "micro/controls/controls.hpp"

namespace strata::controls {

/// How the SMs traverse the array: each in rounds of `tile` bytes over a separate piece.
struct Reads {
  static constexpr std::uint32_t threads = 1024;
  static constexpr std::uint32_t tile = threads * 16;
  std::uint32_t sms = 0;
  std::uint32_t rounds_of_piece = 0;
  std::uint32_t pieces = 0;  ///< 1: all SMs read the same
  std::uint64_t kept = 0;    ///< the part of it that fits into L2
  [[nodiscard]] std::uint64_t bytes() const {
    return std::uint64_t{pieces} * rounds_of_piece * tile;
  }
};

namespace {

/// In L1; in L2, as much as either half holds; or more than one half holds, for that mistake.
Chain chain_for(Subject subject, Mistake mistake, std::uint64_t l2_bytes) {
  if (subject == Subject::chain) return {};
  constexpr std::uint32_t line = 128;
  if (mistake != Mistake::far_l2_as_near) return {.slots = 16384, .stride = line};
  const auto slots = static_cast<std::uint32_t>(l2_bytes / 3 * 2 / line / unroll * unroll);
  return {.slots = slots % Chain{}.step == 0 ? slots - unroll : slots, .stride = line};
}

/// Reads from memory long enough that a launch takes many steps of the timer that all SMs share.
Reads reads_for(Subject subject, Mistake mistake, const GpuFacts& gpu) {
  // A quarter of L2, so that each half has room for all of it.
  const std::uint64_t kept = gpu.l2_bytes / 4;
  const std::uint64_t times = subject == Subject::dram_reads ? 16 : 1;
  const std::uint64_t rounds = times * kept / gpu.sms / Reads::tile;
  return {.sms = gpu.sms,
          .rounds_of_piece = static_cast<std::uint32_t>(std::max<std::uint64_t>(rounds, 2)),
          .pieces = mistake == Mistake::merged_requests ? 1 : gpu.sms,
          .kept = kept};
}

/// Reads as the engine measures them, except the launch; the results of all SMs are summed.
Experiment describe_reads(const Reads& reads, Subject subject, Mistake mistake) {
  constexpr std::uint32_t laps_of_l2 = 1000;  // a millisecond or two
  const std::uint32_t laps = subject == Subject::l2_reads ? laps_of_l2 : 1;
  const std::uint32_t rounds = laps * reads.rounds_of_piece;
  const auto length = [&](std::uint32_t count) {
    return Length{.rounds = count, .work = double{Reads::tile} * count};
  };
  Experiment experiment = bandwidth_of(reads.sms, "bandwidth");
  Slope& slope = experiment.slopes.emplace_back();
  slope.lengths = {.brief = length(rounds / 2), .full = length(rounds)};
  slope.verify = results_add_up_to([reads](const Call& call) {
    constexpr std::uint32_t words = Reads::tile / sizeof(std::uint32_t);
    std::uint32_t sum = 0;
    for (std::uint32_t sm = 0; sm < reads.sms; ++sm) {
      const std::uint64_t piece = std::uint64_t{sm % reads.pieces} * reads.rounds_of_piece;
      for (std::uint32_t round = 0; round < call.length.rounds; ++round)
        sum += LinearWords{}.sum((piece + round % reads.rounds_of_piece) * words, words);
    }
    return sum;
  });
  const bool evicted = subject == Subject::dram_reads && mistake != Mistake::warm_l2_as_dram;
  slope.start = evicted ? Start::evicted : Start::in_l2;
  slope.bytes = std::min(reads.bytes(), reads.kept);
  experiment.checked = "sums of all SMs";
  experiment.placement = Placement{.cores = reads.sms, .per_core = 32, .of_tag = 32};
  experiment.unproved = {.gate = "level"};
  constexpr std::uint32_t bytes_of_load = 512;
  const std::uint64_t loads = std::uint64_t{reads.sms} * rounds * (Reads::tile / bytes_of_load);
  experiment.counts =
      CountPlan{.length = slope.lengths.full,
                .loads = LoadPrediction{.requests = loads, .sectors = loads * 16},
                .served_by = subject == Subject::l2_reads ? ServedBy::l2 : ServedBy::dram,
                .reads = static_cast<double>(loads)};
  return experiment;
}

Experiment describe(const Params& params, const GpuFacts& gpu) {
  const Subject subject = subjects.of(params.at("subject"));
  const Mistake mistake = mistakes.of(params.at("mistake"));
  if (subject == Subject::chain || subject == Subject::l2_chain) {
    return describe_chain(chain_for(subject, mistake, gpu.l2_bytes), subject, mistake);
  }
  return describe_reads(reads_for(subject, mistake, gpu), subject, mistake);
}

#ifdef __CUDACC__

// The kernels and their deliberate mistakes.

constexpr std::uint32_t kept_words = 96;

/// The low half of the clock.
__device__ __forceinline__ std::uint32_t short_cycles_now() {
  std::uint32_t cycles;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles) : : "memory");
  return cycles;
}

/// Slot i is at base + i * stride and holds the address of the next slot.
__global__ void link(std::uint64_t base, const __grid_constant__ Chain chain) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < chain.slots;
       i += gridDim.x * blockDim.x) {
    *reinterpret_cast<std::uint64_t*>(base + std::uint64_t{i} * chain.stride) =
        base + std::uint64_t{chain.slot_after(i, 1)} * chain.stride;
  }
}

template <Access access>
__device__ __forceinline__ void walk(std::uint64_t& at, std::uint32_t loads) {
#pragma unroll 1
  for (std::uint32_t i = 0; i < loads; i += unroll) {
#pragma unroll
    for (std::uint32_t u = 0; u < unroll; ++u)
      follow<access>(at);
  }
}

/// One thread walks from `first` on, after two laps that fill the cache. A block of 1024 threads
/// has 64 registers for each: the mistake `spilled` keeps more words than that.
template <Access access, Mistake mistake>
__global__ void __launch_bounds__(mistake == Mistake::spilled ? 1024 : 32)
    chase(std::uint64_t base, const __grid_constant__ Chain chain, std::uint32_t first,
          std::uint32_t loads, Stamp* stamp) {
  std::uint64_t at = base + std::uint64_t{first} * chain.stride;
  walk<access>(at, 2 * chain.slots);
  consume(static_cast<std::uint32_t>(at));
  [[maybe_unused]] std::uint32_t kept[kept_words];
  if constexpr (mistake == Mistake::spilled) {
#pragma unroll
    for (std::uint32_t k = 0; k < kept_words; ++k)
      kept[k] = load_word<access>(reinterpret_cast<const void*>(base + k * chain.stride));
  }
  [[maybe_unused]] std::uint64_t single = 0;
  Reading begin = reading_before();
  if constexpr (mistake == Mistake::clock_32) begin.cycles = short_cycles_now();
  if constexpr (mistake == Mistake::folded_dependency) {
    // The address is computed from the number of the load: nothing between the clock readings waits
    // for the load.
    std::uint32_t slot = first;
#pragma unroll 1
    for (std::uint32_t i = 0; i < loads; ++i) {
      at = base + std::uint64_t{slot} * chain.stride;
      const std::uint64_t before = cycles_now();
      follow<access>(at);
      single += cycles_now() - before;
      slot = chain.slot_after(slot, 1);
      consume(static_cast<std::uint32_t>(at));
    }
  } else if constexpr (mistake == Mistake::optimised_away) {
    [[maybe_unused]] std::uint64_t to = at;
    for (std::uint32_t i = 0; i < loads; ++i) {
      to = *reinterpret_cast<const std::uint64_t*>(to);
      consume(i);  // the compiler keeps the loop, which takes time
    }
  } else {
    walk<access>(at, loads);
  }
  consume(static_cast<std::uint32_t>(at));
  Reading end = reading_after();
  if constexpr (mistake == Mistake::clock_32) {
    const auto cycles = short_cycles_now() - static_cast<std::uint32_t>(begin.cycles);
    end.cycles = begin.cycles + cycles;
  }
  leave(stamp, begin, end, (at - base) / chain.stride);
  stamp->cycles[2] = single;
  if constexpr (mistake == Mistake::spilled) {
    // The factor is known only after the walk: the words cannot be added up before it.
    std::uint32_t sum = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kept_words; ++k)
      sum = sum * static_cast<std::uint32_t>(at) + kept[k];
    stamp->tag = sum;
  }
}

/// Every SM reads its piece, bypassing L1, in rounds of 16 bytes for each thread.
__global__ void __launch_bounds__(Reads::threads)
    read(const char* data, const __grid_constant__ Reads reads, std::uint32_t rounds,
         Stamp* stamps) {
  const std::uint64_t piece = std::uint64_t{blockIdx.x % reads.pieces} * reads.rounds_of_piece;
  std::uint32_t sum = 0;
  std::uint32_t round_of_piece = 0;
  const Reading begin = reading_before();
#pragma unroll 4
  for (std::uint32_t round = 0; round < rounds; ++round) {
    std::uint32_t w[4];
    load<Access::global_cg, 16>(w,
                                data + (piece + round_of_piece) * Reads::tile + threadIdx.x * 16);
    sum += (w[0] + w[1]) + (w[2] + w[3]);
    round_of_piece = round_of_piece + 1 == reads.rounds_of_piece ? 0 : round_of_piece + 1;
  }
  sum = block_sum(sum);
  const Reading end = reading_after();
  if (threadIdx.x == 0) merge(stamps, begin, end, sum);
}

using Chase = void (*)(std::uint64_t, Chain, std::uint32_t, std::uint32_t, Stamp*);

Chase kernel_for(Subject subject, Mistake mistake) {
  if (subject == Subject::l2_chain) return &chase<Access::global_cg, Mistake::none>;
  switch (mistake) {
    case Mistake::folded_dependency:
      return &chase<Access::global_ca, Mistake::folded_dependency>;
    case Mistake::optimised_away:
      return &chase<Access::global_ca, Mistake::optimised_away>;
    case Mistake::clock_32:
      return &chase<Access::global_ca, Mistake::clock_32>;
    case Mistake::spilled:
      return &chase<Access::global_ca, Mistake::spilled>;
    default:
      return &chase<Access::global_ca, Mistake::none>;
  }
}

void measure_chain(Session& session, Subject subject, Mistake mistake) {
  const Chain chain = chain_for(subject, mistake, session.gpu().l2_bytes);
  CudaMachine machine{session, /*writers=*/1};
  const DeviceBuffer<char> data{std::size_t{chain.slots} * chain.stride};
  const auto base = reinterpret_cast<std::uintptr_t>(data.data());
  const cudaStream_t stream = machine.stream().get();
  constexpr unsigned threads = 256;
  link<<<chain.slots / threads, threads, 0, stream>>>(base, chain);
  cuda_check(cudaGetLastError());
  const Chase kernel = kernel_for(subject, mistake);
  Experiment experiment = describe_chain(chain, subject, mistake);
  if (subject == Subject::l2_chain) {
    experiment.slopes[0].start = Start::in_l2;
    experiment.slopes[0].data = data.data();
    experiment.slopes[0].bytes = data.size();
  }
  experiment.slopes[0].launch = [&](const Call& call) {
    kernel<<<1, 1, 0, stream>>>(base, chain, first_slot(chain, mistake, call), call.length.rounds,
                                machine.device_stamps());
  };
  experiment.kernels = {reinterpret_cast<const void*>(kernel)};
  measure(session, machine, experiment);
}

/// Reads of the stream from `bytes` bytes at `data` persist in L2.
void set_window(cudaStream_t stream, void* data, std::size_t bytes) {
  cudaStreamAttrValue value{};
  value.accessPolicyWindow = {.base_ptr = data,
                              .num_bytes = bytes,
                              .hitRatio = 1,
                              .hitProp = cudaAccessPropertyPersisting,
                              .missProp = cudaAccessPropertyStreaming};
  cuda_check(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
}

/// What was set aside is released when the next case begins.
void unset_window(cudaStream_t stream) noexcept {
  cudaStreamAttrValue none{};
  cuda_release(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &none),
               "cudaStreamSetAttribute");
}

/// Sets aside as much of L2 as the array takes. Throws Skipped if that is not possible.
void carve_out(std::size_t bytes) {
  const auto most = static_cast<std::size_t>(device_attribute(cudaDevAttrMaxPersistingL2CacheSize));
  if (most < bytes) throw Skipped{"the device cannot set aside such a part of L2"};
  cuda_check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, most));
}

void measure_reads(Session& session, Subject subject, Mistake mistake) {
  const Reads reads = reads_for(subject, mistake, session.gpu());
  CudaMachine machine{session, 0, CudaMachine::Stamps::merged_by_sm};
  const cudaStream_t stream = machine.stream().get();
  const DeviceBuffer<std::uint32_t> data{reads.bytes() / sizeof(std::uint32_t)};
  fill(data.data(), data.size(), LinearWords{}, stream);
  Experiment experiment = describe_reads(reads, subject, mistake);
  Slope& slope = experiment.slopes[0];
  slope.data = data.data();
  const auto launch = [&](std::uint32_t rounds) {
    read<<<reads.sms, Reads::threads, 0, stream>>>(reinterpret_cast<const char*>(data.data()),
                                                   reads, rounds, machine.device_stamps());
  };
  slope.launch = [&](const Call& call) { launch(call.length.rounds); };
  // The same loads bring into L2 what must be there.
  if (subject == Subject::l2_reads || mistake == Mistake::persisting_carve_out) {
    slope.prepare = [&](const Call&) { launch(2 * reads.rounds_of_piece); };
  }
  Finally restore;
  if (mistake == Mistake::persisting_carve_out) {
    carve_out(reads.kept);
    set_window(stream, data.data(), reads.kept);
    restore = finally([&] { unset_window(stream); });
  }
  experiment.kernels = {reinterpret_cast<const void*>(read)};
  measure(session, machine, experiment);
}

void run(Session& session) {
  const Subject subject = subjects.of(session.param("subject"));
  const Mistake mistake = mistakes.of(session.param("mistake"));
  if (subject == Subject::chain || subject == Subject::l2_chain) {
    return measure_chain(session, subject, mistake);
  }
  measure_reads(session, subject, mistake);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::controls
