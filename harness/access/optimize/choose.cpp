#include "harness/access/optimize/choose.hpp"

#include "harness/access/evaluate.hpp"
#include "harness/access/operands.hpp"
#include "harness/access/optimize/bounds.hpp"
#include "harness/access/optimize/lane_steps.hpp"
#include "harness/access/optimize/same_results.hpp"
#include "harness/access/optimize/stage.hpp"
#include "harness/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Space;
using ptx::Special;

/// Of a kernel's loads and stores of global memory.
struct Asked {
  std::uint32_t instruction = 0;
  unsigned width = 0;
  FormId form = no_form;
};

class Candidates {
 public:
  Candidates(const ptx::Module& module, const ptx::Kernel& kernel)
      : flow_{control_flow(kernel)}, forms_{module, kernel, flow_} {
    for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
      const Instruction& one = kernel.instructions[i];
      const Role role = role_of(one);
      const bool is_meant = (role == Role::load || role == Role::store) &&
                            (one.space() == Space::global || one.space() == Space::generic) &&
                            is_reachable(flow_, flow_.block_of[i]);
      if (!is_meant) continue;
      const unsigned width = ptx::bytes_of(one.type()) * one.vector_width();
      if (width == 0 || width > 16) continue;
      asked_.push_back({i, width, forms_.address(i, *address_of(one)).form});
    }
  }

  [[nodiscard]] KernelForms& forms() { return forms_; }

  /// `largest_block`: threads of it, among those that are launched.
  [[nodiscard]] std::vector<Change> all(unsigned largest_block) {
    std::vector<Change> changes;
    const auto add = [&](const Change& change) {
      if (std::ranges::count(changes, change) == 0) changes.push_back(change);
    };
    add({});  // grouping alone
    for (const unsigned passes : {2U, 4U, 8U, 16U}) {
      if (has_steps_in_loops(passes)) add({.passes = passes});
    }
    for (const Change& axis : axes()) {
      for (unsigned threads = 1; threads == 1 || threads * least_width() <= 16; threads *= 2) {
        Change change = axis;
        change.threads = threads;
        add(change);
      }
    }
    const Change staged{.bytes = 1, .staged = (largest_block + 31) / 32 * 32};
    if (can_stage(forms_) && !refusal_of(forms_.module(), forms_.kernel(), staged.rearrangement()))
      add(staged);
    for (unsigned row = 7; row <= 12 && has_shared_memory(); ++row)
      add({.swizzled_row = row});
    return changes;
  }

 private:
  [[nodiscard]] unsigned least_width() const {
    unsigned width = 16;
    for (const Asked& one : asked_)
      width = std::min(width, one.width);
    return width;
  }

  [[nodiscard]] bool has_shared_memory() const {
    return std::ranges::any_of(forms_.kernel().instructions, [](const Instruction& one) {
      return role_of(one) == Role::load && one.space() == Space::shared;
    });
  }

  /// Whether loops step through neighbours, so many of which are no more than 16 bytes.
  [[nodiscard]] bool has_steps_in_loops(unsigned passes) {
    for (std::uint32_t loop = 0; loop < flow_.loops.size(); ++loop) {
      for (const Asked& one : asked_) {
        const auto bytes = step_of(forms_, one.form, AtomKind::counter, loop);
        if (bytes && forms_.forms().constant_of(*bytes) == std::int64_t{one.width} &&
            passes * one.width <= 16) {
          return true;
        }
      }
    }
    return false;
  }

  /// Parameters that must have a value for neighbours to lie side by side.
  using Given = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  /// Where they do, as far as accesses of a thread can be grouped to fill what lies between them;
  /// nothing where they never do.
  [[nodiscard]] std::optional<Given> given_for(FormId step, unsigned width) {
    const Forms& forms = forms_.forms();
    if (const auto bytes = forms.constant_of(step)) {
      const bool is_side_by_side =
          *bytes >= std::int64_t{width} && *bytes <= 16 && *bytes % width == 0;
      return is_side_by_side ? std::optional{Given{}} : std::nullopt;
    }
    const auto terms = forms.terms_of(step);
    if (forms.offset_of(step) != 0 || terms.size() != 1) return {};
    const std::int64_t times = terms[0].coefficient;
    const auto factors = forms.factors_of(terms[0]);
    const Atom& atom = forms.atom(factors[0]);
    const bool is_meant = factors.size() == 1 && atom.kind == AtomKind::parameter &&
                          atom.bytes == 4 && atom.place == 0 && times > 0 && times <= 16;
    if (!is_meant) return {};
    if (times >= width)
      return times % width == 0 ? std::optional{Given{{atom.which, 1}}} : std::nullopt;
    if (width % times != 0) return {};
    return Given{{atom.which, static_cast<std::uint32_t>(width / times)}};
  }

  /// Axes along which some accesses lie side by side: where parameters must have a value for that,
  /// only if they do so along no other.
  [[nodiscard]] std::vector<Change> axes() {
    std::vector<Change> found;
    for (unsigned index = 0; index < 6; ++index) {
      const unsigned axis = index % 3;
      const Special first = index < 3 ? Special::tid_x : Special::ctaid_x;
      std::set<Given> all;
      for (const Asked& one : asked_) {
        const auto bytes =
            step_of(forms_, one.form, AtomKind::special, static_cast<std::uint32_t>(first) + axis);
        const auto given = bytes ? given_for(*bytes, one.width) : std::nullopt;
        if (given) all.insert(*given);
      }
      for (const Given& given : all) {
        Change change{.given = given};
        if (index < 3) {
          std::swap(change.thread_axes[0], change.thread_axes.at(axis));
        } else {
          const auto free = free_axis(forms_.kernel(), axis);
          if (!free) continue;
          change.exchange = Change::Exchange{axis, *free};
        }
        found.push_back(change);
      }
    }
    if (std::ranges::any_of(found, [](const Change& one) { return one.given.empty(); })) {
      std::erase_if(found, [](const Change& one) { return !one.given.empty(); });
    }
    return found;
  }

  ControlFlow flow_;
  KernelForms forms_;
  std::vector<Asked> asked_;
};

