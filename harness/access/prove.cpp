#include "harness/access/prove.hpp"

#include "harness/model/coalescing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Special;

/// Guaranteed by cudaMalloc.
/// Maximum threads per block.
constexpr std::uint32_t most_block_threads = 1024;
/// Roles of atoms of kind `warp`: the warp's number along x in the block, and the number of warps.
constexpr std::uint32_t warp_number = 0;
constexpr std::uint32_t warp_count = 1;
constexpr std::uint32_t warp_case = 2;  // the part of a number that a case does not fix
/// Maximum number of remainders that are distinguished.
constexpr std::int64_t most_cases = 128;
/// Maximum nesting of choices common to all lanes.
constexpr unsigned most_choices = 4;
/// Assumed value of a parameter that separates lanes, if no launch gives it: rows are long and of
/// even length.
constexpr std::int64_t usual_length = 4096;
/// Assumed threads of a block along x.
constexpr std::int64_t usual_block = 256;
/// Assumed index of a block, a row of threads or an iteration other than the first.
constexpr std::int64_t usual_index = 3;
/// Base address of patterns, so that no offset makes an address negative.
constexpr std::uint64_t far_away = std::uint64_t{1} << 62U;

/// The lanes of one warp, or of all warps if they are alike.
struct WarpShape {
  std::array<bool, warp_lanes> is_in_block{};
  /// By special register (tid_x to tid_z, laneid, ntid_x): its value in each lane.
  std::vector<std::pair<Special, std::array<FormId, warp_lanes>>> values = {};
  std::array<Forms::Replaced, warp_lanes> replaced = {};
};

/// Addresses of a warp: that of lane 0, and the distances of the others from it.
struct Pattern {
  bool is_constant = false;
  std::array<std::int64_t, warp_lanes> offsets{};
  FormId first = no_form;
  FormId second = no_form;  ///< distance of lane 1
  FormId apart = no_form;   ///< the first distance that is not constant
  bool is_linear = false;   ///< the distance of lane l is l times that of lane 1
};

enum class Lane : std::uint8_t { on, off, open };

bool is_on(Lane lane) {
  return lane != Lane::off;
}

/// Counts over all possible addresses.
struct Tally {
  Span parts{~std::uint64_t{0}, 0};
  std::uint64_t ideal = 0;
  bool is_ever_good = false;
  bool is_ever_bad = false;
  bool has_aligned = false;
  std::vector<std::string> depends_on = {};

  void add(std::uint64_t found, std::uint64_t best, bool is_bad) {
    parts = {std::min(parts.least, found), std::max(parts.most, found)};
    ideal = std::max(ideal, best);
    (is_bad ? is_ever_bad : is_ever_good) = true;
  }
  void add(WarpAccess warp, bool is_shared) {
    has_aligned = true;
    const Traffic moved = traffic(Generation::cc7, warp);
    if (!is_shared) {
      std::uint64_t lowest = ~std::uint64_t{0};
      for (const auto& address : warp.addresses)
        lowest = std::min(lowest, address.value_or(lowest));
      const std::uint64_t needed =
          (lowest + moved.bytes_used - 1) / sector_bytes - lowest / sector_bytes + 1;
      add(moved.sectors, (moved.bytes_used + sector_bytes - 1) / sector_bytes,
          moved.sectors > needed);
      return;
    }
    if (warp.width < bank_bytes) {
      warp.width = bank_bytes;
      for (auto& address : warp.addresses) {
        if (address) *address -= *address % bank_bytes;
      }
    }
    const std::uint64_t found = shared_wavefronts(warp);
    const std::uint64_t best = (moved.bytes_used + wavefront_bytes - 1) / wavefront_bytes;
    add(found, best, found > best);
  }
  void depend_on(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (std::ranges::count(depends_on, name) == 0) depends_on.push_back(name);
    }
  }
};

class Prover {
 public:
  explicit Prover(KernelForms& kernel) : kernel_(kernel), forms_(kernel.forms()) {
    make_shapes();
    find_varying();
  }

  void prove(std::vector<AccessProof>& all) {
    const auto& instructions = kernel_.kernel().instructions;
    for (std::uint32_t i = 0; i < instructions.size(); ++i) {
      if (!is_reachable(kernel_.flow(), kernel_.flow().block_of[i])) continue;
      for (std::uint32_t o = 0; o < instructions[i].operands.size(); ++o) {
        if (auto access = access_of(i, o)) {
          judge(*access);
          all.push_back(std::move(*access));
        }
      }
    }
    note_arrays(all);
    for (AccessProof& access : all) {
      if (access.verdict == Verdict::depends) judge_as_usual(access);
    }
  }

 private:
  [[nodiscard]] std::string text(FormId form) const {
    return forms_.text(form, [this](const Atom& atom) { return kernel_.name(atom); });
  }

  void make_shapes();
  void make_single_warps();
  void find_varying();
  [[nodiscard]] bool spread();
  [[nodiscard]] bool branch_varies(std::uint32_t block);
  [[nodiscard]] bool phi_varies(const Value& phi);
  [[nodiscard]] bool special_varies(Special which);
  [[nodiscard]] bool operands_vary(const Value& value, bool is_shuffle);
  [[nodiscard]] bool inputs_vary(const Hidden& hidden);
  [[nodiscard]] bool is_for_all_lanes(const Hidden& hidden);
  [[nodiscard]] bool varies(FormId form);
  /// Atoms created after the analysis are not known, so they vary.
  [[nodiscard]] bool is_varying(std::uint32_t hidden) const {
    return hidden >= is_varying_.size() || is_varying_[hidden];
  }
  [[nodiscard]] bool is_lane_atom(const Atom& atom) const;
  [[nodiscard]] FormId in_lane(FormId form, WarpShape& shape, unsigned lane);
  [[nodiscard]] const Pattern& pattern_of(FormId form, std::size_t shape);
  [[nodiscard]] std::array<Lane, warp_lanes> lanes_of(FormId predicate, std::size_t shape);
  [[nodiscard]] std::optional<AccessProof> access_of(std::uint32_t i, std::uint32_t o);
  using Lanes = std::array<Lane, warp_lanes>;
  [[nodiscard]] std::vector<Lanes> who_takes_part(AccessProof& access, std::uint32_t block);
  [[nodiscard]] std::vector<Guard> guards_of(const AccessProof& access) const;
  [[nodiscard]] Lanes lanes_in(const std::vector<Guard>& guards, std::size_t shape);
  [[nodiscard]] std::optional<AtomId> base_of(FormId form) const;
  [[nodiscard]] bool count(FormId form, std::size_t shape, const Lanes& lanes,
                           const AccessProof& access, Tally& tally);
  [[nodiscard]] FormId shared_part(FormId form);
  [[nodiscard]] std::int64_t divisor_in(const Atom& atom) const;
  [[nodiscard]] std::vector<FormId> cases_of(FormId form, Tally& tally);
  [[nodiscard]] bool count_cases(FormId form, std::size_t shape, const Lanes& lanes,
                                 const AccessProof& access, Tally& tally, unsigned depth = 0);
  using Agreed = std::vector<std::string>;
  [[nodiscard]] std::optional<FormId> agreed_extreme(const Atom& atom, std::size_t shape);
  [[nodiscard]] bool must_part(const Atom& division, std::size_t shape);
  [[nodiscard]] std::optional<FormId> agreed_division(const Atom& atom, std::size_t shape,
                                                      Agreed& agreed);
  [[nodiscard]] std::optional<FormId> agreed_atom(AtomId id, std::size_t shape, Agreed& agreed);
  [[nodiscard]] FormId agreeing(FormId form, std::size_t shape, Agreed& agreed);
  [[nodiscard]] bool count_agreeing(FormId form, std::size_t shape, const Lanes& lanes,
                                    AccessProof& access, Tally& tally);
  [[nodiscard]] std::optional<AtomId> chosen_by_all(FormId form, std::size_t shape);
  [[nodiscard]] bool is_same_in_all(FormId form, std::size_t shape);
  [[nodiscard]] std::vector<AtomId> lengths_of(FormId form) const;
  [[nodiscard]] std::vector<AtomId> indices_of(FormId form) const;
  void note_arrays(const std::vector<AccessProof>& all);
  [[nodiscard]] std::int64_t usual_number(AtomId parameter, FormId moving) const;
  void judge_as_usual(AccessProof& access);
  void explain_distance(AccessProof& access, const Pattern& pattern, FormId form) const;
  void assume(AccessProof& access) const;
  void judge(AccessProof& access);
  void judge_lanes(AccessProof& access, const std::vector<Lanes>& lanes);
  void find_steps(AccessProof& access);
  void add_conditions(AccessProof& access, ConditionSet conditions, std::uint32_t block);
  void find_space(AccessProof& access) const;
  [[nodiscard]] std::string hidden_reason(FormId form);
  void find_scattered(AccessProof& access);
  [[nodiscard]] std::vector<std::string> leaves_of(FormId form) const;
  [[nodiscard]] std::vector<std::string> leaves_of(const Term& term) const;
  [[nodiscard]] std::uint64_t alignment(const Atom& atom, std::optional<AtomId> base) const;

