// The CUDA backend of layout_read: see layout_read.hpp for the question and the method.
//
// One warp walks one chain. A group's 32 particles are read by the layout's own reads, summed, and
// the sum says which group comes next. The clock is read at the start and at the ends of the four
// parts of the walk, in one loop, so that all parts run the same instructions and the slope between
// the two timed parts holds nothing but reads.
#include "harness/case/error.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/eviction.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/measure/counted_loads.hpp"
#include "harness/model/warp_reads.hpp"
#include "harness/record/statistics.hpp"
#include "micro/access/layout_read.hpp"
#include "micro/pattern/particle_chain.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace strata::layout_read {
namespace {

constexpr std::uint32_t unroll = 4;     // reads in the loop body: the loop itself costs a quarter
constexpr std::uint32_t parts = 4;      // warm-up, first, second, cool-down
constexpr double timed_seconds = 4e-4;  // of one walk: hundreds of steps of the coarsest timer

/// What one warp leaves behind.
struct WarpRecord {
  std::uint64_t cycles[parts + 1];  // this SM's clock at the start and at the end of each part
  std::uint64_t nanoseconds[2];     // the global timer at the start and at the end
  std::uint32_t sm;
  std::uint32_t start;  // which of the starts it took
  std::uint32_t checksum;
};

/// Where walks begin. A warp takes the next start of the SM that it finds itself on: which block
/// goes to which SM is the hardware's choice and follows no rule that could be relied on, and the
/// warps of an SM must start far apart.
struct Starts {
  const std::uint32_t* groups;  // `warps` for the first SM, then for the next
  std::uint32_t* taken;         // how many of an SM's starts are taken; zeros before a walk
  std::uint32_t sms;
  std::uint32_t warps;  // of an SM
};

/// The start that this warp takes, the same for all its lanes.
__device__ __forceinline__ std::uint32_t take_start(const Starts& starts, std::uint32_t lane) {
  std::uint32_t index = 0;
  if (lane == 0) {
    const std::uint32_t sm = sm_id() % starts.sms;
    const std::uint32_t slot = atomicAdd(starts.taken + sm, 1U) % starts.warps;
    index = sm * starts.warps + slot;
  }
  return __shfl_sync(0xFFFFFFFFU, index, 0);
}

/// Reads of a part, by value in the kernel's parameters.
struct Parts {
  std::uint32_t reads[parts];
};

/// One read of `width` words into the first of `value`. The asm is volatile: reads stay in the
/// declared order and none is merged or dropped. It does not keep ptxas from narrowing a vector of
/// which it sees an end unused, hence issued(). Wanted: LDG.E, LDG.E.64 or LDG.E.128, one each.
template <unsigned width>
__device__ __forceinline__ void load(const float* at, float* value) {
  static_assert(width == 1 || width == 2 || width == 4);
  if constexpr (width == 1) {
    asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(value[0]) : "l"(at));
  } else if constexpr (width == 2) {
    asm volatile("ld.global.ca.v2.f32 {%0, %1}, [%2];" : "=f"(value[0]), "=f"(value[1]) : "l"(at));
  } else {
    asm volatile("ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value[0]), "=f"(value[1]), "=f"(value[2]), "=f"(value[3])
                 : "l"(at));
  }
}

/// The same without memory: the address itself is the value, so the arithmetic before and after the
/// load keeps its place in the chain. The other words are whatever the caller holds in registers.
template <unsigned width>
__device__ __forceinline__ void pretend(const float* at, float* value, float filler) {
  value[0] = __uint_as_float(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at)));
  for (unsigned w = 1; w < width; ++w)
    value[w] = filler;
}

/// A balanced tree: three levels for seven fields, two for four.
template <unsigned first, unsigned count>
__device__ __forceinline__ float tree_sum(const float (&v)[field_count]) {
  if constexpr (count == 1) {
    return v[first];
  } else {
    return tree_sum<first, count / 2>(v) + tree_sum<first + count / 2, count - count / 2>(v);
  }
}

/// Where each read of particle 0 begins: a pointer for each array of the layout, as anyone would
/// pass a structure of arrays to a kernel.
struct Arrays {
  const float* first[field_count];
};

