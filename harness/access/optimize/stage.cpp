#include "harness/access/optimize/stage.hpp"

#include "harness/access/listing.hpp"
#include "harness/access/operands.hpp"
#include "harness/access/optimize/grouping.hpp"
#include "harness/access/optimize/lane_steps.hpp"
#include "harness/access/optimize/statement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Special;

constexpr std::size_t most_fields = 16;
constexpr unsigned most_shared = 48 * 1024;  // bytes of a kernel's variables
/// Of a block, along y: with fewer rows a warp accesses less than a sector of each column.
constexpr std::int64_t least_rows = 4;

/// Loads, or stores, of neighbouring words at one address and behind it, which are exchanged at
/// once: one word of each thread, whose neighbours are along threadIdx.y, or several, which are the
/// fields of a structure.
struct Exchange {
  std::vector<std::uint32_t> members;  ///< instructions, by address
  bool is_load = false;
  std::uint32_t at = 0;  ///< loads take place at the first of them, stores at the last
  [[nodiscard]] bool is_across() const { return members.size() == 1; }
};

/// The exchanges of a kernel: all in one block of code that each thread runs at most once.
class Finder {
 public:
  explicit Finder(KernelForms& forms) : forms_{forms}, code_{forms.kernel().instructions} {}

  [[nodiscard]] std::vector<Exchange> find() {
    const ControlFlow& flow = forms_.flow();
    for (std::uint32_t block = 0; block < flow.blocks.size(); ++block) {
      if (!is_reachable(flow, block) || flow.loop_of[block] != no_index) continue;
      std::vector<Exchange> found;
      for (std::uint32_t i = flow.blocks[block].begin; i < flow.blocks[block].end;)
        i = collect(i, flow.blocks[block].end, found);
      if (found.empty()) continue;
      std::ranges::sort(found, {}, &Exchange::at);
      return found;
    }
    return {};
  }

 private:
  [[nodiscard]] unsigned width(std::uint32_t i) const { return ptx::bytes_of(code_[i].type()); }
  [[nodiscard]] const Operand& address(std::uint32_t i) const { return *address_of(code_[i]); }
  [[nodiscard]] const Operand& value(std::uint32_t i) const {
    return code_[i].operands[role_of(code_[i]) == Role::load ? 0 : 1];
  }

  [[nodiscard]] bool is_simple(std::uint32_t i) const {
    const Instruction& one = code_[i];
    const Role role = role_of(one);
    return (role == Role::load || role == Role::store) && one.space() == Space::global &&
           one.guard == no_index && one.operands.size() == 2 && one.vector_width() == 1 &&
           (width(i) == 4 || width(i) == 8) && address(i).kind == Operand::Kind::reg &&
           ptx::bytes_of(forms_.kernel().registers[address(i).index].type) == 8 &&
           (role == Role::load || value(i).kind == Operand::Kind::reg);
  }

  /// Whether instruction `i` reads or writes one of the registers that `see` accepts.
  template <class See>
  [[nodiscard]] bool touches(std::uint32_t i, const See& see) const {
    const Registers all = registers_of(code_[i]);
    const bool is_guard = code_[i].guard != no_index && see(code_[i].guard, false);
    return is_guard || std::ranges::any_of(all.written, [&](auto reg) { return see(reg, true); }) ||
           std::ranges::any_of(all.read, [&](auto reg) { return see(reg, false); }) ||
           std::ranges::any_of(all.address, [&](auto reg) { return see(reg, false); });
  }

  /// Collects the accesses that can be made together with the one at `first`; returns where the
  /// search goes on.
  std::uint32_t collect(std::uint32_t first, std::uint32_t end, std::vector<Exchange>& found) {
    if (!is_simple(first)) return first + 1;
    const bool is_load = role_of(code_[first]) == Role::load;
    const std::uint32_t base = address(first).index;
    std::vector<std::uint32_t> members{first};
    std::vector<std::uint32_t> between;
    for (std::uint32_t i = first + 1; i < end; ++i) {
      const Instruction& one = code_[i];
      const bool is_alike = is_simple(i) && (role_of(one) == Role::load) == is_load &&
                            address(i).index == base && width(i) == width(first) &&
                            opcode_text(one) == opcode_text(code_[first]);
      // A load takes place before all that is between, a store behind it.
      const auto conflicts = [&](std::uint32_t other, std::uint32_t member) {
        const std::uint32_t reg = value(member).index;
        return touches(other, [&](std::uint32_t touched, bool is_written) {
          return touched == reg && (is_load || is_written);
        });
      };
      if (is_alike) {
        const bool is_free = !is_load || std::ranges::none_of(between, [&](auto other) {
          return conflicts(other, i);
        });
        const bool is_new = !is_load || std::ranges::none_of(members, [&](auto member) {
          return value(member).index == value(i).index || value(member).index == base;
        });
        if (!is_free || !is_new) break;
        members.push_back(i);
        between.push_back(i);
        continue;
      }
      const Role role = role_of(one);
      const bool is_parameter = role == Role::load && one.space() == Space::param;
      const bool may_be_passed =
          role == Role::plain || is_parameter || (is_load && role == Role::load);
      const bool changes_base =
          touches(i, [&](std::uint32_t reg, bool is_written) { return is_written && reg == base; });
      const bool changes_value = !is_load && std::ranges::any_of(members, [&](auto member) {
        return conflicts(i, member);
      });
      if (!may_be_passed || changes_base || changes_value || one.opcode == "bra") break;
      between.push_back(i);
    }
    add(members, is_load, found);
    return members.back() + 1;
  }

