// The CUDA backend of tlb: tlb.hpp says what it asks.
#include "harness/case/error.hpp"
#include "harness/cuda/driver.hpp"
#include "harness/measure/counted_loads.hpp"
#include "harness/measure/counted_work.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/record/gates.hpp"
#include "micro/latency/pointer_chase.cuh"
#include "micro/latency/tlb.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace strata::tlb {
namespace {

using pointer_chase::Stamps;

constexpr double timed_cycles = 5e5;  // of a pair of walks: a quarter of a millisecond

__global__ void follow(const __grid_constant__ PermutedChain chain, std::uint64_t first,
                       std::uint32_t warm, std::uint32_t loads, Stamps* stamps) {
  pointer_chase::timed_walk(chain.address_at(first), warm, loads, stamps, [](std::uint64_t& at) {
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));  // wanted: LDG.E.64.STRONG.GPU
  });
}

__global__ void write_links(const __grid_constant__ PermutedChain chain, std::uint64_t links) {
  pointer_chase::write_addresses(chain, links);
}

/// Reads the word of every slot: one block, so that it is the walking SM that does it.
__global__ void __launch_bounds__(pointer_chase::visit_threads)
    visit(const __grid_constant__ PermutedChain chain, std::uint32_t* sink) {
  pointer_chase::visit_words(chain.cycle.slots(), sink,
                             [&](std::uint64_t slot) { return chain.address_of(slot); });
}

/// The driver's functions for memory that is mapped by hand.
struct VirtualMemory {
  decltype(&cuMemGetAllocationGranularity) granularity =
      driver_function<decltype(&cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity",
                                                                since);
  decltype(&cuMemCreate) create = driver_function<decltype(&cuMemCreate)>("cuMemCreate", since);
  decltype(&cuMemRelease) release = driver_function<decltype(&cuMemRelease)>("cuMemRelease", since);
  decltype(&cuMemAddressReserve) reserve =
      driver_function<decltype(&cuMemAddressReserve)>("cuMemAddressReserve", since);
  decltype(&cuMemAddressFree) unreserve =
      driver_function<decltype(&cuMemAddressFree)>("cuMemAddressFree", since);
  decltype(&cuMemMap) map = driver_function<decltype(&cuMemMap)>("cuMemMap", since);
  decltype(&cuMemUnmap) unmap = driver_function<decltype(&cuMemUnmap)>("cuMemUnmap", since);
  decltype(&cuMemSetAccess) allow =
      driver_function<decltype(&cuMemSetAccess)>("cuMemSetAccess", since);

  [[nodiscard]] bool complete() const {
    return granularity != nullptr && create != nullptr && release != nullptr &&
           reserve != nullptr && unreserve != nullptr && map != nullptr && unmap != nullptr &&
           allow != nullptr;
  }

 private:
  static constexpr unsigned since = 10020;
};

CUmemAllocationProp device_memory() {
  int device = 0;
  cuda_check(cudaGetDevice(&device));
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  return properties;
}

/// Bytes that the driver hands out at least, or would rather; 0 where it does not say.
std::uint64_t granularity_of(const VirtualMemory& driver, CUmemAllocationGranularity_flags which) {
  const CUmemAllocationProp properties = device_memory();
  std::size_t bytes = 0;
  if (driver.granularity == nullptr ||
      driver.granularity(&bytes, &properties, which) != CUDA_SUCCESS) {
    return 0;
  }
  return bytes;
}

/// One piece of device memory, mapped by hand at one range of addresses.
class MappedMemory {
 public:
  /// Throws Skipped where the driver cannot, or does not.
  explicit MappedMemory(std::uint64_t bytes) {
    if (!driver_.complete()) throw Skipped{"the driver cannot map memory by hand"};
    const std::uint64_t unit = granularity_of(driver_, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    if (unit == 0) throw Skipped{"the driver names no granularity of memory"};
    const std::uint64_t size = bytes / unit * unit;
    const CUmemAllocationProp properties = device_memory();
    need(driver_.create(&handle_, size, &properties, 0), "cuMemCreate");
    has_handle_ = true;
    // What was done so far is undone when something fails: a constructor that throws has no
    // destructor.
    try {
      need(driver_.reserve(&address_, size, unit, 0, 0), "cuMemAddressReserve");
      reserved_ = size;
      need(driver_.map(address_, size, 0, handle_, 0), "cuMemMap");
      mapped_ = size;
      CUmemAccessDesc access{};
      access.location = properties.location;
      access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
      need(driver_.allow(address_, size, &access, 1), "cuMemSetAccess");
    } catch (...) {
      undo();
      throw;
    }
  }
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;
  MappedMemory(MappedMemory&&) = delete;
  MappedMemory& operator=(MappedMemory&&) = delete;
  ~MappedMemory() {
    (void)cudaDeviceSynchronize();  // nothing may still read what is unmapped
    undo();
  }

  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return mapped_; }

 private:
  static void need(CUresult status, const char* call) {
    if (status == CUDA_SUCCESS) return;
    throw Skipped{std::string{call} + " failed with error " + std::to_string(status)};
  }
  void undo() noexcept {
    if (mapped_ != 0) (void)driver_.unmap(address_, mapped_);
    if (reserved_ != 0) (void)driver_.unreserve(address_, reserved_);
    if (has_handle_) (void)driver_.release(handle_);
  }