/// True when read r lies in an array of its own, at a distance that depends on how many particles
/// there are; else it lies a fixed way behind the first read, which the load's own offset covers.
template <class L>
constexpr bool has_own_array(std::size_t r) {
  return L::template first_word<std::size_t>(r, 0, group_size) !=
         L::template first_word<std::size_t>(r, 0, 2 * group_size);
}

/// Address of word `offset` of read r of particle i. From particle 0 to particle i it is the same
/// way in every array, below 2^32 bytes.
template <class L, std::size_t r, unsigned offset>
__device__ __forceinline__ const float* address(const Arrays& arrays, std::uint32_t i) {
  constexpr auto read = static_cast<std::uint32_t>(r);
  constexpr std::uint32_t origin = L::template first_word<std::uint32_t>(read, 0, group_size);
  const std::uint32_t way = L::template first_word<std::uint32_t>(read, i, group_size) - origin;
  const float* first = has_own_array<L>(r) ? arrays.first[r] : arrays.first[0] + origin;
  return reinterpret_cast<const float*>(reinterpret_cast<const char*>(first + offset) +
                                        way * static_cast<std::uint32_t>(sizeof(float)));
}

/// The bits of (sum of the wanted fields of particle i + mantissa_bias).
template <class L, class Fields, bool from_memory>
__device__ __forceinline__ std::uint32_t read_particle_bits(const Arrays& arrays, std::uint32_t i,
                                                            float filler) {
  float loaded[L::reads.size()][4];
  const auto issue_all = [&]<std::size_t... r>(std::index_sequence<r...>) {
    (
        [&] {
          constexpr Issue issue = issued<L, Fields>(r);
          if constexpr (issue.words > 0) {
            const float* at = address<L, r, issue.offset>(arrays, i);
            if constexpr (from_memory) {
              load<issue.words>(at, loaded[r] + issue.offset);
            } else {
              pretend<issue.words>(at, loaded[r] + issue.offset, filler);
            }
          }
        }(),
        ...);
  };
  issue_all(std::make_index_sequence<L::reads.size()>{});
  float wanted[field_count];
  const auto gather = [&]<std::size_t... slot>(std::index_sequence<slot...>) {
    unsigned next = 0;
    (
        [&] {
          constexpr std::size_t r = slot / 4;
          constexpr std::size_t w = slot % 4;
          constexpr int f = L::reads[r].fields[w];
          if constexpr (w < L::reads[r].words && f != padding && Fields::wants(f)) {
            wanted[next++] = loaded[r][w];
          }
        }(),
        ...);
  };
  gather(std::make_index_sequence<L::reads.size() * 4>{});
  return __float_as_uint(tree_sum<0, Fields::count>(wanted) + mantissa_bias);
}

template <class L, class Fields, bool from_memory>
__global__ void __launch_bounds__(1024)
    walk(const __grid_constant__ Arrays arrays, const __grid_constant__ Parts plan,
         const __grid_constant__ Starts starts, float filler, WarpRecord* records) {
  const std::uint32_t lane = threadIdx.x % group_size;
  const std::uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / group_size;
  WarpRecord* mine = records + warp;
  const std::uint32_t start = take_start(starts, lane);
  std::uint32_t group = starts.groups[start];
  std::uint32_t sum = 0;
  consume(group);
  if (lane == 0) {
    mine->nanoseconds[0] = global_nanoseconds();
    mine->cycles[0] = cycles_now();
  }
#pragma unroll 1
  for (std::uint32_t part = 0; part < parts; ++part) {
    const std::uint32_t reads = plan.reads[part];
#pragma unroll 1
    for (std::uint32_t r = 0; r < reads; r += unroll) {
#pragma unroll
      for (std::uint32_t u = 0; u < unroll; ++u) {
        const std::uint32_t bits =
            read_particle_bits<L, Fields, from_memory>(arrays, group * group_size + lane, filler);
        sum += bits;
        group = next_group(bits);
      }
    }
    consume(group);  // the clock below is not read before the last group has arrived
    const std::uint64_t cycles = cycles_now();
    if (lane == 0) mine->cycles[part + 1] = cycles;
  }
  if (lane == 0) mine->nanoseconds[1] = global_nanoseconds();
  sum *= lane_weight(lane);
  for (unsigned offset = group_size / 2; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xFFFFFFFFU, sum, offset);
  }
  if (lane == 0) {
    mine->sm = sm_id();
    mine->start = start;
    mine->checksum = sum;
  }
}

