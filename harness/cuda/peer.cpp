#include "harness/cuda/peer.hpp"

#include "harness/base/error.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/nvml.hpp"

#include <algorithm>
#include <exception>
#include <thread>

namespace strata {
namespace {

int device_now() {
  int device = 0;
  cuda_check(cudaGetDevice(&device));
  return device;
}

std::string slug_of(int device) {
  return "cuda:" + std::to_string(device);
}

/// Throws Skipped if `here` cannot directly access the memory of `there`.
void require_way(int here, int there) {
  int reachable = 0;
  cuda_check(cudaDeviceCanAccessPeer(&reachable, here, there));
  if (reachable != 0) return;
  throw Skipped{slug_of(here) + " cannot access the memory of " + slug_of(there)};
}

/// Throws Skipped if another run measures the device.
DeviceLock locked(int device) {
  cudaDeviceProp properties{};
  cuda_check(cudaGetDeviceProperties(&properties, device));
  try {
    return DeviceLock::acquire({.slug = slug_of(device),
                                .name = properties.name,
                                .uuid = "GPU-" + uuid_digits(properties.uuid.bytes),
                                .facts = {}});
  } catch (const DeviceUnavailable& held) {
    throw Skipped{std::string{"another GPU is busy: "} + held.what()};
  }
}

}  // namespace

Finally current_device(int device) {
  const int before = device_now();
  cuda_check(cudaSetDevice(device));
  return finally([before] { cuda_release(cudaSetDevice(before), "cudaSetDevice"); });
}

Finally peer_access(int there) {
  require_way(device_now(), there);
  const cudaError_t status = cudaDeviceEnablePeerAccess(there, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    (void)cudaGetLastError();
    return {};  // enabled elsewhere, and disabled there
  }
  cuda_check(status);
  return finally([here = device_now(), there] {
    int before = here;
    cuda_release(cudaGetDevice(&before), "cudaGetDevice");
    cuda_release(cudaSetDevice(here), "cudaSetDevice");
    cuda_release(cudaDeviceDisablePeerAccess(there), "cudaDeviceDisablePeerAccess");
    cuda_release(cudaSetDevice(before), "cudaSetDevice");
  });
}

Peer::Peer() : here_{device_now()} {
  const int count = static_cast<int>(GpuTeam::visible());
  if (count < 2) throw Skipped{"peer copies need a second GPU, and this process sees one"};
  there_ = (here_ + 1) % count;
  require_way(here_, there_);
  cudaDeviceProp properties{};
  cuda_check(cudaGetDeviceProperties(&properties, there_));
  name_ = properties.name;
  lock_ = locked(there_);
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

void Peer::prepare(Start start, const void* data, std::size_t bytes) {
  const Finally current = current_device(there_);
  if (!cache_) cache_.emplace();
  cache_->eviction.evict(cache_->stream.get());
  if (start == Start::in_l2) cache_->eviction.touch(data, bytes, cache_->stream.get());
  cache_->stream.synchronize();
}

std::size_t GpuTeam::visible() {
  int devices = 0;
  cuda_check(cudaGetDeviceCount(&devices));
  return static_cast<std::size_t>(devices);
}

GpuTeam::GpuTeam(std::size_t gpus) {
  const auto home = static_cast<std::size_t>(device_now());
  for (std::size_t g = 0; g < gpus; ++g) {
    const int device = static_cast<int>((home + g) % visible());
    if (g > 0 && g < visible()) locks_.push_back(locked(device));
    const Finally current = current_device(device);
    const auto began = HostClock::now();
    cuda_check(cudaFree(nullptr));
    context_seconds_ += since(began);
    members_.push_back({.device = device, .stream = {}, .begin = {}, .joined = {}, .end = {}});
  }
}

void GpuTeam::on_each(const Part& make) const {
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    const Finally current = current_device(members_[rank].device);
    make(rank);
  }
}

BothSides GpuTeam::time(const Part& work, const Part& before, const Part& after) {
  HostClock::time_point began;
  std::barrier start{static_cast<std::ptrdiff_t>(members_.size()),
                     [&]() noexcept { began = HostClock::now(); }};
  meeting_.emplace(static_cast<std::ptrdiff_t>(members_.size()));
  std::vector<std::exception_ptr> failures(members_.size());
  const auto drive = [&](std::size_t rank) {
    Member& mine = members_[rank];
    const cudaError_t ready = cudaSetDevice(mine.device);
    start.arrive_and_wait();
    try {
      cuda_check(ready);
      if (before) before(rank);
      mine.begin.record(mine.stream);
      work(rank);
      cuda_check(cudaGetLastError());
      mine.end.record(mine.stream);
      if (after) after(rank);
      mine.stream.synchronize();
    } catch (...) {
      failures[rank] = std::current_exception();
    }
    meeting_->arrive_and_drop();
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < members_.size(); ++rank)
      threads.emplace_back(drive, rank);
  }
  BothSides seen{.caller = since(began)};
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  on_each([&](std::size_t rank) {
    const Member& mine = members_[rank];
    seen.device = std::max(seen.device, mine.end.seconds_since(mine.begin));
  });
  return seen;
}

void GpuTeam::join(std::size_t rank) {
  Member& mine = members_[rank];
  mine.joined.record(mine.stream);
  meeting_->arrive_and_wait();  // an event must be recorded before it can be waited for
  for (const Member& other : members_) {
    if (&other != &mine) other.joined.hold_back(mine.stream);
  }
}

}  // namespace strata
