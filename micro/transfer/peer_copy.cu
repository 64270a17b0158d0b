// The CUDA backend of peer_copy: peer_copy.hpp says what it asks.
//
// The buffers lie on both GPUs and are filled, poisoned and checked by the GPU that holds them. The
// case gives itself access to the peer's memory and takes it back; whatever it makes on the peer is
// made with the peer as the current device, which is this one again right after.
#include "harness/case/error.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/eviction.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/cuda/uuid.hpp"
#include "harness/measure/device_lock.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/record/gates.hpp"
#include "micro/transfer/copy_timer.cuh"
#include "micro/transfer/peer_copy.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace strata::peer_copy {
namespace {

constexpr unsigned threads = 256;
constexpr unsigned blocks_per_sm = 2;  // two such kernels are at work at once where both go
constexpr unsigned own_blocks = 1024;  // of kernels that fill and compare
constexpr int poison_byte = 0xA5;

/// Copies `count` elements, four of each thread in flight; `from` or `to` is the peer's. Wanted:
/// LDG.E.128 and STG.E.128 where an element is 16 bytes.
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

/// What a chain leaves behind.
struct Record {
  std::uint64_t cycles;
  std::uint64_t nanoseconds;
  std::uint32_t at;
  std::uint32_t unused;
};

/// One thread follows the chain of words at `words`, which are the peer's. Loads bypass L1, which
/// may hold what the peer has. Wanted: LDG.E.STRONG.GPU whose address is the last word added to the
/// base.
__global__ void follow(const char* words, std::uint32_t first, std::uint32_t loads,
                       Record* record) {
  std::uint32_t at = first;
  const std::uint64_t nanoseconds = global_nanoseconds();
  const std::uint64_t cycles = cycles_now();
#pragma unroll 1
  for (std::uint32_t i = 0; i < loads; i += load_unroll) {
#pragma unroll
    for (std::uint32_t u = 0; u < load_unroll; ++u)
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(words + at) : "memory");
  }
  consume(at);
  const std::uint64_t last_nanoseconds = global_nanoseconds();
  const std::uint64_t last_cycles = cycles_now();
  record->cycles = last_cycles - cycles;
  record->nanoseconds = last_nanoseconds - nanoseconds;
  record->at = at;
}

__global__ void fill(std::uint32_t* words, std::uint32_t count, bool by_peer) {
  const std::uint32_t step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    words[i] = sent_word(by_peer, i);
}

/// How many words are not what fill() writes.
__global__ void compare(const std::uint32_t* words, std::uint32_t count, bool by_peer,
                        std::uint32_t* wrong) {
  const std::uint32_t step = gridDim.x * blockDim.x;
  std::uint32_t mine = 0;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    mine += words[i] != sent_word(by_peer, i);
  if (mine != 0) atomicAdd(wrong, mine);
}

/// Another device is the current one for a while.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    cuda_check(cudaGetDevice(&before_));
    cuda_check(cudaSetDevice(device));
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice() { cuda_release(cudaSetDevice(before_), "cudaSetDevice"); }

 private:
  int before_ = 0;
};

/// What `make` makes on `device`.
template <class Make>
auto made_on(int device, Make&& make) {
  const CurrentDevice current{device};
  return std::forward<Make>(make)();
}

struct Pair {
  int here = 0;
  int there = 0;
};

/// The current device reaches the memory of another one for as long as this lives.
class PeerAccess {
 public:
  explicit PeerAccess(int there) : there_{there} {
    const cudaError_t status = cudaDeviceEnablePeerAccess(there, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled) {
      (void)cudaGetLastError();
      return;  // someone else's, who will end it
    }
    cuda_check(status);
    own_ = true;
  }
  PeerAccess(const PeerAccess&) = delete;
  PeerAccess& operator=(const PeerAccess&) = delete;
  ~PeerAccess() {
    if (own_) cuda_release(cudaDeviceDisablePeerAccess(there_), "cudaDeviceDisablePeerAccess");
  }

 private:
  int there_;
  bool own_ = false;
};

/// What one GPU holds of a payload: what it sends, and where it takes what the other one sends.
struct Side {
  Side(int on, bool is_peer, std::size_t count)
      : device{on}, peer{is_peer}, source{count}, target{count} {
    fill<<<own_blocks, threads, 0, stream.get()>>>(source.data(), static_cast<std::uint32_t>(count),
                                                   peer);
    cuda_check(cudaGetLastError());
    stream.synchronize();
  }
  void poison() {
    const CurrentDevice current{device};
    target.poison(poison_byte, stream.get());
    wrong.poison(0, stream.get());
    stream.synchronize();
  }
  /// Words of the target that are not what the other one sends.
  std::size_t different() {
    const CurrentDevice current{device};
    compare<<<own_blocks, threads, 0, stream.get()>>>(
        target.data(), static_cast<std::uint32_t>(target.size()), !peer, wrong.data());
    cuda_check(cudaGetLastError());
    return wrong.to_host().front();
  }
  int device;
  bool peer;
  DeviceBuffer<std::uint32_t> source;
  DeviceBuffer<std::uint32_t> target;
  DeviceBuffer<std::uint32_t> wrong{1};
  Stream stream;
};