/// What a read costs, roughly, in cycles: of a warp alone, and of each warp where the SM is full.
/// Only the length of a walk hangs on it.
struct Pace {
  double latency;
  double each_warp;
};

Pace pace_of(const std::string& residency) {
  if (residency == "l1") return {.latency = 110, .each_warp = 12};
  if (residency == "l2") return {.latency = 400, .each_warp = 18};
  return {.latency = 900, .each_warp = 55};
}

using Kernel = void (*)(Arrays, Parts, Starts, float, WarpRecord*);

/// One layout at one level: the particles on the device and what reading them must give.
struct DataSet {
  ParticleChain chain;
  std::optional<DeviceBuffer<float>> words;
  Arrays arrays{};
  std::map<std::string, ExpectedSums, std::less<>> expected;  // by field set
};

std::uint32_t groups_for(const std::string& residency, const Facts& facts) {
  const auto number = [&](const char* name) {
    const auto found = facts.find(name);
    if (found == facts.end()) throw Skipped{std::string{"the device does not report "} + name};
    return static_cast<std::uint64_t>(std::get<std::int64_t>(found->second));
  };
  constexpr std::uint64_t kib = 1024;
  if (residency == "l1") return groups_in(32 * kib);  // inside the L1 of every GPU since Volta
  // A quarter of L2: far inside one partition of a chip with two, and far outside every L1.
  if (residency == "l2") return groups_in(number("l2_bytes") / 4);
  if (residency == "l3") throw Skipped{"a GPU has no third level of cache"};
  // Whenever a walk comes round to a group, 16 times the L2 of an H200 went by since its last
  // visit.
  const std::uint64_t footprint = std::uint64_t{max_groups} * group_bytes;
  if (number("memory_bytes") < 4 * footprint) throw Skipped{"less than 4 GiB of device memory"};
  if (number("l2_bytes") * 4 > footprint) throw Skipped{"the L2 is too large for the chain"};
  return groups_in(footprint);
}

DataSet make_data(const std::string& layout, const std::string& residency, const Facts& facts) {
  DataSet data{.chain = ParticleChain{groups_for(residency, facts), /*seed=*/2009},
               .words = {},
               .arrays = {},
               .expected = {}};
  const auto with_fields = [&]<class L, class Fields>() {
    std::vector<float> host(L::words(data.chain.particles()));
    data.chain.fill<L>(host);
    data.words.emplace(std::span<const float>{host});
    for (std::size_t r = 0; r < L::reads.size(); ++r) {
      data.arrays.first[r] =
          data.words->data() + L::template first_word<std::size_t>(r, 0, data.chain.particles());
    }
    [&]<class... Fs>(std::tuple<Fs...>*) {
      (data.expected.emplace(std::string{Fs::name},
                             ExpectedSums::of<L, Fs>(data.chain, std::span<const float>{host})),
       ...);
    }(static_cast<FieldSets*>(nullptr));
  };
  (void)with_layout(layout, AllFields::name, with_fields);
  return data;
}

/// What stays from case to case on one device.
struct Tools {
  Stream stream;
  Eviction eviction;
};

struct Grid {
  unsigned sms = 1;
  unsigned warps_per_sm = 1;
  unsigned threads = group_size;  // of a block
  [[nodiscard]] unsigned warps() const { return sms * warps_per_sm; }
  [[nodiscard]] unsigned blocks_per_sm() const { return warps_per_sm * group_size / threads; }
  [[nodiscard]] unsigned blocks() const { return sms * blocks_per_sm(); }
};

/// The subject of the protocol: a pair of walks, short and long.
class Walks {
 public:
  Walks(Kernel kernel, const DataSet& data, const ExpectedSums& expected, Grid grid,
        const std::string& residency, bool alone, Tools& tools)
      : tools_{tools},
        alone_{alone},
        kernel_{kernel},
        data_{data},
        expected_{expected},
        grid_{grid},
        residency_{residency},
        starts_{start_groups()},
        taken_{grid.sms},
        records_{grid.warps()},
        landed_{grid.warps()} {}

  void shape(const Shape& shape) { shape_ = shape; }

  void prepare() {}  // each of the two walks has its own preparation, right before it

