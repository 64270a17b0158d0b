// How a rung on a GPU is verified, timed and counted; step.hpp says what a rung hands over.
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/measure/counted_work.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/timed.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"
#include "nbody/gravity/device_reference.hpp"
#include "nbody/gravity/step.hpp"
#include "nbody/gravity/verification.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace strata::nbody {
namespace {

constexpr int poison = 0xFF;  // all bits set: not a number
constexpr unsigned most_sms = 512;

/// Both clocks of an SM.
struct Stamp {
  std::uint64_t cycles;
  std::uint64_t nanoseconds;
};

/// Every SM that runs one of these blocks stores both clocks.
__global__ void stamp(Stamp* stamps) {
  const std::uint32_t sm = sm_id();
  if (sm >= most_sms) __trap();
  stamps[sm] = {cycles_now(), global_nanoseconds()};
}

struct Observation {
  double seconds = 0;         ///< of all steps of a sample, by events
  double device_seconds = 0;  ///< the same by the timer that all SMs share
  double copied_seconds = 0;  ///< gravit: by the host's clock, copies to and fro included
  double core_hertz = 0;
};

/// What the protocol measures: some steps, always from the same bodies.
class LadderRun {
 public:
  LadderRun(const Problem& problem, const ReferenceProblem& right, RungKernel kernel,
            std::string layout, unsigned sms)
      : problem_{problem},
        right_{right},
        kernel_{std::move(kernel)},
        layout_{std::move(layout)},
        sms_{sms},
        words_{words_of(layout_, right.bodies)},
        begin_words_{std::span<const float>{words_}},
        from_{words_.size()},
        to_{words_.size()},
        acceleration_{3 * problem.total()},
        stamps_{2 * std::size_t{most_sms}},
        stamps_landed_{2 * std::size_t{most_sms}} {
    if (problem.kind == Kind::gravit) {
      pinned_in_.emplace(words_.size());
      pinned_out_.emplace(acceleration_.size());
      std::ranges::copy(words_, pinned_in_->data());
    }
  }

  [[nodiscard]] bool moves() const { return problem_.moves(); }
  [[nodiscard]] std::uint32_t steps() const { return moves() ? galaxies_steps : 1; }

  /// Of the sample that was taken last.
  [[nodiscard]] Error error_of_accelerations() {
    return error_of(right_.pulls, acceleration_.to_host());
  }
  [[nodiscard]] Bodies moved_bodies() {
    const auto& last = last_in_from_ ? from_ : to_;
    return bodies_of(layout_, last.to_host(), problem_.systems, problem_.bodies);
  }

  void prepare() {
    cuda_check(cudaMemcpyAsync(from_.data(), begin_words_.data(), from_.size_bytes(),
                               cudaMemcpyDeviceToDevice, stream_.get()));
    to_.poison(poison, stream_.get());
    acceleration_.poison(poison, stream_.get());
    stamps_.poison(0, stream_.get());
    stream_.synchronize();
  }

  Observation observe() {
    using Clock = std::chrono::steady_clock;
    const auto began = Clock::now();
    if (pinned_in_) pinned_in_->upload_to(from_, stream_.get());
    stamp<<<2 * sms_, 32, 0, stream_.get()>>>(stamps_.data());
    cuda_check(cudaGetLastError());
    begin_.record(stream_.get());
    run(steps(), time_step);
    end_.record(stream_.get());
    stamp<<<2 * sms_, 32, 0, stream_.get()>>>(stamps_.data() + most_sms);
    cuda_check(cudaGetLastError());
    if (pinned_out_) pinned_out_->download_from(acceleration_, stream_.get());
    stream_.synchronize();
    const std::chrono::duration<double> whole = Clock::now() - began;
    stamps_landed_.download_from(stamps_, stream_.get());
    stream_.synchronize();
    Observation seen{.seconds = end_.seconds_since(begin_),
                     .device_seconds = 0,
                     .copied_seconds = whole.count(),
                     .core_hertz = 0};
    read_stamps(seen);
    return seen;
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.seconds, seen.device_seconds};
  }

