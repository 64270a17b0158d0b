#include "harness/cuda/gpu_team.hpp"

#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/peer.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <exception>
#include <thread>

namespace strata {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

}  // namespace

std::size_t GpuTeam::visible() {
  int devices = 0;
  cuda_check(cudaGetDeviceCount(&devices));
  return static_cast<std::size_t>(devices);
}

GpuTeam::GpuTeam(std::size_t gpus) {
  int home = 0;
  cuda_check(cudaGetDevice(&home));
  for (std::size_t g = 0; g < gpus; ++g) {
    const int device = static_cast<int>((static_cast<std::size_t>(home) + g) % visible());
    const CurrentDevice current{device};
    const auto began = Clock::now();
    cuda_check(cudaFree(nullptr));
    context_seconds_ += since(began);
    members_.push_back({.device = device, .stream = {}, .begin = {}, .end = {}});
  }
}

void GpuTeam::on_each(const std::function<void(std::size_t)>& make) const {
  for (std::size_t rank = 0; rank < size(); ++rank) {
    const CurrentDevice current{members_[rank].device};
    make(rank);
  }
}

BothSides GpuTeam::time(const Part& work, const Part& before, const Part& after) {
  Clock::time_point began;
  std::barrier start{static_cast<std::ptrdiff_t>(size()), [&]() noexcept { began = Clock::now(); }};
  std::vector<std::exception_ptr> failures(size());
  const auto drive = [&](std::size_t rank) {
    Member& mine = members_[rank];
    bool arrived = false;
    try {
      cuda_check(cudaSetDevice(mine.device));
      start.arrive_and_wait();
      arrived = true;
      if (before) before(rank);
      mine.begin.record(mine.stream.get());
      work(rank);
      cuda_check(cudaGetLastError());
      mine.end.record(mine.stream.get());
      if (after) after(rank);
      mine.stream.synchronize();
    } catch (...) {
      failures[rank] = std::current_exception();
      if (!arrived) start.arrive_and_drop();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < size(); ++rank)
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

}  // namespace strata