  VirtualMemory driver_;
  CUmemGenericAllocationHandle handle_ = 0;
  CUdeviceptr address_ = 0;
  std::uint64_t reserved_ = 0;
  std::uint64_t mapped_ = 0;
  bool has_handle_ = false;
};

/// The memory of the chains, from one allocation, and what all of them need.
struct Ground {
  std::unique_ptr<DeviceBuffer<char>> plain;
  std::unique_ptr<MappedMemory> mapped;
  Stream stream;
  DeviceBuffer<std::uint32_t> sink{1};

  [[nodiscard]] std::uint64_t address() const {
    return mapped ? mapped->address() : reinterpret_cast<std::uintptr_t>(plain->data());
  }
  [[nodiscard]] std::uint64_t size() const { return mapped ? mapped->size() : plain->size(); }
};

Ground make_ground(const std::string& allocation, std::uint64_t bytes) {
  Ground ground;
  ground.sink.poison(0, ground.stream.get());
  if (allocation == "vmm") {
    ground.mapped = std::make_unique<MappedMemory>(bytes);
  } else {
    ground.plain = std::make_unique<DeviceBuffer<char>>(bytes);
  }
  return ground;
}

/// A ground with room for `footprint`, as small as serves.
Ground& ground_for(Session& session, std::uint64_t footprint) {
  constexpr std::uint64_t small = std::uint64_t{4} << 30U;
  const std::string& allocation = session.param("allocation");
  const bool is_small = footprint <= small;
  const std::string key = "tlb/" + allocation + (is_small ? "/small" : "/large");
  Ground& ground = session.cache().keep<Ground>(key, [&] {
    return make_ground(allocation, std::min(is_small ? small : most_footprint,
                                            pointer_chase::free_bytes_to_use()));
  });
  if (footprint > ground.size()) {
    throw Skipped{pointer_chase::bytes_text(footprint) +
                  " are more than 80 % of the memory that was free (" +
                  pointer_chase::bytes_text(ground.size()) + ")"};
  }
  return ground;
}

std::uint64_t address_word(const PermutedChain& chain, std::uint64_t step) {
  return chain.address_at(step);
}

void run(Session& session) {
  const auto footprint = static_cast<std::uint64_t>(session.whole("footprint"));
  const auto stride = static_cast<std::uint64_t>(session.whole("stride"));
  const std::uint64_t slots = footprint / stride;
  Ground& ground = ground_for(session, footprint);
  const PermutedChain chain{.cycle = PermutedCycle{slots, /*seed=*/2009},
                            .base = ground.address(),
                            .stride = stride,
                            .lines = stride / PermutedChain::line_bytes};
  const cudaStream_t stream = ground.stream.get();
  const auto ready = [&] {
    visit<<<1, pointer_chase::visit_threads, 0, stream>>>(chain, ground.sink.data());
    cuda_check(cudaGetLastError());
  };
  const auto write = [&] {
    write_links<<<pointer_chase::write_blocks, pointer_chase::write_threads, 0, stream>>>(chain,
                                                                                          slots);
    cuda_check(cudaGetLastError());
  };
  const auto launch = [&](std::uint64_t first, std::uint64_t /*gap*/, std::uint32_t warm,
                          std::uint32_t loads, Stamps* stamps, cudaStream_t on) {
    follow<<<1, 1, 0, on>>>(chain, first, warm, loads, stamps);
  };
  pointer_chase::Chase<decltype(launch), decltype(ready)> chase{
      chain, address_word, slots, 1, ground.stream, launch, ready};
  const std::uint32_t warm = warm_loads_for(slots);
  if (session.counters() != nullptr) {
    constexpr std::uint32_t loads = 2048;
    chase.warm_loads(warm);
    const Counted counted = count(session, {.prepare =
                                                [&] {
                                                  write();
                                                  ready();
                                                  chase.poison();
                                                },
                                            .work = [&] { chase.launch_from_start(loads); },
                                            .overhead = [&] { chase.launch_from_start(0); }});
    LoadCounts net = load_counts(counted.whole) - load_counts(counted.overhead);
    pointer_chase::report_counts(session, net, loads);
    // Page tables may be read from memory: that is what is asked here, and no proof against L2.
    net.dram_bytes.reset();
    session.add(level_gate(ServedBy::l2,
                           {.requests = loads, .sectors = loads, .repeated_sectors = 0}, net));
    chase.check_from_start(loads);
    session.add(chase.result());
    return;
  }
  write();
  constexpr std::uint32_t pilot = 256;
  chase.size_walks(warm, pilot, timed_cycles);
  const auto seen = collect(chase, session.plan());
  pointer_chase::report(session, seen, 1, {});
  session.add(chase.result());
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, follow));
  session.add(spill_gate(attributes.localSizeBytes, attributes.numRegs));
  session.add(level_unverified(session.counting_note()));
  const VirtualMemory driver;
  const auto granularity = [&](const char* name, CUmemAllocationGranularity_flags which) {
    if (const auto bytes = granularity_of(driver, which); bytes != 0) {
      session.fact(name, static_cast<std::int64_t>(bytes));
    }
  };
  granularity("granularity_minimum_bytes", CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  granularity("granularity_recommended_bytes", CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  session.fact("slots", static_cast<std::int64_t>(slots));
  session.fact("loads", static_cast<std::int64_t>(chase.loads().full));
  session.fact("warm_loads", static_cast<std::int64_t>(chase.loads().warm));
  session.fact("sm", static_cast<std::int64_t>(chase.first_sm()));
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::tlb
