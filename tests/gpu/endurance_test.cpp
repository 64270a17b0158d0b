// Whether a process that measures for hours keeps what it takes: device memory, host memory and
// handles after each repetition of the sweep `quick`. STRATA_ENDURANCE: how many (default 3).
// STRATA_ENDURANCE_PROCESSES, 1 without it, share the cases out, each with all repetitions of its
// own, and take the first STRATA_ENDURANCE_DEVICES devices in turn, 1 without it; what a device
// holds is read while all of them wait. It must be the only test of its process.
#include "harness/case/sweep.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "tests/gpu/settled_gpu.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <malloc.h>
#include <pthread.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace strata {
namespace {

struct Held {
  double device_bytes = 0;
  double host_bytes = 0;
  double handles = 0;
};

Held held() {
  // What was freed and kept for later is not held: it moved a process by up to 4 % either way.
  // The test has one arena, because this returns nothing from the end of any other.
  ::malloc_trim(0);
  std::size_t free = 0;
  std::size_t total = 0;
  cuda_check(cudaMemGetInfo(&free, &total));
  std::ifstream statm{"/proc/self/statm"};
  double pages = 0;
  double resident = 0;
  statm >> pages >> resident;
  using Entries = std::filesystem::directory_iterator;
  return {.device_bytes = static_cast<double>(total - free),
          .host_bytes = resident * static_cast<double>(::sysconf(_SC_PAGESIZE)),
          .handles = static_cast<double>(std::distance(Entries{"/proc/self/fd"}, Entries{}))};
}

int number_in_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoi(text);
}

// Where all processes meet.
pthread_barrier_t* shared_barrier(int processes) {
  void* place = ::mmap(nullptr, sizeof(pthread_barrier_t), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* barrier = static_cast<pthread_barrier_t*>(place);
  pthread_barrierattr_t shared{};
  EXPECT_EQ(pthread_barrierattr_init(&shared), 0);
  EXPECT_EQ(pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED), 0);
  EXPECT_EQ(pthread_barrier_init(barrier, &shared, static_cast<unsigned>(processes)), 0);
  return barrier;
}

// Every `processes`-th case from `first` on, `repetitions` times.
void repeat_cases(int repetitions, std::size_t first, int processes, pthread_barrier_t* barrier) {
  // Read by CUDA at its first call, so each process sees one device alone.
  const auto devices =
      static_cast<std::size_t>(number_in_environment("STRATA_ENDURANCE_DEVICES", 1));
  ASSERT_EQ(::setenv("CUDA_VISIBLE_DEVICES", std::to_string(first % devices).c_str(), 1), 0);
  Sweep sweep = load_sweep("quick", benchmarks());
  // What is allocated and freed does not hang on how often and how long a case is sampled, nor on
  // how many galaxies a rung launches one by one: 32 of them took the time of all other cases.
  apply_settings(sweep,
                 {"plan.warmups=0", "plan.min_samples=6", "plan.max_samples=6",
                  "plan.seconds_per_case=0.01", "naive.systems=1", "tiled.systems=1"},
                 benchmarks());
  const std::vector<Case> cases = expand(sweep, Backend::cuda, benchmarks());
  Held after_two;
  Held last;
  for (int repetition = 1; repetition <= repetitions; ++repetition) {
    for (std::size_t i = first; i < cases.size(); i += static_cast<std::size_t>(processes)) {
      const CaseRecord record = run_case(cases[i], sweep.plan, gpu(), cache());
      if (record.status != Status::failed) continue;
      // Beside other processes a case may not get its times, but it takes and frees its memory.
      const bool is_untimed = processes > 1 && record.reason == "no samples";
      EXPECT_TRUE(is_untimed) << cases[i].id() << ": " << record.reason;
    }
    if (first == 0) std::cout << "repetition " << repetition << " of " << repetitions << std::endl;
    if (repetition != 2 && repetition != repetitions) continue;
    pthread_barrier_wait(barrier);
    last = held();
    pthread_barrier_wait(barrier);
    if (repetition == 2) after_two = last;
  }
  constexpr double flat = 1.01;
  EXPECT_LE(last.device_bytes, flat * after_two.device_bytes);
  EXPECT_LE(last.host_bytes, flat * after_two.host_bytes);
  EXPECT_LE(last.handles, after_two.handles);
  std::cout << "process " << first << ": device " << after_two.device_bytes << " to "
            << last.device_bytes << " bytes, host " << after_two.host_bytes << " to "
            << last.host_bytes << ", handles " << after_two.handles << " to " << last.handles
            << std::endl;
}

TEST(Endurance, TakesNoMoreAfterManyRepetitionsThanAfterTwo) {
  ASSERT_EQ(::mallopt(M_ARENA_MAX, 1), 1);
  const int repetitions = number_in_environment("STRATA_ENDURANCE", 3);
  const int processes = number_in_environment("STRATA_ENDURANCE_PROCESSES", 1);
  pthread_barrier_t* barrier = shared_barrier(processes);
  std::vector<pid_t> children;
  for (int child = 1; child < processes; ++child) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      repeat_cases(repetitions, static_cast<std::size_t>(child), processes, barrier);
      ::_exit(HasFailure() ? 1 : 0);
    }
    children.push_back(pid);
  }
  repeat_cases(repetitions, 0, processes, barrier);
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace strata
