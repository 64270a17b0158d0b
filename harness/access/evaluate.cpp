#include "harness/access/evaluate.hpp"

#include "harness/access/block_runner.hpp"
#include "harness/access/inline_calls.hpp"
#include "harness/access/listing.hpp"
#include "harness/access/operands.hpp"
#include "harness/base/text.hpp"
#include "harness/model/split_mix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace strata::access {
namespace {

using ptx::Space;

/// Results of blocks, by memory step and space.
class Sums {
 public:
  Sums(const Program& program, std::size_t generations)
      : program_{&program}, generations_{generations}, all_(program.memory.size() * space_count) {}

  void add(const std::vector<Tallies>& tallies) {
    for (std::size_t m = 0; m < tallies.size(); ++m) {
      for (std::size_t s = 0; s < space_count; ++s) {
        if (tallies[m].at(s)) add(all_[m * space_count + s], *tallies[m].at(s));
      }
    }
  }

  /// Adds the results of `blocks` blocks as those of `of`.
  void add_scaled(const Sums& sums, std::uint64_t blocks, std::uint64_t of) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (sums.all_[i].seen) add_scaled(all_[i], sums.all_[i], blocks, of);
    }
  }

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] std::uint64_t moved(std::size_t i) const { return all_[i].access.moved(); }
  void set_range(std::size_t i, const MovedRange& range) {
    all_[i].access.range = range;
    all_[i].is_sampled = true;
  }

  void put_into(Evaluation& evaluation) const {
    for (const Step& step : program_->steps) {
      if (step.kind == StepKind::memory) put_step(evaluation, step);
    }
  }

 private:
  struct Sum {
    bool seen = false;
    bool is_sampled = false;
    Access access;
    std::uint64_t doubted_in = ~std::uint64_t{0};
  };

  static void note_doubt(Sum& sum, const Access& of, std::uint64_t block) {
    if (of.doubt == Doubt::none || block >= sum.doubted_in) return;
    sum.access.doubt = of.doubt;
    sum.access.hidden_by = of.hidden_by;
    sum.doubted_in = block;
  }

  static void add(Sum& sum, const AccessTally& tally) {
    const RequestSums requests = tally.requests.sums();
    Access& to = sum.access;
    if (!sum.seen) to.traffic.resize(requests.traffic.size());
    sum.seen = true;
    to.space = tally.space;
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
    to.unknown += tally.unknown;
    to.doubtful += tally.doubtful + requests.unmodelled;
    note_doubt(sum, {.doubt = tally.doubt, .hidden_by = tally.hidden_by}, tally.doubted_in);
    if (to.doubt == Doubt::none && requests.unmodelled != 0) to.doubt = Doubt::cost;
  }

  static void add_scaled(Sum& sum, const Sum& of, std::uint64_t blocks, std::uint64_t all) {
    const auto scaled = [&](std::uint64_t number) {
      return static_cast<std::uint64_t>(std::llround(
          static_cast<double>(number) * static_cast<double>(all) / static_cast<double>(blocks)));
    };
    const Access& from = of.access;
    Access& to = sum.access;
    if (!sum.seen) to.traffic.resize(from.traffic.size());
    sum.seen = true;
    to.space = from.space;
    to.warps += scaled(from.warps);
    to.lanes += scaled(from.lanes);
    for (std::size_t g = 0; g < from.traffic.size(); ++g) {
      const Traffic& one = from.traffic[g];
      to.traffic[g] += {.requests = scaled(one.requests),
                        .transactions = scaled(one.transactions),
                        .sectors = scaled(one.sectors),
                        .lines = scaled(one.lines),
                        .wavefronts = scaled(one.wavefronts),
                        .bytes_moved = scaled(one.bytes_moved),
                        .bytes_used = scaled(one.bytes_used)};
    }
    to.wavefronts += scaled(from.wavefronts);
    to.ideal_sectors += scaled(from.ideal_sectors);
    to.contiguous_sectors += scaled(from.contiguous_sectors);
    to.ideal_wavefronts += scaled(from.ideal_wavefronts);
    if (to.outside == 0) to.first_outside = from.first_outside;
    to.outside += scaled(from.outside);
    to.unknown += scaled(from.unknown);
    to.doubtful += scaled(from.doubtful);
    note_doubt(sum, from, of.doubted_in);
    if (to.doubt == Doubt::none) to.doubt = from.doubt;
  }

  void put_step(Evaluation& evaluation, const Step& step) const {
    const MemoryStep& memory = program_->memory[step.detail];
    if (memory.space == Space::param || memory.is_argument) return;
    const std::size_t first = step.detail * space_count;
    const Sum& generic = all_[first + static_cast<std::size_t>(Space::generic)];
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
      if (!sum.is_sampled) access.range = {access.moved(), access.moved()};
      evaluation.accesses.push_back(std::move(access));
      any = true;
    };
    for (std::size_t s = 0; s < space_count; ++s) {
      if (all_[first + s].seen) put(all_[first + s], static_cast<Space>(s));
    }
    if (!any) put({}, memory.space);
  }

  const Program* program_;
  std::size_t generations_;
  std::vector<Sum> all_;
};

