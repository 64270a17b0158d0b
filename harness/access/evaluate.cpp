#include "harness/access/evaluate.hpp"

#include "harness/access/block_runner.hpp"
#include "harness/access/control_flow.hpp"
#include "harness/access/operands.hpp"
#include "harness/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace strata::access {
namespace {

using ptx::Space;

/// Sums the results of runners.
class Sums {
 public:
  Sums(const Program& program, std::size_t generations, std::size_t buffers)
      : program_{program},
        generations_{generations},
        of_(program.memory.size() * space_count),
        read_(buffers),
        written_(buffers) {}

  void add(const BlockRunner& runner) {
    const auto& tallies = runner.tallies();
    for (std::size_t m = 0; m < tallies.size(); ++m) {
      for (std::size_t s = 0; s < space_count; ++s) {
        if (tallies[m].at(s)) add(of_[m * space_count + s], *tallies[m].at(s));
      }
    }
    for (std::size_t b = 0; b < read_.size(); ++b) {
      if (runner.read_buffers()[b]) read_[b] = true;
      if (runner.written_buffers()[b]) written_[b] = true;
    }
    instructions_ += runner.instructions();
  }

  /// Removes written buffers from `trusted`; true if one of them was read.
  [[nodiscard]] bool distrust(std::vector<bool>& trusted) const {
    bool again = false;
    for (std::size_t b = 0; b < read_.size(); ++b) {
      if (!written_[b] || !trusted[b]) continue;
      trusted[b] = false;
      again = again || read_[b];
    }
    return again;
  }

  void put_into(Evaluation& evaluation) const {
    for (const Step& step : program_.steps) {
      if (step.kind == StepKind::memory) put_step(evaluation, step);
    }
    for (std::uint32_t b = 0; b < read_.size(); ++b) {
      if (read_[b]) evaluation.read_buffers.push_back(b);
      if (written_[b]) evaluation.written_buffers.push_back(b);
    }
    evaluation.instructions = instructions_;
  }

 private:
  struct Sum {
    bool seen = false;
    Access access;
    std::uint64_t doubted_in = ~std::uint64_t{0};
  };

  static void add(Sum& sum, const AccessTally& tally) {
    const RequestSums requests = tally.requests.sums();
    Access& to = sum.access;
    if (!sum.seen) to.traffic.resize(requests.traffic.size());
    sum.seen = true;
    to.warps += tally.warps;
    to.lanes += tally.lanes;
    for (std::size_t g = 0; g < requests.traffic.size(); ++g)
      to.traffic[g] += requests.traffic[g];
    to.wavefronts += requests.wavefronts;
    to.ideal_sectors += requests.ideal_sectors;
    to.contiguous_sectors += requests.contiguous_sectors;
    to.ideal_wavefronts += requests.ideal_wavefronts;
    if (to.outside == 0) to.first_outside = tally.first_outside;
    to.outside += tally.outside;
    to.doubtful += tally.doubtful;
    if (tally.doubt != Doubt::none && tally.doubted_in < sum.doubted_in) {
      to.doubt = tally.doubt;
      to.hidden_by = tally.hidden_by;
      sum.doubted_in = tally.doubted_in;
    }
    to.doubtful += requests.unmodelled;
    if (to.doubt == Doubt::none && requests.unmodelled != 0) to.doubt = Doubt::cost;
  }

  void put_step(Evaluation& evaluation, const Step& step) const {
    const MemoryStep& memory = program_.memory[step.detail];
    if (memory.space == Space::param) return;
    const std::size_t first = step.detail * space_count;
    const Sum& generic = of_[first + static_cast<std::size_t>(Space::generic)];
    bool any = false;
    const auto put = [&](const Sum& sum, Space space) {
      Access access = sum.access;
      access.instruction = step.instruction;
      access.kind = memory.kind;
      access.space = space;
      access.width = memory.width();
      if (access.doubt == Doubt::cost) access.hidden_by = step.instruction;
      if (space != Space::shared && space != Space::constant) access.traffic.resize(generations_);
      // A doubtful generic access makes all spaces that it may access doubtful.
      if (access.doubt == Doubt::none && generic.access.doubt != Doubt::none) {
        access.doubt = generic.access.doubt;
        access.hidden_by = generic.access.hidden_by;
      }
      evaluation.accesses.push_back(std::move(access));
      any = true;
    };
    for (std::size_t s = 0; s < space_count; ++s) {
      if (of_[first + s].seen) put(of_[first + s], static_cast<Space>(s));
    }
    if (!any) put({}, memory.space);
  }