  void count(Session& session, const Rung& rung) {
    prepare();
    const Counted counted =
        strata::count(session, {.prepare = [this] { prepare(); },
                                .work =
                                    [this] {
                                      stamp<<<1, 32, 0, stream_.get()>>>(stamps_.data());
                                      cuda_check(cudaGetLastError());
                                      run(1, time_step);
                                    },
                                .overhead =
                                    [this] {
                                      stamp<<<1, 32, 0, stream_.get()>>>(stamps_.data());
                                      cuda_check(cudaGetLastError());
                                    }});
    stream_.synchronize();
    const double interactions = problem_.interactions();
    const auto per_interaction = [&](const char* name, const char* unit, double value) {
      session.add(Measurement{.quantity = name,
                              .unit = unit,
                              .provenance = Provenance::counted,
                              .method = "cupti_net",
                              .samples = {value / interactions}});
    };
    const auto adds = counted.net("fp32_add");
    const auto multiplies = counted.net("fp32_mul");
    const auto fused = counted.net("fp32_fma");
    if (adds && multiplies && fused) {
      per_interaction("flops_per_interaction", "FLOP", *adds + *multiplies + 2 * *fused);
    }
    if (const auto issued = counted.net("executed_instructions")) {
      constexpr double lanes = 32;
      per_interaction("instructions_per_interaction", "instruction", *issued * lanes);
    }
    if (const auto bytes = counted.net("dram_read_bytes")) {
      per_interaction("dram_bytes_per_interaction", "B", *bytes);
    }
    if (kernel_.square_roots > 0) {
      // Each pair has one, whatever else is in a kernel's beginning and end: at most a few for a
      // body. That no pair was left out is what they prove.
      const std::array<Expectation, 1> expected{Expectation{.quantity = "xu_thread_instructions",
                                                            .predicted = kernel_.square_roots,
                                                            .bound = 16.0 / problem_.bodies}};
      session.add(model_gate(expected, counted));
    }
    if (moves()) return;
    session.add(accuracy_gate(rung, problem_.bodies, error_of_accelerations(), "accelerations"));
  }

 private:
  void run(std::uint32_t steps, float time) {
    float* from = from_.data();
    float* to = to_.data();
    for (std::uint32_t s = 0; s < steps; ++s) {
      kernel_.launch({.from = from,
                      .to = moves() ? to : nullptr,
                      .acceleration = moves() ? nullptr : acceleration_.data(),
                      .systems = problem_.systems,
                      .bodies = problem_.bodies,
                      .softening_squared = softening_squared,
                      .time_step = time},
                     stream_.get());
      std::swap(from, to);
    }
    last_in_from_ = from == from_.data();
  }

  /// From the last SM that had passed the first stamp to the first that reached the second.
  void read_stamps(Observation& seen) const {
    const auto stamps = stamps_landed_.span();
    std::uint64_t first = 0;
    std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
    std::vector<double> hertz;
    for (unsigned sm = 0; sm < most_sms; ++sm) {
      const Stamp& before = stamps[sm];
      const Stamp& after = stamps[most_sms + sm];
      if (before.nanoseconds > 0) first = std::max(first, before.nanoseconds);
      if (after.nanoseconds > 0) last = std::min(last, after.nanoseconds);
      if (before.nanoseconds == 0 || after.nanoseconds == 0) continue;
      hertz.push_back(static_cast<double>(after.cycles - before.cycles) /
                      (static_cast<double>(after.nanoseconds - before.nanoseconds) * 1e-9));
    }
    if (hertz.empty()) throw std::runtime_error{"no SM left both stamps"};
    seen.device_seconds = static_cast<double>(last - first) * 1e-9;
    seen.core_hertz = median(hertz);
  }

  Problem problem_;
  const ReferenceProblem& right_;
  RungKernel kernel_;
  std::string layout_;
  unsigned sms_;
  std::vector<float> words_;
  Stream stream_;
  DeviceBuffer<float> begin_words_;
  DeviceBuffer<float> from_;
  DeviceBuffer<float> to_;
  DeviceBuffer<float> acceleration_;
  DeviceBuffer<Stamp> stamps_;
  PinnedBuffer<Stamp> stamps_landed_;
  std::optional<PinnedBuffer<float>> pinned_in_;
  std::optional<PinnedBuffer<float>> pinned_out_;
  Event begin_;
  Event end_;
  bool last_in_from_ = true;
};

