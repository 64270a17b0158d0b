// What does it cost to copy data to the GPU and back?
//
// Copies go through the runtime (cudaMemcpyAsync) from or to pageable or page-locked memory;
// `mapped` has a kernel access page-locked memory directly. A payload in many separate pieces on
// the host is sent as many copies (`packing=none`), or the host packs it and sends one
// (`packing=packed`), as Breitbart chose (2008, chapter 4). Packing and unpacking are included in
// the time of the device and of the caller: two quantities, since a small transfer ends long before
// its caller knows. They must agree where calls and waiting are negligible.
//
// One piece of page-locked memory needs nothing from the host once its calls are made: if it is
// short, they are made before the first event, behind a kernel that the host releases. In all other
// transfers the device's time includes waiting for the host. The data have just been written or
// checked on the host, so its caches hold what fits.
#include "harness/cuda/benchmark.cuh"
#include "micro/pattern/scattered_pieces.hpp"
#include "micro/transfer/copy_times.hpp"

#ifdef __CUDACC__
#include "micro/transfer/copy_kernel.cuh"
#endif

namespace strata::transfers {

enum class Memory { pageable, pinned, mapped };
constexpr auto memories = choices_of<Memory>("pageable", "pinned", "mapped");
enum class Direction { to_device, to_host, both };
constexpr auto directions = choices_of<Direction>("to_device", "to_host", "both");
constexpr Choices packings{std::pair{"none", false}, std::pair{"packed", true}};

/// What is transferred, and how.
struct Transfer {
  Memory memory = Memory::pinned;
  Direction direction = Direction::to_device;
  std::uint64_t bytes = 0;  ///< of one direction
  std::uint32_t pieces = 1;
  bool packed = false;

  [[nodiscard]] constexpr bool to_device() const { return direction != Direction::to_host; }
  [[nodiscard]] constexpr bool to_host() const { return direction != Direction::to_device; }
  /// Whether it consists of calls only, so few that a stream can hold them all: it can be queued as
  /// a whole.
  [[nodiscard]] constexpr bool can_be_queued() const {
    return memory != Memory::pageable && pieces == 1;
  }
  [[nodiscard]] constexpr std::uint64_t bytes_moved() const {
    return direction == Direction::both ? 2 * bytes : bytes;
  }
};

namespace {

Transfer transfer_of(const Params& params) {
  return {.memory = memories.of(params.at("memory")),
          .direction = directions.of(params.at("direction")),
          .bytes = number_of<std::uint64_t>(params, "bytes"),
          .pieces = number_of<std::uint32_t>(params, "pieces"),
          .packed = packings.of(params.at("packing"))};
}

std::optional<std::string> excludes(const Params& params, Backend) {
  const Transfer transfer = transfer_of(params);
  constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);
  if (transfer.bytes % (word_bytes * transfer.pieces) != 0) {
    return "bytes are not a multiple of the word size in each piece";
  }
  if (transfer.pieces == 1 && transfer.packed) return "one piece needs no packing";
  const bool both = transfer.direction == Direction::both;
  if (transfer.pieces > 1 && transfer.memory == Memory::mapped) {
    return "a kernel reads the pieces directly";
  }
  if (transfer.pieces > 1 && both) return "pieces are copied in one direction only";
  if (both && transfer.memory == Memory::pageable) {
    return "copies of pageable memory do not overlap";
  }
  return std::nullopt;
}

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "transfers",
      .question = "What does it cost to copy data to the GPU and back, in one piece or many?",
      .axes = {memories.axis("memory",
                             "host memory: pageable, pinned, or pinned and accessed by a kernel"),
               number_axis("bytes", "bytes of the payload, in each direction",
                           sizeof(std::uint32_t), 1LL << 30U, copy_times::sizes(256LL << 20U, 4)),
               number_axis("pieces", "number of pieces of the payload on the host", 1, 4096, {"1"}),
               packings.axis(
                   "packing",
                   "whether each piece is copied separately, or the host packs them into one",
                   {"none"}),
               directions.axis("direction", "direction; both: two streams at once")},
      .quantities =
          {{"transfer_time",
            "duration for the whole payload: on the device (event), for its caller (wall)"},
           {"bandwidth", "bytes moved ÷ that time"}},
      .seconds_per_case = 0.15,
      .excludes = excludes};
}

/// Approximate duration; never too long on the known machines.
[[maybe_unused]] double least_seconds(const Transfer& transfer) {
  constexpr double fastest_link = 6e10;
  constexpr double call = 1e-6;
  constexpr double start = 5e-6;
  const double copies = transfer.packed ? 1 : transfer.pieces;
  return start + call * copies + static_cast<double>(transfer.bytes) / fastest_link;
}

Experiment describe(const Params& params, const GpuFacts& /*gpu*/) {
  const Transfer transfer = transfer_of(params);
  Experiment experiment = copy_times::described(static_cast<double>(transfer.bytes_moved()));
  experiment.checked = "words at their target against those sent";
  experiment.partly_host_time = true;
  experiment.not_counted = "the counter sets do not cover the copy engines";
  return experiment;
}

#ifdef __CUDACC__

/// Whether its calls are made in advance and held.
bool is_held_back(const Transfer& transfer) {
  return copy_times::is_brief(least_seconds(transfer)) && transfer.can_be_queued();
}

// Everything that a transfer needs is allocated and filled before it. The target is poisoned before
// each sample, and each word of it is checked after each sample.

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
  Experiment experiment = describe(session.params(), session.gpu());
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

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::transfers
