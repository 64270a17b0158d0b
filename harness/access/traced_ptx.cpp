#include "harness/access/traced_ptx.hpp"

#include "harness/access/marked_ptx.hpp"
#include "harness/access/operands.hpp"
#include "harness/access/requests.hpp"
#include "harness/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace strata::access {
namespace {

using ptx::Operand;
using ptx::Space;

constexpr unsigned oldest_version = 62;                 // PTX version that has activemask
constexpr unsigned oldest_with_clusters = 78;           // and isspacep.shared::cluster
constexpr unsigned first_with_clusters = 90;            // sm_90
constexpr std::uint32_t most_instructions = 1U << 24U;  // the next byte holds the space
constexpr std::uint32_t shared_tag = 1;
constexpr std::uint32_t local_tag = 2;
constexpr std::uint32_t cluster_tag = 3;  // shared memory of another block of the cluster
constexpr unsigned tag_shift = 24;

constexpr std::array parameters{std::pair{"records", "u64"}, std::pair{"counts", "u64"},
                                std::pair{"capacity", "u32"}};

/// Position of a character outside comments, from `at` on.
std::size_t find_code(std::string_view text, char wanted, std::size_t at) {
  for (; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("//")) {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (rest.starts_with("/*")) {
      at = std::min(text.find("*/", at + 2), text.size() - 2) + 1;
    } else if (text[at] == wanted) {
      return at;
    }
  }
  throw std::logic_error{fmt::format("the PTX has no {}", wanted)};
}

/// Pieces of text by insertion position.
using Insertions = std::multimap<std::size_t, std::string>;

/// Registers: %strata_d0 is the address of this thread's count, %strata_d1 that of its next record,
/// %strata_d2 the distance between its records; %strata_r0 is the capacity, %strata_r1 the number
/// of attempted records. The others hold nothing between two accesses.
std::string prologue(std::string_view kernel) {
  return fmt::format(R"(
.reg .pred %strata_p<2>;
.reg .b32 %strata_r<8>;
.reg .b64 %strata_d<8>;
mov.u32 %strata_r0, %tid.z;
mov.u32 %strata_r1, %ntid.y;
mov.u32 %strata_r2, %tid.y;
mad.lo.s32 %strata_r0, %strata_r0, %strata_r1, %strata_r2;
mov.u32 %strata_r2, %ntid.x;
mov.u32 %strata_r3, %tid.x;
mad.lo.s32 %strata_r0, %strata_r0, %strata_r2, %strata_r3;
mul.lo.s32 %strata_r1, %strata_r1, %strata_r2;
mov.u32 %strata_r2, %ntid.z;
mul.lo.s32 %strata_r1, %strata_r1, %strata_r2;
mov.u32 %strata_r2, %ctaid.z;
mov.u32 %strata_r3, %nctaid.y;
mul.wide.u32 %strata_d0, %strata_r2, %strata_r3;
mov.u32 %strata_r2, %ctaid.y;
cvt.u64.u32 %strata_d1, %strata_r2;
add.s64 %strata_d0, %strata_d0, %strata_d1;
mov.u32 %strata_r2, %nctaid.x;
cvt.u64.u32 %strata_d1, %strata_r2;
mul.lo.s64 %strata_d0, %strata_d0, %strata_d1;
mul.wide.u32 %strata_d2, %strata_r2, %strata_r3;
mov.u32 %strata_r2, %ctaid.x;
cvt.u64.u32 %strata_d1, %strata_r2;
add.s64 %strata_d0, %strata_d0, %strata_d1;
mov.u32 %strata_r2, %nctaid.z;
cvt.u64.u32 %strata_d1, %strata_r2;
mul.lo.s64 %strata_d2, %strata_d2, %strata_d1;
cvt.u64.u32 %strata_d1, %strata_r1;
mul.lo.s64 %strata_d0, %strata_d0, %strata_d1;
mul.lo.s64 %strata_d2, %strata_d2, %strata_d1;
cvt.u64.u32 %strata_d1, %strata_r0;
add.s64 %strata_d3, %strata_d0, %strata_d1;
shl.b64 %strata_d2, %strata_d2, 4;
ld.param.u64 %strata_d1, [{0}_strata_records];
cvta.to.global.u64 %strata_d1, %strata_d1;
shl.b64 %strata_d4, %strata_d3, 4;
add.s64 %strata_d1, %strata_d1, %strata_d4;
ld.param.u64 %strata_d0, [{0}_strata_counts];
cvta.to.global.u64 %strata_d0, %strata_d0;
shl.b64 %strata_d4, %strata_d3, 2;
add.s64 %strata_d0, %strata_d0, %strata_d4;
ld.param.u32 %strata_r0, [{0}_strata_capacity];
mov.u32 %strata_r1, 0;
)",
                     kernel);
}

