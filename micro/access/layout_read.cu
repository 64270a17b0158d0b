#include "micro/access/layout_read.hpp"

namespace strata::layout_read {

/// Where a warp begins: its first group and its ring's shift.
struct alignas(8) RingStart {
  std::uint32_t group = 0;
  std::uint32_t shift = 0;
};
/// The rings that the warps of a GPU follow.
///
/// SMs of one GPC that request the same sector at about the same time get one answer from L2, up to
/// four of them (request_merging), and from then on they stay in step. So where all SMs read from
/// L2, each has a separate ring, and two that meet separate again.
struct Walks {
  std::vector<Ring> rings;               ///< of each SM, or one for all
  std::vector<std::uint32_t> positions;  ///< of each start on the ring of its SM, SM after SM
  std::uint32_t warps = 1;               ///< of an SM

  [[nodiscard]] const Ring& ring_of(std::size_t start) const {
    return rings[start / warps % rings.size()];
  }
  [[nodiscard]] std::vector<RingStart> starts() const {
    std::vector<RingStart> all;
    for (std::size_t start = 0; start < positions.size(); ++start) {
      const Ring& ring = ring_of(start);
      all.push_back({.group = ring.group_at(positions[start]), .shift = ring.shift()});
    }
    return all;
  }
  /// Of the shortest ring.
  [[nodiscard]] std::uint32_t groups() const {
    return std::ranges::min(rings, {}, &Ring::groups).groups();
  }
};
/// Additional groups of a chain of this level, for the rings of `sms`.
[[nodiscard]] constexpr std::uint32_t spare_groups(Level level, std::uint32_t sms) {
  return level == Level::l2 ? 4 * sms : 0;
}

namespace {

/// Steps between the nearest two of these positions; `groups` for one.
std::uint32_t nearest(std::vector<std::uint32_t> positions, std::uint32_t groups) {
  if (positions.size() < 2) return groups;
  std::ranges::sort(positions);
  std::uint32_t least = positions.front() + groups - positions.back();
  for (std::size_t i = 1; i < positions.size(); ++i) {
    least = std::min(least, positions[i] - positions[i - 1]);
  }
  return least;
}

/// Hits are not counted while the clock runs. But two warps of an SM that read the same groups must
/// have had some, and their start positions show whether they did.
auto l1_hits_seen(const std::shared_ptr<const Walks>& walks, std::uint32_t reads) {
  return [walks, reads](std::span<const Stamp> stamps) -> std::optional<std::string> {
    std::map<std::uint32_t, std::vector<std::uint32_t>> on;
    for (const Stamp& stamp : stamps)
      on[stamp.core].push_back(stamp.tag);
    for (const auto& [sm, starts] : on) {
      const std::uint32_t groups = walks->ring_of(starts.front()).groups();
      std::vector<std::uint32_t> positions;
      for (const std::uint32_t start : starts)
        positions.push_back(walks->positions.at(start));
      const std::uint32_t least = nearest(std::move(positions), groups);
      if (least >= reads) continue;
      return "two warps of an SM started " + std::to_string(least) + " groups apart and read " +
             std::to_string(reads) + ": some of it came from L1";
    }
    return std::nullopt;
  };
}

/// The reads of a case on a GPU, on a cycle of `groups`. The warm-up goes around the small cycle of
/// L1 twice, so that every L1 holds it. Reads from L2 end where the next warp of the SM began,
/// those from memory where the next warp of all began, so that no line is found in a nearer level.
Shape shape_on_gpu(const Point& point, const GpuFacts& gpu, std::uint32_t groups) {
  // Roughly, in cycles: what a read costs a lone warp, and each warp of a full SM.
  const bool l1 = point.level == Level::l1;
  const bool l2 = point.level == Level::l2;
  // Share of loads that met another one on an H100: at most 0.8 % with 32 warps, 1.2 % with 48,
  // 1.5 % with 64.
  constexpr int merges = 9;  // since this major compute capability L2 merges them into one
  constexpr std::uint32_t most_warps = 32;
  if (l2 && point.cores > 1 && gpu.major >= merges && point.warps > most_warps) {
    throw Skipped{
        "with " + std::to_string(point.warps) +
        " warps on every SM, loads meet in L2 by chance, and it answers over 1 % of them as one"};
  }
  // Of a launch: hundreds of steps of the coarsest timer. In L1 a read may take a third of this.
  const double timed_seconds = l1 ? 1.2e-3 : 4e-4;
  const double latency = l1 ? 110 : l2 ? 400 : 900;
  const double each_warp = l1 ? 12 : l2 ? 18 : 55;
  const double reads =
      reads_for(timed_seconds, gpu.core_clock_peak.value(), latency, each_warp, point.warps);
  if (l1) {
    return shape_for(reads, 2 * group_size, std::uint64_t{1} << 20U, unroll_on_gpu);
  }
  const std::uint32_t sharers = l2 ? point.warps : point.all_warps();
  return shape_for(reads, 2 * unroll_on_gpu, groups / sharers, unroll_on_gpu);
}

/// The rings of a point's SMs, the same for all points of one level and number of SMs. Finding them
/// takes longer than measuring a case.
std::vector<Ring> rings_of(const Point& point, const ParticleChain& chain) {
  if (point.level != Level::l2 || point.cores == 1) return {chain.ring()};
  std::vector<Ring> rings;
  for (std::uint32_t shift = 0; rings.size() < point.cores; ++shift) {
    if (shift > spare_groups(point.level, point.cores)) {
      throw std::logic_error{"layout_read: too few rings of half the groups"};
    }
    // Two in three random orders have a ring of half the groups.
    if (Ring ring = chain.shifted(shift); 2 * ring.groups() >= chain.groups()) {
      rings.push_back(std::move(ring));
    }
  }
  return rings;
}

Walks walks_of(const Point& point, std::vector<Ring> rings) {
  Walks walks{.rings = std::move(rings), .positions = {}, .warps = point.warps};
  if (walks.rings.size() == 1) {
    walks.positions = start_positions(point, walks.groups());
    return walks;
  }
  for (const Ring& ring : walks.rings) {
    for (std::uint64_t warp = 0; warp < point.warps; ++warp)
      walks.positions.push_back(static_cast<std::uint32_t>(warp * ring.groups() / point.warps));
  }
  return walks;
}

/// The case on a GPU, except the launches. A stamp's tag is the start of its warp.
Experiment describe(const Point& point, const GpuFacts& gpu, const Shape& shape,
                    const ParticleChain& chain, const std::shared_ptr<const Walks>& walks) {
  Experiment experiment = described(point, shape, chain, Backend::cuda);
  Slope& reads = experiment.slopes.back();
  if (point.level == Level::l2) reads.start = Start::in_l2;
  if (point.level == Level::dram) reads.start = Start::evicted;
  // L1 does not survive from one kernel to the next: the warm-up fills it.
  reads.writers = point.all_warps();
  reads.verify = [shape, walks](const Call& call, std::span<const Stamp> stamps, Tally& tally) {
    const std::uint32_t total = shape.at(call.length).total();
    for (const Stamp& stamp : stamps) {
      const auto right = [&] {
        return walks->ring_of(stamp.tag).checksum(walks->positions[stamp.tag], total);
      };
      tally.one(stamp.tag < walks->positions.size() && stamp.result == right());
    }
  };
  experiment.checked = "warp sums against the host's";
  experiment.checks.emplace_back(Dependence{"sums of walks", {}});
  experiment.placement = Placement{.cores = point.cores, .per_core = static_cast<int>(point.warps)};
  experiment.unproved = {.gate = "level"};
  if (point.level != Level::l1) {
    experiment.unproved.refuted = l1_hits_seen(walks, shape.total());
  }
  const std::uint64_t warp_reads = std::uint64_t{point.all_warps()} * shape.total();
  SequenceTraffic of_a_read;
  (void)with_layout(point.layout, point.fields, [&]<class L, class Fields>() {
    of_a_read = warp_read_traffic<L, Fields>(generation_of(gpu.major, gpu.minor));
  });
  experiment.counts = CountPlan{
      .length = reads.lengths.full,
      .slope = experiment.slopes.size() - 1,
      .loads = LoadPrediction{.requests = warp_reads * of_a_read.total.requests,
                              .sectors = warp_reads * of_a_read.total.sectors,
                              .repeated_sectors = warp_reads * of_a_read.repeated_sectors},
      .served_by = served_by(levels.name_of(point.level)),
      .reads = static_cast<double>(warp_reads),
      .warps_per_sm = double{1} * point.warps};
  return experiment;
}

Experiment describe(const Params& params, const GpuFacts& gpu) {
  const Point point = point_of(params, gpu.sms);
  const ParticleChain chain{groups_at(point.level, gpu), seed, spare_groups(point.level, gpu.sms)};
  const auto walks = std::make_shared<const Walks>(walks_of(point, rings_of(point, chain)));
  return describe(point, gpu, shape_on_gpu(point, gpu, walks->groups()), chain, walks);
}

}  // namespace

#ifdef __CUDACC__

// The walk of layout_read: reads of particles, each of which depends on the sum of the one before.

/// The address of each read of particle 0: a pointer for each array of the layout.
struct Arrays {
  const float* first[field_count];
};

/// Address of word `offset` of read r of particle i. The distance from particle 0 to particle i is
/// the same in every array, below 2^32 bytes.
template <class L, std::size_t r, unsigned offset>
__device__ __forceinline__ const float* address(const Arrays& arrays, std::uint32_t i) {
  // Otherwise it is at a fixed distance from the first read, which the load's immediate offset
  // covers.
  constexpr bool own_array = L::template first_word<std::size_t>(r, 0, group_size) !=
                             L::template first_word<std::size_t>(r, 0, 2 * group_size);
  constexpr auto read = static_cast<std::uint32_t>(r);
  constexpr std::uint32_t origin = L::template first_word<std::uint32_t>(read, 0, group_size);
  const std::uint32_t way = L::template first_word<std::uint32_t>(read, i, group_size) - origin;
  const float* first = own_array ? arrays.first[r] : arrays.first[0] + origin;
  return reinterpret_cast<const float*>(reinterpret_cast<const char*>(first + offset) +
                                        way * static_cast<std::uint32_t>(sizeof(float)));
}

/// Issues read r of particle i into `loaded`. Without `from_memory`, the address itself is the
/// first word, so that the arithmetic around the load keeps its place in the chain, and the other
/// words are `filler`, which the caller holds in a register.
template <class L, class Fields, bool from_memory, std::size_t r>
__device__ __forceinline__ void issue_read(float* loaded, const Arrays& arrays, std::uint32_t i,
                                           float filler) {
  constexpr Issue issue = issued<L, Fields>(r);
  if constexpr (issue.words > 0) {
    const float* at = address<L, r, issue.offset>(arrays, i);
    float* const into = loaded + issue.offset;
    if constexpr (from_memory) {
      load<Access::global_ca, 4 * issue.words>(into, at);
    } else {
      into[0] = __uint_as_float(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at)));
      for (unsigned w = 1; w < issue.words; ++w)
        into[w] = filler;
    }
  }
}

