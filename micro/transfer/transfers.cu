// Everything that a transfer needs is allocated and filled before it. The target is poisoned before
// each sample, and each word of it is checked after each sample.
#include "harness/base/error.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/occupancy.hpp"
#include "micro/pattern/scattered_pieces.hpp"
#include "micro/transfer/copy_kernel.cuh"
#include "micro/transfer/transfers.hpp"

#include <algorithm>

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
struct HostWords {
  HostWords(Memory memory, std::size_t count) {
    if (memory == Memory::pageable) {
      pageable.resize(count);
    } else {
      pinned.emplace(count, Where::current());
    }
    std::ranges::fill(span(), poison);
  }
  [[nodiscard]] std::span<std::uint32_t> span() { return pinned ? pinned->span() : pageable; }
  std::vector<std::uint32_t> pageable;
  std::optional<PinnedBuffer<std::uint32_t>> pinned;
};

/// The payload in every place that a transfer copies from or to. Cases that differ only in
/// direction or packing share it.
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

std::uint32_t* seen_by_device(std::uint32_t* host) {
  void* device = nullptr;
  cuda_check(cudaHostGetDevicePointer(&device, host, 0));
  return static_cast<std::uint32_t*>(device);
}

/// Makes transfers. The host's part of one is done when its function returns.
struct Carrier {
  const Transfer& transfer;
  Payload& payload;
  unsigned sms;

  /// The whole payload, in one direction.
  void carry(bool to_device, const Stream& stream) const {
    const auto host = (to_device ? payload.on_host : payload.host_target).span();
    std::uint32_t* const device = (to_device ? payload.device_target : payload.on_device).data();
    const auto packed = payload.packed.span();
    const ScatteredPieces& plan = payload.plan;
    const auto copy = [&](std::uint32_t* at_host, std::uint32_t* at_device, std::size_t bytes) {
      cuda_check(
          to_device
              ? cudaMemcpyAsync(at_device, at_host, bytes, cudaMemcpyHostToDevice, stream.get())
              : cudaMemcpyAsync(at_host, at_device, bytes, cudaMemcpyDeviceToHost, stream.get()));
    };
    if (transfer.memory == Memory::mapped) {
      std::uint32_t* const mapped = seen_by_device(host.data());
      copy_times::copy_by_kernel(copy_kernels, to_device ? mapped : device,
                                 to_device ? device : mapped, transfer.bytes, sms, stream.get());
    } else if (transfer.packed) {
      if (to_device) plan.gather(host, packed);
      copy(packed.data(), device, transfer.bytes);
      if (to_device) return;
      stream.synchronize();
      plan.scatter(packed, host);
    } else {
      for (std::size_t p = 0; p < plan.count(); ++p)
        copy(host.data() + plan.host_at(p), device + plan.packed_at(p), plan.piece_bytes());
    }
  }

  void poison_targets(cudaStream_t stream) const {
    payload.device_target.poison(poison_byte, stream);
    if (transfer.to_host()) std::ranges::fill(payload.host_target.span(), poison);
    std::ranges::fill(payload.packed.span(), poison);
    cuda_check(cudaStreamSynchronize(stream));
  }

  void verify(Tally& tally, cudaStream_t stream) const {
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
  const Carrier carrier{transfer, payload,
                        static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount))};
  copy_times::Ways ways;
  if (transfer.to_device()) ways.there = [&](const Stream& on) { carrier.carry(true, on); };
  if (transfer.to_host()) ways.back = [&](const Stream& on) { carrier.carry(false, on); };
  const double least = least_seconds(transfer);
  experiment.prepare = [&] { carrier.poison_targets(stream.get()); };
  if (mapped) experiment.kernels = copy_kernels.code();
  experiment.facts = [&](const Experiment&) {
    return Facts{{"transfers_per_sample", std::int64_t{copy_times::copies_per_sample(least)}},
                 {"copy_engines", std::int64_t{device_attribute(cudaDevAttrAsyncEngineCount)}}};
  };
  copy_times::measure_copies(session, machine, experiment, ways, least, is_held_back(transfer),
                             [&](Tally& tally) { carrier.verify(tally, stream.get()); });
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::transfers
