// What does it cost to copy a tile into shared memory, with each method that the chip has?
//
// `registers`: threads load from global memory and store to shared memory, 16 bytes at a time.
// `cp_async_4`, `_8`, `_16`: threads copy without a register (cp.async, compute capability 8.0).
// `bulk`: one thread requests the whole tile from the SM's copy engine (cp.async.bulk, 9.0).
// `tensor`: the same by coordinates (cp.async.bulk.tensor, 9.0); a tile is one row, or several rows
// of 1 KiB. `distributed`: threads load from the shared memory of another block of their cluster
// and store to their own (ld.shared::cluster, 9.0).
//
// `latency`: one block copies one tile at a time, from the first instruction that requests it until
// all threads may read it. A word of each tile is needed to find the next, so nothing overlaps. The
// time includes the load of that word and the barriers that keep a tile from being overwritten
// while it is read. `bandwidth`: one block on every SM with several tiles in flight (for
// `registers` and `distributed` only as many as a thread has registers for), and a barrier for each
// tile.
//
// Loads bypass L1 where the instruction can (16 bytes). The other loads visit tiles in an order in
// which L1 holds nothing of the next tile.
#include "harness/cuda/benchmark.cuh"
#include "harness/model/layout.hpp"

#ifdef __CUDACC__
#include "harness/cuda/cluster.cuh"

#include <cuda.h>
#include <cuda/ptx>
#include <cuda_pipeline_primitives.h>
#else
#include <climits>
#endif

namespace strata::async_copy {

enum class CopyMethod { registers, cp_async_4, cp_async_8, cp_async_16, bulk, distributed, tensor };
constexpr auto methods = choices_of<CopyMethod>("registers", "cp_async_4", "cp_async_8",
                                                "cp_async_16", "bulk", "distributed", "tensor");
/// Bytes per thread and cp.async; 0 for other methods.
[[nodiscard]] constexpr std::uint32_t cp_async_width(CopyMethod method) {
  if (method == CopyMethod::cp_async_4) return 4;
  if (method == CopyMethod::cp_async_8) return 8;
  return method == CopyMethod::cp_async_16 ? 16 : 0;
}
/// Whether one thread requests and the copy engine copies.
[[nodiscard]] constexpr bool is_by_engine(CopyMethod method) {
  return method == CopyMethod::bulk || method == CopyMethod::tensor;
}
/// Required compute capability: 75, 80 or 90.
[[nodiscard]] constexpr int needs(CopyMethod method) {
  if (method == CopyMethod::registers) return 75;
  return cp_async_width(method) > 0 ? 80 : 90;
}
enum class Residency { l2, dram, shared };
constexpr auto residencies = choices_of<Residency>("l2", "dram", "shared");
enum class Measure { latency, bandwidth };
constexpr auto measures = choices_of<Measure>("latency", "bandwidth");

/// Values of the axes.
struct CopyCase {
  CopyMethod method = CopyMethod::registers;
  Residency residency = Residency::l2;
  Measure measure = Measure::latency;
  std::uint32_t bytes = 16;  ///< of a tile
  std::uint32_t cluster = 1;

  [[nodiscard]] constexpr bool is_latency() const { return measure == Measure::latency; }
  [[nodiscard]] constexpr bool is_distributed() const { return method == CopyMethod::distributed; }
};

/// Tiles in flight in a bandwidth case.
constexpr std::uint32_t stages = 4;
constexpr std::uint32_t threads = 256;
constexpr std::uint32_t smallest_streamed = 1024;
constexpr std::uint32_t largest_streamed = 32768;
constexpr std::uint32_t word_bytes = sizeof(std::uint32_t);

/// Tiles of `bytes` bytes, one every `pitch` bytes, `count` of them.
struct Tiles {
  std::uint32_t bytes = 0;
  std::uint32_t pitch = 0;
  std::uint32_t count = 0;