  Observation observe() {
    const double short_seconds = run(shape_.shortened());
    check_sums(shape_.shortened());
    const double short_cycles = slowest();
    const double long_seconds = run(shape_);
    check_sums(shape_);

    Observation seen;
    std::vector<double> reads;
    std::vector<double> hertz;
    for (const WarpRecord& r : landed_.span()) {
      reads.push_back(cycles_of_a_read({r.cycles[1], r.cycles[2], r.cycles[3]}, shape_, alone_));
      hertz.push_back(static_cast<double>(r.cycles[parts] - r.cycles[0]) /
                      (static_cast<double>(r.nanoseconds[1] - r.nanoseconds[0]) * 1e-9));
    }
    summarise(reads, seen);
    seen.core_hertz = median(hertz);
    seen.grid_seconds = long_seconds;
    seen.cycles_slowest = (slowest() - short_cycles) / slope_reads(shape_);
    const double slope_seconds = (long_seconds - short_seconds) / slope_reads(shape_);
    seen.cycles_outside = slope_seconds * seen.core_hertz;
    seen.reads_per_second = grid_.warps() * double{group_size} / slope_seconds;
    return seen;
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.cycles, seen.cycles_outside};
  }

  [[nodiscard]] std::size_t checked() const { return checked_; }
  [[nodiscard]] std::size_t different() const { return different_; }

  /// Nobody counts hits while the clock runs; but where two warps of an SM walked over the same
  /// groups, the later one surely had some, and that can be seen from where they started.
  [[nodiscard]] Gate level(const std::string& why_not_counted) const {
    if (residency_ == "l1") return level_unverified(why_not_counted);
    std::map<std::uint32_t, std::vector<std::uint32_t>> on;
    for (const WarpRecord& r : landed_.span())
      on[r.sm].push_back(positions_.at(r.start));
    std::uint32_t least = data_.chain.groups();
    for (const auto& [sm, starts] : on)
      least = std::min(least, nearest(starts, data_.chain.groups()));
    if (least >= shape_.total()) return level_unverified(why_not_counted);
    return {"level", Verdict::failed,
            "two warps of an SM started " + std::to_string(least) + " groups apart and read " +
                std::to_string(shape_.total()) + ": some of it came from L1"};
  }

  /// The long walk once more, counted. `accesses` are those of one warp-read.
  void count(Session& session, ServedBy claimed, std::span<const WarpAccess> accesses) {
    const auto of_a_read = traffic(generation_of(session.device().identity().facts), accesses);
    const std::uint64_t reads = std::uint64_t{grid_.warps()} * shape_.total();
    count_loads(session, {.prepare = [this] { ready(); },
                          .work = [this] { launch(shape_); },
                          .overhead = [this] { launch({}); },
                          .claimed = claimed,
                          .predicted = {.requests = reads * of_a_read.total.requests,
                                        .sectors = reads * of_a_read.total.sectors,
                                        .repeated_sectors = reads * of_a_read.repeated_sectors},
                          .reads = static_cast<double>(reads)});
    // What the last launch of the work left behind: a walk that read something else counts nothing.
    landed_.download_from(records_, tools_.stream.get());
    tools_.stream.synchronize();
    check_sums(shape_);
  }

  [[nodiscard]] Gate placement() const {
    std::vector<std::uint32_t> sm_of_warp;
    for (const WarpRecord& r : landed_.span())
      sm_of_warp.push_back(r.sm);
    return placement_gate(sm_of_warp, grid_.sms, static_cast<int>(grid_.warps_per_sm));
  }

 private:
  [[nodiscard]] std::vector<std::uint32_t> start_groups() {
    for (unsigned sm = 0; sm < grid_.sms; ++sm) {
      for (unsigned w = 0; w < grid_.warps_per_sm; ++w) {
        positions_.push_back(
            start_position(sm, w, grid_.sms, grid_.warps_per_sm, data_.chain.groups()));
      }
    }
    std::vector<std::uint32_t> groups;
    for (const auto p : positions_)
      groups.push_back(data_.chain.group_at(p));
    return groups;
  }

  /// Puts the data where the case wants it. L1 is filled by the walk itself, in its warm-up part:
  /// it does not survive from one kernel to the next.
  void make_resident() {
    if (residency_ == "l2") {
      tools_.eviction.touch(data_.words->data(), data_.words->size_bytes(), tools_.stream.get());
    } else if (residency_ == "dram") {
      tools_.eviction.evict(tools_.stream.get());
    }
  }

  /// The state that every walk starts from, timed or counted.
  void ready() {
    constexpr int poison = 0xA5;
    cudaStream_t stream = tools_.stream.get();
    records_.poison(poison, stream);
    cuda_check(cudaMemsetAsync(taken_.data(), 0, taken_.size_bytes(), stream));
    make_resident();
  }

  void launch(const Shape& shape) {
    const Parts plan{{shape.warmup, shape.first, shape.second, shape.cooldown}};
    kernel_<<<grid_.blocks(), grid_.threads, 0, tools_.stream.get()>>>(
        data_.arrays, plan, Starts{starts_.data(), taken_.data(), grid_.sms, grid_.warps_per_sm},
        /*filler=*/1.0F, records_.data());
    cuda_check(cudaGetLastError());
  }

  double run(const Shape& shape) {
    cudaStream_t stream = tools_.stream.get();
    ready();
    begin_.record(stream);
    launch(shape);
    end_.record(stream);
    landed_.download_from(records_, stream);
    tools_.stream.synchronize();
    return end_.seconds_since(begin_);
  }

  /// Cycles of the slowest warp's whole walk: what the walk takes, seen from inside.
  [[nodiscard]] double slowest() const {
    std::uint64_t most = 0;
    for (const WarpRecord& r : landed_.span())
      most = std::max(most, r.cycles[parts] - r.cycles[0]);
    return static_cast<double>(most);
  }

  void check_sums(const Shape& shape) {
    for (const WarpRecord& r : landed_.span()) {
      ++checked_;
      if (r.start >= positions_.size() ||
          r.checksum != expected_.checksum(positions_[r.start], shape.total())) {
        ++different_;
      }
    }
  }

  Tools& tools_;
  bool alone_;  // one warp to an SM
  Kernel kernel_;
  const DataSet& data_;
  const ExpectedSums& expected_;
  Grid grid_;
  std::string residency_;
  std::vector<std::uint32_t> positions_;
  DeviceBuffer<std::uint32_t> starts_;
  DeviceBuffer<std::uint32_t> taken_;
  DeviceBuffer<WarpRecord> records_;
  PinnedBuffer<WarpRecord> landed_;
  Event begin_;
  Event end_;
  Shape shape_;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

