// The CUDA backend of latency_vs_footprint: latency_vs_footprint.hpp says what it asks.
//
// A kernel of one thread a block, so that nothing else is in flight on the SM. The chain is written
// by all SMs at once, each link from its number alone: 64 GiB need no walk by the host. Of a chain
// that is far larger than L2 only the links that will be loaded are written: the cycle's first
// ones, which lie anywhere in the footprint.
#include "harness/case/error.hpp"
#include "harness/measure/counted_work.hpp"
#include "micro/latency/latency_vs_footprint.hpp"
#include "micro/latency/pointer_chase.cuh"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace strata::latency_vs_footprint {
namespace {

using pointer_chase::Stamps;

constexpr double timed_cycles = 5e5;       // of a pair of walks: a quarter of a millisecond
constexpr double timed_cycles_cold = 1e6;  // loads from memory differ more: twice as many
constexpr unsigned shared_threads = 256;   // write the chain, then one of them walks

/// The global memory that a chain is walked through.
template <Space space>
__device__ __forceinline__ void load(std::uint64_t& at) {
  if constexpr (space == Space::global_ca) {
    asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));  // wanted: LDG.E.64.STRONG.SM
  } else if constexpr (space == Space::global_cg) {
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));  // wanted: LDG.E.64.STRONG.GPU
  } else if constexpr (space == Space::global_nc) {
    asm volatile("ld.global.nc.u64 %0, [%0];" : "+l"(at));  // wanted: LDG.E.64.CONSTANT
  } else {
    // The host may write at any time, so no cache of the GPU may answer. Wanted:
    // LDG.E.64.STRONG.SYS
    asm volatile("ld.volatile.global.u64 %0, [%0];" : "+l"(at));
  }
}

template <Space space>
__global__ void follow(const __grid_constant__ PermutedChain chain, std::uint64_t first,
                       std::uint64_t gap, std::uint32_t warm, std::uint32_t loads, Stamps* stamps) {
  pointer_chase::timed_walk(chain.address_at(first + blockIdx.x * gap), warm, loads,
                            stamps + blockIdx.x, [](std::uint64_t& at) { load<space>(at); });
}

/// Words are addresses in the window of shared memory, 32 bits wide, and written here, since shared
/// memory does not outlive a kernel. The chain's base is 0.
__global__ void __launch_bounds__(shared_threads)
    follow_shared(const __grid_constant__ PermutedChain chain, std::uint64_t first,
                  std::uint32_t warm, std::uint32_t loads, Stamps* stamps) {
  extern __shared__ char window[];
  const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(window));
  for (std::uint64_t i = threadIdx.x; i < chain.cycle.slots(); i += blockDim.x) {
    *reinterpret_cast<std::uint32_t*>(window + chain.address_at(i)) =
        base + static_cast<std::uint32_t>(chain.address_at(i + 1));
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const std::uint32_t begin = base + static_cast<std::uint32_t>(chain.address_at(first));
  pointer_chase::timed_walk(begin, warm, loads, stamps, [](std::uint32_t& at) {
    asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at) : : "memory");  // wanted: LDS R, [R]
  });
  stamps->end -= base;
}

constexpr std::size_t constant_words = most_constant / sizeof(std::uint32_t);
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