/// Which words of a particle's reads, four for each, hold wanted fields.
template <class L, class Fields>
constexpr std::array<unsigned, Fields::count> wanted_words() {
  std::array<unsigned, Fields::count> wanted{};
  unsigned next = 0;
  for (unsigned word = 0; word < 4 * L::reads.size(); ++word) {
    const int field = L::reads[word / 4].fields[word % 4];
    if (field != padding && Fields::wants(field)) wanted[next++] = word;
  }
  return wanted;
}

/// The sum of `count` wanted words, as a balanced tree.
template <class L, class Fields, unsigned first, unsigned count>
__device__ __forceinline__ float tree_sum(const float* loaded) {
  if constexpr (count == 1) {
    constexpr unsigned word = wanted_words<L, Fields>()[first];
    return loaded[word];
  } else {
    return tree_sum<L, Fields, first, count / 2>(loaded) +
           tree_sum<L, Fields, first + count / 2, count - count / 2>(loaded);
  }
}

/// The bits of (sum of the wanted fields of particle i + mantissa_bias).
template <class L, class Fields, bool from_memory>
__device__ __forceinline__ std::uint32_t read_particle_bits(const Arrays& arrays, std::uint32_t i,
                                                            float filler) {
  float loaded[4 * L::reads.size()];
  [&]<std::size_t... r>(std::index_sequence<r...>) {
    (issue_read<L, Fields, from_memory, r>(loaded + 4 * r, arrays, i, filler), ...);
  }
  (std::make_index_sequence<L::reads.size()>{});
  return __float_as_uint(tree_sum<L, Fields, 0, Fields::count>(loaded) + mantissa_bias);
}