struct Payload {
  Payload(const Pair& pair, std::size_t words)
      : here{pair.here, false, words}, there{made_on(pair.there, [&] {
          return Side{pair.there, true, words};
        })} {}
  Side here;
  Side there;
};

class Copier {
 public:
  Copier(const Copy& copy, unsigned sms, Payload& payload)
      : copy_{copy},
        payload_{payload},
        blocks_{sms * blocks_per_sm},
        timer_{copies_per_sample(copy)} {
    // The first of its kind may make its call wait for the device, which would wait for the host.
    copy_once();
    main_.synchronize();
  }

  void prepare() {
    payload_.here.poison();
    payload_.there.poison();
  }

  Observation observe() {
    const Observation seen =
        timer_.observe(main_, is_brief(copy_), is_brief(copy_), [this] { copy_once(); });
    check();
    return seen;
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.event_seconds, seen.wall_seconds};
  }

  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_, "words on the GPU that took them against those sent");
  }
  [[nodiscard]] Gate queue() const { return timer_.queue(); }
  [[nodiscard]] std::size_t copies() const { return timer_.copies(); }

 private:
  /// The whole copy, in the order of the main stream.
  void copy_once() {
    if (copy_.read && copy_.write) {
      fork_.record(main_.get());
      cuda_check(cudaStreamWaitEvent(second_.get(), fork_.get(), 0));
      copy(payload_.there, payload_.here, main_);
      copy(payload_.here, payload_.there, second_);
      join_.record(second_.get());
      cuda_check(cudaStreamWaitEvent(main_.get(), join_.get(), 0));
    } else if (copy_.read) {
      copy(payload_.there, payload_.here, main_);
    } else {
      copy(payload_.here, payload_.there, main_);
    }
  }

  void copy(const Side& from, const Side& to, const Stream& stream) const {
    if (copy_.by == By::copy_engine) {
      cuda_check(cudaMemcpyPeerAsync(to.target.data(), to.device, from.source.data(), from.device,
                                     copy_.bytes, stream.get()));
    } else if (copy_.bytes % sizeof(uint4) == 0) {
      launch(reinterpret_cast<const uint4*>(from.source.data()),
             reinterpret_cast<uint4*>(to.target.data()), stream);
    } else {
      launch(from.source.data(), to.target.data(), stream);
    }
  }

  template <class Element>
  void launch(const Element* from, Element* to, const Stream& stream) const {
    const std::uint64_t count = copy_.bytes / sizeof(Element);
    const auto blocks =
        static_cast<unsigned>(std::min<std::uint64_t>(blocks_, (count + threads - 1) / threads));
    carry<Element><<<blocks, threads, 0, stream.get()>>>(from, to, count);
    cuda_check(cudaGetLastError());
  }

  void check() {
    for (Side* side : {&payload_.here, &payload_.there}) {
      if (!(side->peer ? copy_.write : copy_.read)) continue;
      checked_ += side->target.size();
      different_ += side->different();
    }
  }

  Copy copy_;
  Payload& payload_;
  unsigned blocks_;
  copy_times::CopyTimer timer_;
  Stream main_;
  Stream second_;
  Event fork_;
  Event join_;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

/// What the peer holds for the chain.
struct Far {
  explicit Far(const Chain& chain) : words{chain.words()} {}
  DeviceBuffer<std::uint32_t> words;
  Eviction eviction;
  Stream stream;
};

class Loader {
 public:
  Loader(const Pair& pair, Eviction& eviction)
      : pair_{pair}, eviction_{eviction}, far_{made_on(pair.there, [&] { return Far{chain_}; })} {}

  void prepare() {}  // each launch has its own preparation, right before it

  LoadObservation observe() {
    double cycles = 0;
    double seconds = 0;
    LoadObservation seen;
    for (const bool cached : {true, false}) {
      const Run brief = run(short_loads, cached);
      const Run full = run(long_loads, cached);
      constexpr double loads = long_loads - short_loads;
      const double more_cycles = full.cycles - brief.cycles;
      const double more_seconds = full.clock_seconds - brief.clock_seconds;
      (cached ? seen.cached : seen.uncached) = {
          .inside = more_cycles / loads,
          .outside =
              (full.event_seconds - brief.event_seconds) * (more_cycles / more_seconds) / loads};
      cycles += more_cycles;
      seconds += more_seconds;
    }
    seen.core_hertz = cycles / seconds;
    return seen;
  }