void report(Session& session, const Rung& rung, const Problem& problem, const LadderRun& ladder_run,
            const Collection<Observation>& seen, unsigned sms) {
  const Timed timed{session, seen};
  const double steps = ladder_run.steps();
  const double interactions = problem.interactions() * steps;
  timed.add("interactions_per_second", "1/s", "event",
            [&](const Observation& o) { return interactions / o.seconds; });
  timed.add("interactions_per_second", "1/s", "globaltimer",
            [&](const Observation& o) { return interactions / o.device_seconds; });
  timed.add("step_time", "s", "event", [&](const Observation& o) { return o.seconds / steps; });
  timed.add("step_time", "s", "globaltimer",
            [&](const Observation& o) { return o.device_seconds / steps; });
  if (problem.kind == Kind::gravit) {
    timed.add("copied_step_time", "s", "wall", &Observation::copied_seconds);
    session.add(repeat_unverified());
  }
  timed.timers(&Observation::seconds, "event", &Observation::device_seconds, "globaltimer");
  timed.core_clock("clock64_over_globaltimer", &Observation::core_hertz);
  const double rate = interactions / median(seen.series(&Observation::seconds));
  add_modelled(session, "nominal_flops_per_second", "FLOP/s", "flop_20", nominal_flops * rate);
  if (rung.issue_slots > 0) {
    constexpr double issued_a_cycle = 128;  // lanes: four warps
    add_modelled(
        session, "issue_limit", "1/s", "issue_slots",
        sms * issued_a_cycle * median(seen.series(&Observation::core_hertz)) / rung.issue_slots);
  }
}

/// The same against a reference that is known already.
Verification verify(const RungKernel& kernel, const std::string& layout, const Problem& problem,
                    const Bodies& bodies, std::span<const Pull> pulls) {
  const bool moves = problem.moves();
  const Bodies still = at_rest(bodies);
  const std::vector<float> words = words_of(layout, still);
  const DeviceBuffer<float> from{std::span<const float>{words}};
  DeviceBuffer<float> to{words.size()};
  DeviceBuffer<float> acceleration{3 * problem.total()};
  const Stream stream;
  to.poison(poison, stream.get());
  acceleration.poison(poison, stream.get());
  kernel.launch({.from = from.data(),
                 .to = moves ? to.data() : nullptr,
                 .acceleration = moves ? nullptr : acceleration.data(),
                 .systems = problem.systems,
                 .bodies = problem.bodies,
                 .softening_squared = softening_squared,
                 .time_step = 1},
                stream.get());
  stream.synchronize();
  if (!moves) return {.error = error_of(pulls, acceleration.to_host())};
  return verification_of(still, bodies_of(layout, to.to_host(), problem.systems, problem.bodies),
                         pulls);
}

}  // namespace

std::map<std::string, MakeRungKernel, std::less<>>& rung_kernels() {
  static std::map<std::string, MakeRungKernel, std::less<>> kept;
  return kept;
}

Verification verify(const RungKernel& kernel, const std::string& layout, const Problem& problem,
                    const Bodies& bodies) {
  return verify(kernel, layout, problem, bodies, device_reference(bodies));
}

void measure_rung(Session& session, const Rung& rung, MakeRungKernel make) {
  const Facts& facts = session.device().identity().facts;
  const auto sms = static_cast<unsigned>(std::get<std::int64_t>(facts.at("sm_count")));
  const Problem problem = problem_of(session);
  const ReferenceProblem& right = reference_problem(session, problem, device_reference);
  const RungKernel kernel = make(session, problem);
  LadderRun ladder_run{problem, right, kernel, session.param("layout"), sms};

  const Verification first =
      verify(kernel, session.param("layout"), problem, right.bodies, right.pulls);
  add_gates(session, rung, problem, first);
  if (session.counters() != nullptr) {
    ladder_run.count(session, rung);
    return;
  }
  report_error(session, first.error);
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, kernel.kernel));
  session.add(spill_gate(attributes.localSizeBytes, attributes.numRegs));
  session.fact("registers", static_cast<std::int64_t>(attributes.numRegs));
  session.fact("shared_bytes", static_cast<std::int64_t>(attributes.sharedSizeBytes));
  session.fact("threads", static_cast<std::int64_t>(kernel.threads));
  session.fact("steps", static_cast<std::int64_t>(ladder_run.steps()));
  session.fact("change", rung.change);
  session.fact("before", rung.before);

  const auto seen = collect(ladder_run, session.plan());
  report(session, rung, problem, ladder_run, seen, sms);
  if (ladder_run.moves()) {
    const Bodies moved = ladder_run.moved_bodies();
    report_drift(session, right.conserved.value(), conserved(moved, device_reference(moved)));
  } else {
    session.add(accuracy_gate(rung, problem.bodies, ladder_run.error_of_accelerations(),
                              "accelerations of the last sample"));
  }
  session.add(Gate{"model", Verdict::unverified, session.counting_note()});
}

}  // namespace strata::nbody