  KernelForms& kernel_;
  Forms& forms_;
  std::vector<WarpShape> shapes_;
  std::size_t given_ = 0;  // shapes that represent all warps; after them one per warp
  bool is_even_ = false;   // the block's width is assumed to be a multiple of 32 threads
  std::vector<bool> is_varying_;
  std::vector<bool> last_pass_varies_;
  std::map<std::pair<FormId, std::size_t>, Pattern> patterns_;
  std::map<std::pair<FormId, std::size_t>, std::array<Lane, warp_lanes>> lanes_;
  std::unordered_map<FormId, std::vector<IndexStep>> steps_;
  // By address without its constant: the first and last byte accessed.
  std::unordered_map<FormId, std::pair<std::int64_t, std::int64_t>> reach_;
  std::unordered_map<std::uint32_t, std::uint64_t> last_place_;  // last address in a parameter
};

void Prover::make_shapes() {
  using enum Special;
  const auto& required = kernel_.kernel().required_block;
  // No block is larger; a larger requirement in the text cannot be launched.
  const std::uint32_t x = std::min(required[0], most_block_threads);
  const std::uint32_t y = std::clamp(required[1], 1U, most_block_threads);
  const std::uint32_t z = std::clamp(required[2], 1U, most_block_threads);
  const auto per_lane = [&](const auto& value) {
    std::array<FormId, warp_lanes> values{};
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      values[lane] = value(lane);
    return values;
  };
  const auto numbered = per_lane([&](unsigned lane) { return forms_.constant(lane); });
  if (x % warp_lanes == 0) {
    // All warps are alike: 32 neighbours along x.
    const Int128 most = forms_.range_of(kernel_.special(tid_x)).high / warp_lanes;
    const FormId number = forms_.leaf(AtomKind::warp, warp_number, {0, most});
    WarpShape shape;
    shape.is_in_block.fill(true);
    shape.values.emplace_back(tid_x, per_lane([&](unsigned lane) {
                                return forms_.add(forms_.scale(number, warp_lanes),
                                                  forms_.constant(lane));
                              }));
    shape.values.emplace_back(laneid, numbered);
    if (x == 0) {
      is_even_ = true;
      const FormId count = forms_.leaf(AtomKind::warp, warp_count, {1, most + 1});
      const FormId threads = forms_.scale(count, warp_lanes);
      shape.values.emplace_back(ntid_x, per_lane([&](unsigned) { return threads; }));
    }
    shapes_.push_back(std::move(shape));
    given_ = shapes_.size();
    return;
  }
  const std::uint64_t threads =
      std::min<std::uint64_t>(std::uint64_t{x} * y * z, most_block_threads);
  for (std::uint64_t first = 0; first < threads; first += warp_lanes) {
    WarpShape shape;
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      shape.is_in_block[lane] = first + lane < threads;
    const auto at = [&](unsigned lane) { return first + lane; };
    const auto number = [&](std::uint64_t value) {
      return forms_.constant(static_cast<std::int64_t>(value));
    };
    shape.values.emplace_back(tid_x, per_lane([&](unsigned l) { return number(at(l) % x); }));
    shape.values.emplace_back(tid_y, per_lane([&](unsigned l) { return number(at(l) / x % y); }));
    shape.values.emplace_back(
        tid_z, per_lane([&](unsigned l) { return number(at(l) / (std::uint64_t{x} * y)); }));
    shape.values.emplace_back(laneid, numbered);
    shapes_.push_back(std::move(shape));
  }
  given_ = shapes_.size();
}

/// If one shape represents all warps: adds a shape for each warp number along x, for addresses that
/// depend on the bits of that number.
void Prover::make_single_warps() {
  const bool is_for_all = given_ == 1 && !forms_.constant_of(shapes_[0].values[0].second[0]);
  if (shapes_.size() > given_ || !is_for_all) return;
  const Int128 most = forms_.range_of(kernel_.special(Special::tid_x)).high / warp_lanes;
  for (std::int64_t warp = 0; warp <= most; ++warp) {
    WarpShape shape{.is_in_block = shapes_[0].is_in_block, .values = shapes_[0].values};
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      shape.values[0].second[lane] = forms_.constant(warp * warp_lanes + lane);
    shapes_.push_back(std::move(shape));
  }
}

bool Prover::is_lane_atom(const Atom& atom) const {
  if (atom.kind != AtomKind::special) return false;
  const auto& values = shapes_.front().values;
  return std::ranges::any_of(
      values, [&](const auto& one) { return static_cast<std::uint32_t>(one.first) == atom.which; });
}

FormId Prover::in_lane(FormId form, WarpShape& shape, unsigned lane) {
  return forms_.replace(
      form,
      [&](AtomId id) -> std::optional<FormId> {
        const Atom& atom = forms_.atom(id);
        if (atom.kind != AtomKind::special) return std::nullopt;
        for (const auto& [which, values] : shape.values) {
          if (static_cast<std::uint32_t>(which) == atom.which) return values[lane];
        }
        return std::nullopt;
      },
      shape.replaced[lane]);
}

const Pattern& Prover::pattern_of(FormId form, std::size_t shape) {
  const auto known = patterns_.find({form, shape});
  if (known != patterns_.end()) return known->second;
  Pattern pattern;
  const auto is_lane = [this](const Atom& atom) { return is_lane_atom(atom); };
  if (!forms_.mentions(form, is_lane)) {
    pattern.is_constant = true;
    pattern.first = form;
  } else {
    pattern.first = in_lane(form, shapes_[shape], 0);
    pattern.is_constant = true;
    pattern.is_linear = true;
    for (unsigned lane = 1; lane < warp_lanes; ++lane) {
      const FormId apart = forms_.subtract(in_lane(form, shapes_[shape], lane), pattern.first);
      if (lane == 1) pattern.second = apart;
      const auto bytes = apart == no_form ? std::nullopt : forms_.constant_of(apart);
      if (pattern.is_constant && !bytes) pattern.apart = apart;
      pattern.is_constant = pattern.is_constant && bytes.has_value();
      pattern.offsets[lane] = bytes.value_or(0);
      pattern.is_linear =
          pattern.is_linear && apart != no_form && apart == forms_.scale(pattern.second, lane);
      if (!pattern.is_constant && !pattern.is_linear) break;
    }
  }
  return patterns_.emplace(std::pair{form, shape}, pattern).first->second;
}