/// Blocks of a launch, to be run in this order, with those of one stratum side by side.
struct Plan {
  struct Stratum {
    std::size_t first = 0;  ///< into `blocks`
    std::size_t count = 0;
    std::uint64_t of = 0;  ///< blocks of the grid
  };
  std::vector<std::uint64_t> blocks;  ///< empty: all
  std::vector<Stratum> strata;
};

/// About `count` blocks of a grid. The first and the last ones along each axis, where most kernels
/// test for an end, are strata of their own; a stratum is divided into equal parts, of each of
/// which one block is taken at random.
Plan sample_of(const Extent& grid, std::uint64_t count) {
  struct Part {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
  };
  const auto parts_of = [&](std::uint32_t extent) {
    constexpr std::uint64_t least = 256;  // blocks for which strata pay off
    if (extent <= 2 || count < least) return std::vector<Part>{{0, extent}};
    return std::vector<Part>{{0, 1}, {1, extent - 1}, {extent - 1, extent}};
  };
  Plan plan;
  SplitMix numbers{count};
  for (const Part z : parts_of(grid.z)) {
    for (const Part y : parts_of(grid.y)) {
      for (const Part x : parts_of(grid.x)) {
        const std::uint64_t wide = x.end - x.first;
        const std::uint64_t high = y.end - y.first;
        const std::uint64_t all = wide * high * (z.end - z.first);
        constexpr std::uint64_t least = 4;
        const std::uint64_t share = count * all / grid.count();
        const std::uint64_t taken = std::min(all, std::max(share, least));
        plan.strata.push_back({plan.blocks.size(), taken, all});
        for (std::uint64_t i = 0; i < taken; ++i) {
          const std::uint64_t begin = all * i / taken;
          const std::uint64_t end = all * (i + 1) / taken;
          const std::uint64_t one = begin + numbers.next() % (end - begin);
          const std::uint64_t at_x = x.first + one % wide;
          const std::uint64_t at_y = y.first + one / wide % high;
          const std::uint64_t at_z = z.first + one / wide / high;
          plan.blocks.push_back((at_z * grid.y + at_y) * grid.x + at_x);
        }
      }
    }
  }
  return plan;
}

/// The interval of a total within which it is with 95 % confidence. `moved`: by block.
MovedRange interval_of(const Plan& plan, const std::vector<std::uint64_t>& moved) {
  double total = 0;
  double variance = 0;
  double unseen = 0;
  const auto largest = static_cast<double>(std::ranges::max(moved));
  const auto square = [](double x) { return x * x; };
  for (const auto& [first, count, of] : plan.strata) {
    const auto n = static_cast<double>(count);
    const auto all = static_cast<double>(of);
    double differences = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      total += static_cast<double>(moved[i]) * all / n;
      if (i > first)
        differences += square(static_cast<double>(moved[i]) - static_cast<double>(moved[i - 1]));
    }
    if (count == of) continue;
    if (count > 1) variance += square(all) * (1 - n / all) * differences / (2 * (n - 1)) / n;
    // If none of n blocks is of some other kind, at most 3 of n are, with 95 % confidence.
    unseen += square(std::min(all, 3 * all / n) * largest);
  }
  const auto samples = static_cast<double>(moved.size());
  const double quantile = 1.96 + 2.7 / std::max(samples - 1, 1.0);  // of Student's distribution
  const double reach = quantile * std::sqrt(variance) + std::sqrt(unseen);
  return {static_cast<std::uint64_t>(std::max(0.0, std::floor(total - reach))),
          static_cast<std::uint64_t>(std::ceil(total + reach))};
}

