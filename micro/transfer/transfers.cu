// The CUDA backend of transfers: transfers.hpp says what it asks.
//
// Everything that a transfer needs is allocated and filled before, the target is poisoned before
// each sample, and each word of it is checked after each sample.
#include "harness/case/error.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/gates.hpp"
#include "micro/pattern/scattered_pieces.hpp"
#include "micro/transfer/copy_timer.cuh"
#include "micro/transfer/transfers.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace strata::transfers {
namespace {

constexpr unsigned threads = 256;
constexpr unsigned blocks_per_sm = 2;  // two such kernels are at work at once where both go
constexpr std::uint32_t poison = 0xA5A5A5A5U;
constexpr int poison_byte = 0xA5;

/// Copies `count` elements, four of each thread in flight. Wanted: LDG.E.128 and STG.E.128 where an
/// element is 16 bytes.
template <class Element>
__global__ void __launch_bounds__(threads)
    carry(const Element* from, Element* to, std::uint64_t count) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * threads;
  std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
#pragma unroll 1
  for (; i + 3 * step < count; i += 4 * step) {
    const Element a = from[i];
    const Element b = from[i + step];
    const Element c = from[i + 2 * step];
    const Element d = from[i + 3 * step];
    to[i] = a;
    to[i + step] = b;
    to[i + 2 * step] = c;
    to[i + 3 * step] = d;
  }
#pragma unroll 1
  for (; i < count; i += step)
    to[i] = from[i];
}

__global__ void fill(std::uint32_t* words, std::uint32_t count) {
  const std::uint32_t step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    words[i] = hashed_word(i);
}

/// How many words are not what fill() writes.
__global__ void compare(const std::uint32_t* words, std::uint32_t count, std::uint32_t* wrong) {
  const std::uint32_t step = gridDim.x * blockDim.x;
  std::uint32_t mine = 0;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    mine += words[i] != hashed_word(i);
  if (mine != 0) atomicAdd(wrong, mine);
}

/// Words of host memory of one kind, every page of it touched.
class HostWords {
 public:
  HostWords(Memory memory, std::size_t count) : words_{make(memory, count)} {
    std::ranges::fill(span(), poison);
  }
  [[nodiscard]] std::span<std::uint32_t> span() {
    if (auto* pageable = std::get_if<std::vector<std::uint32_t>>(&words_)) return *pageable;
    return std::get<PinnedBuffer<std::uint32_t>>(words_).span();
  }

 private:
  using Words = std::variant<std::vector<std::uint32_t>, PinnedBuffer<std::uint32_t>>;
  static Words make(Memory memory, std::size_t count) {
    if (memory == Memory::pageable) return std::vector<std::uint32_t>(count);
    return PinnedBuffer<std::uint32_t>{count};
  }
  Words words_;
};

/// The payload in every place that a transfer takes it from or to. Cases that differ in direction
/// or packing only share it.
struct Payload {
  Payload(Memory memory, std::size_t words, std::uint32_t pieces)
      : plan{words, pieces},
        on_device{words},
        device_target{words},
        reference(words),
        on_host{memory, plan.host_words()},
        host_target{memory, plan.host_words()},
        packed{memory, pieces > 1 ? words : 1} {
    constexpr unsigned fill_blocks = 1024;
    fill<<<fill_blocks, threads>>>(on_device.data(), static_cast<std::uint32_t>(words));
    cuda_check(cudaGetLastError());
    on_device.download(reference);
    plan.scatter(reference, on_host.span());
  }
  ScatteredPieces plan;
  DeviceBuffer<std::uint32_t> on_device;
  DeviceBuffer<std::uint32_t> device_target;
  std::vector<std::uint32_t> reference;
  HostWords on_host;
  HostWords host_target;
  HostWords packed;
};

class Carrier {
 public:
  Carrier(const Transfer& transfer, unsigned sms, Payload& payload)
      : transfer_{transfer},
        payload_{payload},
        blocks_{sms * blocks_per_sm},
        timer_{transfers_per_sample(transfer)} {
    if (is_held_back(transfer)) {
      // The first of its kind may make its call wait for the device, which would wait for the host.
      carry_once();
      main_.synchronize();
    }
  }

  void prepare() {
    payload_.device_target.poison(poison_byte, main_.get());
    wrong_.poison(0, main_.get());
    if (transfer_.to_host) std::ranges::fill(payload_.host_target.span(), poison);
    std::ranges::fill(payload_.packed.span(), poison);
    main_.synchronize();
  }