/// Cycles a read of one warp alone with its loads taken out. The walk reads no memory, so it needs
/// no data; its sums mean nothing and are not checked.
Measurement arithmetic(Kernel kernel, const Plan& plan, Tools& tools) {
  constexpr Shape shape{.warmup = 256, .first = 256, .second = 2048, .cooldown = unroll};
  constexpr Parts walk{{shape.warmup, shape.first, shape.second, shape.cooldown}};
  const DeviceBuffer<std::uint32_t> start{std::vector<std::uint32_t>{0}};
  DeviceBuffer<std::uint32_t> taken{1};
  taken.poison(0, tools.stream.get());
  DeviceBuffer<WarpRecord> record{1};
  Measurement m{.quantity = "arithmetic_cycles",
                .unit = "cycle",
                .provenance = Provenance::timed,
                .method = "clock64_slope",
                .samples = {}};
  for (int i = 0; i < plan.min_samples; ++i) {
    kernel<<<1, group_size, 0, tools.stream.get()>>>(
        Arrays{}, walk, {start.data(), taken.data(), 1, 1}, 1.0F, record.data());
    cuda_check(cudaGetLastError());
    tools.stream.synchronize();
    const WarpRecord r = record.to_host().front();
    m.samples.push_back(
        cycles_of_a_read({r.cycles[1], r.cycles[2], r.cycles[3]}, shape, /*alone=*/true));
  }
  return m;
}

}  // namespace

