// The CUDA backend of stride_gather: stride_gather.hpp says what it asks.
//
// A round is some loads of each thread, all under way together, and then the next ordinals, which
// hang on a comparison that only the run decides: a load whose address never changes is taken out
// of the loop by ptxas, volatile asm or not. What is read is added up, weighted by the lane, and
// compared with the sum that the pattern implies. A launch of no rounds is the same kernel without
// loads.
#include "harness/case/error.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/eviction.hpp"
#include "harness/cuda/sm_record.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/measure/counted_loads.hpp"
#include "harness/measure/counted_work.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/record/gates.hpp"
#include "micro/access/stride_gather.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <variant>
#include <vector>

namespace strata::stride_gather {
namespace {

using sm_record::most_sms;
using sm_record::Run;
using sm_record::SmRecord;

/// How blocks go over the data. Ordinals count the elements of a pass.
struct Walk {
  std::uint32_t ordinals_of_block = 0;
  std::uint32_t step = 0;  ///< bytes from an element to the one that follows it in the array
  Scatter scatter;
  std::uint32_t turn = 0;  ///< block b takes piece b + turn
};

/// One element. `.cg`: cached in L2, not in L1. Wanted: LDG.E of the element's width, .STRONG.GPU,
/// which is how L1 is passed by.
template <unsigned width>
__device__ __forceinline__ void load(std::uint32_t (&w)[width / 4], const char* at) {
  static_assert(width == 4 || width == 8 || width == 16);
  if constexpr (width == 4) {
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(w[0]) : "l"(at) : "memory");
  } else if constexpr (width == 8) {
    asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];"
                 : "=r"(w[0]), "=r"(w[1])
                 : "l"(at)
                 : "memory");
  } else {
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "l"(at)
                 : "memory");
  }
}

/// Wanted: one IMAD.WIDE.U32. Of a multiplication in C++ ptxas adds up the upper halves as well.
__device__ __forceinline__ const char* address_of(const char* data, std::uint32_t n,
                                                  std::uint32_t step) {
  const char* at;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(at) : "r"(n), "r"(step), "l"(data));
  return at;
}

__device__ __forceinline__ std::uint32_t warp_sum(std::uint32_t sum) {
  for (unsigned offset = lanes / 2; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(0xFFFFFFFFU, sum, offset);
  return sum;
}

/// Of all threads of a block; every thread calls it once, the first warp gets it. All values of all
/// threads are there when it returns: a warp's sum goes to shared memory before the barrier.
__device__ __forceinline__ std::uint32_t block_sum(std::uint32_t sum) {
  constexpr unsigned warps = threads / lanes;
  __shared__ std::uint32_t sums[warps];
  sum = warp_sum(sum);
  if (threadIdx.x % lanes == 0) sums[threadIdx.x / lanes] = sum;
  __syncthreads();
  std::uint32_t all = 0;
  if (threadIdx.x < lanes) all = warp_sum(threadIdx.x < warps ? sums[threadIdx.x] : 0);
  return all;
}

/// Blocks that ptxas is told to leave registers for: as many as the SM has threads for.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr std::uint32_t wanted_blocks = 1024 / threads;
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || \
                                 __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1100)
constexpr std::uint32_t wanted_blocks = 1536 / threads;
#else
constexpr std::uint32_t wanted_blocks = most_blocks_per_sm;
#endif

