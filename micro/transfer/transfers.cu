// Everything that a transfer needs is allocated and filled before, the target is poisoned before
// each sample, and each word of it is checked after each sample.
#include "harness/case/error.hpp"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/measure/engine.hpp"
#include "micro/pattern/scattered_pieces.hpp"
#include "micro/transfer/copy_kernel.cuh"
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

template <class Element>
__global__ void __launch_bounds__(copy_times::carry_threads)
    carry(const Element* from, Element* to, std::uint64_t count) {
  copy_times::carry_elements(from, to, count);
}
constexpr copy_times::CopyKernels copy_kernels{carry<uint4>, carry<std::uint32_t>};

constexpr std::uint32_t poison = 0xA5A5A5A5U;
constexpr int poison_byte = 0xA5;

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
  Payload(Memory memory, std::size_t words, std::uint32_t pieces, cudaStream_t stream)
      : plan{words, pieces},
        on_device{words},
        device_target{words},
        reference(words),
        on_host{memory, plan.host_words()},
        host_target{memory, plan.host_words()},
        packed{memory, pieces > 1 ? words : 1} {
    fill(on_device.data(), words, HashedWords{}, stream);
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
  WordCheck check;
};

/// Makes transfers. What of one is the host's is done when its function returns.
struct Carrier {
  const Transfer& transfer;
  Payload& payload;
  unsigned sms;
  SideBySide two = {};

  /// The whole transfer, in the order of the stream.
  void carry(const Stream& stream) {
    const auto there = [&](const Stream& on) { to_device(on); };
    const auto back = [&](const Stream& on) { to_host(on); };
    if (transfer.direction == Direction::both) {
      two.run(stream, there, back);
    } else if (transfer.to_device()) {
      there(stream);
    } else {
      back(stream);
    }
  }

  void to_device(const Stream& stream) const {
    const auto from = payload.on_host.span();
    std::uint32_t* const to = payload.device_target.data();
    const ScatteredPieces& plan = payload.plan;
    if (transfer.memory == Memory::mapped) {
      copy_times::copy_by_kernel(copy_kernels, seen_by_device(from.data()), to, transfer.bytes, sms,
                                 stream.get());
    } else if (transfer.packed) {
      plan.gather(from, payload.packed.span());
      copy(to, payload.packed.span().data(), transfer.bytes, cudaMemcpyHostToDevice, stream);
    } else {
      for (std::size_t p = 0; p < plan.count(); ++p) {
        copy(to + plan.packed_at(p), from.data() + plan.host_at(p), plan.piece_bytes(),
             cudaMemcpyHostToDevice, stream);
      }
    }
  }

  void to_host(const Stream& stream) const {
    const std::uint32_t* const from = payload.on_device.data();
    const auto to = payload.host_target.span();
    const ScatteredPieces& plan = payload.plan;
    if (transfer.memory == Memory::mapped) {
      copy_times::copy_by_kernel(copy_kernels, from, seen_by_device(to.data()), transfer.bytes, sms,
                                 stream.get());
    } else if (transfer.packed) {
      copy(payload.packed.span().data(), from, transfer.bytes, cudaMemcpyDeviceToHost, stream);
      stream.synchronize();
      plan.scatter(payload.packed.span(), to);
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

  void poison_targets(cudaStream_t stream) {
    payload.device_target.poison(poison_byte, stream);
    if (transfer.to_host()) std::ranges::fill(payload.host_target.span(), poison);
    std::ranges::fill(payload.packed.span(), poison);
    cuda_check(cudaStreamSynchronize(stream));
  }

  void verify(Tally& tally, cudaStream_t stream) {
    const std::size_t words = payload.plan.words();
    if (transfer.to_device()) {
      tally.checked += words;
      tally.different +=
          payload.check.different(payload.device_target.data(), words, HashedWords{}, stream);
    }
    if (transfer.to_host()) {
      tally.checked += words;
      tally.different +=
          payload.plan.different(payload.host_target.span(), payload.reference, poison);
    }
  }
};

void run(Session& session) {
  const Transfer transfer = transfer_of(session.params());
  Experiment experiment = describe(transfer);
  require_timed(session, experiment);
  const bool mapped = transfer.memory == Memory::mapped;
  if (mapped && device_attribute(cudaDevAttrCanMapHostMemory) == 0) {
    throw Skipped{"this device cannot map host memory"};
  }
  CudaMachine machine{session, 0};
  const Stream& stream = machine.stream();
  const std::string key = "transfers " + session.param("memory") + ' ' + session.param("bytes") +
                          ' ' + session.param("pieces");
  Payload& payload = session.cache().keep<Payload>(key, [&] {
    return Payload{transfer.memory, transfer.bytes / sizeof(std::uint32_t), transfer.pieces,
                   stream.get()};
  });
  Carrier carrier{transfer, payload,
                  static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount))};
  const auto carry = [&] { carrier.carry(stream); };
  const bool held = is_held_back(transfer);
  // The first of its kind may make its call wait for the device, which would wait for the host.
  if (held) (void)machine.time_caller(carry);

  const double least = least_seconds(transfer);
  const std::uint32_t copies = copy_times::copies_per_sample(least);
  experiment.prepare = [&] { carrier.poison_targets(stream.get()); };
  experiment.observe = [&] {
    auto numbers = copy_times::numbers_of(
        copies, copy_times::is_brief(least), [&] { return machine.time_both_sides(carry, held); },
        [&] { return machine.time_caller(carry); });
    carrier.verify(experiment.tally, stream.get());
    return numbers;
  };
  if (mapped) {
    experiment.kernels = {reinterpret_cast<const void*>(copy_kernels.wide),
                          reinterpret_cast<const void*>(copy_kernels.narrow)};
  }
  experiment.facts = [&](const Experiment&) {
    return Facts{{"transfers_per_sample", std::int64_t{copies}},
                 {"copy_engines", std::int64_t{device_attribute(cudaDevAttrAsyncEngineCount)}}};
  };
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::transfers