  [[nodiscard]] STRATA_HD constexpr std::uint64_t size() const {
    return std::uint64_t{count} * pitch;
  }
  /// The tile that block `block` of `blocks` copies in round `round`. All blocks together traverse
  /// all tiles.
  [[nodiscard]] STRATA_HD constexpr std::uint32_t tile(std::uint32_t block, std::uint32_t blocks,
                                                       std::uint32_t round) const {
    return static_cast<std::uint32_t>((block + std::uint64_t{round} * blocks) % count);
  }
  /// The index of a tile's first word in the array.
  [[nodiscard]] STRATA_HD constexpr std::uint32_t first_word(std::uint32_t tile) const {
    return static_cast<std::uint32_t>(std::uint64_t{tile} * pitch / sizeof(std::uint32_t));
  }
};
/// The matrix that a tensor map describes: a tile is several whole rows of it.
struct Rows {
  std::uint32_t bytes = 0;      ///< of the tile in a row: at most 256 words
  std::uint32_t pitch = 0;      ///< from a row to the next
  std::uint32_t of_a_tile = 1;  ///< rows
};
constexpr std::uint32_t widest_row = 1024;
[[nodiscard]] constexpr Rows map_rows(const Tiles& tiles) {
  if (tiles.bytes <= widest_row) return {.bytes = tiles.bytes, .pitch = tiles.pitch};
  return {.bytes = widest_row, .pitch = widest_row, .of_a_tile = tiles.bytes / widest_row};
}

constexpr std::uint32_t rounds_unit = 5;  // of which a short launch has one
constexpr double timed_cycles = 4e5;      // 0.2 ms, hundreds of timer steps
constexpr double distant_cycles = 800;    // from requesting a tile until it has arrived

namespace {

CopyCase case_of(const Params& params) {
  return {.method = methods.of(params.at("method")),
          .residency = residencies.of(params.at("residency")),
          .measure = measures.of(params.at("measure")),
          .bytes = number_of<std::uint32_t>(params, "bytes"),
          .cluster = number_of<std::uint32_t>(params, "cluster")};
}

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

/// Throws Skipped if the chip, or this build's code for it, does not support it.
void require_capability(CopyMethod method, int of_chip, int of_code) {
  const int needed = needs(method);
  const std::string words = std::to_string(needed / 10) + '.' + std::to_string(needed % 10);
  if (of_chip < needed) throw Skipped{"it needs compute capability " + words};
  if (of_code < needed) throw Skipped{"this build has no code for compute capability " + words};
}

/// As many tiles as fit into `footprint` bytes; small ones are spaced apart, so that no two share
/// what a miss fetches.
Tiles tiles_for(std::uint32_t bytes, std::uint64_t footprint) {
  constexpr std::uint32_t apart = 256;  // a miss fetches at most 128 bytes, or a pair of lines
  const std::uint32_t pitch = std::max(bytes, apart);
  return {.bytes = bytes,
          .pitch = pitch,
          .count = static_cast<std::uint32_t>(std::max<std::uint64_t>(footprint / pitch, 1))};
}

/// Words of the array that contains all tiles.
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

/// Dynamic shared memory of a block: its tiles, plus padding if all SMs are used, so that no SM
/// holds two blocks. Throws Skipped if a block cannot have it.
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

std::uint32_t expected_sum_of_one(const Tiles& tiles, std::uint32_t tile, std::uint32_t rounds) {
  return rounds * hashed_word(tiles.first_word(tile) + tiles.bytes / word_bytes - 1);
}

/// The sum of the last words of the tiles of a latency case; `_of_one` if every round copies the
/// same tile.
std::uint32_t expected_sum(const Tiles& tiles, std::uint32_t rounds) {
  std::uint32_t sum = 0;
  for (std::uint32_t round = 0; round < rounds; ++round)
    sum += expected_sum_of_one(tiles, tiles.tile(0, 1, round), 1);
  return sum;
}

/// Rounds of a long launch, a multiple of 5, that take hundreds of steps of the timer; at most
/// `most`.
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

/// On that many blocks, per tile of each. The result of a block's stamp is the number of wrong
/// words, the tag the sum of the last words.
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

/// On as many blocks as the chip has SMs for; a launch queries how many clusters fit.
Experiment describe(const Params& params, const GpuFacts& gpu) {
  const CopyCase wanted = case_of(params);
  require_capability(wanted.method, 10 * gpu.major + gpu.minor, INT_MAX);
  (void)shared_bytes(wanted, gpu);
  return describe(wanted, tiles_of(wanted, gpu),
                  wanted.is_latency() ? wanted.cluster : gpu.sms / wanted.cluster * wanted.cluster);
}

#ifdef __CUDACC__

// The methods of copying into shared memory, each as: request a tile, commit, wait. Addresses in
// shared memory are numbers (shared_address). cp.async.bulk is inline PTX: the wrapper in cuda::ptx
// makes ptxas arrange the loop of `stream` differently.

/// The pointer to offset `at` in shared memory.
template <class T>
__device__ __forceinline__ T* shared_pointer(std::uint32_t at) {
  return static_cast<T*>(__cvta_shared_to_generic(at));
}

/// A source of copies: an address in global memory, one in the shared memory of a cluster, or a row
/// of the matrix of a tensor map. `thread` is the copying thread.
struct Source {
  const char* global;
  std::uint32_t remote;
  const CUtensorMap* map;
  std::uint32_t row;
  std::uint32_t thread;
};

/// Expected: LDGSTS.E of the width; .BYPASS (of L1) for 16 bytes.
template <std::uint32_t width>
__device__ __forceinline__ void copy_element(std::uint32_t to, const char* from) {
#if __CUDA_ARCH__ >= 800
  __pipeline_memcpy_async(shared_pointer<void>(to), from, width);
#endif
}

/// `batch` times 16 bytes of a thread, all loaded before the first is stored: ptxas moves nothing
/// across the barrier of the warp, but else stores after two or four loads, as its registers allow.
/// Expected: LDG.E.128.STRONG.GPU, or a generic LD.E.128, which reaches another block's shared
/// memory.
template <CopyMethod method, std::uint32_t batch>
__device__ __forceinline__ void pass_on(std::uint32_t to, const Source& from, std::uint32_t first,
                                        std::uint32_t step) {
  std::uint32_t w[batch][4] = {};
#pragma unroll
  for (std::uint32_t b = 0; b < batch; ++b) {
    if constexpr (method == CopyMethod::registers) {
      load<Access::global_cg, 16>(w[b], from.global + (first + b * step));
    } else {
#if __CUDA_ARCH__ >= 900
      load<Access::shared_cluster, 16>(w[b], from.remote + (first + b * step));
#endif
    }
  }
  if constexpr (batch > 1) __syncwarp(__activemask());
#pragma unroll
  for (std::uint32_t b = 0; b < batch; ++b)
    store<Access::shared, 16>(to + first + b * step, w[b]);
}

/// Requests a tile, with all threads of the block. Through registers, this thread's part has
/// arrived when this returns.
template <CopyMethod method>
__device__ __forceinline__ void request(std::uint32_t to, const Source& from, std::uint32_t bytes,
                                        std::uint32_t barrier) {
  if constexpr (is_by_engine(method)) {
#if __CUDA_ARCH__ >= 900
    using namespace cuda::ptx;
    if (threadIdx.x == 0) {
      auto* const phase = shared_pointer<std::uint64_t>(barrier);
      (void)mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, phase, bytes);
      if constexpr (method == CopyMethod::bulk) {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[%0], [%1], %2, [%3];"
            :
            : "r"(to), "l"(from.global), "r"(bytes), "r"(barrier)
            : "memory");
      } else {
        // space_cluster would do the same, except for a stack frame of 8 bytes on sm_120.
        const std::int32_t place[2] = {0, static_cast<std::int32_t>(from.row)};
#if CUDART_VERSION >= 12080
        cp_async_bulk_tensor(space_shared, space_global, shared_pointer<void>(to), from.map, place,
                             phase);
#else
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%2, %3}], [%4];"
            :
            : "r"(to), "l"(from.map), "r"(place[0]), "r"(place[1]), "r"(barrier)
            : "memory");
#endif
      }
    }