/// Whether lanes of a warp may have different values of the form, as far as is known now.
bool Prover::varies(FormId form) {
  if (form == no_form) return true;
  const auto differs = [&](const Atom& atom) {
    return (atom.kind == AtomKind::hidden && is_varying(atom.which)) ||
           (atom.kind == AtomKind::last_pass && last_pass_varies_[atom.which]);
  };
  if (forms_.mentions(form, differs)) return true;
  const FormId moving = forms_.subtract(form, forms_.constant(forms_.offset_of(form)));
  for (std::size_t shape = 0; shape < given_; ++shape) {
    const Pattern& pattern = pattern_of(moving, shape);
    if (!pattern.is_constant) return true;
    const auto is_zero = [](std::int64_t offset) { return offset == 0; };
    if (!std::ranges::all_of(pattern.offsets, is_zero)) return true;
  }
  return false;
}

bool Prover::branch_varies(std::uint32_t block) {
  const BasicBlock& from = kernel_.flow().blocks[block];
  return from.successors.size() > 1 && varies(kernel_.guard(from.end - 1).form);
}

/// Whether lanes may reach a join, or a loop's header, on different paths or with different values.
bool Prover::phi_varies(const Value& phi) {
  const ControlFlow& flow = kernel_.flow();
  const std::uint32_t top = flow.dominator[phi.block];
  if (top == no_index || branch_varies(top)) return true;
  for (std::size_t p = 0; p < phi.inputs.size(); ++p) {
    std::uint32_t at = flow.blocks[phi.block].predecessors[p];
    if (!is_reachable(flow, at)) continue;
    if (varies(kernel_.of(phi.inputs[p]).form)) return true;
    if (flow.dominates(phi.block, at)) continue;  // back edge to a loop's header
    for (; at != top && at != no_index; at = flow.dominator[at]) {
      if (branch_varies(at)) return true;
    }
  }
  return false;
}

/// Whether a hardware register differs between the lanes of a warp.
bool Prover::special_varies(Special which) {
  switch (which) {
    case Special::lanemask_eq:
    case Special::lanemask_le:
    case Special::lanemask_lt:
    case Special::lanemask_ge:
    case Special::lanemask_gt:
      return true;
    default:
      const FormId form = kernel_.special(which);
      return form != no_form && varies(form);
  }
}

bool Prover::operands_vary(const Value& value, bool is_shuffle) {
  const Instruction& instruction = kernel_.kernel().instructions[value.instruction];
  if (is_shuffle) {
    // Each lane's result depends on the lane from which it reads, not on its own value.
    const Operand& source = instruction.operands[written_operands(instruction) + 1];
    return varies(kernel_.operand(value.instruction, source, 32).form);
  }
  bool any = false;
  for (const Operand& operand : instruction.operands) {
    if (operand.address) return varies(kernel_.address(value.instruction, operand).form);
    any = any || (operand.kind == Operand::Kind::special && special_varies(operand.special));
  }
  for_each_read(instruction, [&](std::uint32_t reg) {
    const ValueId input = kernel_.ssa().read(value.instruction, reg);
    any = any || input == no_value || varies(kernel_.of(input).form);
  });
  return any;
}

bool Prover::inputs_vary(const Hidden& hidden) {
  const Value& value = kernel_.ssa()[hidden.value];
  const ControlFlow& flow = kernel_.flow();
  if (hidden.has_left_loop) {
    for (std::uint32_t loop = flow.loop_of[value.block]; loop != no_index;
         loop = flow.loops[loop].parent) {
      if (last_pass_varies_[loop]) return true;
    }
  }
  if (value.kind == Value::Kind::phi) return phi_varies(value);
  if (value.before != no_value && (varies(kernel_.guard(value.instruction).form) ||
                                   (value.before != 0 && varies(kernel_.of(value.before).form)))) {
    return true;
  }
  if (hidden.reason != Reason::other_lanes) return operands_vary(value, false);
  return kernel_.kernel().instructions[value.instruction].opcode == "shfl" &&
         operands_vary(value, true);
}

/// Whether lanes of a warp get the same result from an exchange between lanes.
bool Prover::is_for_all_lanes(const Hidden& hidden) {
  const Value& value = kernel_.ssa()[hidden.value];
  const Instruction& instruction = kernel_.kernel().instructions[value.instruction];
  if (instruction.opcode == "vote" || instruction.opcode == "redux" ||
      instruction.opcode == "activemask" || instruction.opcode == "bar" ||
      instruction.opcode == "barrier") {
    return true;
  }
  if (instruction.opcode != "shfl" || !instruction.has("idx") || value.operand != 0) return false;
  // Reads from one lane of the whole warp; whether that lane is the same for all is checked later.
  const std::size_t sources = written_operands(instruction);
  if (instruction.operands.size() < sources + 3) return false;
  const Operand& segments = instruction.operands[sources + 2];
  const Meaning clamp = kernel_.operand(value.instruction, segments, 32);
  return clamp.form != no_form && forms_.constant_of(clamp.form) == std::int64_t{31};
}

/// Assumes that all values are equal in a warp, and propagates contradictions until nothing
/// changes.
void Prover::find_varying() {
  const ControlFlow& flow = kernel_.flow();
  // Evaluated once before, so that every hidden value has its number.
  const auto& instructions = kernel_.kernel().instructions;
  for (std::uint32_t i = 0; i < instructions.size(); ++i) {
    if (!is_reachable(flow, flow.block_of[i])) continue;
    (void)kernel_.guard(i);
    for (const Operand& operand : instructions[i].operands) {
      if (operand.address) (void)kernel_.address(i, operand);
    }
  }
  is_varying_.resize(kernel_.all_hidden().size());
  last_pass_varies_.resize(flow.loops.size());
  for (std::size_t h = 0; h < is_varying_.size(); ++h) {
    const Hidden& hidden = kernel_.hidden(static_cast<std::uint32_t>(h));
    const Reason reason = hidden.reason;
    is_varying_[h] = hidden.value == 0 || reason == Reason::atomic || reason == Reason::call ||
                     reason == Reason::undefined ||
                     (reason == Reason::other_lanes && !is_for_all_lanes(hidden));
  }
  while (spread()) {
  }
}

/// Whether more values were found to vary.
bool Prover::spread() {
  bool has_changed = false;
  for (std::uint32_t loop = 0; loop < last_pass_varies_.size(); ++loop) {
    const auto branch = [this](std::uint32_t block) { return branch_varies(block); };
    if (last_pass_varies_[loop] || std::ranges::none_of(kernel_.exiting(loop), branch)) continue;
    last_pass_varies_[loop] = true;
    has_changed = true;
  }
  for (std::size_t h = 0; h < is_varying_.size(); ++h) {
    if (is_varying_[h] || !inputs_vary(kernel_.hidden(static_cast<std::uint32_t>(h)))) continue;
    is_varying_[h] = true;
    has_changed = true;
  }
  return has_changed;
}

std::array<Lane, warp_lanes> Prover::lanes_of(FormId predicate, std::size_t shape) {
  const auto known = lanes_.find({predicate, shape});
  if (known != lanes_.end()) return known->second;
  std::array<Lane, warp_lanes> lanes{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const FormId there = in_lane(predicate, shapes_[shape], lane);
    const auto value = there == no_form ? std::nullopt : forms_.constant_of(there);
    lanes[lane] = !value ? Lane::open : *value != 0 ? Lane::on : Lane::off;
  }
  lanes_.emplace(std::pair{predicate, shape}, lanes);
  return lanes;
}