/// The operand whose address is recorded.
const Operand* recorded_operand(const ptx::Instruction& one) {
  return role_of(one) == Role::copy ? &one.operands[1] : address_of(one);
}

/// The space of that address.
Space recorded_space(const ptx::Instruction& one) {
  return role_of(one) == Role::copy ? Space::global : one.space();
}

/// Whether a cp.async certainly reads as many bytes as it writes, as with the operands `16, 16`.
bool reads_all(const ptx::Instruction& one) {
  if (one.operands.size() <= 3) return true;
  const Operand& size = one.operands[3];
  return one.operands.size() == 4 && !size.address && size.kind == Operand::Kind::integer &&
         size.bits == one.operands[2].bits;
}

/// Why an instruction is not traced; empty if it is.
std::string why_untraced(const ptx::Kernel& kernel, const ptx::Instruction& one) {
  switch (role_of(one)) {
    case Role::load:
    case Role::store:
    case Role::atomic:
    case Role::reduction:
    case Role::matrix:
      break;
    case Role::copy:
      if (!reads_all(one)) return "its size is an operand";
      break;
    default:
      return "it is not a modelled access";
  }
  const Operand* const address = recorded_operand(one);
  const Space space = recorded_space(one);
  if (space != Space::global && space != Space::shared && space != Space::generic) {
    return "its memory is neither global nor shared";
  }
  const bool is_plain = address->kind == Operand::Kind::reg ||
                        address->kind == Operand::Kind::symbol ||
                        address->kind == Operand::Kind::integer;
  if (!is_plain) return "its address cannot be computed here";
  if (address->kind == Operand::Kind::reg) {
    const unsigned bytes = ptx::bytes_of(kernel.registers[address->index].type);
    if (bytes != 4 && bytes != 8) return "its address cannot be computed here";
  }
  return {};
}

/// Lanes whose addresses are row addresses of ldmatrix and stmatrix.
std::uint32_t rows_of_matrices(const ptx::Instruction& one) {
  constexpr unsigned rows = 8;
  const unsigned matrices = one.has("x4") ? 4 : one.has("x2") ? 2 : 1;
  return matrices == 4 ? 0xFFFFFFFFU : (1U << (rows * matrices)) - 1;
}

/// Computes the address in %strata_d3.
std::string take_address(const ptx::Module& module, const ptx::Kernel& kernel,
                         const Operand& address) {
  switch (address.kind) {
    case Operand::Kind::reg: {
      const auto& from = kernel.registers[address.index];
      if (ptx::bytes_of(from.type) == 8) {
        return fmt::format("add.s64 %strata_d3, {}, {};\n", from.name, address.offset);
      }
      // Wraps around like the address.
      return fmt::format("add.s32 %strata_r2, {}, {};\ncvt.u64.u32 %strata_d3, %strata_r2;\n",
                         from.name, static_cast<std::int32_t>(address.offset));
    }
    case Operand::Kind::symbol:
      return fmt::format("mov.u64 %strata_d3, {};\nadd.s64 %strata_d3, %strata_d3, {};\n",
                         module.symbols[address.index].name, address.offset);
    default:
      return fmt::format("mov.u64 %strata_d3, {};\n",
                         address.bits + static_cast<std::uint64_t>(address.offset));
  }
}

/// Whether generic addresses may point to another block's shared memory.
bool has_clusters(const ptx::Module& module) {
  return module.version >= oldest_with_clusters && target_of(module) >= first_with_clusters;
}