#endif
  } else if constexpr (cp_async_width(method) > 0) {
    constexpr std::uint32_t width = cp_async_width(method);
#pragma unroll 4
    for (std::uint32_t at = from.thread * width; at < bytes; at += threads * width)
      copy_element<width>(to + at, from.global + at);
  } else {
    // A condition for each load would be a branch around each: on an H200 eight of them, and eight
    // around the stores, cost more than the load itself from L2.
    constexpr std::uint32_t step = threads * sizeof(uint4);
    std::uint32_t at = from.thread * static_cast<std::uint32_t>(sizeof(uint4));
#pragma unroll 1
    for (; at + 7 * step < bytes; at += 8 * step)
      pass_on<method, 8>(to, from, at, step);
    if (at + 3 * step < bytes) {
      pass_on<method, 4>(to, from, at, step);
      at += 4 * step;
    }
    if (at + step < bytes) {
      pass_on<method, 2>(to, from, at, step);
      at += 2 * step;
    }
    if (at < bytes) pass_on<method, 1>(to, from, at, step);
  }
}

/// Commits a thread's requests since the last call; empty groups keep the count.
template <CopyMethod method>
__device__ __forceinline__ void commit() {
#if __CUDA_ARCH__ >= 800
  if constexpr (cp_async_width(method) > 0) __pipeline_commit();
#endif
}