/// Words are indices of texture elements.
__global__ void follow_texture(cudaTextureObject_t texture, std::uint32_t begin, std::uint32_t warm,
                               std::uint32_t loads, Stamps* stamps) {
  pointer_chase::timed_walk(begin, warm, loads, stamps, [texture](std::uint32_t& at) {
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

__global__ void write_links(const __grid_constant__ PermutedChain chain, std::uint64_t links) {
  pointer_chase::write_addresses(chain, links);
}

/// The same for words that are indices of elements of 4 bytes, from `data` on. The chain's base is
/// 0.
__global__ void write_indices(const __grid_constant__ PermutedChain chain, std::uint64_t links,
                              std::uint32_t* data) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < links;
       i += step) {
    data[chain.address_at(i) / sizeof(std::uint32_t)] =
        static_cast<std::uint32_t>(chain.address_at(i + 1) / sizeof(std::uint32_t));
  }
}

__global__ void __launch_bounds__(pointer_chase::visit_threads)
    visit(const char* base, std::uint64_t step, std::uint64_t count, std::uint32_t* sink) {
  pointer_chase::visit_words(count, sink, [=](std::uint64_t i) { return base + i * step; });
}

/// Reads the chain in the order of its walk, each block the steps that come before the first one of
/// its walker, so that the walk finds what an endless one would. Walkers are `gap` steps apart;
/// what is left over where the cycle is no multiple of that, all blocks read. `data`: where the
/// window begins.
__global__ void __launch_bounds__(pointer_chase::visit_threads)
    visit_lap(const __grid_constant__ PermutedChain chain, const char* data, std::uint64_t gap,
              std::uint32_t* sink) {
  const std::uint64_t slots = chain.cycle.slots();
  const std::uint64_t count = slots - gap * (gridDim.x - 1);
  const std::uint64_t first = blockIdx.x * gap + (slots - count);
  pointer_chase::visit_words(count, sink, [&](std::uint64_t i) {
    const std::uint64_t step = first + i;
    return data + chain.address_at(step < slots ? step : step - slots);
  });
}

using Follow = void (*)(PermutedChain, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t,
                        Stamps*);

Follow global_kernel(Space space) {
  switch (space) {
    case Space::global_cg:
      return follow<Space::global_cg>;
    case Space::global_nc:
      return follow<Space::global_nc>;
    case Space::mapped:
      return follow<Space::mapped>;
    default:
      return follow<Space::global_ca>;
  }
}

const void* kernel_of(Space space) {
  switch (space) {
    case Space::shared:
      return reinterpret_cast<const void*>(follow_shared);
    case Space::constant:
      return reinterpret_cast<const void*>(follow_constant);
    case Space::texture:
      return reinterpret_cast<const void*>(follow_texture);
    default:
      return reinterpret_cast<const void*>(global_kernel(space));
  }
}

/// Page-locked host memory that kernels reach over the bus.
class MappedBuffer {
 public:
  explicit MappedBuffer(std::size_t bytes) {
    void* p = nullptr;
    cuda_check(cudaHostAlloc(&p, bytes, cudaHostAllocMapped));
    data_.reset(static_cast<char*>(p));
    cuda_check(cudaHostGetDevicePointer(&device_, p, 0));
  }
  [[nodiscard]] char* device_data() const noexcept { return static_cast<char*>(device_); }

 private:
  struct Free {
    void operator()(char* p) const noexcept { cuda_release(cudaFreeHost(p), "cudaFreeHost"); }
  };
  std::unique_ptr<char, Free> data_;
  void* device_ = nullptr;
};

/// The memory of the chains and what all of them need. A small chain stays in a small buffer: a
/// sweep of the caches takes no 64 GiB.
struct Ground {
  explicit Ground(std::uint64_t bytes) : data{bytes} { sink.poison(0, stream.get()); }
  DeviceBuffer<char> data;
  Stream stream;
  DeviceBuffer<std::uint32_t> sink{1};
};
struct MappedGround {
  MappedBuffer data{most_mapped};
  Stream stream;
};
struct OnChip {
  Stream stream;
};

/// A linear texture of 32-bit words.
class Texture {
 public:
  Texture(char* data, std::uint64_t bytes) {
    int device = 0;
    int most = 0;
    cuda_check(cudaGetDevice(&device));
    cuda_check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxTexture1DLinearWidth, device));
    if (bytes / sizeof(std::uint32_t) > static_cast<std::uint64_t>(most)) {
      throw Skipped{"a texture has at most " + std::to_string(most) + " elements here"};
    }
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = data;
    resource.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindUnsigned);
    resource.res.linear.sizeInBytes = bytes;
    cudaTextureDesc how{};
    how.readMode = cudaReadModeElementType;
    cuda_check(cudaCreateTextureObject(&object_, &resource, &how, nullptr));
  }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;
  Texture(Texture&&) = delete;
  Texture& operator=(Texture&&) = delete;
  ~Texture() { cuda_release(cudaDestroyTextureObject(object_), "cudaDestroyTextureObject"); }
  [[nodiscard]] cudaTextureObject_t get() const noexcept { return object_; }

 private:
  cudaTextureObject_t object_ = 0;
};