  /// Adds those of the accesses, without gaps, that gain from an exchange.
  void add(std::vector<std::uint32_t> members, bool is_load, std::vector<Exchange>& found) {
    std::ranges::sort(members, {}, [&](std::uint32_t i) { return address(i).offset; });
    const std::int64_t bytes = width(members.front());
    for (std::size_t m = 1; m < members.size(); ++m) {
      if (address(members[m]).offset - address(members[m - 1]).offset < bytes) return;
    }
    for (std::size_t begin = 0; begin < members.size();) {
      std::size_t end = begin + 1;
      while (end < members.size() && end - begin < most_fields &&
             address(members[end]).offset == address(members[end - 1]).offset + bytes)
        ++end;
      Exchange one{.members = {members.begin() + static_cast<std::ptrdiff_t>(begin),
                               members.begin() + static_cast<std::ptrdiff_t>(end)},
                   .is_load = is_load};
      one.at = is_load ? std::ranges::min(one.members) : std::ranges::max(one.members);
      if (gains(one)) found.push_back(one);
      begin = end;
    }
  }

  [[nodiscard]] bool gains(const Exchange& exchange) {
    const std::uint32_t i = exchange.members.front();
    const FormId form = forms_.address(i, address(i)).form;
    const auto step = [&](Special index) -> std::optional<std::int64_t> {
      const auto bytes =
          step_of(forms_, form, AtomKind::special, static_cast<std::uint32_t>(index));
      return bytes ? forms_.forms().constant_of(*bytes) : std::nullopt;
    };
    const std::int64_t bytes = width(i);
    const auto along_x = step(Special::tid_x);
    if (!exchange.is_across())
      return along_x && *along_x >= bytes * static_cast<std::int64_t>(exchange.members.size());
    const auto along_y = step(Special::tid_y);
    return along_y == bytes && (!along_x || *along_x > bytes || *along_x < -bytes);
  }

  KernelForms& forms_;
  const std::vector<Instruction>& code_;
};

class Stager {
 public:
  Stager(KernelForms& forms, const Change& change, LaunchChecks& checks)
      : forms_{forms}, kernel_{forms.kernel()}, flow_{forms.flow()}, change_{change} {
    names_.forms = &forms;
    names_.change = &change;
    names_.is_shared.assign(kernel_.registers.size(), true);
    exchanges_ = Finder{forms}.find();
    if (exchanges_.empty())
      throw NotOptimized{
          {no_index, "no accesses that an exchange within a block makes contiguous"}};
    block_ = flow_.block_of[exchanges_.front().at];
    const auto threads = checks.apply(
        LaunchChecks::Operation::multiply,
        checks.apply(LaunchChecks::Operation::multiply, checks.size(0), checks.size(1)),
        checks.size(2));
    checks.need_within(threads, 1, change.staged,
                       fmt::format("a block has more than {} threads", change.staged));
    if (has_across())
      checks.need_within(checks.size(1), least_rows, change.staged,
                         fmt::format("block.y is less than {}", least_rows));
    if (shared_bytes() > most_shared) {
      throw NotOptimized{
          {exchanges_.front().at,
           fmt::format("an exchange needs more than {} bytes of shared memory", most_shared)}};
    }
    find_ways();
  }

  [[nodiscard]] Woven write() {
    prologue();
    for (std::uint32_t block = 0; block < flow_.blocks.size(); ++block) {
      if (is_reachable(flow_, block)) write_block(block);
    }
    Woven woven{.text = names_.declarations() + shared_declarations() + text_};
    for (const Exchange& one : exchanges_) {
      ++woven.groups;
      woven.grouped += static_cast<unsigned>(one.members.size());
      woven.grouped_instructions.insert(one.members.begin(), one.members.end());
    }
    return woven;
  }