/// Waits until at most `pending` groups of this thread are in flight, or until the phase of the
/// barrier is over, when the copy engine has copied the whole tile.
template <CopyMethod method, int pending>
__device__ __forceinline__ void wait(std::uint32_t barrier, std::uint32_t parity) {
  if constexpr (cp_async_width(method) > 0) {
#if __CUDA_ARCH__ >= 800
    __pipeline_wait_prior(pending);
#endif
  } else if constexpr (is_by_engine(method)) {
#if __CUDA_ARCH__ >= 900
#pragma unroll 1
    while (!cuda::ptx::mbarrier_try_wait_parity(shared_pointer<std::uint64_t>(barrier), parity)) {
    }
#endif
  }
}

/// Poisons the first `bytes` of shared memory and initialises barriers, both visible to the copy
/// engine.
template <CopyMethod method>
__device__ __forceinline__ void make_ready(std::uint32_t shared, std::uint32_t bytes,
                                           std::uint64_t* barriers, std::uint32_t count) {
  constexpr std::uint32_t poison = 0xA5A5A5A5U;
  for (std::uint32_t at = threadIdx.x * word_bytes; at < bytes; at += threads * word_bytes)
    store<Access::shared, 4>(shared + at, &poison);
#if __CUDA_ARCH__ >= 900
  if constexpr (is_by_engine(method)) {  // cuda::ptx of CUDA 12.4 has none of these
    if (threadIdx.x == 0) {
      for (std::uint32_t b = 0; b < count; ++b)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;"
                     :
                     : "r"(shared_address(barriers + b))
                     : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    }
    asm volatile("fence.proxy.async;" : : : "memory");
  }
#endif
}

/// The tile that other blocks of the cluster read, written with plain loads.
__device__ __forceinline__ void put_tile(std::uint32_t to, const char* data, const Tiles& tiles,
                                         std::uint32_t tile) {
  const char* from = data + std::uint64_t{tile} * tiles.pitch;
  for (std::uint32_t at = threadIdx.x * word_bytes; at < tiles.bytes; at += threads * word_bytes)
    store<Access::shared, 4>(to + at, reinterpret_cast<const std::uint32_t*>(from + at));
}