std::string record(const ptx::Module& module, const ptx::Kernel& kernel, std::uint32_t number) {
  const ptx::Instruction& one = kernel.instructions[number];
  const bool is_guarded = one.guard != ptx::no_index;
  const std::string guard = is_guarded ? fmt::format("{}{}", one.guard_negated ? "!" : "",
                                                     kernel.registers[one.guard].name)
                                       : std::string{};
  const std::string if_done = is_guarded ? fmt::format("@{} ", guard) : std::string{};
  std::string text = "\nactivemask.b32 %strata_r3;\n";
  if (is_guarded) {
    text += fmt::format("vote.sync.ballot.b32 %strata_r3, {}, %strata_r3;\n", guard);
    text += fmt::format("setp.lt.and.u32 %strata_p0, %strata_r1, %strata_r0, {};\n", guard);
  } else {
    text += "setp.lt.u32 %strata_p0, %strata_r1, %strata_r0;\n";
  }
  text += take_address(module, kernel, *recorded_operand(one));
  text += fmt::format("mov.u32 %strata_r4, {};\n", number);
  if (recorded_space(one) == Space::generic) {
    // The window of the cluster contains that of the block, so the block's own comes last.
    const auto mark = [&](std::string_view space, std::uint32_t tag) {
      text += fmt::format(
          "isspacep.{} %strata_p1, %strata_d3;\n"
          "@%strata_p1 mov.u32 %strata_r4, {};\n",
          space, number | tag << tag_shift);
    };
    if (has_clusters(module)) mark("shared::cluster", cluster_tag);
    mark("local", local_tag);
    mark("shared", shared_tag);
    text += "@%strata_p1 cvta.to.shared.u64 %strata_d3, %strata_d3;\n";
  }
  text += "mov.b64 %strata_d4, {%strata_r3, %strata_r4};\n";
  text += if_done + "add.s32 %strata_r1, %strata_r1, 1;\n";
  text += if_done + "st.global.u32 [%strata_d0], %strata_r1;\n";
  text += "@%strata_p0 st.global.v2.u64 [%strata_d1], {%strata_d3, %strata_d4};\n";
  text += "@%strata_p0 add.s64 %strata_d1, %strata_d1, %strata_d2;\n";
  return text;
}

void put_parameters(std::string_view text, const ptx::Kernel& kernel, Insertions& into) {
  // The kernel may be declared earlier: its definition is the last `.entry` before its first
  // instruction.
  const std::size_t first = begin_of(text, kernel.instructions.front());
  const std::size_t name = text.find(kernel.name, text.rfind(".entry", first));
  const std::size_t body = find_code(text, '{', name);
  std::string declared;
  for (const auto& [suffix, type] : parameters)
    declared += fmt::format("{}\n.param .{} {}_strata_{}", declared.empty() ? "" : ",", type,
                            kernel.name, suffix);
  const std::size_t after_name = name + kernel.name.size();
  const std::string_view head = text.substr(0, body);
  try {
    into.emplace(find_code(head, ')', after_name),
                 (kernel.params.empty() ? "" : ",") + declared + '\n');
  } catch (const std::logic_error&) {
    into.emplace(after_name, " (" + declared + ")\n");  // a kernel may have no parameter list
  }
  into.emplace(body + 1, prologue(kernel.name));
}

void raise_version(std::string_view text, unsigned version, std::string& out) {
  if (version >= oldest_version) return;
  const std::size_t at = find_code(text, '.', 0);  // of `.version`
  const std::size_t number = text.find_first_of("0123456789", at);
  const std::size_t end = text.find_first_not_of("0123456789.", number);
  out.replace(number, end - number, fmt::format("{}.{}", oldest_version / 10, oldest_version % 10));
}

/// The rows of one warp: the records of each lane that have not been returned yet.
class WarpRecords {
 public:
  WarpRecords(const Records& records, std::uint64_t first_thread, unsigned threads)
      : records_{records},
        first_{first_thread},
        threads_{threads},
        all_{records.grid.count() * records.block.count()} {
    for (unsigned lane = 0; lane < threads; ++lane)
      left_.at(lane) = records.counts[first_thread + lane];
  }

  /// Appends all accesses.
  void tell(std::vector<RecordedAccess>& to) {
    for (unsigned lane = 0; lane < threads_; ++lane) {
      while (done_.at(lane) < left_.at(lane))
        take(ready_from(lane), to);
    }
  }