struct OverBudget {};

class Evaluator {
 public:
  Evaluator(const ptx::Module& module, const Launch& launch, const EvaluateOptions& options)
      : module_{module},
        launch_{launch},
        options_{options},
        program_{compile(module, launch, Part::addresses)} {}

  Evaluation run() {
    choose_blocks();
    Evaluation evaluation = run_with(options_.seed);
    const bool is_random = std::ranges::any_of(evaluation.accesses, [](const Access& one) {
      return one.doubt != Doubt::none && one.doubt != Doubt::cost && one.doubt != Doubt::sampled;
    });
    if (!is_random) return evaluation;
    const Evaluation other = run_with(options_.seed + 1);
    for (Access& one : evaluation.accesses) {
      const auto same = std::ranges::find_if(other.accesses, [&](const Access& access) {
        return access.instruction == one.instruction && access.space == one.space;
      });
      const MovedRange range = same == other.accesses.end() ? MovedRange{} : same->range;
      one.range = {std::min(one.range.least, range.least), std::max(one.range.most, range.most)};
      if (same != other.accesses.end()) one.unknown += same->unknown;
    }
    return evaluation;
  }

 private:
  // --- which blocks ---

  /// All blocks, or a sample if these are too many for the budget.
  void choose_blocks() {
    constexpr std::uint64_t pilots = 8;
    const std::uint64_t blocks = launch_.grid.count();
    if (blocks == 1) return;
    const Plan pilot = sample_of(launch_.grid, std::min(blocks, pilots));
    limit_ = options_.budget;
    spent_ = 0;
    std::uint64_t done = 0;
    try {
      BlockRunner runner = this->runner(contents(options_.seed));
      for (const std::uint64_t block : pilot.blocks) {
        runner.run(block);
        ++done;
      }
    } catch (const OverBudget&) {
      if (done == 0) refuse_budget();
    }
    const double instructions = static_cast<double>(spent_.load()) / static_cast<double>(done);
    const auto budget = static_cast<double>(options_.budget);
    if (instructions * static_cast<double>(blocks) > budget)
      sample(static_cast<std::uint64_t>(budget / 2 / instructions));
  }

  /// Fewer blocks for the next run.
  void sample(std::uint64_t count) {
    constexpr std::uint64_t most = 4096;
    count = std::clamp<std::uint64_t>(count, 1, std::min(most, launch_.grid.count() / 2));
    plan_ = sample_of(launch_.grid, count);
  }

  [[noreturn]] void refuse_budget() const {
    refuse({module_.kernels[launch_.kernel].name},
           fmt::format("more than {} warp instructions", options_.budget),
           "a block that ends within the budget", "check for an endless loop, or raise --budget");
  }

  // --- which contents ---

  [[nodiscard]] Contents contents(std::uint64_t seed) const {
    const std::size_t buffers = launch_.buffers.size();
    Contents made{.seed = seed,
                  .is_trusted = std::vector<bool>(buffers, true),
                  .is_followed = std::vector<bool>(buffers)};
    if (program_.buffers_hidden_by != ptx::no_index) made.is_trusted.assign(buffers, false);
    made.may_be_written.resize(buffers);
    if (std::ranges::none_of(program_.memory, &MemoryStep::is_strong)) return made;
    for (const Step& step : program_.steps) {
      if (step.kind != StepKind::memory || !program_.memory[step.detail].writes) continue;
      const auto reached = reachable_buffers(module_, launch_, step.instruction);
      if (reached.empty()) made.may_be_written.assign(buffers, true);
      for (const std::uint32_t buffer : reached)
        made.may_be_written[buffer] = true;
    }
    return made;
  }