std::optional<AccessProof> Prover::access_of(std::uint32_t i, std::uint32_t o) {
  const Instruction& instruction = kernel_.kernel().instructions[i];
  const Operand& operand = instruction.operands[o];
  if (!operand.address || !operand.items.empty()) return std::nullopt;
  const std::string_view opcode = instruction.opcode;
  AccessProof access{.instruction = i, .operand = o, .space = instruction.space()};
  access.width = ptx::bytes_of(instruction.type()) * instruction.vector_width();
  if (opcode == "ld" || opcode == "ldu") {
    access.kind = AccessKind::load;
  } else if (opcode == "st") {
    access.kind = AccessKind::store;
  } else if (opcode == "atom" || opcode == "red") {
    access.kind = AccessKind::atomic;
  } else if (opcode == "cp" && instruction.has("async") && !instruction.has("bulk") &&
             instruction.operands.size() > 2) {
    access.kind = o == 0 ? AccessKind::store : AccessKind::load;
    access.space = o == 0 ? Space::shared : Space::global;
    access.width = static_cast<unsigned>(instruction.operands[2].bits);
  } else if (opcode == "ldmatrix" || opcode == "stmatrix" || opcode == "cp") {
    access.kind = opcode == "ldmatrix" ? AccessKind::load : AccessKind::store;
    access.width = 0;
  } else {
    return std::nullopt;
  }
  if (access.space == Space::param || access.space == Space::texture) return std::nullopt;
  access.meaning = kernel_.address(i, operand);
  return access;
}

void Prover::find_space(AccessProof& access) const {
  if (access.space != Space::generic) return;
  for (const Term& term : forms_.terms_of(access.meaning.form)) {
    const auto factors = forms_.factors_of(term);
    if (term.coefficient != 1 || factors.size() != 1) continue;
    const Atom& atom = forms_.atom(factors[0]);
    if (atom.kind == AtomKind::symbol) access.space = kernel_.module().symbols[atom.which].space;
    if (atom.kind == AtomKind::parameter && atom.bytes == 8 && access.space == Space::generic) {
      access.space = Space::global;
      access.assumptions.emplace_back("a generic pointer leads to global memory");
    }
  }
}

void Prover::find_steps(AccessProof& access) {
  const FormId form = access.meaning.form;
  const FormId moving = forms_.subtract(form, forms_.constant(forms_.offset_of(form)));
  if (const auto known = steps_.find(moving); known != steps_.end()) {
    access.steps = known->second;
    return;
  }
  std::vector<AtomId> indices;
  forms_.visit(moving, [&](AtomId id) {
    const Atom& atom = forms_.atom(id);
    const bool is_index = atom.kind == AtomKind::counter ||
                          (atom.kind == AtomKind::special &&
                           (atom.which <= static_cast<std::uint32_t>(Special::tid_z) ||
                            (atom.which >= static_cast<std::uint32_t>(Special::ctaid_x) &&
                             atom.which <= static_cast<std::uint32_t>(Special::ctaid_z)) ||
                            atom.which == static_cast<std::uint32_t>(Special::laneid)));
    if (is_index && std::ranges::count(indices, id) == 0) indices.push_back(id);
  });
  std::ranges::sort(indices, {}, [&](AtomId id) {
    const Atom& atom = forms_.atom(id);
    return std::pair{atom.kind == AtomKind::counter, atom.which};
  });
  std::vector<IndexStep> steps;
  for (const AtomId index : indices) {
    Forms::Replaced replaced;
    const FormId next = forms_.replace(
        moving,
        [&](AtomId id) -> std::optional<FormId> {
          if (id != index) return std::nullopt;
          return forms_.add(forms_.form_of(id), forms_.constant(1));
        },
        replaced);
    const FormId step = forms_.subtract(next, moving);
    IndexStep one{.index = kernel_.name(forms_.atom(index))};
    if (step == no_form) {
      one.text = "varies";
    } else if (const auto bytes = forms_.constant_of(step)) {
      one.bytes = *bytes;
      one.text = fmt::format("{}", *bytes);
    } else {
      bool depends_on_itself = false;
      forms_.visit(step, [&](AtomId id) { depends_on_itself = depends_on_itself || id == index; });
      one.text = depends_on_itself ? "varies" : text(step);
    }
    steps.push_back(std::move(one));
  }
  access.steps = steps;
  steps_.emplace(moving, std::move(steps));
}

std::string Prover::hidden_reason(FormId form) {
  std::string reason;
  forms_.visit(form, [&](AtomId id) {
    const Atom& atom = forms_.atom(id);
    if (!reason.empty()) return;
    if (atom.kind == AtomKind::last_pass && last_pass_varies_[atom.which]) {
      reason = fmt::format("the passes of the loop at line {} may differ between lanes",
                           kernel_.loop(atom.which).line);
    }
    if (atom.kind != AtomKind::hidden || !is_varying(atom.which)) return;
    const Hidden& hidden = kernel_.hidden(atom.which);
    if (hidden.instruction >= kernel_.kernel().instructions.size()) {
      reason = std::string{describe(hidden.reason)};
      return;
    }
    const Instruction& instruction = kernel_.kernel().instructions[hidden.instruction];
    const bool is_phi = kernel_.ssa()[hidden.value].kind == Value::Kind::phi;
    reason = fmt::format(
        "{} is {}: {}line {} of the PTX", kernel_.name(atom), describe(hidden.reason),
        is_phi ? std::string{} : fmt::format("{}, ", instruction.opcode), instruction.line);
  });
  return reason;
}

/// An index loaded from memory usually points anywhere.
void Prover::find_scattered(AccessProof& access) {
  forms_.visit(access.meaning.form, [&](AtomId id) {
    const Atom& atom = forms_.atom(id);
    if (access.usual || atom.kind != AtomKind::hidden || !is_varying(atom.which)) return;
    if (kernel_.hidden(atom.which).reason != Reason::load) return;
    access.usual = Verdict::uncoalesced;
    access.usual_where = fmt::format("{} is scattered", kernel_.name(atom));
  });
}

/// The parameters, sizes and hidden values in a form, by name, each once.
std::vector<std::string> Prover::leaves_of(FormId form) const {
  std::vector<std::string> names;
  for (const Term& term : forms_.terms_of(form)) {
    for (std::string& name : leaves_of(term)) {
      if (std::ranges::count(names, name) == 0) names.push_back(std::move(name));
    }
  }
  return names;
}

std::vector<std::string> Prover::leaves_of(const Term& term) const {
  std::vector<std::string> names;
  forms_.visit(term, [&](AtomId id) {
    const Atom& atom = forms_.atom(id);
    if (atom.operand_count != 0 && atom.kind != AtomKind::table) return;
    if (atom.kind == AtomKind::warp && atom.which == warp_case) return;
    std::string name = atom.kind == AtomKind::warp
                           ? (atom.which == warp_count ? "blockDim.x" : "threadIdx.x / 32")
                           : kernel_.name(atom);
    if (std::ranges::count(names, name) == 0) names.push_back(std::move(name));
  });
  return names;
}

std::uint64_t Prover::alignment(const Atom& atom, std::optional<AtomId> base) const {
  if (atom.kind == AtomKind::symbol) {
    return std::max<std::uint64_t>(kernel_.module().symbols[atom.which].align, 1);
  }
  const bool is_base = base && forms_.atom(*base).kind == atom.kind &&
                       forms_.atom(*base).which == atom.which &&
                       forms_.atom(*base).place == atom.place;
  return is_base && atom.kind == AtomKind::parameter ? pointer_alignment : 1;
}