 private:
  struct Record {
    std::uint64_t address;
    std::uint32_t mask;
    std::uint32_t instruction;
    std::uint32_t tag;
  };
  [[nodiscard]] Record head(unsigned lane) const {
    const std::uint64_t at = 2 * (done_.at(lane) * all_ + first_ + lane);
    const std::uint64_t what = records_.words[at + 1];
    return {.address = records_.words[at],
            .mask = static_cast<std::uint32_t>(what),
            .instruction = static_cast<std::uint32_t>(what >> 32U) % most_instructions,
            .tag = static_cast<std::uint32_t>(what >> (32U + tag_shift))};
  }
  [[noreturn]] void refuse() const {
    throw std::runtime_error{
        fmt::format("the records of threads {} to {} are inconsistent: lanes that accessed "
                    "together did not all record it",
                    first_, first_ + threads_ - 1)};
  }

  /// A lane whose next access all of its lanes have reached: `lane`, or one for which it waits.
  [[nodiscard]] unsigned ready_from(unsigned lane) const {
    std::uint32_t waiting = 0;
    for (;;) {
      const Record own = head(lane);
      if ((waiting >> lane & 1U) != 0 || (own.mask >> lane & 1U) == 0) refuse();
      waiting |= 1U << lane;
      std::optional<unsigned> behind;
      for (unsigned other = 0; other < warp_lanes && !behind; ++other) {
        if ((own.mask >> other & 1U) == 0) continue;
        if (other >= threads_ || done_.at(other) >= left_.at(other)) refuse();
        const Record theirs = head(other);
        if (theirs.mask != own.mask || theirs.instruction != own.instruction) behind = other;
      }
      if (!behind) return lane;
      lane = *behind;
    }
  }

  /// Generic addresses give one access for each space.
  void take(unsigned lane, std::vector<RecordedAccess>& to) {
    const Record own = head(lane);
    constexpr std::array spaces{Space::generic, Space::shared, Space::local, Space::shared};
    std::array<RecordedAccess, spaces.size()> by_tag{};
    for (unsigned other = 0; other < threads_; ++other) {
      if ((own.mask >> other & 1U) == 0) continue;
      const Record record = head(other);
      if (record.tag >= by_tag.size()) refuse();
      RecordedAccess& access = by_tag.at(record.tag);
      access.mask |= 1U << other;
      access.addresses.at(other) = record.address;
      ++done_.at(other);
    }
    for (std::size_t tag = 0; tag < spaces.size(); ++tag) {
      if (by_tag.at(tag).mask == 0) continue;
      by_tag.at(tag).instruction = own.instruction;
      by_tag.at(tag).space = spaces.at(tag);
      by_tag.at(tag).is_of_other_block = tag == cluster_tag;
      to.push_back(by_tag.at(tag));
    }
  }

  const Records& records_;
  std::uint64_t first_;
  unsigned threads_;
  std::uint64_t all_;
  std::array<std::uint64_t, warp_lanes> left_{};
  std::array<std::uint64_t, warp_lanes> done_{};
};

void check_room(const Records& records) {
  const auto most = std::ranges::max_element(records.counts);
  if (most == records.counts.end() || *most <= records.capacity) return;
  throw std::runtime_error{fmt::format(
      "thread {} recorded {} accesses, but there is room for only {} per thread; {} MiB would "
      "suffice: raise --megabytes, or launch fewer blocks",
      std::distance(records.counts.begin(), most), *most, records.capacity,
      (records.counts.size() * (*most * record_bytes + record_count_bytes) >> 20U) + 1)};
}

/// Returns the accesses of each warp in turn.
void for_each_warp(const Records& records,
                   const std::function<void(const std::vector<RecordedAccess>&)>& take) {
  check_room(records);
  const std::uint64_t of_block = records.block.count();
  std::vector<RecordedAccess> found;
  for (std::uint64_t block = 0; block < records.grid.count(); ++block) {
    for (std::uint64_t thread = 0; thread < of_block; thread += warp_lanes) {
      const auto threads =
          static_cast<unsigned>(std::min<std::uint64_t>(warp_lanes, of_block - thread));
      found.clear();
      WarpRecords{records, block * of_block + thread, threads}.tell(found);
      take(found);
    }
  }
}

