// Each GPU fills, poisons and checks its own buffers. The case enables access to the peer's memory
// and disables it again.
#include "harness/cuda/access.cuh"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/cuda/peer.hpp"
#include "harness/cuda/stamps.cuh"
#include "micro/transfer/copy_kernel.cuh"
#include "micro/transfer/peer_copy.hpp"

namespace strata::peer_copy {
namespace {

template <class Element>
__global__ void __launch_bounds__(copy_times::carry_threads)
    carry(const Element* from, Element* to, std::uint64_t count) {
  copy_times::carry_elements(from, to, count);
}
constexpr copy_times::CopyKernels copy_kernels{carry<uint4>, carry<std::uint32_t>};

/// One thread follows the chain of words at `words`, in the peer's memory. Loads bypass L1, which
/// may cache the peer's data. Wanted: LDG.E.STRONG.GPU whose address is the last word added to the
/// base.
__global__ void follow_chain(const char* words, std::uint32_t first, std::uint32_t loads,
                             Stamp* stamp) {
  std::uint32_t at = first;
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t i = 0; i < loads; i += load_unroll) {
#pragma unroll
    for (std::uint32_t u = 0; u < load_unroll; ++u)
      at = load_word<Access::global_cg>(words + at);
  }
  consume(at);
  leave(stamp, begin, reading_after(), at);
}

/// One GPU's buffers: what it sends, and where it receives what the other one sends.
struct Side {
  Side(int on, bool is_peer, std::size_t count)
      : device{on}, peer{is_peer}, source{count}, target{count} {
    fill(source.data(), count, sent_by(peer), stream.get());
    stream.synchronize();
  }
  void poison() {
    constexpr int byte = 0xA5;
    const Finally current = current_device(device);
    target.poison(byte, stream.get());
    stream.synchronize();
  }
  void verify(Tally& tally) {
    const Finally current = current_device(device);
    tally.checked += target.size();
    tally.different += check.different(target.data(), target.size(), sent_by(!peer), stream.get());
  }
  int device;
  bool peer;
  DeviceBuffer<std::uint32_t> source;
  DeviceBuffer<std::uint32_t> target;
  WordCheck check;
  Stream stream;
};

struct Payload {
  Payload(const Peer& peer, std::size_t words)
      : here{peer.here(), false, words}, there{made_on(peer.there(), [&] {
          return Side{peer.there(), true, words};
        })} {}
  Side here;
  Side there;
};

void copy_one_way(const Copy& copy, const Side& from, const Side& to, unsigned sms,
                  const Stream& stream) {
  if (copy.by == Means::copy_engine) {
    cuda_check(cudaMemcpyPeerAsync(to.target.data(), to.device, from.source.data(), from.device,
                                   copy.bytes, stream.get()));
  } else {
    copy_times::copy_by_kernel(copy_kernels, from.source.data(), to.target.data(), copy.bytes, sms,
                               stream.get());
  }
}

void run_copies(Session& session, const Copy& copy, const Peer& peer, Experiment& experiment) {
  Payload& payload = session.cache().keep<Payload>(
      "peer_copy " + session.param("bytes") + " cuda:" + std::to_string(peer.there()), [&] {
        return Payload{peer, copy.bytes / sizeof(std::uint32_t)};
      });
  const Finally access = peer_access(peer.there());
  CudaMachine machine{session, 0};
  const auto sms = static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount));
  const bool reads = copy.direction != Direction::write;
  const bool writes = copy.direction != Direction::read;
  Finally peer_writes;
  if (reads && writes) {
    peer_writes = made_on(peer.there(), [&] { return peer_access(peer.here()); });
  }
  Side& here = payload.here;
  Side& there = payload.there;
  copy_times::Ways ways;
  if (writes) ways.there = [&](const Stream& on) { copy_one_way(copy, here, there, sms, on); };
  if (reads) {
    ways.back = [&](const Stream& on) {
      const Finally sender = current_device(writes ? there.device : here.device);
      copy_one_way(copy, there, here, sms, on);
    };
  }
  const double least = least_seconds(copy);
  experiment.prepare = [&] {
    here.poison();
    there.poison();
  };
  if (copy.by == Means::kernel) experiment.kernels = copy_kernels.code();
  experiment.facts = [&](const Experiment&) {
    Facts facts = peer.facts();
    facts["copies_per_sample"] = std::int64_t{copy_times::copies_per_sample(least)};
    facts["copy_engines"] = std::int64_t{device_attribute(cudaDevAttrAsyncEngineCount)};
    return facts;
  };
  copy_times::measure_copies(
      session, machine, experiment, ways, least, copy_times::is_brief(least),
      [&](Tally& tally) {
        if (reads) here.verify(tally);
        if (writes) there.verify(tally);
      },
      made_on(there.device, [] { return Beside{}; }));
}

void run_loads(Session& session, const Chain& chain, Peer& peer, Experiment& experiment) {
  // Access comes first, so that it is disabled last, after everything made below is destroyed.
  const Finally access = peer_access(peer.there());
  const auto words =
      made_on(peer.there(), [&] { return DeviceBuffer<std::uint32_t>{chain.words}; });
  CudaMachine machine{session, 1};
  for (Slope& slope : experiment.slopes) {
    const bool cached = &slope == &experiment.slopes.front();
    slope.prepare = [&, cached](const Call&) {
      peer.prepare(cached ? Start::in_l2 : Start::evicted, words.data(), words.size_bytes());
    };
    slope.launch = [&](const Call& call) {
      follow_chain<<<1, 1, 0, machine.stream().get()>>>(reinterpret_cast<const char*>(words.data()),
                                                        chain.after(0), call.length.rounds,
                                                        machine.device_stamps());
    };
  }
  experiment.kernels = {reinterpret_cast<const void*>(follow_chain)};
  experiment.facts = [&](const Experiment&) { return peer.facts(); };
  measure(session, machine, experiment);
}

void run(Session& session) {
  const Copy copy = copy_of(session.params());
  const Chain chain;
  Experiment experiment = copy.by == Means::load ? describe_loads(chain) : describe(copy);
  require_timed(session, experiment);
  Peer peer;
  if (copy.by == Means::load) {
    run_loads(session, chain, peer, experiment);
  } else {
    run_copies(session, copy, peer, experiment);
  }
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::peer_copy