/// The advice for other uses of the indices, if one is certain.
std::string remedy_of(const AccessProof& access, const Pattern& pattern) {
  const auto width = static_cast<std::int64_t>(access.width);
  const auto across = std::ranges::find(access.steps, "threadIdx.x", &IndexStep::index);
  if (across == access.steps.end()) return {};
  const std::int64_t step = across->bytes.value_or(0);
  if (access.space == Space::shared) {
    const bool meets = pattern.is_constant && step != 0 && step % 128 == 0 && width >= 4 &&
                       pattern.offsets[1] == step;
    if (!meets) return {};
    return fmt::format(
        "neighbouring lanes are {} bytes apart and meet in the same banks: pad the row from {} to "
        "{} words",
        step, step / 4, step / 4 + width / 4);
  }
  if (across->bytes && step <= width && step >= -width) return {};
  for (const bool in_loops : {false, true}) {
    for (const IndexStep& other : access.steps) {
      if (other.index == "threadIdx.x" || other.bytes != width ||
          other.index.starts_with("loop") != in_loops) {
        continue;
      }
      return fmt::format("threadIdx.x steps {} bytes while {} steps {}: {}", across->text,
                         other.index, width,
                         in_loops ? "let neighbouring lanes take neighbouring passes, through "
                                    "shared memory if need be"
                         : other.index == "threadIdx.y" ? "swap their roles, unless blockDim.x is 1"
                                                        : "swap their roles");
    }
  }
  if (step <= width || step > 64) return {};
  return fmt::format(
      "lanes are {} bytes apart and use {}: an array for each field, or one load of up to 16 bytes "
      "of them",
      step, width);
}

void Prover::add_conditions(AccessProof& access, ConditionSet conditions, std::uint32_t block) {
  for (const Condition& condition : kernel_.open_conditions(conditions, block)) {
    std::string one = kernel_.text(condition);
    if (std::ranges::count(access.conditions, one) > 0) continue;
    access.premises.push_back(condition);
    access.conditions.push_back(std::move(one));
  }
}

/// Disables lanes for which the guard is false; returns whether some enabled lane is left open.
bool take_part(const std::array<Lane, warp_lanes>& told, std::array<Lane, warp_lanes>& lanes) {
  bool is_open = false;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    if (told[lane] == Lane::off) lanes[lane] = Lane::off;
    is_open = is_open || (told[lane] == Lane::open && lanes[lane] != Lane::off);
  }
  return is_open;
}

std::vector<Guard> Prover::guards_of(const AccessProof& access) const {
  std::vector<Guard> guards = kernel_.guards(kernel_.flow().block_of[access.instruction]);
  if (kernel_.kernel().instructions[access.instruction].guard != no_index) {
    guards.push_back({kernel_.guard(access.instruction), access.instruction});
  }
  return guards;
}

/// Lanes of one shape that take part, as far as the guards determine it.
Prover::Lanes Prover::lanes_in(const std::vector<Guard>& guards, std::size_t shape) {
  Lanes lanes{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    lanes[lane] = shapes_[shape].is_in_block[lane] ? Lane::on : Lane::off;
  for (const Guard& guard : guards) {
    if (guard.predicate.form != no_form) {
      (void)take_part(lanes_of(guard.predicate.form, shape), lanes);
    }
  }
  return lanes;
}

/// Lanes of each shape that take part, as far as the guards determine it.
std::vector<Prover::Lanes> Prover::who_takes_part(AccessProof& access, std::uint32_t block) {
  const std::vector<Guard> guards = guards_of(access);
  std::vector<Lanes> lanes;
  for (std::size_t shape = 0; shape < given_; ++shape)
    lanes.push_back(lanes_in({}, shape));
  for (const Guard& guard : guards) {
    const FormId predicate = guard.predicate.form;
    if (predicate == no_form) continue;
    bool may_part = false;
    bool is_off_somewhere = false;
    for (std::size_t shape = 0; shape < given_; ++shape) {
      const Lanes told = lanes_of(predicate, shape);
      is_off_somewhere = is_off_somewhere || std::ranges::count(told, Lane::off) > 0;
      may_part = take_part(told, lanes[shape]) || may_part;
    }
    if (is_off_somewhere) add_conditions(access, guard.predicate.conditions, block);
    if (may_part && varies(predicate)) {
      access.lane_guards.push_back(forms_.predicate_text(
          predicate, true, [this](const Atom& atom) { return kernel_.name(atom); }));
    }
  }
  for (const Lanes& one : lanes)
    access.lanes = std::max(access.lanes, static_cast<unsigned>(std::ranges::count_if(one, is_on)));
  return lanes;
}

/// A pointer among the terms; other 8-byte numbers are not pointers.
std::optional<AtomId> Prover::base_of(FormId form) const {
  std::optional<AtomId> base;
  for (const Term& term : forms_.terms_of(form)) {
    const auto factors = forms_.factors_of(term);
    if (term.coefficient != 1 || factors.size() != 1) continue;
    const Atom& atom = forms_.atom(factors[0]);
    if (atom.kind == AtomKind::symbol) return factors[0];
    if (atom.kind != AtomKind::parameter || atom.bytes != 8) continue;
    if (!base || std::pair{atom.which, atom.place} <
                     std::pair{forms_.atom(*base).which, forms_.atom(*base).place}) {
      base = factors[0];
    }
  }
  return base;
}

/// Counts the parts of a warp for every possible address of its first lane, modulo the relevant
/// unit. False if the lanes are not at constant distances.
bool Prover::count(FormId form, std::size_t shape, const Lanes& lanes, const AccessProof& access,
                   Tally& tally) {
  const FormId moving = forms_.subtract(form, forms_.constant(forms_.offset_of(form)));
  const Pattern& pattern = pattern_of(moving, shape);
  if (!pattern.is_constant) return false;
  const auto base = base_of(form);
  const auto aligned = [&](const Atom& atom) { return alignment(atom, base); };
  const bool is_shared = access.space == Space::shared;
  const std::uint64_t unit = is_shared ? wavefront_bytes : sector_bytes;
  const FormId constantless =
      forms_.subtract(pattern.first, forms_.constant(forms_.offset_of(pattern.first)));
  const std::uint64_t step = forms_.constant_of(constantless)
                                 ? unit
                                 : std::min(unit, forms_.divisor_of(constantless, aligned));
  const auto offset =
      static_cast<std::uint64_t>(forms_.offset_of(pattern.first) + forms_.offset_of(form));
  const Span before = tally.parts;
  for (std::uint64_t start = 0; start < unit; start += step) {
    WarpAccess warp{.width = access.width};
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      if (lanes[lane] == Lane::off) continue;
      warp.addresses[lane] =
          far_away + start + offset + static_cast<std::uint64_t>(pattern.offsets[lane]);
    }
    const auto is_aligned = [&](const auto& address) {
      return !address || *address % access.width == 0;
    };
    // The hardware refuses unaligned addresses.
    if (std::ranges::all_of(warp.addresses, is_aligned)) tally.add(warp, is_shared);
  }
  if (tally.parts == before || tally.parts.least == tally.parts.most) return true;
  for (const Term& term : forms_.terms_of(constantless)) {
    if (forms_.divisor_of(term, aligned) % unit != 0) tally.depend_on(leaves_of(term));
  }
  return true;
}

/// The terms that do not depend on the lane.
FormId Prover::shared_part(FormId form) {
  FormId sum = forms_.constant(0);
  const std::vector<Term> terms{forms_.terms_of(form).begin(), forms_.terms_of(form).end()};
  for (const Term& term : terms) {
    bool has_lane = false;
    forms_.visit(term, [&](AtomId id) { has_lane = has_lane || is_lane_atom(forms_.atom(id)); });
    if (!has_lane) sum = forms_.add(sum, forms_.form_of(term));
  }
  return sum;
}

/// The divisor of a division that depends on lanes, if it is small enough; 0 for any other atom.
std::int64_t Prover::divisor_in(const Atom& atom) const {
  if (atom.kind != AtomKind::quotient && atom.kind != AtomKind::remainder) return 0;
  const auto by = forms_.constant_of(atom.operands[1]);
  if (!by || *by < 2 || *by > most_cases || most_cases % *by != 0) return 0;
  const auto is_lane = [this](const Atom& one) { return is_lane_atom(one); };
  return forms_.mentions(atom.operands[0], is_lane) ? *by : 0;
}