/// The particle at `place` after the first of a group. Wanted: one LEA or IMAD, not three.
__device__ __forceinline__ std::uint32_t particle_at(std::uint32_t group, std::uint32_t place) {
  asm("mad.lo.u32 %0, %0, 4, %1;" : "+r"(group) : "r"(place));
  return group;
}

/// Where walks begin. A warp takes the next start of the SM on which it runs: nothing defines which
/// block runs on which SM, and the warps of an SM must start far apart.
struct Starts {
  const RingStart* starts;  // `warps` for the first SM, then for the next ones
  std::uint32_t* taken;     // how many of an SM's starts are taken; zero before a walk
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

/// Reads of each part: warm-up, first, second, cool-down.
struct Parts {
  static constexpr std::uint32_t count = 4;
  std::uint32_t reads[count];
};

template <class L, class Fields, bool from_memory>
__global__ void __launch_bounds__(1024)
    walk(const __grid_constant__ Arrays arrays, const __grid_constant__ Parts plan,
         const __grid_constant__ Starts starts, float filler, Stamp* stamps) {
  const std::uint32_t lane = threadIdx.x % group_size;
  const std::uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / group_size;
  Stamp* mine = stamps + warp;
  const std::uint32_t start = take_start(starts, lane);
  const RingStart from = starts.starts[start];
  std::uint32_t group = from.group << noise_bits;
  const std::uint32_t place = from.shift * group_size + lane;  // after a group's first particle
  std::uint32_t sum = 0;
  std::uint64_t cycles = 0;
  consume(group);
  if (lane == 0) {
    mine->nanoseconds[0] = global_nanoseconds();
    mine->cycles[0] = cycles_now();
  }
#pragma unroll 1
  for (std::uint32_t part = 0; part < Parts::count; ++part) {
    const std::uint32_t reads = plan.reads[part];
#pragma unroll 1
    for (std::uint32_t r = 0; r < reads; r += unroll_on_gpu) {
#pragma unroll
      for (std::uint32_t u = 0; u < unroll_on_gpu; ++u) {
        const std::uint32_t bits =
            read_particle_bits<L, Fields, from_memory>(arrays, particle_at(group, place), filler);
        sum += bits;
        group = group_in_place(bits);
      }
    }
    consume(group);  // the clock below is not read before the last group has arrived
    cycles = cycles_now();
    if (lane == 0) mine->cycles[part + 2] = cycles;
  }
  if (lane == 0) mine->nanoseconds[1] = global_nanoseconds();
  sum = warp_sum(sum * lane_weight(lane));
  if (lane == 0) {
    mine->cycles[1] = cycles;
    mine->core = sm_id();
    mine->tag = start;
    mine->result = sum;
  }
}

// Each warp follows one chain: the sum of a group's 32 particles encodes the next group. One
// loop reads all four parts, so that they run the same instructions, and the slope between the two
// timed parts contains nothing but reads.

namespace {

using Kernel = void (*)(Arrays, Parts, Starts, float, Stamp*);

/// ParticleChain::fill() on the device: on the host, a gibibyte of particles takes a second.
template <class L>
__global__ void write_particles(float* words, std::size_t n, const std::uint32_t* next,
                                std::uint32_t groups, std::uint64_t seed) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) write_particle<L>(words, i, n, next, groups, seed);
}