/// Number of words at `at` that differ from those of the tile.
__device__ __forceinline__ std::uint32_t differences(std::uint32_t at, const Tiles& tiles,
                                                     std::uint32_t tile) {
  const std::uint32_t first = tiles.first_word(tile);
  std::uint32_t wrong = 0;
  for (std::uint32_t w = threadIdx.x; w < tiles.bytes / word_bytes; w += threads)
    wrong += load_word<Access::shared>(at + w * word_bytes) != hashed_word(first + w);
  return wrong;
}

/// `value`, in a register. ptxas computes the address of a shared variable or the thread's number
/// again (S2UR SR_CgaCtaId, S2R SR_TID, about 30 cycles each) wherever that saves a register, in a
/// timed loop, too; it does not repeat a load. `zero` is a word of shared memory that is 0.
__device__ __forceinline__ std::uint32_t kept(std::uint32_t value, const std::uint32_t& zero) {
  return value + load_word<Access::shared>(shared_address(&zero));
}

/// Both clocks, after a barrier. A warp may read a clock before the barrier stops it
/// (BAR.SYNC.DEFER_BLOCKING), but it cannot have a word of shared memory then, so the clocks depend
/// on one here, which no warp writes meanwhile. `zero` is a kernel argument that is always 0.
__device__ __forceinline__ Reading reading_after_barrier(const std::uint32_t& shared,
                                                         std::uint32_t zero) {
  consume(load_word<Access::shared>(shared_address(&shared)) & zero);
  return reading_before();
}

/// The tensor map with which the copy engine finds a tile by its row. Encoded by a driver function
/// that is looked up at run time, because an executable that links it starts only where there is a
/// driver.
inline CUtensorMap map_of(const Tiles& tiles, std::uint32_t* words) {
  constexpr unsigned since = 12000;
  const auto encode =
      driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled", since);
  if (encode == nullptr) throw Skipped{"this driver does not support tensor maps"};
  const Rows rows = map_rows(tiles);
  const std::array<cuuint64_t, 2> extent{rows.bytes / word_bytes,
                                         std::uint64_t{tiles.count} * rows.of_a_tile};
  const std::array<cuuint64_t, 1> stride{rows.pitch};
  const std::array<cuuint32_t, 2> box{rows.bytes / word_bytes, rows.of_a_tile};
  const std::array<cuuint32_t, 2> every{1, 1};
  CUtensorMap map{};
  const CUresult status =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, words, extent.data(), stride.data(),
             box.data(), every.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    throw std::runtime_error{"cuTensorMapEncodeTiled: error " +
                             std::to_string(static_cast<int>(status))};
  }
  return map;
}

// Every copy is volatile asm or a wrapper of it, and its address changes from round to round, if
// only by a loaded word masked with a kernel argument that is always 0: ptxas hoists a load whose
// address never changes out of its loop. Shared memory is poisoned first, since a launch may find
// there what the last one copied. At the end every word of the tiles that are still there is
// compared with the array.

