#include "harness/cuda/peer.hpp"

#include "harness/case/error.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/uuid.hpp"

namespace strata {

CurrentDevice::CurrentDevice(int device) {
  cuda_check(cudaGetDevice(&before_));
  cuda_check(cudaSetDevice(device));
}
CurrentDevice::~CurrentDevice() {
  cuda_release(cudaSetDevice(before_), "cudaSetDevice");
}

PeerAccess::PeerAccess(int there) : there_{there} {
  const cudaError_t status = cudaDeviceEnablePeerAccess(there, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    (void)cudaGetLastError();
    return;  // someone else's, who will end it
  }
  cuda_check(status);
  own_ = true;
}
PeerAccess::~PeerAccess() {
  if (own_) cuda_release(cudaDeviceDisablePeerAccess(there_), "cudaDeviceDisablePeerAccess");
}

Peer::Peer() {
  cuda_check(cudaGetDevice(&here_));
  int count = 0;
  cuda_check(cudaGetDeviceCount(&count));
  if (count < 2) throw Skipped{"this process sees one GPU, and a peer is another one"};
  there_ = (here_ + 1) % count;
  int reachable = 0;
  cuda_check(cudaDeviceCanAccessPeer(&reachable, here_, there_));
  const std::string slug = "cuda:" + std::to_string(there_);
  if (reachable == 0) {
    throw Skipped{"cuda:" + std::to_string(here_) + " has no direct way to the memory of " + slug};
  }
  cudaDeviceProp properties{};
  cuda_check(cudaGetDeviceProperties(&properties, there_));
  name_ = properties.name;
  try {
    lock_ = DeviceLock::acquire(
        {.slug = slug, .name = name_, .uuid = "GPU-" + uuid_digits(properties.uuid), .facts = {}});
  } catch (const DeviceUnavailable& held) {
    throw Skipped{std::string{"the peer is not free: "} + held.what()};
  }
}

Facts Peer::facts() const {
  Facts facts{{"peer_device", std::int64_t{there_}}, {"peer_name", name_}};
  int rank = 0;
  if (cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, here_, there_) ==
      cudaSuccess) {
    facts["peer_performance_rank"] = std::int64_t{rank};
  }
  (void)cudaGetLastError();
  return facts;
}

void Peer::evict() {
  const CurrentDevice current{there_};
  if (!cache_) cache_ = std::make_unique<Cache>();
  cache_->eviction.evict(cache_->stream.get());
  cache_->stream.synchronize();
}

void Peer::touch(const void* data, std::size_t bytes) {
  const CurrentDevice current{there_};
  if (!cache_) cache_ = std::make_unique<Cache>();
  cache_->eviction.touch(data, bytes, cache_->stream.get());
  cache_->stream.synchronize();
}

}  // namespace strata