  const Program& program_;
  std::size_t generations_;
  std::vector<Sum> of_;
  std::vector<bool> read_;
  std::vector<bool> written_;
  std::uint64_t instructions_ = 0;
};

class Evaluator {
 public:
  Evaluator(const ptx::Module& module, const Launch& launch, const EvaluateOptions& options)
      : module_{module},
        launch_{launch},
        options_{options},
        program_{compile(module, launch, Part::addresses)} {}

  Evaluation run() {
    std::vector<bool> trusted(launch_.buffers.size());
    for (std::size_t b = 0; b < trusted.size(); ++b) {
      trusted[b] = launch_.buffers[b].fill.kind != Fill::Kind::unknown &&
                   program_.buffers_hidden_by == ptx::no_index;
    }
    Evaluation evaluation;
    evaluation.blocks = launch_.grid.count();
    evaluation.warps = evaluation.blocks * ((launch_.block.count() + lanes - 1) / lanes);
    // Buffers that the kernel writes are not known after all, so each round trusts fewer.
    for (;;) {
      Sums sums{program_, options_.generations.size(), launch_.buffers.size()};
      run_blocks(trusted, sums);
      if (sums.distrust(trusted)) continue;
      sums.put_into(evaluation);
      break;
    }
    evaluation.blocks_run = blocks_run_;
    evaluation.unmodelled = program_.unmodelled;
    return evaluation;
  }

 private:
  void spend(std::uint64_t instructions) {
    const auto spent = spent_.fetch_add(instructions, std::memory_order_relaxed) + instructions;
    if (spent > options_.budget) {
      refuse({module_.kernels[launch_.kernel].name},
             fmt::format("more than {} warp instructions", options_.budget),
             "a launch that ends within the budget",
             "check for an endless loop, launch fewer blocks, or raise --budget");
    }
    if (!options_.progress) return;
    const auto now = Clock::now();
    auto due = report_due_.load();
    if (now >= due && report_due_.compare_exchange_strong(due, now + report_every))
      options_.progress(spent);
  }

  /// Blocks of one row of the grid that a thread takes at a time: ever fewer, so that all threads
  /// finish together.
  struct Run {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
  };
  Run take(unsigned threads) {
    const std::lock_guard lock{taking_};
    const std::uint64_t blocks = launch_.grid.count();
    constexpr std::uint64_t shares = 4;
    const std::uint64_t count = std::max<std::uint64_t>((blocks - next_) / (shares * threads), 1);
    const std::uint64_t row_end = (next_ / launch_.grid.x + 1) * launch_.grid.x;
    const Run run{next_, std::min({next_ + count, row_end, blocks})};
    next_ = run.end;
    return run;
  }

  void run_blocks(const std::vector<bool>& trusted, Sums& sums) {
    const std::uint64_t blocks = launch_.grid.count();
    unsigned threads =
        options_.threads == 0 ? std::thread::hardware_concurrency() : options_.threads;
    threads = static_cast<unsigned>(std::clamp<std::uint64_t>(threads, 1, blocks));
    std::mutex joining;
    std::exception_ptr failure;
    blocks_run_ = 0;
    next_ = 0;
    const auto work = [&] {
      try {
        Worker worker{*this, trusted};
        for (Run run = take(threads); run.first < run.end; run = take(threads))
          worker.run(run.first, run.end);
        const std::lock_guard lock{joining};
        sums.add(worker.runner);
        blocks_run_ += worker.blocks_run;
      } catch (...) {
        const std::lock_guard lock{joining};
        if (!failure) failure = std::current_exception();
        const std::lock_guard no_more{taking_};
        next_ = blocks;
      }
    };
    {
      std::vector<std::jthread> team;
      for (unsigned t = 1; t < threads; ++t)
        team.emplace_back(work);
      work();
    }
    if (failure) std::rethrow_exception(failure);
  }

  /// The state of one thread.
  struct Worker {
    Worker(Evaluator& evaluator, const std::vector<bool>& trusted)
        : runner{evaluator.runner(trusted)},
          scout{evaluator.runner(trusted)},
          slopes{evaluator.module_.kernels[evaluator.launch_.kernel], evaluator.program_,
                 evaluator.launch_},
          // Values that pass between blocks other than in registers are not followed.
          reuses{evaluator.options_.reuses_blocks && !evaluator.program_.needs_shared &&
                 !evaluator.program_.needs_local} {
      scout.follow(slopes);
    }