  Observation observe() {
    const Observation seen = timer_.observe(main_, is_held_back(transfer_), is_brief(transfer_),
                                            [this] { carry_once(); });
    check();
    return seen;
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.event_seconds, seen.wall_seconds};
  }

  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_, "words at their target against those sent");
  }
  [[nodiscard]] Gate queue() const { return timer_.queue(); }
  [[nodiscard]] std::size_t transfers() const { return timer_.copies(); }

 private:
  /// The whole transfer, in the order of the main stream. What of it is the host's is done when
  /// this returns.
  void carry_once() {
    if (transfer_.to_device && transfer_.to_host) {
      fork_.record(main_.get());
      cuda_check(cudaStreamWaitEvent(second_.get(), fork_.get(), 0));
      to_device(main_);
      to_host(second_);
      join_.record(second_.get());
      cuda_check(cudaStreamWaitEvent(main_.get(), join_.get(), 0));
    } else if (transfer_.to_device) {
      to_device(main_);
    } else {
      to_host(main_);
    }
  }

  void to_device(const Stream& stream) {
    const auto from = payload_.on_host.span();
    std::uint32_t* const to = payload_.device_target.data();
    const ScatteredPieces& plan = payload_.plan;
    if (transfer_.memory == Memory::mapped) {
      carry_by_kernel(seen_by_device(from.data()), to, stream);
    } else if (transfer_.packed) {
      plan.gather(from, payload_.packed.span());
      copy(to, payload_.packed.span().data(), transfer_.bytes, cudaMemcpyHostToDevice, stream);
    } else {
      for (std::size_t p = 0; p < plan.count(); ++p) {
        copy(to + plan.packed_at(p), from.data() + plan.host_at(p), plan.piece_bytes(),
             cudaMemcpyHostToDevice, stream);
      }
    }
  }

  void to_host(const Stream& stream) {
    const std::uint32_t* const from = payload_.on_device.data();
    const auto to = payload_.host_target.span();
    const ScatteredPieces& plan = payload_.plan;
    if (transfer_.memory == Memory::mapped) {
      carry_by_kernel(from, seen_by_device(to.data()), stream);
    } else if (transfer_.packed) {
      copy(payload_.packed.span().data(), from, transfer_.bytes, cudaMemcpyDeviceToHost, stream);
      stream.synchronize();
      plan.scatter(payload_.packed.span(), to);
    } else {
      for (std::size_t p = 0; p < plan.count(); ++p) {
        copy(to.data() + plan.host_at(p), from + plan.packed_at(p), plan.piece_bytes(),
             cudaMemcpyDeviceToHost, stream);
      }
    }
  }

  static void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                   const Stream& stream) {
    cuda_check(cudaMemcpyAsync(to, from, bytes, kind, stream.get()));
  }

  static std::uint32_t* seen_by_device(std::uint32_t* host) {
    void* device = nullptr;
    cuda_check(cudaHostGetDevicePointer(&device, host, 0));
    return static_cast<std::uint32_t*>(device);
  }

  void carry_by_kernel(const std::uint32_t* from, std::uint32_t* to, const Stream& stream) const {
    if (transfer_.bytes % sizeof(uint4) == 0) {
      launch(reinterpret_cast<const uint4*>(from), reinterpret_cast<uint4*>(to), stream);
    } else {
      launch(from, to, stream);
    }
  }

  template <class Element>
  void launch(const Element* from, Element* to, const Stream& stream) const {
    const std::uint64_t count = transfer_.bytes / sizeof(Element);
    const auto blocks =
        static_cast<unsigned>(std::min<std::uint64_t>(blocks_, (count + threads - 1) / threads));
    carry<Element><<<blocks, threads, 0, stream.get()>>>(from, to, count);
    cuda_check(cudaGetLastError());
  }

  void check() {
    const std::size_t words = payload_.plan.words();
    if (transfer_.to_device) {
      constexpr unsigned compare_blocks = 1024;
      compare<<<compare_blocks, threads, 0, main_.get()>>>(
          payload_.device_target.data(), static_cast<std::uint32_t>(words), wrong_.data());
      cuda_check(cudaGetLastError());
      checked_ += words;
      different_ += wrong_.to_host().front();
    }
    if (transfer_.to_host) {
      checked_ += words;
      different_ +=
          payload_.plan.different(payload_.host_target.span(), payload_.reference, poison);
    }
  }

  Transfer transfer_;
  Payload& payload_;
  unsigned blocks_;
  copy_times::CopyTimer timer_;
  DeviceBuffer<std::uint32_t> wrong_{1};
  Stream main_;
  Stream second_;
  Event fork_;
  Event join_;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

int attribute(cudaDeviceAttr which) {
  int device = 0;
  cuda_check(cudaGetDevice(&device));
  int value = 0;
  cuda_check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

Gate code_gate() {
  cudaFuncAttributes wide{};
  cudaFuncAttributes narrow{};
  cuda_check(cudaFuncGetAttributes(&wide, carry<uint4>));
  cuda_check(cudaFuncGetAttributes(&narrow, carry<std::uint32_t>));
  return spill_gate(wide.localSizeBytes + narrow.localSizeBytes,
                    std::max(wide.numRegs, narrow.numRegs));
}

void run(Session& session) {
  if (session.counters() != nullptr) {
    throw Skipped{"the copy engines have no counters in the sets"};
  }
  const Transfer transfer = transfer_of(session);
  if (transfer.memory == Memory::mapped && attribute(cudaDevAttrCanMapHostMemory) == 0) {
    throw Skipped{"this device cannot map host memory"};
  }
  const std::string key = "transfers " + session.param("memory") + ' ' + session.param("bytes") +
                          ' ' + session.param("pieces");
  Payload& payload = session.cache().keep<Payload>(key, [&] {
    return Payload{transfer.memory, transfer.bytes / sizeof(std::uint32_t), transfer.pieces};
  });
  const auto sms = static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount));
  Carrier carrier{transfer, sms, payload};
  const auto seen = collect(carrier, session.plan());
  report(session, seen, transfer);
  session.add(carrier.result());
  session.add(repeat_unverified());
  if (is_held_back(transfer)) session.add(carrier.queue());
  if (transfer.memory == Memory::mapped) session.add(code_gate());
  session.fact("transfers_per_sample", static_cast<std::int64_t>(carrier.transfers()));
  session.fact("copy_engines", static_cast<std::int64_t>(attribute(cudaDevAttrAsyncEngineCount)));
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::transfers