  /// Fewer blocks, or memory that is not followed, after a round beyond the budget.
  void reduce(Contents& contents, bool is_followed) {
    constexpr std::uint64_t first_sample = 64;
    const bool is_one = plan_.blocks.size() == 1 || launch_.grid.count() == 1;
    if (is_one && !is_followed) refuse_budget();
    const std::size_t before = plan_.blocks.size();
    if (!is_one) sample(before == 0 ? first_sample : before / 2);
    // A sample has a few blocks of each part of the grid; with fewer it would be no sample.
    if (!is_one && !is_followed && before != 0 && plan_.blocks.size() >= before) refuse_budget();
    // Others may write what these ones read, or wait for.
    for (std::size_t b = 0; b < contents.is_followed.size(); ++b)
      contents.is_trusted[b] = contents.is_trusted[b] && !contents.is_followed[b];
    contents.is_followed.assign(contents.is_followed.size(), false);
  }

  Evaluation run_with(std::uint64_t seed) {
    Contents contents = this->contents(seed);
    ContestedWords contested;
    for (unsigned round = 0;; ++round) {
      const bool is_followed = std::ranges::count(contents.is_followed, true) > 0;
      WrittenBuffers written{contested};
      contents.written = is_followed ? &written : nullptr;
      Findings found{launch_.buffers.size(),
                     module_.kernels[launch_.kernel].instructions.size() + 1};
      try {
        Evaluation evaluation = run_blocks(contents, found);
        if (written.pages() > most_pages || round > most_rounds) found.contents_are_lost = true;
        if (learn(contents, found, written.found_contested(), seed == options_.seed)) continue;
        finish(evaluation, found);
        return evaluation;
      } catch (const OverBudget&) {
        reduce(contents, is_followed);
      }
    }
  }

  /// What the runners of a round found.
  struct Findings {
    Findings(std::size_t buffers, std::size_t instructions)
        : read(buffers), written(buffers), hidden(buffers), sources(instructions, ptx::no_index) {}
    void add(const BlockRunner& runner) {
      for (std::size_t b = 0; b < read.size(); ++b) {
        read[b] = read[b] || runner.read_buffers()[b];
        written[b] = written[b] || runner.written_buffers()[b];
        hidden[b] = hidden[b] || runner.hidden_buffers()[b];
      }
      for (std::size_t i = 0; i < sources.size(); ++i)
        sources[i] = std::min(sources[i], runner.unknown_sources()[i]);
      if (!runner.found_contested_shared()) return;
      const auto& shared = runner.contents().contested_shared;
      contested_shared.resize(shared.size());
      for (std::size_t byte = 0; byte < shared.size(); ++byte)
        contested_shared[byte] = contested_shared[byte] || shared[byte];
    }
    std::vector<bool> read;
    std::vector<bool> written;
    std::vector<bool> hidden;
    std::vector<std::uint32_t> sources;
    std::vector<bool> contested_shared;
    bool contents_are_lost = false;
  };

  /// Updates what is known of the contents; true if the launch must run again because of that.
  /// Contents that depend on an order are those of the blocks one after the other if `in_order`,
  /// else those at the start: a range then has both.
  [[nodiscard]] bool learn(Contents& contents, const Findings& found, bool is_contested,
                           bool in_order) const {
    in_order = in_order && plan_.blocks.empty() && !found.contents_are_lost;
    bool again = false;
    for (std::size_t b = 0; b < found.read.size(); ++b) {
      // An order matters only to contents that are known otherwise.
      again = again || (is_contested && contents.is_trusted[b] && contents.is_followed[b]);
      if (!found.read[b]) continue;
      if (!contents.is_trusted[b]) {
        again = again || (contents.is_followed[b] && !in_order);
        contents.is_followed[b] = contents.is_followed[b] && in_order;
        continue;
      }
      const bool mixes = found.written[b] && !contents.is_followed[b];
      const bool is_lost = found.hidden[b] || (mixes && !plan_.blocks.empty()) ||
                           (contents.is_followed[b] && found.contents_are_lost);
      if (is_lost) {
        contents.is_trusted[b] = false;
        contents.is_followed[b] = in_order;
        again = true;
      } else if (mixes) {
        contents.is_followed[b] = again = true;
      }
    }
    if (!found.contested_shared.empty()) {
      contents.contested_shared.resize(found.contested_shared.size());
      for (std::size_t byte = 0; byte < found.contested_shared.size(); ++byte)
        contents.contested_shared[byte] =
            contents.contested_shared[byte] || found.contested_shared[byte];
      again = true;
    }
    return again;
  }