template <unsigned width, bool gather>
__global__ void __launch_bounds__(threads, wanted_blocks)
    sweep(const char* data, const __grid_constant__ Walk walk, std::uint32_t rounds,
          SmRecord* records) {
  constexpr unsigned words = width / 4;
  constexpr unsigned flights = flights_of(width);
  constexpr std::uint32_t pace = loads_of_round(width) * lanes;  // ordinals of a round

  const std::uint32_t lane = threadIdx.x % lanes;
  std::uint32_t piece = blockIdx.x + walk.turn;
  if (piece >= gridDim.x) piece -= gridDim.x;
  const std::uint32_t first =
      piece * walk.ordinals_of_block + threadIdx.x / lanes * (flights * lanes) + lane;
  std::uint32_t offset = 0;
  std::uint32_t sum = 0;
  std::uint64_t cycles = 0;
  std::uint64_t nanoseconds = 0;
  if (threadIdx.x == 0) {
    nanoseconds = global_nanoseconds();
    cycles = cycles_now();
  }
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t value[flights][words];
#pragma unroll
    for (unsigned l = 0; l < flights; ++l) {
      std::uint32_t n = first + offset + l * lanes;
      if constexpr (gather) n = scattered(n, walk.scatter.mask, walk.scatter.shift);
      load<width>(value[l], address_of(data, n, walk.step));
    }
#pragma unroll
    for (unsigned l = 0; l < flights; ++l) {
#pragma unroll
      for (unsigned i = 0; i < words; ++i)
        sum += value[l][i];
    }
    offset += pace;
    if (offset >= walk.ordinals_of_block) offset -= walk.ordinals_of_block;
  }
  // Every value that was read is in the sum of its warp; the clock is read after the barrier that
  // every warp reaches behind that, and after the shuffles of what it let through.
  const std::uint32_t all = block_sum(sum * (2 * lane + 1));
  if (threadIdx.x == 0) {
    const std::uint64_t end_cycles = cycles_now();
    const std::uint64_t end_nanoseconds = global_nanoseconds();
    sm_record::leave(records, {cycles, nanoseconds}, {end_cycles, end_nanoseconds}, all);
  }
}

constexpr unsigned helper_threads = 512;
constexpr unsigned helper_blocks = 1024;

__global__ void fill(std::uint32_t* words, std::uint64_t count) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    words[i] = word_at(i);
}

using Kernel = void (*)(const char*, Walk, std::uint32_t, SmRecord*);

Kernel kernel_for(const Shape& shape) {
  const bool gather = shape.pattern == Pattern::gather;
  switch (shape.width) {
    case 4:
      return gather ? sweep<4, true> : sweep<4, false>;
    case 8:
      return gather ? sweep<8, true> : sweep<8, false>;
    case 16:
      return gather ? sweep<16, true> : sweep<16, false>;
    default:
      throw std::logic_error{"no kernel has elements of that width"};
  }
}

/// Behind the last element of an aligned pass there is room for the largest misalignment.
constexpr std::uint64_t most_misaligned = 1024 * 16;

/// The memory that all cases share.
struct Pool {
  explicit Pool(std::uint64_t bytes)
      : words{(bytes + most_misaligned) / sizeof(std::uint32_t)}, records{most_sms} {
    fill<<<helper_blocks, helper_threads, 0, stream.get()>>>(words.data(), words.size());
    cuda_check(cudaGetLastError());
    stream.synchronize();
  }
  Stream stream;
  DeviceBuffer<std::uint32_t> words;
  DeviceBuffer<SmRecord> records;
  Eviction eviction;
};

/// Data that L2 holds are read at so many places, a sample at each. Where they lie decides how
/// evenly they fall on the slices of L2: an H200 showed up to 6 % between two runs.
constexpr std::uint64_t most_places = 16;
constexpr std::uint64_t page_bytes = std::uint64_t{2} << 20U;

class Sweeps {
 public:
  Sweeps(const Plan& plan, Kernel kernel, unsigned sms, Pool& pool)
      : plan_{plan},
        kernel_{kernel},
        sms_{sms},
        pool_{pool},
        blank_{most_sms},
        landed_{most_sms},
        full_sum_{expected_sum(plan, plan.full)},
        place_bytes_{(plan.span(plan.pass) + most_misaligned + page_bytes - 1) / page_bytes *
                     page_bytes} {
    if (plan.shape.level == Level::l2) {
      places_ = std::clamp<std::uint64_t>(pool.words.size_bytes() / place_bytes_, 1, most_places);
    }
    std::ranges::fill(blank_.span(), sm_record::blank);
  }

  void prepare() {}  // each launch has its own preparation, right before it

