// Systems are shared out among the GPUs, or the bodies of a single one, of which each GPU then
// holds all and computes its part; any number divides, evenly or not. A host thread drives each
// GPU. All start together and the time ends with the last: once with the copies to and from the
// GPUs inside, once without. Contexts are made before; what that took is a fact of the case.
#include "nbody/gravity/several.cuh"
#if defined(__CUDACC__)
#include "harness/case/error.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/timed.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"
#include "nbody/gravity/device_reference.hpp"
#include "nbody/gravity/verification.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#endif

namespace strata::nbody::several_gpus {
namespace {

Rung story() {
  return {
      .name = "several_gpus",
      .before = "register_banks",
      .question = "How far does it go with several GPUs?",
      .change = "systems, or the bodies of a single one, shared out among GPUs",
      .source = thessaly("Use of multiple devices"),
      .expectation = "as many times as there are GPUs, while each still has blocks for all its SMs",
      .sum = Sum::blocks,
      .approximate = true,
      .axes = {numbers("gpus", "that share the work", {"1", "2", "3", "4", "8"}, {"1", "2", "4"}),
               numbers("per_thread", "bodies of a thread", {"2", "4", "8"}, {"4", "8"})}};
}
STRATA_RUNG_STORY(story);

#if defined(__CUDACC__)

constexpr unsigned warps = 8;
using L = Soaoas;
using Clock = std::chrono::steady_clock;

template <unsigned per_thread, bool moves>
__global__ void __launch_bounds__(warps* several::lanes) step_of(Work work) {
  several::walk<per_thread, warps, moves, /*turned=*/true>(work);
}

/// What one GPU does: some systems, or some bodies of the only one.
struct Part {
  std::uint32_t systems = 0;
  std::uint32_t first_system = 0;
  std::uint32_t begin = 0;  ///< bodies of a system: first and one behind the last
  std::uint32_t end = 0;
};

Part part_of(const Problem& problem, std::uint32_t gpu, std::uint32_t gpus) {
  const auto cut = [&](std::uint32_t whole, std::uint32_t at) {
    return static_cast<std::uint32_t>(std::uint64_t{whole} * at / gpus);
  };
  if (problem.moves()) {
    const std::uint32_t first = cut(problem.systems, gpu);
    return {cut(problem.systems, gpu + 1) - first, first, 0, problem.bodies};
  }
  return {1, 0, cut(problem.bodies, gpu), cut(problem.bodies, gpu + 1)};
}

/// The bodies of some systems.
Bodies slice(const Bodies& all, const Part& part) {
  Bodies some = empty_bodies(part.systems, all.bodies);
  for (std::size_t f = 0; f < field_count; ++f) {
    const auto from = all.fields[f].begin() +
                      static_cast<std::ptrdiff_t>(std::size_t{part.first_system} * all.bodies);
    std::copy_n(from, some.total(), some.fields[f].begin());
  }
  return some;
}

/// A device that was made the current one.
struct CurrentDevice {
  explicit CurrentDevice(int index) : device{index} { use(); }
  void use() const { cuda_check(cudaSetDevice(device)); }
  int device;
};

/// One GPU with its part of the problem.
class Worker {
 public:
  Worker(int device, const Part& part, const Bodies& bodies, bool moves, unsigned per_thread)
      : device_{device},
        part_{part},
        moves_{moves},
        bodies_{bodies.bodies},
        total_{part.systems * bodies.bodies},
        pinned_{std::max(L::words(total_), std::size_t{1})},
        landed_{std::max(pinned_.size(), 3 * std::size_t{total_})},
        begin_words_{pinned_.size()},
        from_{pinned_.size()},
        to_{pinned_.size()},
        acceleration_{std::max<std::size_t>(3 * std::size_t{total_}, 1)} {
    std::ranges::copy(in_layout<L>(slice(bodies, part)), pinned_.data());
    begin_words_.upload(pinned_.span());
    with_number<2, 4, 8>(per_thread, [&]<unsigned n>() {
      kernel_ = moves ? step_of<n, true> : step_of<n, false>;
      bodies_of_block_ = n * several::lanes;
    });
  }

  void use() const { device_.use(); }