/// If lanes are distinguished by a division of (lane + u), with the same u in all lanes: the form
/// for each possible remainder of u. Empty if there is no such u, or more than one.
std::vector<FormId> Prover::cases_of(FormId form, Tally& tally) {
  std::vector<AtomId> divided;
  forms_.visit(form, [&](AtomId id) {
    if (divisor_in(forms_.atom(id)) != 0) divided.push_back(id);
  });
  FormId common = no_form;
  std::int64_t most = 0;
  for (const AtomId id : divided) {
    const Atom atom = forms_.atom(id);
    const FormId part = shared_part(atom.operands[0]);
    if (part == no_form || forms_.constant_of(part)) continue;
    if (common != no_form && common != part) return {};
    common = part;
    most = std::max(most, divisor_in(atom));
  }
  if (common == no_form) return {};
  tally.depend_on(leaves_of(common));
  const FormId whole = forms_.scale(forms_.leaf(AtomKind::warp, warp_case, any_number), most);
  std::vector<FormId> cases;
  for (std::int64_t rest = 0; rest < most; ++rest) {
    const FormId instead = forms_.add(whole, forms_.constant(rest));
    Forms::Replaced replaced;
    cases.push_back(forms_.replace(
        form,
        [&](AtomId id) -> std::optional<FormId> {
          const Atom atom = forms_.atom(id);
          if (divisor_in(atom) == 0 || shared_part(atom.operands[0]) != common) return {};
          const FormId operand = forms_.add(forms_.subtract(atom.operands[0], common), instead);
          return atom.kind == AtomKind::quotient ? forms_.quotient(operand, atom.operands[1])
                                                 : forms_.remainder(operand, atom.operands[1]);
        },
        replaced));
    if (cases.back() == no_form) return {};
  }
  return cases;
}

/// A selection with lane-dependent values that all lanes choose alike.
std::optional<AtomId> Prover::chosen_by_all(FormId form, std::size_t shape) {
  std::vector<AtomId> selections;
  forms_.visit(form, [&](AtomId id) {
    if (forms_.atom(id).kind == AtomKind::select) selections.push_back(id);
  });
  const auto is_choice = [&](AtomId id) {
    const Atom atom = forms_.atom(id);
    const auto is_lane = [this](const Atom& one) { return is_lane_atom(one); };
    const bool has_lanes =
        forms_.mentions(atom.operands[1], is_lane) || forms_.mentions(atom.operands[2], is_lane);
    return has_lanes && is_same_in_all(atom.operands[0], shape);
  };
  const auto found = std::ranges::find_if(selections, is_choice);
  return found == selections.end() ? std::nullopt : std::optional{*found};
}

/// Whether the lanes of a warp have the same value, even if it is hidden.
bool Prover::is_same_in_all(FormId form, std::size_t shape) {
  if (form == no_form) return false;
  const Pattern& pattern = pattern_of(form, shape);
  const auto is_zero = [](std::int64_t offset) { return offset == 0; };
  return pattern.is_constant && std::ranges::all_of(pattern.offsets, is_zero);
}

// NOLINTBEGIN(misc-no-recursion): most_choices and the depth of forms end it

/// Counts the parts of a warp by one of several methods: constant distances, separate sectors,
/// remainders of a common value, common choices, warp by warp. False if none applies.
bool Prover::count_cases(FormId form, std::size_t shape, const Lanes& lanes,
                         const AccessProof& access, Tally& tally, unsigned depth) {
  if (count(form, shape, lanes, access, tally)) return true;
  // Neighbouring lanes in separate sectors, at any distance.
  const FormId moving = forms_.subtract(form, forms_.constant(forms_.offset_of(form)));
  const Pattern pattern = pattern_of(moving, shape);
  const bool is_far = pattern.is_linear && pattern.second != no_form &&
                      forms_.range_of(pattern.second).low >= Int128{sector_bytes};
  if (access.space != Space::shared && is_far && std::ranges::all_of(lanes, is_on)) {
    tally.has_aligned = true;
    tally.add(warp_lanes, std::uint64_t{warp_lanes} * access.width / sector_bytes, true);
    return true;
  }
  Tally tried = tally;
  const std::vector<FormId> cases = cases_of(form, tried);
  const auto counts = [&](FormId one) { return count(one, shape, lanes, access, tried); };
  if (!cases.empty() && std::ranges::all_of(cases, counts)) {
    tally = tried;
    return true;
  }
  if (pattern.apart == no_form) return false;
  if (const auto choice = most_choices == depth ? std::nullopt : chosen_by_all(form, shape)) {
    const Atom atom = forms_.atom(*choice);
    tried = tally;
    const auto counts_with = [&](FormId taken) {
      Forms::Replaced replaced;
      const FormId one = forms_.replace(
          form, [&](AtomId id) { return id == *choice ? std::optional{taken} : std::nullopt; },
          replaced);
      return one != no_form && count_cases(one, shape, lanes, access, tried, depth + 1);
    };
    if (!counts_with(atom.operands[1]) || !counts_with(atom.operands[2])) return false;
    tally = tried;
    return true;
  }
  if (shape >= given_) return false;
  const auto is_number = [](const Atom& atom) {
    return atom.kind == AtomKind::warp && atom.which == warp_number;
  };
  if (!forms_.mentions(pattern.apart, is_number)) return false;
  make_single_warps();
  const std::vector<Guard> guards = guards_of(access);
  tried = tally;
  for (std::size_t warp = given_; warp < shapes_.size(); ++warp) {
    const Lanes on = lanes_in(guards, warp);
    if (std::ranges::any_of(on, is_on) && !count_cases(form, warp, on, access, tried, depth)) {
      return false;
    }
  }
  if (shapes_.size() == given_) return false;
  tally = tried;
  return true;
}

/// All lanes take the same operand.
std::optional<FormId> Prover::agreed_extreme(const Atom& atom, std::size_t shape) {
  const FormId apart = forms_.subtract(atom.operands[0], atom.operands[1]);
  if (apart == no_form) return std::nullopt;
  const FormId is_less = in_lane(forms_.negative(apart), shapes_[shape], 0);
  if (is_less == no_form) return std::nullopt;
  const bool takes_less = atom.kind == AtomKind::minimum;
  return forms_.select(is_less, atom.operands[takes_less ? 0 : 1],
                       atom.operands[takes_less ? 1 : 0]);
}

/// Whether the dividends of a warp are so far apart that its lanes cannot have the same quotient.
bool Prover::must_part(const Atom& division, std::size_t shape) {
  if (forms_.range_of(division.operands[1]).low < 1) return false;
  const Pattern pattern = pattern_of(division.operands[0], shape);
  const auto [least, most] = std::ranges::minmax(pattern.offsets);
  const std::array lengths{
      pattern.is_constant ? forms_.constant(most - least) : no_form,
      pattern.is_linear ? forms_.scale(pattern.second, warp_lanes - 1) : no_form,
      pattern.is_linear ? forms_.scale(pattern.second, 1 - std::int64_t{warp_lanes}) : no_form};
  return std::ranges::any_of(lengths, [&](FormId length) {
    const FormId beyond =
        length == no_form ? no_form : forms_.subtract(length, division.operands[1]);
    return beyond != no_form && forms_.range_of(beyond).low >= 0;
  });
}