  void finish(Evaluation& evaluation, const Findings& found) const {
    for (std::uint32_t b = 0; b < found.read.size(); ++b) {
      if (found.read[b]) evaluation.read_buffers.push_back(b);
      if (found.written[b] || found.hidden[b]) evaluation.written_buffers.push_back(b);
    }
    for (Access& one : evaluation.accesses) {
      if (one.hidden_by < found.sources.size()) one.hidden_buffer = found.sources[one.hidden_by];
      if (evaluation.is_sampled() && one.doubt == Doubt::none) one.doubt = Doubt::sampled;
    }
    evaluation.warps = evaluation.blocks * ((launch_.block.count() + lanes - 1) / lanes);
    evaluation.unmodelled = program_.unmodelled;
  }

  // --- runs ---

  void spend(std::uint64_t instructions) {
    const auto spent = spent_.fetch_add(instructions, std::memory_order_relaxed) + instructions;
    if (spent > limit_) throw OverBudget{};
    if (!options_.progress) return;
    const auto now = Clock::now();
    auto due = report_due_.load();
    if (now >= due && report_due_.compare_exchange_strong(due, now + report_every))
      options_.progress(spent);
  }

  Evaluation run_blocks(const Contents& contents, Findings& found) {
    const bool is_sampled = !plan_.blocks.empty();
    const bool is_followed = contents.written != nullptr;
    if (is_followed && !follows_) {
      program_ = compile(module_, launch_, Part::buffers);
      follows_ = true;
    }
    const std::uint64_t count = is_sampled ? plan_.blocks.size() : launch_.grid.count();
    // All blocks are within the budget by an estimate.
    limit_ = is_sampled || count == 1 ? options_.budget : 2 * options_.budget;
    spent_ = 0;
    unsigned threads =
        options_.threads == 0 ? std::thread::hardware_concurrency() : options_.threads;
    // Blocks that write what others read run in their order.
    if (is_followed) threads = 1;
    threads = static_cast<unsigned>(std::clamp<std::uint64_t>(threads, 1, count));
    Sums sums{program_, options_.generations.size()};
    std::vector<Sums> by_block(is_sampled ? count : 0, sums);
    std::mutex joining;
    std::exception_ptr failure;
    std::atomic<std::uint64_t> next = 0;
    std::uint64_t instructions = 0;
    const auto work = [&] {
      try {
        BlockRunner runner = this->runner(contents);
        for (std::uint64_t i = next++; i < count; i = next++) {
          runner.run(is_sampled ? plan_.blocks[i] : i);
          if (is_sampled) {
            by_block[i].add(runner.tallies());
            runner.clear_tallies();
          }
        }
        const std::lock_guard lock{joining};
        sums.add(runner.tallies());
        found.add(runner);
        instructions += runner.instructions();
      } catch (...) {
        const std::lock_guard lock{joining};
        if (!failure) failure = std::current_exception();
        next = count;
      }
    };
    {
      std::vector<std::jthread> team;
      for (unsigned t = 1; t < threads; ++t)
        team.emplace_back(work);
      work();
    }
    if (failure) std::rethrow_exception(failure);
    if (is_sampled) estimate(sums, by_block);
    Evaluation evaluation{
        .blocks = launch_.grid.count(), .blocks_run = count, .instructions = instructions};
    sums.put_into(evaluation);
    return evaluation;
  }

  void estimate(Sums& sums, const std::vector<Sums>& by_block) const {
    for (const auto& [first, count, of] : plan_.strata) {
      Sums stratum{program_, options_.generations.size()};
      for (std::size_t i = first; i < first + count; ++i)
        stratum.add_scaled(by_block[i], 1, 1);
      sums.add_scaled(stratum, count, of);
    }
    std::vector<std::uint64_t> moved(by_block.size());
    for (std::size_t a = 0; a < sums.size(); ++a) {
      std::ranges::transform(by_block, moved.begin(),
                             [&](const Sums& block) { return block.moved(a); });
      sums.set_range(a, interval_of(plan_, moved));
    }
  }