  /// The state before a sample.
  void ready() {
    use();
    constexpr int poison = 0xFF;
    cuda_check(cudaMemcpyAsync(from_.data(), begin_words_.data(), from_.size_bytes(),
                               cudaMemcpyDeviceToDevice, stream_.get()));
    to_.poison(poison, stream_.get());
    acceleration_.poison(poison, stream_.get());
    stream_.synchronize();
  }
  void copy_in() { pinned_.upload_to(from_, stream_.get()); }
  void compute(std::uint32_t steps, float time) {
    begin_.record(stream_.get());
    float* from = from_.data();
    float* to = to_.data();
    const std::uint32_t mine = part_.end - part_.begin;
    for (std::uint32_t s = 0; s < steps && mine > 0 && part_.systems > 0; ++s) {
      Work work{from,
                moves_ ? to : nullptr,
                moves_ ? nullptr : acceleration_.data(),
                bodies_,
                total_,
                softening_squared,
                time,
                part_.begin,
                part_.end};
      const dim3 grid{blocks_for(mine, bodies_of_block_), part_.systems};
      kernel_<<<grid, warps * several::lanes, 0, stream_.get()>>>(work);
      cuda_check(cudaGetLastError());
      std::swap(from, to);
    }
    last_ = from;
    end_.record(stream_.get());
  }
  void copy_out() {
    const auto* source = moves_ ? last_ : acceleration_.data();
    const std::size_t count = moves_ ? from_.size() : acceleration_.size();
    cuda_check(cudaMemcpyAsync(landed_.data(), source, count * sizeof(float),
                               cudaMemcpyDeviceToHost, stream_.get()));
  }
  void wait() { stream_.synchronize(); }
  [[nodiscard]] double event_seconds() const {
    use();
    return end_.seconds_since(begin_);
  }

  /// Puts this part's accelerations (or, of bodies that moved from rest for a time of 1, their
  /// velocities, which are the same) where they belong among all. After copy_out.
  void gather(std::vector<float>& x, std::vector<float>& y, std::vector<float>& z) const {
    if (moves_) {
      const Bodies moved =
          from_layout<L>(landed_.span().first(from_.size()), part_.systems, bodies_);
      const std::size_t at = std::size_t{part_.first_system} * bodies_;
      std::ranges::copy(moved.fields[3], x.begin() + static_cast<std::ptrdiff_t>(at));
      std::ranges::copy(moved.fields[4], y.begin() + static_cast<std::ptrdiff_t>(at));
      std::ranges::copy(moved.fields[5], z.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    }
    for (std::uint32_t i = part_.begin; i < part_.end; ++i) {
      x[i] = landed_.span()[i];
      y[i] = landed_.span()[std::size_t{total_} + i];
      z[i] = landed_.span()[2 * std::size_t{total_} + i];
    }
  }
  /// Bodies at rest, for judging.
  void rest() {
    use();
    auto words = pinned_.span();
    for (const Field f : {Field::vx, Field::vy, Field::vz}) {
      for (std::size_t i = 0; i < total_; ++i)
        words[word_of<L>(f, i, total_)] = 0;
    }
  }

 private:
  CurrentDevice device_;  // first: what follows is made on it
  Part part_;
  bool moves_;
  std::uint32_t bodies_;
  std::uint32_t total_;
  unsigned bodies_of_block_ = 0;
  void (*kernel_)(Work) = nullptr;
  float* last_ = nullptr;
  Stream stream_;
  Event begin_;
  Event end_;
  PinnedBuffer<float> pinned_;
  PinnedBuffer<float> landed_;
  DeviceBuffer<float> begin_words_;
  DeviceBuffer<float> from_;
  DeviceBuffer<float> to_;
  DeviceBuffer<float> acceleration_;
};

/// Back to the device that the process measures, whatever happens.
struct HomeDevice {
  HomeDevice() { cuda_check(cudaGetDevice(&device)); }
  HomeDevice(const HomeDevice&) = delete;
  HomeDevice& operator=(const HomeDevice&) = delete;
  ~HomeDevice() { cuda_release(cudaSetDevice(device), "cudaSetDevice"); }
  int device = 0;
};

struct Observation {
  double seconds = 0;         ///< by the host's clock: from the common start to the last GPU's end
  double event_seconds = 0;   ///< by events: of the GPU that took longest
  double copied_seconds = 0;  ///< by the host's clock, copies to and from the GPUs inside
};

class Fleet {
 public:
  Fleet(const Problem& problem, const ReferenceProblem& right, std::uint32_t gpus,
        unsigned per_thread)
      : problem_{problem}, right_{right} {
    const bool moves = problem.moves();
    for (std::uint32_t g = 0; g < gpus; ++g) {
      const auto began = Clock::now();
      cuda_check(cudaSetDevice(static_cast<int>((home_.device + g) % count())));
      cuda_check(cudaFree(nullptr));
      context_seconds_ += std::chrono::duration<double>(Clock::now() - began).count();
      workers_.push_back(std::make_unique<Worker>(static_cast<int>((home_.device + g) % count()),
                                                  part_of(problem, g, gpus), right.bodies, moves,
                                                  per_thread));
    }
  }
  [[nodiscard]] static std::uint32_t count() {
    int devices = 0;
    cuda_check(cudaGetDeviceCount(&devices));
    return static_cast<std::uint32_t>(devices);
  }
  [[nodiscard]] double context_seconds() const { return context_seconds_; }
  [[nodiscard]] std::uint32_t steps() const { return problem_.moves() ? galaxies_steps : 1; }