/// Sums up recorded accesses by instruction and space.
class TracedSums {
 public:
  TracedSums(const ptx::Kernel& kernel, std::span<const Generation> generations)
      : kernel_{kernel}, generations_{generations} {}

  /// `like` is the access in the evaluation.
  void add(const Access& like, const RecordedAccess& one) {
    const ptx::Instruction& instruction = kernel_.instructions[one.instruction];
    if (one.is_of_other_block || one.space == Space::local) {
      lost_.try_emplace(one.instruction,
                        one.is_of_other_block
                            ? "some lanes access shared memory of another block of the cluster"
                            : "some lanes access local memory");
      return;
    }
    Space space = recorded_space(instruction);
    if (space == Space::generic) space = one.space == space ? Space::global : one.space;
    if (space == Space::shared && shared_atomic_of(instruction) == SharedAtomic::loop) {
      lost_.try_emplace(one.instruction, std::string{describe(Doubt::cost)});
      return;
    }
    LaneAccess access{like.width, one.mask, one.addresses.data()};
    if (like.kind == AccessKind::matrix) access.mask &= rows_of_matrices(instruction);
    if (access.mask == 0) return;
    Sum& sum = sum_of(like, space);
    ++sum.access.warps;
    sum.access.lanes += static_cast<std::uint64_t>(std::popcount(access.mask));
    add_access(sum.requests, like.kind, access);
  }

  /// Accesses that no warp reached are known as well.
  void add_none(const Access& like) {
    const auto first = sums_.lower_bound({like.instruction, Space::generic});
    const bool is_there = first != sums_.end() && first->first.first == like.instruction;
    if (is_there) return;
    (void)sum_of(like, like.space == Space::generic ? Space::global : like.space);
  }

  [[nodiscard]] TracedAccesses result() const {
    TracedAccesses result;
    for (const auto& [instruction, why] : lost_)
      result.left_out.push_back({instruction, why});
    std::vector<Access>& made = result.accesses;
    for (const auto& [of, sum] : sums_) {
      if (lost_.contains(of.first)) continue;
      const RequestSums found = sum.requests.sums();
      if (found.unmodelled != 0) {
        result.left_out.push_back({of.first, std::string{describe(Doubt::cost)}});
        continue;
      }
      made.push_back(sum.access);
      made.back().traffic = found.traffic;
      made.back().ideal_sectors = found.ideal_sectors;
      made.back().contiguous_sectors = found.contiguous_sectors;
      made.back().wavefronts = found.wavefronts;
      made.back().ideal_wavefronts = found.ideal_wavefronts;
    }
    return result;
  }

 private:
  struct Sum {
    Access access;
    RequestCounter requests;
  };
  Sum& sum_of(const Access& like, Space space) {
    const auto model =
        model_of(space == Space::shared, shared_atomic_of(kernel_.instructions[like.instruction]));
    return sums_
        .try_emplace({like.instruction, space},
                     Sum{.access = {.instruction = like.instruction,
                                    .kind = like.kind,
                                    .space = space,
                                    .width = like.width,
                                    .is_traced = true},
                         .requests = RequestCounter{model, generations_}})
        .first->second;
  }

  const ptx::Kernel& kernel_;
  std::span<const Generation> generations_;
  std::map<std::pair<std::uint32_t, Space>, Sum> sums_;
  std::map<std::uint32_t, std::string> lost_;  ///< by instruction: why its sums are not known
};

}  // namespace

TracedPtx trace(const ptx::Module& module, std::uint32_t kernel,
                std::span<const std::uint32_t> instructions) {
  const std::string_view text{module.text.data(), module.text.size()};
  const ptx::Kernel& traced = module.kernels[kernel];
  TracedPtx made;
  Insertions insertions;
  for (const std::uint32_t number :
       std::set<std::uint32_t>{instructions.begin(), instructions.end()}) {
    const ptx::Instruction& one = traced.instructions[number];
    const std::string why =
        number >= most_instructions ? "the kernel is too long" : why_untraced(traced, one);
    if (why.empty()) {
      insertions.emplace(begin_of(text, one), record(module, traced, number));
    } else {
      made.left_out.push_back({number, why});
    }
  }
  if (!traced.instructions.empty()) put_parameters(text, traced, insertions);
  std::size_t done = 0;
  for (const auto& [at, inserted] : insertions) {
    made.text += text.substr(done, at - done);
    made.text += inserted;
    done = at;
  }
  made.text += text.substr(done);
  raise_version(text, module.version, made.text);
  return made;
}