 private:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += fmt::format(format, std::forward<Arguments>(arguments)...) + '\n';
  }
  [[nodiscard]] bool has_across() const {
    return std::ranges::any_of(exchanges_, &Exchange::is_across);
  }
  [[nodiscard]] unsigned width(const Exchange& one) const {
    return ptx::bytes_of(kernel_.instructions[one.members.front()].type());
  }
  [[nodiscard]] std::string temporary(unsigned bytes) {
    return names_.temporary(bytes == 8 ? "b64" : "b32");
  }

  // ---- ways through the kernel ----

  [[nodiscard]] std::uint32_t block_at(std::uint32_t instruction) const {
    return instruction < kernel_.instructions.size() ? flow_.block_of[instruction] : flow_.exit();
  }
  /// Whether nothing is done from the block on.
  [[nodiscard]] bool is_end(std::uint32_t block) const {
    if (block == flow_.exit()) return true;
    const Instruction& first = kernel_.instructions[flow_.blocks[block].begin];
    return (first.opcode == "ret" || first.opcode == "exit") && first.guard == no_index;
  }

  /// Blocks from which the exchanges are reached. Threads that leave them must have nothing to do.
  void find_ways() {
    leads_there_.assign(flow_.blocks.size(), false);
    std::vector<std::uint32_t> open{block_};
    leads_there_[block_] = true;
    while (!open.empty()) {
      const std::uint32_t block = open.back();
      open.pop_back();
      for (const std::uint32_t before : flow_.blocks[block].predecessors) {
        if (!leads_there_[before]) open.push_back(before);
        leads_there_[before] = true;
      }
    }
    for (std::uint32_t block = 0; block < flow_.blocks.size(); ++block) {
      if (block == block_ || !leads_there_[block] || !is_reachable(flow_, block)) continue;
      const std::uint32_t last = flow_.blocks[block].end - 1;
      if (flow_.blocks[block].ends_threads && kernel_.instructions[last].opcode == "trap")
        throw NotOptimized{{last, "a trap before an exchange"}};
      for (const std::uint32_t next : flow_.blocks[block].successors) {
        if (!leads_there_[next] && !is_end(next))
          throw NotOptimized{{last, "a branch around the accesses that would be exchanged"}};
      }
    }
  }

  [[nodiscard]] static std::string label(std::uint32_t block) {
    return fmt::format("$strata_{}", block);
  }
  [[nodiscard]] std::string jump(std::uint32_t from, std::uint32_t to) const {
    const bool leaves =
        from != block_ && leads_there_[from] && (to == flow_.exit() || !leads_there_[to]);
    if (leaves) return "bra $strata_exchange0;";
    return to == flow_.exit() ? "ret;" : fmt::format("bra {};", label(to));
  }

  void write_block(std::uint32_t block) {
    const BasicBlock& one = flow_.blocks[block];
    line("{}:", label(block));
    std::size_t next = 0;
    for (std::uint32_t i = one.begin; i < one.end; ++i) {
      const Instruction& instruction = kernel_.instructions[i];
      const bool ends = instruction.opcode == "ret" || instruction.opcode == "exit";
      if (ends || instruction.opcode == "bra") {
        const std::uint32_t to =
            ends ? flow_.exit()
                 : block_at(kernel_.labels[instruction.operands.front().index].instruction);
        line("{}{}", guard_text(instruction, names_.of_copy(0)), jump(block, to));
        if (instruction.guard == no_index) return;
        continue;
      }
      if (block == block_ && next < exchanges_.size() && exchanges_[next].at == i) {
        for (; next < exchanges_.size() && exchanges_[next].at == i; ++next)
          write_exchange(next);
      } else if (!is_exchanged(i)) {
        line("{}", statement(forms_.module(), kernel_, i, names_.of_copy(0)));
      }
    }
    const Instruction& last = kernel_.instructions[one.end - 1];
    if (last.opcode != "trap" || last.guard != no_index) line("{}", jump(block, block_at(one.end)));
  }
  [[nodiscard]] bool is_exchanged(std::uint32_t i) const {
    return std::ranges::any_of(
        exchanges_, [&](const Exchange& one) { return std::ranges::count(one.members, i) != 0; });
  }

  // ---- exchanges ----

  /// Of an array with an element for each thread. One in eight more, so that rows begin in other
  /// banks.
  [[nodiscard]] unsigned elements() const { return change_.staged + change_.staged / 8; }
  [[nodiscard]] unsigned bytes_of_words() const {
    unsigned bytes = 0;
    for (const Exchange& one : exchanges_) {
      const auto fields = static_cast<unsigned>(one.members.size());
      bytes =
          std::max(bytes, width(one) * (one.is_across() ? elements() : fields * change_.staged));
    }
    return bytes;
  }
  [[nodiscard]] unsigned shared_bytes() const { return 8 * elements() + bytes_of_words(); }
  [[nodiscard]] std::string shared_declarations() const {
    return fmt::format(
        ".shared .align 8 .b8 __strata_addresses[{}];\n.shared .align 8 .b8 __strata_words[{}];\n",
        8 * elements(), bytes_of_words());
  }

  /// The number of each thread in its block, and of the one that it accesses memory for.
  void prologue() {
    constexpr std::array indices{"tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ntid.z"};
    std::array<std::string, 6> index;
    for (std::size_t i = 0; i < index.size(); ++i) {
      index.at(i) = temporary(4);
      line("mov.u32 {}, %{};", index.at(i), indices.at(i));
    }
    const auto& [x, y, z, wide, high, deep] = index;
    const std::string plane = temporary(4);
    line("mul.lo.u32 {}, {}, {};", plane, wide, high);
    line("mul.lo.u32 {}, {}, {};", threads_, plane, deep);
    line("mad.lo.u32 {}, {}, {}, {};", thread_, y, wide, x);
    line("mad.lo.u32 {}, {}, {}, {};", thread_, z, plane, thread_);
    line("mov.b32 {}, 0;", has_);
    line("mov.b64 {}, 0;", address_);
    if (!has_across()) return;
    const std::string in_plane = temporary(4);
    const std::string column = temporary(4);
    const std::string row = temporary(4);
    line("rem.u32 {}, {}, {};", in_plane, thread_, plane);
    line("div.u32 {}, {}, {};", column, in_plane, high);
    line("rem.u32 {}, {}, {};", row, in_plane, high);
    line("mad.lo.u32 {}, {}, {}, {};", row, row, wide, column);
    line("mad.lo.u32 {}, {}, {}, {};", row, z, plane, row);
    const std::string gap = temporary(4);
    line("div.u32 {}, 32, {};", gap, high);
    line("max.u32 {0}, {0}, 1;", gap);
    line("min.u32 {0}, {0}, 4;", gap);
    for (const auto& [place, number] : {std::pair{&own_, &thread_}, std::pair{&other_, &row}}) {
      line("shr.u32 {}, {}, 5;", *place, *number);
      line("mad.lo.u32 {}, {}, {}, {};", *place, *place, gap, *number);
    }
  }

  /// The address in shared memory of element `number`, of `bytes`.
  [[nodiscard]] std::string place(std::string_view array, const std::string& number,
                                  unsigned bytes) {
    const std::string base = temporary(4);
    const std::string at = temporary(4);
    line("mov.u32 {}, {};", base, array);
    line("mad.lo.u32 {}, {}, {}, {};", at, number, bytes, base);
    return at;
  }
  [[nodiscard]] std::string addresses(const std::string& number) {
    return place("__strata_addresses", number, 8);
  }
  [[nodiscard]] std::string words(const std::string& number, unsigned bytes) {
    return place("__strata_words", number, bytes);
  }

  void write_exchange(std::size_t number) {
    const Exchange& exchange = exchanges_[number];
    const Renaming names = names_.of_copy(0);
    const Instruction& first = kernel_.instructions[exchange.members.front()];
    const unsigned bytes = width(exchange);
    const std::string type{first.modifiers.back()};
    const auto fields = static_cast<unsigned>(exchange.members.size());
    const std::string mine = exchange.is_across() ? own_ : thread_;
    // A word of this thread: its only one, or a field.
    const auto own_word = [&](unsigned field) {
      if (exchange.is_across()) return words(own_, bytes);
      const std::string at = temporary(4);
      line("mad.lo.u32 {}, {}, {}, {};", at, thread_, fields, field);
      return words(at, bytes);
    };
    const auto value = [&](unsigned field) {
      const Instruction& member = kernel_.instructions[exchange.members[field]];
      return names.reg(member.operands[exchange.is_load ? 0 : 1].index);
    };
    if (number == 0) line("mov.b32 {}, 1;", has_);
    const Operand& base = *address_of(first);
    line("add.s64 {}, {}, {};", address_, names.reg(base.index), base.offset);
    // Threads that have left the kernel come here without an address.
    line("$strata_exchange{}:", number);
    const std::string stays = names_.temporary("pred");
    line("setp.ne.b32 {}, {}, 0;", stays, has_);
    // The words of the last exchange have been read.
    if (number > 0 && exchanges_[number - 1].is_load) line("barrier.sync 0;");
    for (unsigned field = 0; field < fields && !exchange.is_load; ++field)
      line("@{} st.shared.{} [{}], {};", stays, type, own_word(field), value(field));
    line("st.shared.b64 [{}], {};", addresses(mine), address_);
    line("barrier.sync 0;");
    for (unsigned turn = 0; turn < fields; ++turn)
      access_for_other(exchange, turn, opcode_text(first), bytes);
    const bool is_last = number + 1 == exchanges_.size();
    if (exchange.is_load || !is_last || accesses_follow()) line("barrier.sync 0;");
    line("@!{} {}", stays,
         is_last ? std::string{"ret;"} : fmt::format("bra $strata_exchange{};", number + 1));
    if (!exchange.is_load) return;
    for (unsigned field = 0; field < fields; ++field)
      line("ld.shared.{} {}, [{}];", type, value(field), own_word(field));
  }

  /// An access at the address of another thread, from or to the words in shared memory.
  void access_for_other(const Exchange& exchange, unsigned turn, const std::string& opcode,
                        unsigned bytes) {
    const auto fields = static_cast<unsigned>(exchange.members.size());
    std::string from = other_;
    std::string at = other_;
    const std::string address = temporary(8);
    if (!exchange.is_across()) {
      at = temporary(4);
      from = temporary(4);
      line("mad.lo.u32 {}, {}, {}, {};", at, threads_, turn, thread_);
      line("div.u32 {}, {}, {};", from, at, fields);
    }
    line("ld.shared.b64 {}, [{}];", address, addresses(from));
    const std::string has = names_.temporary("pred");
    line("setp.ne.b64 {}, {}, 0;", has, address);
    if (!exchange.is_across()) {
      const std::string field = temporary(4);
      const std::string offset = temporary(8);
      line("rem.u32 {}, {}, {};", field, at, fields);
      line("mul.wide.u32 {}, {}, {};", offset, field, bytes);
      line("add.s64 {0}, {0}, {1};", address, offset);
    }
    const std::string word = temporary(bytes);
    const std::string here = words(at, bytes);
    if (exchange.is_load) {
      line("mov.b{} {}, 0;", 8 * bytes, word);
      line("@{} {} {}, [{}];", has, opcode, word, address);
      line("st.shared.b{} [{}], {};", 8 * bytes, here, word);
    } else {
      line("mov.b{} {}, 0;", 8 * bytes, word);
      line("@{} ld.shared.b{} {}, [{}];", has, 8 * bytes, word, here);
      line("@{} {} [{}], {};", has, opcode, address, word);
    }
  }

  /// Whether memory is accessed behind the exchanges, which then must be over for all threads.
  [[nodiscard]] bool accesses_follow() const {
    const auto accesses = [&](std::uint32_t begin, std::uint32_t end) {
      for (std::uint32_t i = begin; i < end; ++i) {
        if (accesses_memory(kernel_.instructions[i])) return true;
      }
      return false;
    };
    if (accesses(exchanges_.back().at + 1, flow_.blocks[block_].end)) return true;
    for (std::uint32_t block = 0; block < flow_.blocks.size(); ++block) {
      const bool is_behind = is_reachable(flow_, block) && !leads_there_[block];
      if (is_behind && accesses(flow_.blocks[block].begin, flow_.blocks[block].end)) return true;
    }
    return false;
  }

  KernelForms& forms_;
  const ptx::Kernel& kernel_;
  const ControlFlow& flow_;
  const Change& change_;
  Names names_;
  std::vector<Exchange> exchanges_;
  std::uint32_t block_ = 0;        ///< of all exchanges
  std::vector<bool> leads_there_;  ///< by block
  std::string text_;
  const std::string thread_ = names_.temporary("b32");   ///< its number in the block
  const std::string threads_ = names_.temporary("b32");  ///< of the block
  const std::string has_ = names_.temporary("b32");      ///< 1: it has not left the kernel
  const std::string own_ = names_.temporary("b32");      ///< its place in shared memory
  const std::string other_ = names_.temporary("b32");    ///< that of the one it accesses for
  const std::string address_ = names_.temporary("b64");
};

}  // namespace

bool can_stage(KernelForms& kernel) {
  return !Finder{kernel}.find().empty();
}

Woven stage(KernelForms& kernel, const Change& change, LaunchChecks& checks) {
  return Stager{kernel, change, checks}.write();
}

}  // namespace strata::access