  [[nodiscard]] Error verify() {
    for (auto& worker : workers_) {
      if (problem_.moves()) worker->rest();
      worker->ready();
      worker->copy_in();
      worker->compute(1, 1.0F);
      worker->copy_out();
      worker->wait();
    }
    std::vector<float> x(problem_.total(), std::numeric_limits<float>::quiet_NaN());
    std::vector<float> y = x;
    std::vector<float> z = x;
    for (const auto& worker : workers_)
      worker->gather(x, y, z);
    return error_of(right_.pulls, x, y, z);
  }

  void prepare() {
    for (auto& worker : workers_)
      worker->ready();
  }

  Observation observe() {
    Observation seen;
    seen.seconds = together([&](Worker& worker) { worker.compute(steps(), time_step); });
    for (const auto& worker : workers_)
      seen.event_seconds = std::max(seen.event_seconds, worker->event_seconds());
    prepare();
    seen.copied_seconds = together([&](Worker& worker) {
      worker.copy_in();
      worker.compute(steps(), time_step);
      worker.copy_out();
    });
    return seen;
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.seconds, seen.event_seconds};
  }

 private:
  /// Seconds from the common start to when the last GPU is done with `work`.
  template <class Do>
  double together(const Do& work) {
    Clock::time_point began;
    std::barrier start{static_cast<std::ptrdiff_t>(workers_.size()),
                       [&]() noexcept { began = Clock::now(); }};
    std::vector<std::exception_ptr> failures(workers_.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t g = 0; g < workers_.size(); ++g) {
        threads.emplace_back([&, g] {
          try {
            workers_[g]->use();
          } catch (...) {
            failures[g] = std::current_exception();
          }
          start.arrive_and_wait();
          if (failures[g]) return;
          try {
            work(*workers_[g]);
            workers_[g]->wait();
          } catch (...) {
            failures[g] = std::current_exception();
          }
        });
      }
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    for (const auto& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
    return seconds;
  }

  HomeDevice home_;
  Problem problem_;
  const ReferenceProblem& right_;
  std::vector<std::unique_ptr<Worker>> workers_;
  double context_seconds_ = 0;
};

void run(Session& session) {
  const Rung rung = story();
  const Problem problem = problem_of(session);
  const auto gpus = static_cast<std::uint32_t>(session.whole("gpus"));
  if (gpus > Fleet::count()) {
    throw Skipped{"this process sees " + std::to_string(Fleet::count()) + " GPUs"};
  }
  if (session.counters() != nullptr) {
    throw Skipped{"counters are read of one GPU: see rung register_banks"};
  }
  const ReferenceProblem& right = reference_problem(session, problem, device_reference);
  const auto per_thread = static_cast<unsigned>(session.whole("per_thread"));
  {
    Fleet judged_fleet{problem, right, gpus, per_thread};
    const Error error = judged_fleet.verify();
    session.add(accuracy_gate(rung, problem.bodies, error, "accelerations"));
    report_error(session, error);
    session.fact("context_seconds", judged_fleet.context_seconds());
  }
  Fleet fleet{problem, right, gpus, per_thread};
  const auto seen = collect(fleet, session.plan());
  const Timed timed{session, seen};
  const double steps = fleet.steps();
  const double interactions = problem.interactions() * steps;
  timed.add("interactions_per_second", "1/s", "wall",
            [&](const Observation& o) { return interactions / o.seconds; });
  timed.add("interactions_per_second", "1/s", "event",
            [&](const Observation& o) { return interactions / o.event_seconds; });
  timed.add("copied_interactions_per_second", "1/s", "wall",
            [&](const Observation& o) { return interactions / o.copied_seconds; });
  timed.add("step_time", "s", "wall", [&](const Observation& o) { return o.seconds / steps; });
  timed.timers(&Observation::seconds, "wall", &Observation::event_seconds, "event");
  add_modelled(session, "nominal_flops_per_second", "FLOP/s", "flop_20",
               nominal_flops * interactions / median(seen.series(&Observation::seconds)));
  session.fact("steps", static_cast<std::int64_t>(fleet.steps()));
  session.fact("change", rung.change);
  session.fact("before", rung.before);
}

[[maybe_unused]] const bool enrolled =
    strata::detail::enrol(detail::declare<story>, Backend::cuda, run);

#endif

}  // namespace
}  // namespace strata::nbody::several_gpus