std::uint64_t number(const Facts& facts, const char* name) {
  return static_cast<std::uint64_t>(std::get<std::int64_t>(facts.at(name)));
}

/// What the words of each kind of chain hold: addresses as they are, or indices.
std::uint64_t address_word(const PermutedChain& chain, std::uint64_t step) {
  return chain.address_at(step);
}
std::uint64_t index_word(const PermutedChain& chain, std::uint64_t step) {
  return chain.address_at(step) / sizeof(std::uint32_t);
}

/// A case as its parameters have it.
struct Place {
  Space space;
  std::uint64_t footprint;
  PermutedChain chain;
  unsigned cores;
  Preparation preparation;
};

void gates_of_code(Session& session, Space space) {
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, kernel_of(space)));
  session.add(spill_gate(attributes.localSizeBytes, attributes.numRegs));
}

/// Counts a walk through global memory: what it asked for exactly, and who answered.
template <class Chase, class Settle>
void count_walk(Session& session, Chase& chase, const Place& place, Settle&& settle) {
  constexpr std::uint32_t loads = 2048;
  chase.warm_loads(place.preparation.warm_loads);
  const Counted counted = count(session, {.prepare =
                                              [&] {
                                                settle();
                                                chase.poison();
                                              },
                                          .work = [&] { chase.launch_from_start(loads); },
                                          .overhead = [&] { chase.launch_from_start(0); }});
  const LoadCounts net = load_counts(counted.whole) - load_counts(counted.overhead);
  const double sectors_of_miss = sectors_of_l2_miss(session.device().identity().facts);
  pointer_chase::report_counts(session, net, std::uint64_t{loads} * place.cores, sectors_of_miss);
  session.add(level_of_chase(place.space, net, sectors_of_miss));
  chase.check_from_start(loads);
  session.add(chase.result());
}

/// Adds what the footprint is beside the sizes that the driver reports, and whether a lap was
/// walked.
void relate(Session& session, const Place& place) {
  const Facts& facts = session.device().identity().facts;
  const auto add = [&](const char* quantity, const char* method, double value) {
    session.add(Measurement{.quantity = quantity,
                            .unit = "1",
                            .provenance = Provenance::modelled,
                            .method = method,
                            .samples = {value}});
  };
  const auto bytes = static_cast<double>(place.footprint);
  add("footprint_over_l2", "driver", bytes / static_cast<double>(number(facts, "l2_bytes")));
  add("footprint_over_shared_memory", "driver",
      bytes / static_cast<double>(number(facts, "shared_bytes_per_sm")));
  add("walked_before", "preparation", place.preparation.cold ? 0 : 1);
}

/// Times a chase whose chain is there and whose caches are settled.
template <class Chase>
void time_walk(Session& session, Chase& chase, const Place& place) {
  constexpr std::uint32_t pilot = 256;
  chase.size_walks(place.preparation.warm_loads, pilot,
                   place.preparation.cold ? timed_cycles_cold : timed_cycles);
  const auto seen = collect(chase, session.plan());
  pointer_chase::report(session, seen, place.cores, {});
  if (is_global(place.space) || place.space == Space::texture) relate(session, place);
  session.add(chase.result());
  if (place.space == Space::mapped) session.add(repeat_unverified());
  if (place.cores > 1) session.add(chase.placement(place.cores));
  gates_of_code(session, place.space);
  session.add(level_unverified(is_global(place.space)
                                   ? session.counting_note()
                                   : "no counter tells the levels of such loads apart"));
  session.fact("slots", static_cast<std::int64_t>(place.chain.cycle.slots()));
  session.fact("links", static_cast<std::int64_t>(place.preparation.links));
  session.fact("loads", static_cast<std::int64_t>(chase.loads().full));
  session.fact("warm_loads", static_cast<std::int64_t>(chase.loads().warm));
  session.fact("starts_from", std::string{to_string(place.space, place.preparation)});
  if (place.cores == 1) session.fact("sm", static_cast<std::int64_t>(chase.first_sm()));
}

/// The largest L1 that the SM offers: shared memory is not used.
void prefer_l1(Space space) {
  cuda_check(cudaFuncSetAttribute(kernel_of(space), cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxL1));
}