/// Uses the quotient of the first lane for all, and the remainder that it leaves.
std::optional<FormId> Prover::agreed_division(const Atom& atom, std::size_t shape, Agreed& agreed) {
  if (divisor_in(atom) != 0 || !is_same_in_all(atom.operands[1], shape) || must_part(atom, shape)) {
    return std::nullopt;
  }
  const bool rounds_down = atom.kind == AtomKind::quotient || atom.kind == AtomKind::remainder;
  const auto divided = [&](FormId what) {
    return rounds_down ? forms_.quotient(what, atom.operands[1])
                       : forms_.truncated(AtomKind::truncated_quotient, what, atom.operands[1]);
  };
  const FormId dividend = agreeing(atom.operands[0], shape, agreed);
  const FormId all = dividend == no_form ? no_form : divided(dividend);
  const FormId first = all == no_form ? no_form : in_lane(all, shapes_[shape], 0);
  if (first == no_form) return std::nullopt;
  agreed.push_back(text(divided(atom.operands[0])));
  const bool is_quotient =
      atom.kind == AtomKind::quotient || atom.kind == AtomKind::truncated_quotient;
  if (is_quotient) return first;
  return forms_.subtract(dividend, forms_.multiply(atom.operands[1], first));
}

/// The replacement of an atom if lanes agree on it; nothing otherwise.
std::optional<FormId> Prover::agreed_atom(AtomId id, std::size_t shape, Agreed& agreed) {
  const Atom atom = forms_.atom(id);
  const FormId whole = forms_.form_of(id);
  if (!forms_.mentions(whole, [this](const Atom& one) { return is_lane_atom(one); })) return {};
  std::optional<FormId> instead;
  switch (atom.kind) {
    case AtomKind::quotient:
    case AtomKind::remainder:
    case AtomKind::truncated_quotient:
    case AtomKind::truncated_remainder:
      return agreed_division(atom, shape, agreed);
    case AtomKind::minimum:
    case AtomKind::maximum:
      instead = agreed_extreme(atom, shape);
      break;
    case AtomKind::negative: {
      const auto is_open = [](Lane lane) { return lane == Lane::open; };
      if (!std::ranges::all_of(lanes_of(whole, shape), is_open)) return {};
      instead = in_lane(whole, shapes_[shape], 0);
      break;
    }
    default:
      return {};
  }
  if (!instead || *instead == no_form) return {};
  agreed.push_back(text(whole));
  return instead;
}

/// The form if lanes agree on divisions by unknown numbers, such as the row of an image or the
/// number of iterations. They agree unless a multiple of the divisor lies between them.
FormId Prover::agreeing(FormId form, std::size_t shape, Agreed& agreed) {
  Forms::Replaced replaced;
  return forms_.replace(
      form, [&](AtomId id) { return agreed_atom(id, shape, agreed); }, replaced);
}

// NOLINTEND(misc-no-recursion)

/// Counts the parts of a warp whose lanes agree, and records the assumption.
bool Prover::count_agreeing(FormId form, std::size_t shape, const Lanes& lanes, AccessProof& access,
                            Tally& tally) {
  Agreed agreed;
  const FormId together = agreeing(form, shape, agreed);
  if (together == no_form || together == form) return false;
  Tally tried = tally;
  if (!count_cases(together, shape, lanes, access, tried)) return false;
  tally = tried;
  for (const std::string& one : agreed) {
    std::string assumption = fmt::format("the lanes of a warp agree on {}", one);
    if (std::ranges::count(access.assumptions, assumption) == 0) {
      access.assumptions.push_back(std::move(assumption));
    }
  }
  return true;
}

/// What a launch determines in an address: the numbers among the parameters, and the sizes of block
/// and grid.
std::vector<AtomId> Prover::lengths_of(FormId form) const {
  using enum Special;
  std::vector<AtomId> lengths;
  const auto base = base_of(form);
  forms_.visit(form, [&](AtomId id) {
    const Atom& atom = forms_.atom(id);
    const bool is_size =
        atom.kind == AtomKind::special && (atom.which == static_cast<std::uint32_t>(ntid_x) ||
                                           atom.which == static_cast<std::uint32_t>(nctaid_x) ||
                                           atom.which == static_cast<std::uint32_t>(nctaid_y) ||
                                           atom.which == static_cast<std::uint32_t>(nctaid_z));
    const bool is_number = atom.kind == AtomKind::parameter && (!base || id != *base);
    if ((is_number || is_size) && std::ranges::count(lengths, id) == 0) lengths.push_back(id);
  });
  return lengths;
}

/// Its indices, except those that distinguish lanes.
std::vector<AtomId> Prover::indices_of(FormId form) const {
  std::vector<AtomId> indices;
  forms_.visit(form, [&](AtomId id) {
    const Atom& atom = forms_.atom(id);
    const bool is_index =
        atom.kind == AtomKind::counter || (atom.kind == AtomKind::special && !is_lane_atom(atom));
    if (is_index && std::ranges::count(indices, id) == 0) indices.push_back(id);
  });
  return indices;
}

/// What the kernel's accesses imply about their arrays.
void Prover::note_arrays(const std::vector<AccessProof>& all) {
  for (const AccessProof& access : all) {
    const FormId form = access.meaning.form;
    if (form == no_form) continue;
    const std::int64_t offset = forms_.offset_of(form);
    const FormId moving = forms_.subtract(form, forms_.constant(offset));
    const std::int64_t end = offset + static_cast<std::int64_t>(access.width);
    const auto [known, is_new] = reach_.try_emplace(moving, offset, end);
    if (!is_new) {
      known->second.first = std::min(known->second.first, offset);
      known->second.second = std::max(known->second.second, end);
    } else {
      forms_.visit(moving, [&](AtomId id) {
        const Atom& atom = forms_.atom(id);
        if (atom.kind != AtomKind::parameter) return;
        std::uint64_t& last = last_place_[atom.which];
        last = std::max(last, atom.place);
      });
    }
  }
}

/// The usual value: if a structure has a pointer followed by strides, the last one is the stride of
/// adjacent elements, which are contiguous; any other parameter is a length.
std::int64_t Prover::usual_number(AtomId parameter, FormId moving) const {
  const Atom& asked = forms_.atom(parameter);
  if (asked.kind == AtomKind::special &&
      asked.which == static_cast<std::uint32_t>(Special::ntid_x)) {
    return usual_block;
  }
  const auto base = base_of(moving);
  const bool is_behind_pointer = base && forms_.atom(*base).kind == AtomKind::parameter &&
                                 forms_.atom(*base).which == asked.which &&
                                 forms_.atom(*base).place < asked.place;
  const auto last = last_place_.find(asked.which);
  if (!is_behind_pointer || last == last_place_.end() || last->second != asked.place) {
    return usual_length;
  }
  const auto reach = reach_.find(moving);
  return reach == reach_.end() ? usual_length : reach->second.second - reach->second.first;
}