AskedFor asked_for(const ptx::Module& module, const Launch& launch, const MemoryCost& cost) {
  const Evaluation found = evaluate(module, launch, {.budget = weighed_instructions, .threads = 1});
  AskedFor sum;
  for (const Access& one : found.accesses) {
    if (one.space == Space::shared) {
      sum.wavefronts += one.wavefronts;
      sum.ideal_wavefronts += one.ideal_wavefronts;
      sum.cycles += cost.wavefront * static_cast<double>(one.wavefronts);
      continue;
    }
    for (const Traffic& traffic : one.traffic) {
      sum.requests += traffic.requests;
      sum.sectors += traffic.sectors;
      sum.lines += traffic.lines;
      sum.cycles += std::max({cost.request * static_cast<double>(traffic.requests),
                              cost.sector * static_cast<double>(traffic.sectors),
                              cost.line * static_cast<double>(traffic.lines)});
    }
  }
  return sum;
}

AskedFor operator+(AskedFor a, const AskedFor& b) {
  a.requests += b.requests;
  a.sectors += b.sectors;
  a.lines += b.lines;
  a.wavefronts += b.wavefronts;
  a.ideal_wavefronts += b.ideal_wavefronts;
  a.cycles += b.cycles;
  return a;
}

/// A launch of a usual size for the change, which shows what it does.
Launch usual_launch(KernelForms& forms, std::uint32_t number, const Change& change,
                    std::uint32_t blocks, std::uint32_t length) {
  const bool has_rows = reads(forms.kernel(), {Special::ctaid_y, Special::nctaid_y});
  Sample sample{.grid = {blocks * change.threads, has_rows ? (blocks + 1) / 2 : 1, 1},
                .block = {64, 1, 1},
                .number = [length] { return length; },
                .below = length};
  if (reads(forms.kernel(), {Special::tid_y})) sample.block = {16, 4, 1};
  Launch launch = launch_of(forms, number, sample);
  if (change.exchange) {
    std::array<std::uint32_t, 3> sizes{1, 1, 1};
    sizes.at(change.exchange->axis) = blocks * change.threads * launch.block.x;
    launch.grid = {sizes[0], sizes[1], sizes[2]};
  }
  for (const auto& [symbol, value] : change.given) {
    for (unsigned b = 0; b < 4; ++b)
      launch.params[forms.module().symbols[symbol].offset + b] =
          static_cast<std::uint8_t>(value >> (8 * b));
  }
  return launch;
}