/// The buffer for a footprint, as small as serves.
Ground& ground_for(Session& session, std::uint64_t footprint) {
  constexpr std::uint64_t small = std::uint64_t{1} << 30U;
  (void)session.cache().shared<Eviction>();  // before the free memory is asked for
  const auto make = [&](const std::string& size, std::uint64_t bytes) -> Ground& {
    return session.cache().keep<Ground>("latency_vs_footprint/" + size, [&] {
      const std::uint64_t room = pointer_chase::free_bytes_to_use();
      if (std::min(footprint, bytes) > room) {
        throw Skipped{pointer_chase::bytes_text(footprint) + " are more than 80 % of the " +
                      "memory that is free (" + pointer_chase::bytes_text(room) + ")"};
      }
      return Ground{std::min(bytes, room)};
    });
  };
  Ground& ground = footprint <= small ? make("small", small) : make("large", most_footprint);
  if (footprint > ground.data.size_bytes()) {
    throw Skipped{pointer_chase::bytes_text(footprint) +
                  " are more than 80 % of the memory that was free (" +
                  pointer_chase::bytes_text(ground.data.size_bytes()) + ")"};
  }
  return ground;
}

void walk_device_memory(Session& session, Place& place) {
  const Space space = place.space;
  const Eviction& eviction = session.cache().shared<Eviction>();
  Ground& ground = ground_for(session, place.footprint);
  const cudaStream_t stream = ground.stream.get();
  char* const data = ground.data.data();
  prefer_l1(space);
  std::unique_ptr<Texture> texture;
  if (space == Space::texture) {
    texture = std::make_unique<Texture>(data, place.footprint);
  } else {
    place.chain.base = reinterpret_cast<std::uintptr_t>(data);
  }
  const PermutedChain chain = place.chain;
  const std::uint64_t links = place.preparation.links;
  const unsigned cores = place.cores;

  const auto write = [&] {
    using pointer_chase::write_blocks;
    using pointer_chase::write_threads;
    if (space == Space::texture) {
      write_indices<<<write_blocks, write_threads, 0, stream>>>(
          chain, links, reinterpret_cast<std::uint32_t*>(data));
    } else {
      write_links<<<write_blocks, write_threads, 0, stream>>>(chain, links);
    }
    cuda_check(cudaGetLastError());
  };
  // By the SMs that will walk.
  const auto visit_pages = [&] {
    const std::uint64_t step = std::min(pointer_chase::page_bytes, place.footprint);
    visit<<<cores, pointer_chase::visit_threads, 0, stream>>>(
        data, step, (place.footprint + step - 1) / step, ground.sink.data());
    cuda_check(cudaGetLastError());
  };
  const auto visit_chain = [&] {
    const char* const window = space == Space::texture ? data : nullptr;
    visit_lap<<<cores, pointer_chase::visit_threads, 0, stream>>>(
        chain, window, chain.cycle.slots() / cores, ground.sink.data());
    cuda_check(cudaGetLastError());
  };
  const auto ready = [&] {
    if (!place.preparation.cold) return;
    eviction.evict(stream);
    visit_pages();
  };
  const auto settle = [&] {
    write();
    eviction.evict(stream);  // writes back what was written
    if (place.preparation.cold) {
      visit_pages();
      return;
    }
    // From an empty cache, and again from what one lap leaves behind, as an endless walk would.
    visit_chain();
    visit_chain();
  };
  const auto launch = [&](std::uint64_t first, std::uint64_t gap, std::uint32_t warm,
                          std::uint32_t loads, Stamps* stamps, cudaStream_t on) {
    if (space == Space::texture) {
      follow_texture<<<1, 1, 0, on>>>(texture->get(),
                                      static_cast<std::uint32_t>(index_word(chain, first)), warm,
                                      loads, stamps);
    } else {
      global_kernel(space)<<<cores, 1, 0, on>>>(chain, first, gap, warm, loads, stamps);
    }
  };
  pointer_chase::Chase<decltype(launch), decltype(ready)> chase{
      chain,         space == Space::texture ? index_word : address_word,
      links,         cores,
      ground.stream, launch,
      ready};
  if (session.counters() != nullptr) {
    count_walk(session, chase, place, settle);
    return;
  }
  settle();
  time_walk(session, chase, place);
}