  [[nodiscard]] static std::vector<double> watched(const LoadObservation& seen) {
    return {seen.cached.inside, seen.cached.outside, seen.uncached.inside, seen.uncached.outside};
  }
  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_, "chain ends against the cycle");
  }

 private:
  struct Run {
    double cycles = 0;
    double clock_seconds = 0;
    double event_seconds = 0;
  };

  /// The peer has all lines of the chain in its L2, or none of them.
  void prepare_peer(bool cached) {
    const CurrentDevice current{pair_.there};
    far_.eviction.evict(far_.stream.get());
    if (cached) {
      far_.eviction.touch(far_.words.data(), far_.words.size_bytes(), far_.stream.get());
    }
    far_.stream.synchronize();
  }

  Run run(std::uint32_t loads, bool cached) {
    record_.poison(poison_byte, stream_.get());
    eviction_.evict(stream_.get());  // nor has this GPU a word of the chain
    stream_.synchronize();
    prepare_peer(cached);
    begin_.record(stream_.get());
    follow<<<1, 1, 0, stream_.get()>>>(reinterpret_cast<const char*>(far_.words.data()),
                                       chain_.first(), loads, record_.data());
    cuda_check(cudaGetLastError());
    end_.record(stream_.get());
    const double event_seconds = end_.seconds_since(begin_);
    const Record record = record_.to_host().front();
    ++checked_;
    if (record.at != chain_.after(loads)) ++different_;
    return {.cycles = static_cast<double>(record.cycles),
            .clock_seconds = static_cast<double>(record.nanoseconds) * 1e-9,
            .event_seconds = event_seconds};
  }

  Pair pair_;
  Eviction& eviction_;
  Chain chain_;
  Far far_;
  DeviceBuffer<Record> record_{1};
  Stream stream_;
  Event begin_;
  Event end_;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  cuda_check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

/// This GPU and the next of those that the process sees. Throws Skipped where there is no other one
/// or no direct way to it.
Pair pair_of_gpus() {
  Pair pair;
  cuda_check(cudaGetDevice(&pair.here));
  int count = 0;
  cuda_check(cudaGetDeviceCount(&count));
  if (count < 2) throw Skipped{"this process sees one GPU, and a peer is another one"};
  pair.there = (pair.here + 1) % count;
  int reachable = 0;
  cuda_check(cudaDeviceCanAccessPeer(&reachable, pair.here, pair.there));
  if (reachable == 0) {
    throw Skipped{"cuda:" + std::to_string(pair.here) +
                  " has no direct way to the memory of cuda:" + std::to_string(pair.there)};
  }
  return pair;
}

/// No other run measures the peer meanwhile. Throws Skipped where one does.
DeviceLock lock_of(int device, std::string& name) {
  cudaDeviceProp properties{};
  cuda_check(cudaGetDeviceProperties(&properties, device));
  name = properties.name;
  try {
    return DeviceLock::acquire({.slug = "cuda:" + std::to_string(device),
                                .name = name,
                                .uuid = "GPU-" + uuid_digits(properties.uuid),
                                .facts = {}});
  } catch (const DeviceUnavailable& held) {
    throw Skipped{std::string{"the peer is not free: "} + held.what()};
  }
}

Gate code_gate(std::initializer_list<const void*> kernels) {
  std::size_t local_bytes = 0;
  int registers = 0;
  for (const void* kernel : kernels) {
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, kernel));
    local_bytes += attributes.localSizeBytes;
    registers = std::max(registers, attributes.numRegs);
  }
  return spill_gate(local_bytes, registers);
}

void run(Session& session) {
  if (session.counters() != nullptr) {
    throw Skipped{"the counter sets know nothing of the links between GPUs"};
  }
  const Copy copy = copy_of(session);
  const Pair pair = pair_of_gpus();
  std::string peer_name;
  const DeviceLock lock = lock_of(pair.there, peer_name);
  const auto how = [&] {
    session.fact("peer_device", static_cast<std::int64_t>(pair.there));
    session.fact("peer_name", peer_name);
    int rank = 0;
    if (cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, pair.here, pair.there) ==
        cudaSuccess) {
      session.fact("peer_performance_rank", static_cast<std::int64_t>(rank));
    }
    (void)cudaGetLastError();
  };
  if (copy.by == By::load) {
    // Access first: what is made afterwards goes before it, while it still can be reached.
    const PeerAccess access{pair.there};
    Loader loader{pair, session.cache().shared<Eviction>()};
    const auto seen = collect(loader, session.plan());
    report(session, seen);
    session.add(loader.result());
    session.add(code_gate({reinterpret_cast<const void*>(follow)}));
    session.add(level_unverified("the counter sets know nothing of the peer's caches"));
    how();
    return;
  }
  Payload& payload = session.cache().keep<Payload>(
      "peer_copy " + session.param("bytes") + " cuda:" + std::to_string(pair.there), [&] {
        return Payload{pair, copy.bytes / sizeof(std::uint32_t)};
      });
  const PeerAccess access{pair.there};
  const auto sms = static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount, pair.here));
  Copier copier{copy, sms, payload};
  const auto seen = collect(copier, session.plan());
  report(session, seen, copy);
  session.add(copier.result());
  if (is_brief(copy)) session.add(copier.queue());
  if (copy.by == By::kernel) {
    session.add(code_gate({reinterpret_cast<const void*>(carry<uint4>),
                           reinterpret_cast<const void*>(carry<std::uint32_t>)}));
  }
  session.fact("copies_per_sample", static_cast<std::int64_t>(copier.copies()));
  session.fact("copy_engines",
               static_cast<std::int64_t>(attribute(cudaDevAttrAsyncEngineCount, pair.here)));
  how();
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::peer_copy