TracedLaunch traced_launch(const ptx::Module& module, const ptx::Module& traced, Launch launch,
                           std::uint64_t bytes) {
  const ptx::Kernel& kernel = traced.kernels[launch.kernel];
  const std::uint64_t threads = launch.grid.count() * launch.block.count();
  constexpr std::uint64_t least = record_bytes + record_count_bytes;
  if (bytes / least < threads) {
    refuse({kernel.name},
           fmt::format("{} threads, for which {} MiB are too few for one record each", threads,
                       bytes >> 20U),
           fmt::format("room for one record each: {} MiB", (threads * least >> 20U) + 1),
           "raise --megabytes, or launch fewer blocks");
  }
  TracedLaunch made{.launch = std::move(launch)};
  const std::uint64_t capacity = (bytes / threads - record_count_bytes) / record_bytes;
  made.capacity = static_cast<std::uint32_t>(std::min<std::uint64_t>(capacity, 0xFFFFFFFFU));
  Launch& to = made.launch;
  // The indices of variables have grown by the parameters inserted before them.
  for (Buffer& buffer : to.buffers) {
    if (buffer.symbol == ptx::no_index) continue;
    const ptx::Symbol& was = module.symbols[buffer.symbol];
    const auto is = std::ranges::find_if(traced.symbols, [&](const ptx::Symbol& one) {
      return one.name == was.name && one.kernel == was.kernel;
    });
    buffer.symbol = static_cast<std::uint32_t>(is - traced.symbols.begin());
  }
  const auto put = [&](std::size_t parameter, std::uint64_t value, unsigned count) {
    const std::size_t from_end = parameters.size() - parameter;
    const auto& symbol = traced.symbols[kernel.params[kernel.params.size() - from_end]];
    to.params.resize(std::max<std::size_t>(to.params.size(), symbol.offset + count));
    to.params_known.resize(to.params.size());
    for (unsigned b = 0; b < count; ++b) {
      to.params[symbol.offset + b] = static_cast<std::uint8_t>(value >> (8 * b));
      to.params_known[symbol.offset + b] = 1;
    }
    return symbol.offset;
  };
  // After all others, which stay in the order of their addresses.
  const auto add = [&](std::size_t parameter, std::uint64_t size) {
    const std::uint64_t end =
        to.buffers.empty() ? first_address : to.buffers.back().address + to.buffers.back().bytes;
    const std::uint64_t address =
        (end + address_gap + default_alignment) / default_alignment * default_alignment;
    to.buffers.push_back({.name = fmt::format("strata_{}", parameters.at(parameter).first),
                          .address = address,
                          .bytes = size,
                          .fill = {.kind = Fill::Kind::zero}});
    const std::size_t index = to.buffers.size() - 1;
    to.pointers.push_back({put(parameter, address, 8), index, 0});
    return index;
  };
  made.records = add(0, threads * made.capacity * record_bytes);
  made.counts = add(1, threads * record_count_bytes);
  (void)put(2, made.capacity, 4);
  return made;
}

std::vector<RecordedAccess> accesses_of(const Records& records) {
  std::vector<RecordedAccess> all;
  for_each_warp(records, [&](const std::vector<RecordedAccess>& found) {
    all.insert(all.end(), found.begin(), found.end());
  });
  return all;
}

TracedAccesses traced_accesses(const ptx::Kernel& kernel, std::span<const Access> wanted,
                               std::span<const Generation> generations, const Records& records) {
  TracedSums sums{kernel, generations};
  for_each_warp(records, [&](const std::vector<RecordedAccess>& found) {
    for (const RecordedAccess& one : found) {
      const auto like = std::ranges::find(wanted, one.instruction, &Access::instruction);
      if (like != wanted.end()) sums.add(*like, one);
    }
  });
  for (const Access& like : wanted)
    sums.add_none(like);
  return sums.result();
}

}  // namespace strata::access