/// The particles of one layout at one level, on the device.
struct DataSet {
  DataSet(const std::string& layout, std::uint32_t groups, std::uint32_t spare)
      : chain{groups, seed, spare} {
    constexpr std::size_t threads = 256;
    const DeviceBuffer<std::uint32_t> next{chain.next()};
    (void)with_layout(layout, AllFields::name, [&]<class L, class Fields>() {
      words.emplace(L::words(chain.particles()));
      const auto blocks = static_cast<unsigned>((chain.particles() + threads - 1) / threads);
      write_particles<L><<<blocks, threads>>>(words->data(), chain.particles(), next.data(), groups,
                                              chain.seed());
      cuda_check(cudaGetLastError());
      cuda_check(cudaDeviceSynchronize());
      const float* const base = words->data();
      for (std::size_t r = 0; r < L::reads.size(); ++r)
        arrays.first[r] = base + L::template first_word<std::size_t>(r, 0, chain.particles());
    });
  }
  const std::vector<Ring>& rings_for(const Point& point) {
    std::vector<Ring>& kept = rings[point.cores];
    if (kept.empty()) kept = rings_of(point, chain);
    return kept;
  }
  ParticleChain chain;
  std::optional<DeviceBuffer<float>> words;
  Arrays arrays{};
  std::map<std::uint32_t, std::vector<Ring>> rings;  ///< by the number of SMs that read
};

}  // namespace