/// A dependent verdict with usual values for what a launch determines. If it then still depends on
/// indices, all of which occur in a launch, some requests need more and some do not.
void Prover::judge_as_usual(AccessProof& access) {
  const FormId form = access.meaning.form;
  const FormId moving = forms_.subtract(form, forms_.constant(forms_.offset_of(form)));
  // A block one thread wide has its lanes along threadIdx.y; then no width of it is usual.
  const bool may_run_along_y = std::ranges::any_of(access.steps, [&](const IndexStep& step) {
    return step.index == "threadIdx.y" && step.bytes == static_cast<std::int64_t>(access.width);
  });
  std::vector<std::string> where;
  std::map<AtomId, FormId> numbers;
  for (const AtomId length : lengths_of(form)) {
    const Atom& atom = forms_.atom(length);
    if (may_run_along_y && atom.kind == AtomKind::special &&
        atom.which == static_cast<std::uint32_t>(Special::ntid_x)) {
      return;
    }
    const std::int64_t number = usual_number(length, moving);
    numbers.emplace(length, forms_.constant(number));
    where.push_back(fmt::format("{} is {}", kernel_.name(forms_.atom(length)), number));
  }
  std::vector<Lanes> lanes;
  for (std::size_t shape = 0; shape < given_; ++shape)
    lanes.push_back(lanes_in(guards_of(access), shape));
  const auto judged = [&](std::int64_t index, const std::vector<AtomId>& indices) {
    Forms::Replaced replaced;
    AccessProof tried = access;
    tried.verdict = Verdict::unknown;
    tried.meaning.form = forms_.replace(
        form,
        [&](AtomId id) -> std::optional<FormId> {
          if (const auto found = numbers.find(id); found != numbers.end()) return found->second;
          if (std::ranges::count(indices, id) == 0) return std::nullopt;
          return forms_.constant(index);
        },
        replaced);
    if (tried.meaning.form != no_form) judge_lanes(tried, lanes);
    return tried;
  };
  std::vector<AccessProof> tries{judged(0, {})};
  if (!tries[0].parts) {
    const std::vector<AtomId> indices = indices_of(form);
    tries = {judged(0, indices), judged(usual_index, indices)};
    for (const AtomId index : indices)
      where.push_back(fmt::format("{} is 0 or {}", kernel_.name(forms_.atom(index)), usual_index));
  }
  const auto is_counted = [](const AccessProof& one) { return one.parts.has_value(); };
  const auto is_good = [](const AccessProof& one) { return one.verdict == Verdict::coalesced; };
  if (!std::ranges::all_of(tries, is_counted)) return;
  if (where.empty()) where.emplace_back("all warps run");
  access.usual = std::ranges::all_of(tries, is_good) ? Verdict::coalesced : Verdict::uncoalesced;
  access.usual_where = fmt::format("{}", fmt::join(where, ", "));
}

/// The reason if lanes are not at constant distances.
void Prover::explain_distance(AccessProof& access, const Pattern& pattern, FormId form) const {
  access.verdict = Verdict::depends;
  access.parts.reset();
  access.depends_on = leaves_of(pattern.apart == no_form ? form : pattern.apart);
  access.reason =
      fmt::format("the distance of lanes follows from {}", fmt::join(access.depends_on, ", "));
  if (!pattern.is_linear) return;
  access.reason = fmt::format("neighbouring lanes are {} bytes apart", text(pattern.second));
  const auto terms = forms_.terms_of(pattern.second);
  if (forms_.offset_of(pattern.second) != 0 || terms.size() != 1) return;
  const std::int64_t coefficient = terms[0].coefficient;
  if (coefficient <= 0 || access.width % static_cast<std::uint64_t>(coefficient) != 0) return;
  const FormId one = forms_.quotient(pattern.second, forms_.constant(coefficient));
  access.reason += fmt::format(": next to each other where {} is {}", text(one),
                               access.width / static_cast<std::uint64_t>(coefficient));
}

/// The assumptions of the verdict.
void Prover::assume(AccessProof& access) const {
  const FormId form = access.meaning.form;
  // A kernel that uses threadIdx.y assumes that it is the same in all lanes.
  const auto is_thread = [this](const Atom& atom) {
    return is_lane_atom(atom) || (atom.kind == AtomKind::special &&
                                  (atom.which == static_cast<std::uint32_t>(Special::tid_y) ||
                                   atom.which == static_cast<std::uint32_t>(Special::tid_z)));
  };
  if (is_even_ && (forms_.mentions(form, is_thread) || access.lanes < warp_lanes)) {
    access.assumptions.emplace_back(even_blocks);
  }
  if (forms_.mentions(form, [](const Atom& atom) { return atom.kind == AtomKind::counter; })) {
    access.assumptions.emplace_back("the lanes of a warp pass through loops together");
  }
  const auto base = base_of(form);
  if (base && forms_.atom(*base).kind == AtomKind::parameter) {
    const Atom& pointer = forms_.atom(*base);
    access.assumptions.push_back(
        fmt::format("{} is a multiple of {}", kernel_.name(pointer), pointer_alignment));
    access.aligned_parameter = kernel_.module().symbols[pointer.which].offset + pointer.place;
  }
}

void Prover::judge(AccessProof& access) {
  const FormId form = access.meaning.form;
  if (form == no_form) {
    access.verdict = access.width == 0 ? Verdict::unmodelled : Verdict::unknown;
    access.reason = access.width == 0 ? "an access without a model" : "its address is not followed";
    return;
  }
  find_space(access);
  access.address = text(form);
  find_steps(access);
  const std::uint32_t block = kernel_.flow().block_of[access.instruction];
  add_conditions(access, access.meaning.conditions, block);
  const std::vector<Lanes> lanes = who_takes_part(access, block);
  if (access.lanes == 0) {
    access.verdict = Verdict::never_runs;
    access.reason = "its guards are never all true";
    return;
  }

  const bool has_model = std::has_single_bit(access.width) && access.width <= 16;
  if (!has_model || access.space == Space::local || access.space == Space::constant) {
    access.verdict = Verdict::unmodelled;
    access.reason = access.space == Space::local ? "local memory, which the hardware interleaves"
                    : access.space == Space::constant ? "constant memory"
                                                      : "an access without a model";
    return;
  }
  access.verdict = Verdict::unknown;
  access.reason = hidden_reason(form);
  if (!access.reason.empty()) {
    find_scattered(access);
    return;
  }
  if (access.space == Space::generic) {
    access.reason = "a generic address of unknown memory";
    return;
  }
  assume(access);
  judge_lanes(access, lanes);
}

/// The verdict for an address that is not hidden.
void Prover::judge_lanes(AccessProof& access, const std::vector<Lanes>& lanes) {
  const FormId form = access.meaning.form;
  Tally tally;
  const FormId moving = forms_.subtract(form, forms_.constant(forms_.offset_of(form)));
  std::optional<Pattern> remedied;
  for (std::size_t shape = 0; shape < given_; ++shape) {
    if (std::ranges::none_of(lanes[shape], is_on)) continue;
    const Pattern pattern = pattern_of(moving, shape);
    if (!remedied || !pattern.is_constant) remedied = pattern;
    if (count_cases(form, shape, lanes[shape], access, tally)) continue;
    if (count_agreeing(form, shape, lanes[shape], access, tally)) continue;
    explain_distance(access, pattern, moving);
    access.remedy = remedy_of(access, pattern);
    return;
  }
  if (!tally.has_aligned) {
    access.verdict = Verdict::unmodelled;
    access.reason = fmt::format("its addresses are no multiples of its {} bytes", access.width);
    return;
  }
  access.parts = tally.parts;
  access.ideal = tally.ideal;
  if (tally.parts.least != tally.parts.most) access.depends_on = tally.depends_on;
  access.verdict = !tally.is_ever_bad    ? Verdict::coalesced
                   : !tally.is_ever_good ? Verdict::uncoalesced
                                         : Verdict::depends;
  if (access.verdict == Verdict::depends) {
    access.reason = access.depends_on.empty() ? "some warps of the block are, some are not"
                                              : fmt::format("alignment follows from {}",
                                                            fmt::join(access.depends_on, ", "));
  }
  if (access.verdict != Verdict::coalesced && remedied) {
    access.remedy = remedy_of(access, *remedied);
  }
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::coalesced:
      return "coalesced";
    case Verdict::uncoalesced:
      return "uncoalesced";
    case Verdict::depends:
      return "depends";
    case Verdict::unknown:
      return "unknown";
    case Verdict::unmodelled:
      return "unmodelled";
    case Verdict::never_runs:
      return "never runs";
  }
  return "";
}

std::vector<AccessProof> prove(KernelForms& kernel) {
  std::vector<AccessProof> all;
  Prover{kernel}.prove(all);
  return all;
}

}  // namespace strata::access