  [[nodiscard]] BlockRunner runner(const Contents& contents) {
    return {module_,  launch_,
            program_, options_.generations,
            contents, [this](std::uint64_t count) { spend(count); }};
  }

  const ptx::Module& module_;
  const Launch& launch_;
  const EvaluateOptions& options_;
  Program program_;
  bool follows_ = false;  ///< the program passes values through buffers
  Plan plan_;             ///< empty: all blocks
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds report_every{5};
  static constexpr unsigned most_rounds = 8;
  static constexpr std::size_t most_pages = std::size_t{1} << 17U;  ///< of followed buffers: 1.2 GB
  std::uint64_t limit_ = 0;
  std::atomic<std::uint64_t> spent_ = 0;
  std::atomic<Clock::time_point> report_due_ = Clock::now() + report_every;
};

/// Sums up the accesses of functions at the instructions that call them.
void count_at_calls(Evaluation& evaluation, const ptx::Kernel& kernel,
                    const std::vector<std::uint32_t>& origins) {
  std::vector<Access> accesses;
  const auto original = [&](std::uint32_t& instruction) {
    if (instruction < origins.size()) instruction = origins[instruction];
  };
  for (Access& one : evaluation.accesses) {
    original(one.instruction);
    original(one.hidden_by);
    const bool is_call = kernel.instructions[one.instruction].opcode == "call";
    const auto same = std::ranges::find_if(accesses, [&](const Access& access) {
      return is_call && access.instruction == one.instruction && access.space == one.space;
    });
    if (same == accesses.end()) {
      accesses.push_back(std::move(one));
    } else {
      *same += one;
    }
  }
  std::ranges::stable_sort(accesses, {}, &Access::instruction);
  evaluation.accesses = std::move(accesses);
  for (Unmodelled& one : evaluation.unmodelled)
    original(one.instruction);
}

}  // namespace

Access& Access::operator+=(const Access& other) {
  warps += other.warps;
  lanes += other.lanes;
  for (std::size_t g = 0; g < traffic.size() && g < other.traffic.size(); ++g)
    traffic[g] += other.traffic[g];
  ideal_sectors += other.ideal_sectors;
  contiguous_sectors += other.contiguous_sectors;
  wavefronts += other.wavefronts;
  ideal_wavefronts += other.ideal_wavefronts;
  if (outside == 0) first_outside = other.first_outside;
  outside += other.outside;
  unknown += other.unknown;
  doubtful += other.doubtful;
  range = {range.least + other.range.least, range.most + other.range.most};
  if (doubt != Doubt::none && doubt != Doubt::sampled) return *this;
  if (other.doubt == Doubt::none) return *this;
  doubt = other.doubt;
  hidden_by = other.hidden_by;
  hidden_buffer = other.hidden_buffer;
  return *this;
}

std::uint64_t Access::moved() const {
  if (space == Space::shared) return wavefronts;
  return traffic.empty() ? 0 : traffic.front().sectors;
}

double Access::moved_over_ideal() const {
  const bool shared = space == Space::shared;
  const std::uint64_t ideal = shared ? ideal_wavefronts : ideal_sectors;
  if (ideal == 0 || (!shared && traffic.empty())) return 0;
  return static_cast<double>(moved()) / static_cast<double>(ideal);
}

bool Evaluation::is_exact() const {
  return unmodelled.empty() && std::ranges::all_of(accesses, &Access::is_exact);
}

Evaluation evaluate(const ptx::Module& module, const Launch& launch,
                    const EvaluateOptions& options) {
  const auto inlined = inline_calls(module, launch.kernel);
  if (!inlined) return Evaluator{module, launch, options}.run();
  Evaluation evaluation = Evaluator{inlined->module, launch, options}.run();
  count_at_calls(evaluation, module.kernels[launch.kernel], inlined->origins);
  return evaluation;
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
    case Doubt::sampled:
      return "estimated from a sample of the blocks";
  }
  return {};
}

std::string describe_hidden(const ptx::Kernel& kernel, std::uint32_t instruction) {
  if (instruction >= kernel.instructions.size()) return "an uninitialised register";
  const ptx::Instruction& one = kernel.instructions[instruction];
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
  return fmt::format("{} of line {}: {}", opcode_text(one), one.line, why());
}

}  // namespace strata::access