void measure(Session& session, Level level) {
  const GpuFacts gpu = session.gpu();
  Point point = point_of(session.params(), gpu.sms);
  const Level claimed = std::exchange(point.level, level);
  Kernel kernel = nullptr;
  Kernel without_loads = nullptr;
  (void)with_layout(point.layout, point.fields, [&]<class L, class Fields>() {
    kernel = walk<L, Fields, true>;
    without_loads = walk<L, Fields, false>;
  });
  const std::uint32_t blocks = point.blocks_per_sm();
  // A block takes a little shared memory even if it requests none.
  const auto reserved =
      static_cast<std::size_t>(device_attribute(cudaDevAttrReservedSharedMemoryPerBlock));
  const auto* const code = reinterpret_cast<const void*>(kernel);
  std::uint32_t resident = 0;
  for (const void* each : {reinterpret_cast<const void*>(without_loads), code})
    resident = make_room(each, point.threads, blocks, 0, reserved, gpu.shared_per_sm);
  if (resident < blocks) {
    throw Skipped{"an SM holds " + std::to_string(resident) + " blocks, not " +
                  std::to_string(blocks)};
  }
  DataSet& data = session.cache().keep<DataSet>(point.data_key(), [&] {
    return DataSet{point.layout, groups_at(level, gpu), spare_groups(level, gpu.sms)};
  });
  const auto walks = std::make_shared<const Walks>(walks_of(point, data.rings_for(point)));
  const DeviceBuffer<RingStart> starts{walks->starts()};
  DeviceBuffer<std::uint32_t> taken{point.cores};
  CudaMachine machine{session, point.all_warps()};
  const Shape shape = shape_on_gpu(point, gpu, walks->groups());
  Experiment experiment = describe(point, gpu, shape, data.chain, walks);
  const auto launch = [&](Kernel which, const Point& by, const Arrays& arrays, const Shape& now) {
    const Parts plan{{now.warmup, now.first, now.second, now.cooldown}};
    which<<<by.cores * by.blocks_per_sm(), by.threads, 0, machine.stream().get()>>>(
        arrays, plan, Starts{starts.data(), taken.data(), by.cores, by.warps},
        /*filler=*/1.0F, machine.device_stamps());
  };
  for (Slope& slope : experiment.slopes)
    slope.prepare = [&](const Call&) { taken.poison(0, machine.stream().get()); };
  experiment.slopes.front().launch = [&](const Call& call) {
    launch(without_loads, Point{}, Arrays{}, arithmetic_shape.at(call.length));
  };
  Slope& reads = experiment.slopes.back();
  reads.launch = [&](const Call& c) { launch(kernel, point, data.arrays, shape.at(c.length)); };
  reads.data = data.words->data();
  reads.bytes = data.words->size_bytes();
  experiment.counts->served_by = served_by(levels.name_of(claimed));
  experiment.kernels = {code};
  if (session.counters() == nullptr) {
    session.fact("registers_per_thread", std::int64_t{machine.code(code).registers});
  }
  strata::measure(session, machine, experiment);
}

namespace {

void run(Session& session) {
  measure(session, levels.of(session.param("residency")));
}

}  // namespace

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace strata::layout_read