bool does_something(const Optimized& optimized, const Change& change) {
  return change.rearrangement().moves_lanes || optimized.groups > 0 ||
         change.block_axes != Change{}.block_axes || change.swizzled_row != 0 || change.staged != 0;
}

/// The search for the change of a kernel by which launches ask for least.
class Search {
 public:
  /// All must outlive it.
  Search(const ptx::Module& module, std::uint32_t number, std::span<const Launch> launches,
         const MemoryCost& cost, const std::optional<Change>& only)
      : module_{module},
        number_{number},
        launches_{launches},
        cost_{cost},
        only_{only},
        candidates_{module, module.kernels[number]} {}

  /// Called once.
  [[nodiscard]] Chosen done() {
    try {
      for (const Change& change : only_ ? std::vector{*only_} : candidates_.all(most_threads())) {
        if (!try_change(change)) break;
      }
    } catch (const UsageError& error) {
      chosen_.why = error.what();
      return chosen_;
    }
    if (!chosen_.optimized && !untaken_.empty()) {
      chosen_.why = fmt::format("a launch would take the original: {}", untaken_);
    } else if (!chosen_.optimized && !chosen_.refused.empty()) {
      chosen_.is_refused = true;
      chosen_.why = text_of(module_.kernels[number_], chosen_.refused.front().second);
    }
    if (!chosen_.optimized) return chosen_;
    chosen_.promising.push_back(chosen_.optimized->change);
    for (const auto& [ratio, change] : promising_) {
      if (std::ranges::count(chosen_.promising, change) == 0) chosen_.promising.push_back(change);
    }
    return chosen_;
  }

 private:
  /// False: none of those after it need be tried.
  [[nodiscard]] bool try_change(const Change& change) {
    try {
      const Optimized optimized = optimize(module_, number_, change);
      if (!does_something(optimized, change)) return true;
      const bool is_swizzle = !only_ && change.swizzled_row != 0;
      if (is_swizzle && !is_worth_a_swizzle()) return false;  // they come last
      weigh(optimized, launches_for(change));
    } catch (const NotOptimized& error) {
      chosen_.refused.emplace_back(change, error.refusal());
      return change != Change{};  // what forbids this forbids all
    }
    return true;
  }

  /// Chooses it where it asks for less than what was chosen before.
  void weigh(const Optimized& optimized, const std::vector<Launch>& launches) {
    const ptx::Module changed = ptx::read(optimized.alone, "mended.ptx");
    AskedFor before;
    AskedFor after;
    std::string failing;
    for (const Launch& launch : launches) {
      const AskedFor original = asked_before(launch);
      auto why = optimized.checks.failing(launches_.empty() ? packed(launch) : launch);
      // What was made up here tells nothing of angles and the like.
      if (!why && !launches_.empty() && !optimized.checks.pays(launch)) why = does_not_pay;
      if (why) failing = *why;
      before = before + original;
      after =
          after +
          (why ? original
               : asked_for(changed, optimized_launch(optimized, module_, changed, launch), cost_));
    }
    if (!failing.empty()) untaken_ = failing;
    const double ratio = before.cycles > 0 ? after.cycles / before.cycles : 1;
    if (only_ || ratio < 1) promising_.emplace(ratio, optimized.change);
    if (!only_ && ratio >= best_) return;
    best_ = ratio * least_gain;  // a larger change must pay once more
    chosen_.before = before;
    chosen_.after = after;
    chosen_.optimized = optimized;
  }