void walk_host_memory(Session& session, Place& place) {
  MappedGround& ground = session.cache().keep<MappedGround>("latency_vs_footprint/mapped",
                                                            [] { return MappedGround{}; });
  place.chain.base = reinterpret_cast<std::uintptr_t>(ground.data.device_data());
  const PermutedChain chain = place.chain;
  write_links<<<pointer_chase::write_blocks, pointer_chase::write_threads, 0,
                ground.stream.get()>>>(chain, place.preparation.links);
  cuda_check(cudaGetLastError());
  const auto launch = [&](std::uint64_t first, std::uint64_t gap, std::uint32_t warm,
                          std::uint32_t loads, Stamps* stamps, cudaStream_t on) {
    follow<Space::mapped><<<1, 1, 0, on>>>(chain, first, gap, warm, loads, stamps);
  };
  const auto ready = [] {};
  pointer_chase::Chase<decltype(launch), decltype(ready)> chase{
      chain, address_word, place.preparation.links, 1, ground.stream, launch, ready};
  time_walk(session, chase, place);
}

void walk_on_chip(Session& session, Place& place) {
  const Space space = place.space;
  OnChip& tools =
      session.cache().keep<OnChip>("latency_vs_footprint/on_chip", [] { return OnChip{}; });
  const PermutedChain chain = place.chain;
  const auto bytes = static_cast<unsigned>(place.footprint);
  if (space == Space::shared) {
    const auto most = number(session.device().identity().facts, "shared_bytes_per_block_optin");
    if (place.footprint > most) {
      throw Skipped{"a block has at most " + std::to_string(most) + " bytes of shared memory here"};
    }
    cuda_check(cudaFuncSetAttribute(follow_shared, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(most)));
  } else {
    std::vector<std::uint32_t> words(constant_words, 0x9E3779B9U);
    for (std::uint64_t step = 0; step < chain.cycle.slots(); ++step) {
      words[index_word(chain, step)] = static_cast<std::uint32_t>(chain.address_at(step + 1));
    }
    cuda_check(cudaMemcpyToSymbol(table, words.data(), most_constant));
    cuda_check(cudaDeviceSynchronize());
  }
  const auto launch = [&](std::uint64_t first, std::uint64_t /*gap*/, std::uint32_t warm,
                          std::uint32_t loads, Stamps* stamps, cudaStream_t on) {
    if (space == Space::shared) {
      follow_shared<<<1, shared_threads, bytes, on>>>(chain, first, warm, loads, stamps);
    } else {
      follow_constant<<<1, 1, 0, on>>>(static_cast<std::uint32_t>(chain.address_at(first)), warm,
                                       loads, stamps);
    }
  };
  const auto ready = [] {};
  pointer_chase::Chase<decltype(launch), decltype(ready)> chase{
      chain, address_word, place.preparation.links, 1, tools.stream, launch, ready};
  time_walk(session, chase, place);
}

void run(Session& session) {
  const Facts& facts = session.device().identity().facts;
  const auto space = space_from(session.param("space")).value();
  if (session.counters() != nullptr && !is_global(space)) {
    throw Skipped{"no counter of set memory sees such loads"};
  }
  const auto footprint = static_cast<std::uint64_t>(session.whole("footprint"));
  const auto stride = static_cast<std::uint64_t>(session.whole("stride"));
  const std::uint64_t slots = footprint / stride;
  const auto cores =
      session.param("cores") == "one" ? 1U : static_cast<unsigned>(number(facts, "sm_count"));
  Place place{
      .space = space,
      .footprint = footprint,
      .chain = {.cycle = PermutedCycle{slots, /*seed=*/2009}, .base = 0, .stride = stride},
      .cores = cores,
      .preparation = preparation_for(space, footprint, slots, number(facts, "l2_bytes"), cores)};
  switch (space) {
    case Space::shared:
    case Space::constant:
      return walk_on_chip(session, place);
    case Space::mapped:
      return walk_host_memory(session, place);
    default:
      return walk_device_memory(session, place);
  }
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::latency_vs_footprint