/// One tile after the other, with one block; in a cluster the first block works.
template <CopyMethod method>
__global__ void __launch_bounds__(threads)
    fetch(const char* data, const __grid_constant__ CUtensorMap map,
          const __grid_constant__ Tiles tiles, std::uint32_t rows_of_tile, std::uint32_t rounds,
          std::uint32_t mask, std::uint32_t cluster, Stamp* stamp) {
  extern __shared__ __align__(128) char memory[];
  __shared__ __align__(8) std::uint64_t barrier_word;
  __shared__ std::uint32_t wrong;
  __shared__ std::uint32_t unchanged;  // while the clocks are read
  constexpr bool distributed = method == CopyMethod::distributed;
  const std::uint32_t rank = distributed ? rank_in_cluster() : 0;
  if (threadIdx.x == 0) wrong = unchanged = 0;
  make_ready<method>(shared_address(memory), tiles.bytes, &barrier_word, 1);
  __syncthreads();
  const std::uint32_t to = kept(shared_address(memory), unchanged);
  const std::uint32_t barrier = kept(shared_address(&barrier_word), unchanged);
  Source from{data, 0, &map, 0, kept(threadIdx.x, unchanged)};
  if constexpr (distributed) {
    put_tile(to + tiles.bytes, data, tiles, rank % tiles.count);
    from.remote = of_block(to + tiles.bytes, 1 % cluster);
    synchronize_cluster();
  }
  if (rank == 0) {
    std::uint32_t sum = 0;
    std::uint32_t tile = 0;
    std::uint32_t last = 0;
    const Reading begin = reading_after_barrier(unchanged, mask);
#pragma unroll 1
    for (std::uint32_t r = 0; r < rounds; ++r) {
      last = tile;
      request<method>(to, from, tiles.bytes, barrier);
      commit<method>();
      wait<method, 0>(barrier, r & 1U);
      if constexpr (!is_by_engine(method)) __syncthreads();
      const std::uint32_t landed = load_word<Access::shared>(to + tiles.bytes - word_bytes);
      sum += landed;
      if constexpr (distributed) {
        from.remote += landed & mask;
      } else {
        tile += 1 + (landed & mask);
        if (tile >= tiles.count) tile = 0;
        from.global = data + std::uint64_t{tile} * tiles.pitch;
        from.row = tile * rows_of_tile;
      }
      __syncthreads();
    }
    const Reading end = reading_after_barrier(unchanged, mask);
    if (threadIdx.x == 0) {
      leave(stamp, begin, end, /*result=*/0);
      stamp->tag = sum;
    }
    const std::uint32_t expected = distributed ? 1 % cluster % tiles.count : last;
    const std::uint32_t mine = differences(to, tiles, expected);
    if (mine != 0) atomicAdd(&wrong, mine);
    __syncthreads();
    if (threadIdx.x == 0) stamp->result = wrong;
  }
  if constexpr (distributed) synchronize_cluster();  // no block exits while its memory is read
}

/// Several tiles in flight in every block.
template <CopyMethod method>
__global__ void __launch_bounds__(threads)
    stream(const char* data, const __grid_constant__ CUtensorMap map,
           const __grid_constant__ Tiles tiles, std::uint32_t rows_of_tile, std::uint32_t rounds,
           std::uint32_t advance, std::uint32_t cluster, Stamp* stamps) {
  extern __shared__ __align__(128) char memory[];
  __shared__ __align__(8) std::uint64_t barrier_words[stages];
  __shared__ std::uint32_t wrong;
  __shared__ std::uint32_t unchanged;  // while the clocks are read
  constexpr bool distributed = method == CopyMethod::distributed;
  constexpr std::uint32_t barrier_bytes = sizeof(std::uint64_t);
  if (threadIdx.x == 0) wrong = unchanged = 0;
  make_ready<method>(shared_address(memory), stages * tiles.bytes, barrier_words, stages);
  __syncthreads();
  const std::uint32_t shared = kept(shared_address(memory), unchanged);
  const std::uint32_t barriers = kept(shared_address(barrier_words), unchanged);
  Source from{data, 0, &map, 0, kept(threadIdx.x, unchanged)};
  std::uint32_t partner = blockIdx.x;
  if constexpr (distributed) {
    const std::uint32_t rank = rank_in_cluster();
    const std::uint32_t next = (rank + 1) % cluster;
    partner = blockIdx.x - rank + next;
    put_tile(shared + stages * tiles.bytes, data, tiles, blockIdx.x % tiles.count);
    from.remote = of_block(shared + stages * tiles.bytes, next);
    synchronize_cluster();
  }
  // A remainder for each tile would cost more than a small tile.
  const std::uint32_t step = gridDim.x % tiles.count;
  std::uint32_t tile = blockIdx.x % tiles.count;
  const auto ask_next = [&](std::uint32_t stage) {
    if constexpr (distributed) {
      from.remote += advance;
    } else {
      from.global = data + std::uint64_t{tile} * tiles.pitch;
      from.row = tile * rows_of_tile;
      tile += step;
      if (tile >= tiles.count) tile -= tiles.count;
    }
    request<method>(shared + stage * tiles.bytes, from, tiles.bytes,
                    barriers + stage * barrier_bytes);
  };
  const Reading begin = reading_after_barrier(unchanged, advance);
#pragma unroll 1
  for (std::uint32_t r = 0; r < stages; ++r) {
    ask_next(r);
    commit<method>();
  }
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    const std::uint32_t stage = r % stages;
    wait<method, int{stages} - 1>(barriers + stage * barrier_bytes, (r / stages) & 1U);
    __syncthreads();
    if (r + stages < rounds) ask_next(stage);
    commit<method>();
  }
  __syncthreads();
  const Reading end = reading_after_barrier(unchanged, advance);
  Stamp* const stamp = stamps + blockIdx.x;
  if (threadIdx.x == 0) leave(stamp, begin, end, /*result=*/0);
  std::uint32_t mine = 0;