    /// Blocks [first, end) of a row.
    void run(std::uint64_t first, std::uint64_t end) {
      while (first < end) {
        const std::uint64_t left = end - first;
        std::uint64_t alike = std::min(left, patience);
        std::uint64_t period = alike;
        // A block is run a second time to compare it with the following ones, which pays off only
        // if there are some.
        constexpr std::uint64_t least = 4;
        if (reuses && left >= least && patience == 1) {
          slopes.begin();
          scout.run(first);
          alike = std::min(left - 1, slopes.reach()) + 1;
          period = std::min(slopes.period(), alike);
          const bool gains = alike > period + 1;
          waits = gains ? 1 : std::min<std::uint64_t>(2 * waits, most_wait);
          patience = gains ? 1 : waits;
        } else {
          patience = 1;
        }
        for (std::uint64_t b = 0; b < period; ++b) {
          runner.run(first + b, (alike - b + period - 1) / period);
          ++blocks_run;
        }
        first += alike;
      }
    }

    BlockRunner runner;
    BlockRunner scout;
    Slopes slopes;
    bool reuses;
    std::uint64_t blocks_run = 0;
    std::uint64_t patience = 1;  ///< blocks to run before the next comparison
    std::uint64_t waits = 1;
    static constexpr std::uint64_t most_wait = 64;
  };

  [[nodiscard]] BlockRunner runner(const std::vector<bool>& trusted) {
    return {module_,  launch_,
            program_, options_.generations,
            trusted,  [this](std::uint64_t count) { spend(count); }};
  }

  const ptx::Module& module_;
  const Launch& launch_;
  const EvaluateOptions& options_;
  Program program_;
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds report_every{5};
  std::atomic<std::uint64_t> spent_ = 0;
  std::atomic<Clock::time_point> report_due_ = Clock::now() + report_every;
  std::uint64_t blocks_run_ = 0;
  std::mutex taking_;
  std::uint64_t next_ = 0;  ///< next block to take
};

}  // namespace

double Access::moved_over_ideal() const {
  const bool shared = space == Space::shared;
  const std::uint64_t ideal = shared ? ideal_wavefronts : ideal_sectors;
  if (ideal == 0 || (!shared && traffic.empty())) return 0;
  const std::uint64_t moved = shared ? wavefronts : traffic.front().sectors;
  return static_cast<double>(moved) / static_cast<double>(ideal);
}

bool Evaluation::is_exact() const {
  return unmodelled.empty() && std::ranges::all_of(accesses, &Access::is_exact);
}

Evaluation evaluate(const ptx::Module& module, const Launch& launch,
                    const EvaluateOptions& options) {
  return Evaluator{module, launch, options}.run();
}

bool depends_on_time(const ptx::Kernel& kernel, const Access& access) {
  const bool is_of_path =
      access.doubt == Doubt::path || access.doubt == Doubt::guard || access.doubt == Doubt::ended;
  if (!is_of_path || access.hidden_by >= kernel.instructions.size()) return false;
  if (!is_told_by_others(kernel.instructions[access.hidden_by])) return false;
  const ControlFlow flow = control_flow(kernel);
  return flow.loop_of[flow.block_of[access.hidden_by]] != no_index;
}

std::string_view describe(Doubt doubt) {
  switch (doubt) {
    case Doubt::none:
      return "exact";
    case Doubt::address:
      return "address is unknown";
    case Doubt::guard:
      return "guard is unknown";
    case Doubt::path:
      return "it is unknown which threads reach this instruction";
    case Doubt::ended:
      return "it is unknown which threads have exited";
    case Doubt::apart:
      return "some threads of an instruction's mask do not reach it together: its result, and "
             "which "
             "threads continue together, is undefined";
    case Doubt::misaligned:
      return "misaligned address";
    case Doubt::width:
      return "access size is unknown";
    case Doubt::cost:
      return "its wavefronts are not modelled: an atomic of shared memory that is a loop or of 64 "
             "bits, or 16 bytes in some lanes of a warp";
  }
  return {};
}

std::string describe_hidden(const ptx::Kernel& kernel, std::uint32_t instruction) {
  if (instruction >= kernel.instructions.size()) return "an uninitialised register";
  const ptx::Instruction& one = kernel.instructions[instruction];
  std::string text{one.opcode};
  for (const auto& modifier : one.modifiers)
    text += fmt::format(".{}", modifier);
  const auto why = [&]() -> std::string_view {
    switch (role_of(one)) {
      case Role::load:
        return one.space() == Space::param ? "the launch file does not give this parameter"
                                           : "loaded value is unknown";
      case Role::atomic:
        return "returned value is unknown";
      case Role::unmodelled:
        return "not modelled";
      default:
        return "result is unknown";
    }
  };
  return fmt::format("{} of line {}: {}", text, one.line, why());
}

}  // namespace strata::access