  /// What a launch of the original asks for.
  [[nodiscard]] AskedFor asked_before(const Launch& launch) {
    const auto& [grid, block] = std::tie(launch.grid, launch.block);
    const std::pair key{launch.params,
                        std::array{grid.x, grid.y, grid.z, block.x, block.y, block.z}};
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    return known_.emplace(key, asked_for(module_, launch, cost_)).first->second;
  }

  /// Those that were given, or else a usual one.
  [[nodiscard]] std::vector<Launch> launches_for(const Change& change) {
    if (!launches_.empty()) return {launches_.begin(), launches_.end()};
    if (!is_long_) {
      try {
        std::vector<Launch> usual{usual_launch(candidates_.forms(), number_, change, 8, 4096)};
        (void)asked_before(usual[0]);
        return usual;
      } catch (const UsageError&) {
        is_long_ = true;
      }
    }
    return {usual_launch(candidates_.forms(), number_, change, 1, 256)};
  }

  [[nodiscard]] unsigned most_threads() const {
    constexpr std::uint64_t usual = 256;
    std::uint64_t most = launches_.empty() ? usual : 1;
    for (const Launch& launch : launches_)
      most = std::max(most, launch.block.count());
    return static_cast<unsigned>(most);
  }

  [[nodiscard]] bool is_worth_a_swizzle() {
    if (!has_conflicts_) {
      AskedFor now;
      for (const Launch& launch : launches_for({}))
        now = now + asked_before(launch);
      has_conflicts_ = now.wavefronts > now.ideal_wavefronts;
    }
    return *has_conflicts_;
  }

  static constexpr double least_gain = 0.95;

  const ptx::Module& module_;
  std::uint32_t number_;
  std::span<const Launch> launches_;
  const MemoryCost& cost_;
  const std::optional<Change>& only_;
  Candidates candidates_;
  Chosen chosen_{.why = "no change of its accesses asks for less"};
  std::map<std::pair<std::vector<std::uint8_t>, std::array<std::uint32_t, 6>>, AskedFor> known_;
  std::multimap<double, Change> promising_;  ///< by what is asked for, of what it was before
  std::string untaken_;                      ///< why some launch would take the original
  double best_ = least_gain;
  bool is_long_ = false;               ///< the first of the usual launches
  std::optional<bool> has_conflicts_;  ///< in shared memory, which a swizzle might remove
};

}  // namespace

Launch within_budget(const ptx::Module& module, Launch launch) {
  // Other blocks may do more than the first one, and a comparison runs all instructions.
  constexpr std::uint64_t reserve = 4;
  Launch first = launch;
  first.grid = {};
  const auto cost = evaluate(module, first, {.budget = weighed_instructions, .threads = 1});
  const std::uint64_t most =
      std::max<std::uint64_t>(weighed_instructions / (reserve * cost.instructions + 1), 1);
  while (launch.grid.count() > most) {
    std::uint32_t* const longest =
        std::max({&launch.grid.x, &launch.grid.y, &launch.grid.z},
                 [](const std::uint32_t* a, const std::uint32_t* b) { return *a < *b; });
    *longest = (*longest + 1) / 2;
  }
  return launch;
}

Chosen choose(const ptx::Module& module, std::uint32_t number, std::span<const Launch> launches,
              const MemoryCost& cost, const std::optional<Change>& only) {
  if (module.kernels[number].instructions.empty()) return {.why = "it does nothing"};
  return Search{module, number, launches, cost, only}.done();
}

}  // namespace strata::access