void measure(Session& session, const std::string& residency) {
  const Facts& facts = session.device().identity().facts;
  const std::string& layout = session.param("layout");
  const std::string& fields = session.param("fields");
  const auto threads = static_cast<unsigned>(session.integer("block_size"));
  const int warps_per_sm = session.integer("warps_per_sm");
  const bool all = session.param("cores") == "all";
  const Grid grid{
      .sms = all ? static_cast<unsigned>(std::get<std::int64_t>(facts.at("sm_count"))) : 1U,
      .warps_per_sm = static_cast<unsigned>(warps_per_sm),
      .threads = threads};

  Kernel kernel = nullptr;
  Kernel without_loads = nullptr;
  std::size_t bytes = 0;
  (void)with_layout(layout, fields, [&]<class L, class Fields>() {
    kernel = walk<L, Fields, true>;
    without_loads = walk<L, Fields, false>;
    bytes = useful_bytes<Fields>;
  });
  const int wanted = static_cast<int>(grid.blocks_per_sm());
  // As much of the SM's memory as can be serves as L1. A block takes a little shared memory even
  // when it asks for none: without room for that, fewer blocks would be resident.
  int reserved = 0;
  int shared = 0;
  int device = 0;
  cuda_check(cudaGetDevice(&device));
  cuda_check(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, device));
  cuda_check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  const int carveout = (100 * wanted * reserved + shared - 1) / shared;  // percent, rounded up
  for (const Kernel k : {kernel, without_loads}) {
    cuda_check(cudaFuncSetAttribute(k, cudaFuncAttributePreferredSharedMemoryCarveout, carveout));
  }
  int resident = 0;
  cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel,
                                                           static_cast<int>(threads), 0));
  if (resident < wanted) {
    throw Skipped{"needs " + std::to_string(wanted) + " resident blocks on an SM, this GPU holds " +
                  std::to_string(resident)};
  }
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, kernel));

  auto& tools = session.cache().shared<Tools>();
  const DataSet& data =
      session.cache().keep<DataSet>("layout_read/" + layout + '/' + residency,
                                    [&] { return make_data(layout, residency, facts); });
  Walks walks{kernel, data, data.expected.find(fields)->second, grid, residency, warps_per_sm == 1,
              tools};

  // The warm-up goes round the small cycle twice, so that every L1 holds it. A walk in L2 ends
  // where the next warp of its SM began, one in memory where the next warp of all began: so no line
  // is read twice, and nothing is found nearer than it should be.
  const double hertz = std::get<double>(facts.at("core_clock_peak_hz"));
  const Pace pace = pace_of(residency);
  const std::uint32_t warmup = residency == "l1" ? 2 * group_size : 2 * unroll;
  const std::uint64_t most = residency == "l1" ? std::uint64_t{1} << 20U
                             : residency == "l2"
                                 ? data.chain.groups() / static_cast<unsigned>(warps_per_sm)
                                 : data.chain.groups() / grid.warps();
  const Shape shape =
      shape_for(reads_for(timed_seconds, hertz, pace.latency, pace.each_warp, warps_per_sm), warmup,
                most, unroll);
  walks.shape(shape);

  if (session.counters() != nullptr) {
    std::vector<WarpAccess> accesses;
    (void)with_layout(layout, fields, [&]<class L, class Fields>() {
      accesses = warp_reads<L, Fields>(/*first_particle=*/0, data.chain.particles(),
                                       reinterpret_cast<std::uintptr_t>(data.words->data()));
    });
    walks.count(session, served_by(session.param("residency")).value(), accesses);
    session.add(result_gate(walks.checked(), walks.different(), "warp sums against the host's"));
    return;
  }

  const auto seen = collect(walks, session.plan());
  report(session, seen,
         {.cycle_unit = "cycle",
          .inside = warps_per_sm == 1 ? "clock64_slope" : "clock64_mean",
          .slowest = "clock64_slope",
          .outside = "event_slope",
          .whole = "event",
          .clock = "clock64_over_globaltimer"},
         bytes);
  if (warps_per_sm == 1) session.add(arithmetic(without_loads, session.plan(), tools));
  session.add(result_gate(walks.checked(), walks.different(), "warp sums against the host's"));
  session.add(walks.placement());
  session.add(spill_gate(attributes.localSizeBytes, attributes.numRegs));
  session.add(walks.level(session.counting_note()));
  session.fact("footprint_bytes", static_cast<std::int64_t>(data.words->size() * sizeof(float)));
  session.fact("reads_per_warp", static_cast<std::int64_t>(shape.total()));
  session.fact("timed_reads_per_warp", static_cast<std::int64_t>(shape.first + shape.second));
  session.fact("registers_per_thread", static_cast<std::int64_t>(attributes.numRegs));
  session.fact("warps", static_cast<std::int64_t>(grid.warps()));
}

namespace {

void run(Session& session) {
  measure(session, session.param("residency"));
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::layout_read
