#include "micro/latency/latency_vs_footprint.hpp"

#ifdef __CUDACC__
#include "micro/latency/pointer_chase.cuh"
#endif

namespace strata::latency_vs_footprint {

/// A case on a GPU.
struct Setup {
  Space space{};
  std::uint64_t footprint = 0;
  PermutedChain chain;  ///< from address 0 on
  unsigned cores = 1;   ///< that walk
  Preparation preparation;
};

namespace {

Preparation preparation_for(Space space, std::uint64_t footprint, std::uint64_t slots,
                            std::uint64_t l2_bytes, std::uint64_t cores) {
  // A cache with random replacement keeps one in fifty lines of a walk over four times its size.
  constexpr std::uint64_t caches = 4;
  constexpr std::uint64_t l1_bytes = 256U << 10U;  // no SM has more to date
  constexpr std::uint64_t most_warm = 8192;        // a walk of two million cycles
  constexpr std::uint32_t few_warm = 64;
  // Enough that every sample of a case can continue where the last one ended.
  constexpr std::uint64_t links_of_one = 1U << 17U;
  constexpr std::uint64_t links_of_each = 1U << 13U;
  constexpr std::uint64_t links_of_mapped = 1U << 18U;

  Preparation result{.links = slots, .warm_loads = few_warm, .cold = false};
  if (space == Space::mapped) result.links = std::min(slots, links_of_mapped);
  if (space == Space::mapped || space == Space::shared) return result;
  if (footprint <= caches * l1_bytes && slots <= most_warm && space != Space::global_cg) {
    result.warm_loads = std::max(pointer_chase::in_whole_turns(slots), few_warm);
  }
  result.cold = footprint > caches * l2_bytes;
  if (result.cold) {
    result.links = std::min(slots, cores == 1 ? links_of_one : cores * links_of_each);
  }
  return result;
}

Setup setup_for(const Params& params, const GpuFacts& gpu) {
  const Space space = spaces.of(params.at("space"));
  const auto stride = number_of<std::uint64_t>(params, "stride");
  const auto footprint = number_of<std::uint64_t>(params, "footprint");
  const std::uint64_t slots = footprint / stride;
  const unsigned cores = params.at("cores") == "one" ? 1 : gpu.sms;
  return {.space = space,
          .footprint = footprint,
          .chain = {.cycle = PermutedCycle{slots, /*seed=*/2009}, .base = 0, .stride = stride},
          .cores = cores,
          .preparation = preparation_for(space, footprint, slots, gpu.l2_bytes, cores)};
}

/// The setup must live as long as the chase.
pointer_chase::Chase chase_of(const Setup& setup) {
  const std::uint64_t unit = setup.space == Space::texture ? sizeof(std::uint32_t) : 1;
  return {.word_at =
              [&setup, unit](std::uint64_t step) {
                // For a texture, the index of an element.
                return setup.chain.address_at(step) / unit;
              },
          .walks = {setup.chain.cycle.slots(), setup.preparation.links, setup.cores},
          .walkers = setup.cores,
          .warm = setup.preparation.warm_loads};
}

Experiment describe(pointer_chase::Chase& chase, const Setup& setup, const GpuFacts& gpu) {
  // Loads from memory vary more, so twice as many are timed.
  Experiment experiment =
      pointer_chase::describe(chase, {.cycles = setup.preparation.cold ? 1e6 : 5e5});
  const Space space = setup.space;
  if (is_global(space) || space == Space::texture) {
    constexpr auto modelled = Provenance::modelled;
    const auto over = [&](std::uint64_t bytes) {
      return static_cast<double>(setup.footprint) / static_cast<double>(bytes);
    };
    experiment.constants = {
        {"footprint_over_l2", "1", modelled, "driver", over(gpu.l2_bytes)},
        {"footprint_over_shared_memory", "1", modelled, "driver", over(gpu.shared_per_sm)},
        {"walked_before", "1", modelled, "preparation", setup.preparation.cold ? 0.0 : 1.0}};
  }
  experiment.partly_host_time = space == Space::mapped;
  if (setup.cores > 1) experiment.placement = Placement{.cores = setup.cores};
  experiment.unproved.gate = "level";
  if (is_global(space)) {
    const std::uint64_t fetched =
        std::max<std::uint64_t>(1, gpu.l2_fetch_granularity.value_or(0) / sector_bytes);
    // With so many loads, bytes that others read from memory meanwhile carry little weight.
    constexpr std::uint32_t loads_in_all = 1U << 13U;
    const std::uint32_t loads = std::max(loads_in_all / setup.cores, 1U << 11U);
    experiment.counts = pointer_chase::counts_of(chase, loads, fetched);
    experiment.counts->any_level = true;
    experiment.counts->past_l1 = space == Space::global_cg;
  } else {
    experiment.not_counted = "the memory set has no counter for such loads";
    experiment.unproved.why = "no counter distinguishes the levels of such loads";
  }
  experiment.facts = [&setup, base = experiment.facts](const Experiment& done) {
    Facts facts = base(done);
    facts["links"] = static_cast<std::int64_t>(setup.preparation.links);
    facts["starts_from"] = std::string{to_string(setup.space, setup.preparation)};
    return facts;
  };
  return experiment;
}

Experiment describe(const Params& params, const GpuFacts& gpu) {
  const auto setup = std::make_shared<const Setup>(setup_for(params, gpu));
  const auto chase = std::make_shared<pointer_chase::Chase>(chase_of(*setup));
  return owning(setup, owning(chase, describe(*chase, *setup, gpu)));
}

#ifdef __CUDACC__

// A kernel with one thread per block, so that nothing else is in flight on the SM. All SMs write
// the chain at once, each link from its number alone: the host need not walk 64 GiB.

using pointer_chase::ChainMemory;
using pointer_chase::timed_walk;
using pointer_chase::write_links;

constexpr unsigned shared_threads = 256;  // they write the chain, then one of them walks it

/// Mapped memory belongs to the host, which may write at any time: no GPU cache may serve it.
constexpr Access access_of(Space space) {
  if (space == Space::global_cg) return Access::global_cg;
  if (space == Space::global_nc) return Access::global_nc;
  return space == Space::mapped ? Access::global_volatile : Access::global_ca;
}

template <Space space>
__global__ void follow(const __grid_constant__ PermutedChain chain, std::uint64_t first,
                       std::uint64_t gap, std::uint32_t warm, std::uint32_t loads, Stamp* stamps) {
  timed_walk(chain.address_at(first + blockIdx.x * gap), warm, loads, stamps + blockIdx.x,
             [](std::uint64_t& at) { strata::follow<access_of(space)>(at); });
}

/// Words are 32-bit addresses, written by this kernel, because shared memory does not outlive a
/// kernel. Base: 0.
__global__ void __launch_bounds__(shared_threads)
    follow_shared(const __grid_constant__ PermutedChain chain, std::uint64_t first,
                  std::uint32_t warm, std::uint32_t loads, Stamp* stamps) {
  extern __shared__ char window[];
  const auto base = shared_address(window);
  for (std::uint64_t i = threadIdx.x; i < chain.cycle.slots(); i += blockDim.x) {
    *reinterpret_cast<std::uint32_t*>(window + chain.address_at(i)) =
        base + static_cast<std::uint32_t>(chain.address_at(i + 1));
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const std::uint32_t begin = base + static_cast<std::uint32_t>(chain.address_at(first));
  timed_walk(
      begin, warm, loads, stamps, [](std::uint32_t& at) { strata::follow<Access::shared>(at); },
      base);
}

constexpr std::size_t constant_words = most_constant / sizeof(std::uint32_t);
__constant__ std::uint32_t table[constant_words];

/// Words are byte offsets into the table, to which the load itself adds the table's address.
__global__ void follow_constant(std::uint32_t begin, std::uint32_t warm, std::uint32_t loads,
                                Stamp* stamps) {
  timed_walk(begin, warm, loads, stamps, [](std::uint32_t& at) { at = load_constant(table, at); });
}

/// Words are indices of texture elements.
__global__ void follow_texture(cudaTextureObject_t texture, std::uint32_t begin, std::uint32_t warm,
                               std::uint32_t loads, Stamp* stamps) {
  timed_walk(begin, warm, loads, stamps, [texture](std::uint32_t& at) {
    std::uint32_t unused;
    // Wanted: TLD with one component.
    asm volatile(
        "{ .reg .b32 g, b, a;\n\t"
        "tex.1d.v4.u32.s32 {%0, g, b, a}, [%1, {%2}]; }"
        : "=r"(unused)
        : "l"(texture), "r"(at));
    at = unused;
  });
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  const Space space = spaces.of(session.param("space"));
  Setup setup = setup_for(session.params(), gpu);
  const std::uint64_t links = setup.preparation.links;
  pointer_chase::Chase chase = chase_of(setup);
  Experiment experiment = describe(chase, setup, gpu);
  require_timed(session, experiment);
  CudaMachine machine{session, setup.cores};
  const cudaStream_t stream = machine.stream().get();
  const void* kernel = nullptr;
  ChainMemory* memory = nullptr;
  WordTexture texture;
  Slope& slope = experiment.slopes[0];
  if (space == Space::shared) {
    if (setup.footprint > gpu.shared_per_block) {
      throw Skipped{"a block has at most " + std::to_string(gpu.shared_per_block) +
                    " bytes of shared memory here"};
    }
    kernel = reinterpret_cast<const void*>(follow_shared);
    allow_shared_bytes(kernel, gpu.shared_per_block);
    slope.launch = [&](const Call& call) {
      follow_shared<<<1, shared_threads, setup.footprint, stream>>>(
          setup.chain, chase.first, chase.warm, call.length.rounds, machine.device_stamps());
    };
  } else if (space == Space::constant) {
    kernel = reinterpret_cast<const void*>(follow_constant);
    const auto words = pointer_chase::words_of(setup.chain, constant_words);
    cuda_check(cudaMemcpyToSymbol(table, words.data(), most_constant));
    cuda_check(cudaDeviceSynchronize());
    slope.launch = [&](const Call& call) {
      follow_constant<<<1, 1, 0, stream>>>(static_cast<std::uint32_t>(chase.begin), chase.warm,
                                           call.length.rounds, machine.device_stamps());
    };
  } else if (space == Space::texture) {
    kernel = reinterpret_cast<const void*>(follow_texture);
    slope.launch = [&](const Call& call) {
      follow_texture<<<1, 1, 0, stream>>>(texture.object, static_cast<std::uint32_t>(chase.begin),
                                          chase.warm, call.length.rounds, machine.device_stamps());
    };
  } else {
    auto* const walk =
        with_value<Space::global_ca, Space::global_cg, Space::global_nc, Space::mapped>(
            space, [&]<Space one>() { return &follow<one>; });
    kernel = reinterpret_cast<const void*>(walk);
    slope.launch = [&, walk](const Call& call) {
      walk<<<setup.cores, 1, 0, stream>>>(setup.chain, chase.first, chase.walks.gap(), chase.warm,
                                          call.length.rounds, machine.device_stamps());
    };
  }
  if (space == Space::mapped) {
    const auto& mapped = session.cache().keep<PinnedBuffer<char>>(
        "latency_vs_footprint/mapped", [] { return PinnedBuffer<char>{most_mapped}; });
    setup.chain.base = reinterpret_cast<std::uintptr_t>(mapped.data());
    write_links(setup.chain, links, stream);
  } else if (is_global(space) || space == Space::texture) {
    run_untimed(machine, Start::evicted, [] {});  // first: the sweep allocates memory
    // A sweep of the caches does not need 64 GiB.
    memory = &pointer_chase::memory_for(session, "latency_vs_footprint", setup.footprint,
                                        std::uint64_t{1} << 30U, most_footprint);
    prefer_l1(kernel);
    if (space == Space::texture) {
      texture = word_texture(memory->plain->data(), setup.footprint);
    } else {
      setup.chain.base = memory->address();
    }
  }

  // From an empty cache: every page, or two laps. An endless walk finds what one lap leaves in the
  // caches.
  const auto visit = [&] {
    if (setup.preparation.cold) {
      pointer_chase::visit_pages(*memory, setup.footprint, setup.cores, stream);
      return;
    }
    PermutedChain chain = setup.chain;
    chain.base = memory->address();
    for (int lap = 0; lap < 2; ++lap)
      pointer_chase::visit_lap(*memory, chain, setup.cores, stream);
  };
  const auto settle = [&] {
    if (space == Space::texture) {
      pointer_chase::write_indices(setup.chain, links, memory->address(), stream);
    } else {
      write_links(setup.chain, links, stream);
    }
    run_untimed(machine, Start::evicted, visit);  // writes back dirty lines
  };
  if (setup.preparation.cold) {
    slope.prepare = [&](const Call& call) {
      chase.go_on(call);
      run_untimed(machine, Start::evicted, visit);
    };
  }
  experiment.kernels = {kernel};
  if (experiment.counts) {
    experiment.counts->prepare = [&](const Call&) {
      chase.begin_at(0);
      settle();
    };
  }
  if (memory != nullptr && session.counters() == nullptr) settle();
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::latency_vs_footprint
