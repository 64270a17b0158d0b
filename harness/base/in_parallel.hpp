// Loops over large arrays on all CPUs: one CPU takes several seconds for a gigabyte of particles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace strata {

/// Splits 0 … count - 1 into one contiguous piece per CPU, calls work(first, last) for each in its
/// own thread, and returns when all are done. `work` must not throw. A piece has at least `least`
/// elements, so that small arrays start no threads.
template <class Work>
void in_parallel(std::size_t count, const Work& work, std::size_t least = std::size_t{1} << 14U) {
  const std::size_t threads =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, count / least + 1);
  if (threads == 1) {
    work(std::size_t{0}, count);
    return;
  }
  std::vector<std::jthread> team;
  for (std::size_t t = 0; t < threads; ++t)
    team.emplace_back([&work, first = count * t / threads, last = count * (t + 1) / threads] {
      work(first, last);
    });
}

}  // namespace strata