  Observation observe() {
    place_ = (place_ + 1) % places_;
    // Only who times needs the short one, and the host takes a while for it.
    if (!brief_sum_) brief_sum_ = expected_sum(plan_, plan_.brief);
    const Run brief = run(plan_.brief, *brief_sum_);
    const Run full = run(plan_.full, full_sum_);
    const auto bytes = static_cast<double>((plan_.loads(plan_.full) - plan_.loads(plan_.brief)) *
                                           plan_.shape.load_bytes());
    const double seconds = full.seconds - brief.seconds;
    return {.inside = bytes / sms_ / (full.cycles - brief.cycles),
            .outside = bytes / sms_ / (seconds * full.hertz),
            .bytes_per_second = bytes / seconds,
            .grid_seconds = full.seconds,
            .core_hertz = full.hertz};
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.inside, seen.outside};
  }

  void count(Session& session) {
    const Counted counted = strata::count(session, {.prepare = [this] { ready(); },
                                                    .work = [this] { launch(plan_.full); },
                                                    .overhead =
                                                        [this] {
                                                          launch({plan_.full.blocks, 0});
                                                        }});
    landed_.download_from(pool_.records, pool_.stream.get());
    pool_.stream.synchronize();
    verify(plan_.full, full_sum_);

    const LoadCounts net = load_counts(counted.whole) - load_counts(counted.overhead);
    const auto at_once =
        static_cast<std::uint64_t>(sectors_of_l2_miss(session.device().identity().facts));
    const Sectors sectors = sectors_of(plan_.shape, plan_.distinct_loads(plan_.full), at_once);
    const std::uint64_t laps = plan_.laps(plan_.full);
    const LoadPrediction predicted{.requests = plan_.loads(plan_.full),
                                   .sectors = laps * sectors.asked,
                                   .repeated_sectors = 0};
    const auto add = [&](const char* quantity, const char* unit, Provenance provenance,
                         double value) {
      session.add(Measurement{
          .quantity = quantity,
          .unit = unit,
          .provenance = provenance,
          .method = provenance == Provenance::counted ? "cupti_net" : "coalescing_model",
          .samples = {value}});
    };
    const auto requests = static_cast<double>(predicted.requests);
    if (net.requests > 0) {
      add("sectors_per_request", "sector", Provenance::counted, net.sectors / net.requests);
    }
    add("sectors_per_request", "sector", Provenance::modelled,
        static_cast<double>(predicted.sectors) / requests);
    if (net.l2_sectors > 0) {
      // More than one where L2 fetches a sector's neighbour with it.
      add("l2_missed_per_sector", "1", Provenance::counted, net.l2_miss_sectors / net.l2_sectors);
    }
    if (net.dram_bytes) {
      add("memory_bytes_per_used_byte", "1", Provenance::counted,
          *net.dram_bytes / (requests * plan_.shape.load_bytes()));
    }
    session.add(model_gate(predicted, net));
    session.add(data_level_gate(plan_.shape.level, sectors, laps, net));
  }

  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_, "sums of launches against the host's");
  }
  [[nodiscard]] Gate placement() const {
    constexpr std::uint32_t warps = threads / lanes;
    std::vector<std::uint32_t> sm_of_warp;
    for (std::uint32_t sm = 0; sm < most_sms; ++sm)
      sm_of_warp.insert(sm_of_warp.end(), landed_.span()[sm].blocks * warps, sm);
    return placement_gate(sm_of_warp, sms_, static_cast<int>(plan_.blocks_per_sm * warps));
  }
  [[nodiscard]] Gate code() const {
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, kernel_));
    return spill_gate(attributes.localSizeBytes, attributes.numRegs);
  }

 private:
  void launch(const Launch& launch, std::uint32_t turn = 0) {
    const Shape& shape = plan_.shape;
    const Walk walk{.ordinals_of_block = plan_.loads_of_block * lanes,
                    .step = shape.stride * shape.width,
                    .scatter = scatter_of(shape.locality),
                    .turn = turn};
    const char* const data =
        reinterpret_cast<const char*>(pool_.words.data()) + place_ * place_bytes_;
    kernel_<<<launch.blocks, threads, 0, pool_.stream.get()>>>(
        data + std::uint64_t{shape.misalignment} * shape.width, walk, launch.rounds,
        pool_.records.data());
    cuda_check(cudaGetLastError());
  }

  /// The state that a launch starts from: L2 without the data or with them.
  void ready() {
    if (plan_.shape.level == Level::dram) {
      pool_.eviction.evict(pool_.stream.get());
    } else {
      // Eight laps, each with the pieces handed to other blocks: an SM reads through its own half
      // of L2, and either half may come to serve any piece.
      constexpr std::uint32_t laps = 8;
      const std::uint32_t blocks = plan_.pass.blocks;
      for (std::uint32_t lap = 0; lap < laps; ++lap)
        launch(plan_.pass, lap * (blocks / 3 + 1) % blocks);
    }
    blank_.upload_to(pool_.records, pool_.stream.get());
  }

  Run run(const Launch& what, std::uint32_t expected) {
    ready();
    begin_.record(pool_.stream.get());
    launch(what);
    end_.record(pool_.stream.get());
    landed_.download_from(pool_.records, pool_.stream.get());
    pool_.stream.synchronize();
    verify(what, expected);
    return sm_record::run_of(landed_.span(), end_.seconds_since(begin_));
  }

  void verify(const Launch& what, std::uint32_t expected) {
    const std::uint32_t sum = sm_record::sum_of(landed_.span());
    const std::uint64_t words = place_ * place_bytes_ / sizeof(std::uint32_t);
    ++checked_;
    if (sum != expected + sum_of_move(plan_.shape, plan_.loads(what), words)) ++different_;
  }

  Plan plan_;
  Kernel kernel_;
  unsigned sms_;
  Pool& pool_;
  PinnedBuffer<SmRecord> blank_;
  PinnedBuffer<SmRecord> landed_;
  std::optional<std::uint32_t> brief_sum_;
  std::uint32_t full_sum_;
  std::uint64_t place_bytes_;
  std::uint64_t places_ = 1;
  std::uint64_t place_ = 0;
  Event begin_;
  Event end_;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