#pragma unroll 1
  for (std::uint32_t s = 0; s < stages; ++s) {
    const std::uint32_t round = rounds - 1 - (rounds - 1 - s) % stages;
    const std::uint32_t expected =
        distributed ? partner % tiles.count : tiles.tile(blockIdx.x, gridDim.x, round);
    mine += differences(shared + s * tiles.bytes, tiles, expected);
  }
  if (mine != 0) atomicAdd(&wrong, mine);
  __syncthreads();
  if (threadIdx.x == 0) stamp->result = wrong;
  if constexpr (distributed) synchronize_cluster();  // no block exits while its memory is read
}

using Kernel = void (*)(const char*, CUtensorMap, Tiles, std::uint32_t, std::uint32_t,
                        std::uint32_t, std::uint32_t, Stamp*);

Kernel kernel_for(const CopyCase& wanted) {
  using enum CopyMethod;
  return with_value<registers, cp_async_4, cp_async_8, cp_async_16, bulk, distributed, tensor>(
      wanted.method, [&]<CopyMethod method>() -> Kernel {
        return wanted.is_latency() ? fetch<method> : stream<method>;
      });
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  const CopyCase wanted = case_of(session.params());
  const Kernel kernel = kernel_for(wanted);
  const auto* const code = reinterpret_cast<const void*>(kernel);
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, code));
  require_capability(wanted.method, 10 * gpu.major + gpu.minor, attributes.ptxVersion);
  const Tiles tiles = tiles_of(wanted, gpu);
  const std::size_t shared = shared_bytes(wanted, gpu);
  allow_shared_bytes(code, shared);
  const unsigned at_once =
      wanted.cluster == 1 ? gpu.sms
                          : blocks_in_clusters(kernel, threads, wanted.cluster, shared, gpu.sms);
  const unsigned blocks = wanted.is_latency() ? wanted.cluster : at_once;
  Experiment experiment = describe(wanted, tiles, blocks);
  require_timed(session, experiment);

  CudaMachine machine{session, blocks};
  const cudaStream_t stream = machine.stream().get();
  const auto& words = session.cache().keep<DeviceBuffer<std::uint32_t>>("async_copy", [&] {
    DeviceBuffer<std::uint32_t> array{array_words(gpu)};
    fill(array.data(), array.size(), HashedWords{}, stream);
    return array;
  });
  const CUtensorMap map =
      wanted.method == CopyMethod::tensor ? map_of(tiles, words.data()) : CUtensorMap{};
  Slope& slope = experiment.slopes.front();
  slope.data = words.data();
  slope.launch = [&](const Call& call) {
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t config =
        launch_config(blocks, threads, wanted.cluster, shared, stream, attribute);
    cuda_check(cudaLaunchKernelEx(&config, kernel, reinterpret_cast<const char*>(words.data()), map,
                                  tiles, map_rows(tiles).of_a_tile, call.length.rounds, 0U,
                                  wanted.cluster, machine.device_stamps()));
  };
  experiment.kernels = {code};
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::async_copy