std::uint64_t whole_fact(const Facts& facts, const char* name) {
  return static_cast<std::uint64_t>(std::get<std::int64_t>(facts.at(name)));
}

std::uint32_t resident_blocks(Kernel kernel) {
  int blocks = 0;
  cuda_check(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads), 0));
  return static_cast<std::uint32_t>(blocks);
}

void run(Session& session) {
  const Facts& facts = session.device().identity().facts;
  if (generation_of(facts) != Generation::cc7) {
    throw Skipped{"the sectors of a load are known from compute capability 7.0 on"};
  }
  const Shape shape = shape_of(session);
  Kernel kernel = kernel_for(shape);
  constexpr std::uint64_t pool_bytes = std::uint64_t{4} << 30U;
  const Limits limits{
      .sms = static_cast<std::uint32_t>(whole_fact(facts, "sm_count")),
      .blocks_per_sm = std::min(resident_blocks(kernel), most_blocks_per_sm),
      .l2_bytes = whole_fact(facts, "l2_bytes"),
      .pool_bytes = std::min(pool_bytes, std::bit_floor(whole_fact(facts, "memory_bytes") / 4))};
  const Plan plan = plan_for(shape, limits);
  Pool& pool = session.cache().keep<Pool>("stride_gather", [&] { return Pool{limits.pool_bytes}; });
  Sweeps sweeps{plan, kernel, limits.sms, pool};
  if (session.counters() != nullptr) {
    sweeps.count(session);
    session.add(sweeps.result());
    return;
  }
  const auto seen = collect(sweeps, session.plan());
  const double sectors = sectors_per_load(shape);
  report(session, seen,
         {.per_core_unit = "B/cycle",
          .inside = "clock64_slope",
          .outside = "event_slope",
          .whole = "event",
          .clock = "clock64_over_globaltimer"},
         sectors * static_cast<double>(sector_bytes) / shape.load_bytes());
  session.add(sweeps.result());
  if (shape.level == Level::l2) session.add(sweeps.placement());
  session.add(sweeps.code());
  session.add(level_unverified(session.counting_note()));
  session.fact("rounds", static_cast<std::int64_t>(plan.full.rounds));
  session.fact("blocks", static_cast<std::int64_t>(plan.full.blocks));
  session.fact("blocks_per_sm", static_cast<std::int64_t>(plan.blocks_per_sm));
  session.fact("footprint_bytes", static_cast<std::int64_t>(plan.span(plan.full)));
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::stride_gather
