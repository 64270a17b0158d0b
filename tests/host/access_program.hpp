// Random small kernels, as PTX and as a program that runs here: the forms of the one must
// agree with the other.
#pragma once

#include "harness/access/control_flow.hpp"
#include "harness/access/form.hpp"
#include "harness/access/kernel_forms.hpp"
#include "harness/access/ptx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata::access::program {

/// A launch and one thread of it.
struct Thread {
  std::map<ptx::Special, std::uint32_t> special;
  std::uint64_t pointer = 0;
  std::uint64_t wide = 0;      ///< a parameter of 8 bytes
  std::uint32_t numbers[2]{};  ///< two of 4
};

/// Registers by number: narrow ones have 32 bits, wide ones 64, predicates one.
struct State {
  std::vector<std::uint64_t> narrow;
  std::vector<std::uint64_t> wide;
  std::vector<bool> predicates;
};

struct Statement {
  enum class Kind : std::uint8_t { operation, store, branch, loop };
  Kind kind = Kind::operation;
  std::string text = {};  ///< of an operation: "add.s32 %r3, %r1, %r2"
  std::string name = {};  ///< its opcode with modifiers
  unsigned to = 0;
  std::vector<unsigned> from = {};
  std::uint64_t constant = 0;
  bool has_constant = false;
  std::int64_t offset = 0;  ///< of a store
  // A branch: predicate from[0]; a loop: counts narrow register `to`, by `constant`, while it is
  // `name` narrow register from[0], tested first or last.
  std::vector<Statement> yes = {};
  std::vector<Statement> no = {};
  bool tests_first = false;
  std::uint32_t line = 0;  ///< PTX: of a store, or of the first instruction of a loop
};

/// What a store saw.
struct Seen {
  std::uint32_t line = 0;
  std::uint64_t address = 0;
  std::map<std::uint32_t, std::uint64_t> passes;  ///< of each loop, by line; kept when it ends
};

class Program {
 public:
  explicit Program(std::uint32_t seed) : random_(seed) {
    make();
    write();
  }
  [[nodiscard]] const std::string& ptx() const { return text_; }
  [[nodiscard]] Thread thread();
  /// Nothing where the program divides by 0, runs too long or compares what has no order.
  [[nodiscard]] std::optional<std::vector<Seen>> run(const Thread& thread) const;

 private:
  [[nodiscard]] unsigned below(unsigned count) {
    return std::uniform_int_distribution<unsigned>{0, count - 1}(random_);
  }
  void make();
  void write();
  void write(const std::vector<Statement>& statements);
  void write(std::vector<Statement>& statements);
  void line(const std::string& text);
  [[nodiscard]] std::vector<Statement> block(unsigned count, unsigned depth);
  [[nodiscard]] Statement operation();
  [[nodiscard]] Statement narrow(const std::string& name, std::vector<unsigned> from,
                                 std::optional<std::uint64_t> constant = {});
  [[nodiscard]] Statement wide(const std::string& name, std::vector<unsigned> from,
                               bool from_narrow, std::optional<std::uint64_t> constant = {});
  [[nodiscard]] unsigned any_narrow() { return below(narrows_); }
  [[nodiscard]] unsigned any_wide() { return below(wides_); }
  [[nodiscard]] bool run(const std::vector<Statement>& statements, const Thread& thread,
                         State& state, std::vector<Seen>& seen,
                         std::map<std::uint32_t, std::uint64_t>& passes, unsigned& fuel) const;
  [[nodiscard]] static bool step(const Statement& one, State& state);

  std::mt19937 random_;
  std::vector<Statement> body_;
  unsigned narrows_ = 0;
  unsigned wides_ = 0;
  unsigned predicates_ = 0;
  std::string text_;
  std::uint32_t line_ = 0;
  unsigned label_ = 0;
};

inline constexpr ptx::Special specials[] = {ptx::Special::tid_x,   ptx::Special::tid_y,
                                            ptx::Special::ctaid_x, ptx::Special::ntid_x,
                                            ptx::Special::ctaid_y, ptx::Special::nctaid_x};
inline constexpr const char* special_names[] = {"%tid.x",  "%tid.y",   "%ctaid.x",
                                                "%ntid.x", "%ctaid.y", "%nctaid.x"};
inline constexpr unsigned special_count = 6;

inline void Program::line(const std::string& text) {
  text_ += text + "\n";
  ++line_;
}

inline Thread Program::thread() {
  using enum ptx::Special;
  Thread made;
  const auto up_to = [&](std::uint64_t most) {
    // Often small, sometimes the largest.
    const unsigned kind = below(8);
    if (kind == 0) return most;
    if (kind < 5)
      return std::uniform_int_distribution<std::uint64_t>{
          0, std::min<std::uint64_t>(most, 40)}(random_);
    return std::uniform_int_distribution<std::uint64_t>{0, most}(random_);
  };
  const auto narrow_up_to = [&](std::uint64_t most) {
    return static_cast<std::uint32_t>(up_to(most));
  };
  made.special[ntid_x] = 1 + narrow_up_to(1023);
  made.special[tid_x] = narrow_up_to(made.special[ntid_x] - 1);
  made.special[tid_y] = narrow_up_to(1023);
  made.special[nctaid_x] = 1 + narrow_up_to((std::uint64_t{1} << 31U) - 2);
  made.special[ctaid_x] = narrow_up_to(made.special[nctaid_x] - 1);
  made.special[ctaid_y] = narrow_up_to(65534);
  made.pointer = std::uniform_int_distribution<std::uint64_t>{}(random_) >> 17U << 8U;
  made.wide = below(3) == 0 ? std::uniform_int_distribution<std::uint64_t>{}(random_) : up_to(1000);
  for (auto& number : made.numbers)
    number = below(4) == 0 ? static_cast<std::uint32_t>(random_()) : narrow_up_to(200);
  return made;
}

inline Statement Program::narrow(const std::string& name, std::vector<unsigned> from,
                                 std::optional<std::uint64_t> constant) {
  Statement made{.name = name, .to = narrows_, .from = std::move(from)};
  made.text = fmt::format("{} %r{}", name, narrows_++);
  for (const unsigned one : made.from)
    made.text += fmt::format(", %r{}", one);
  if (constant) {
    made.constant = *constant & 0xffffffffU;
    made.has_constant = true;
    made.text += fmt::format(", {}", static_cast<std::int32_t>(made.constant));
  }
  return made;
}

inline Statement Program::wide(const std::string& name, std::vector<unsigned> from,
                               bool from_narrow, std::optional<std::uint64_t> constant) {
  Statement made{.name = name, .to = wides_, .from = std::move(from)};
  made.text = fmt::format("{} %rd{}", name, wides_++);
  for (const unsigned one : made.from)
    made.text += fmt::format(", %{}{}", from_narrow ? "r" : "rd", one);
  if (constant) {
    made.constant = *constant;
    made.has_constant = true;
    made.text += fmt::format(", {}", static_cast<std::int64_t>(made.constant));
  }
  return made;
}

inline Statement Program::operation() {
  const std::uint64_t small = below(20);
  const std::uint64_t power = std::uint64_t{1} << below(8);
  const unsigned kind = below(43);
  switch (kind) {
    case 0:
    case 1:
    case 2:
      return narrow("add.s32", {any_narrow(), any_narrow()});
    case 3:
      return narrow("add.s32", {any_narrow()}, below(2) == 0 ? small : -small);
    case 4:
      return narrow("sub.s32", {any_narrow(), any_narrow()});
    case 5:
    case 6:
      return narrow("mul.lo.s32", {any_narrow(), any_narrow()});
    case 7:
      return narrow("mul.lo.s32", {any_narrow()}, small);
    case 8:
    case 9:
    case 10:
      return narrow("mad.lo.s32", {2, 3, any_narrow()});
    case 11:
      return narrow("mad.lo.s32", {any_narrow(), any_narrow(), any_narrow()});
    case 12:
      return narrow("shl.b32", {any_narrow()}, below(9));
    case 13:
      return narrow("shr.u32", {any_narrow()}, below(9));
    case 14:
      return narrow("shr.s32", {any_narrow()}, below(3) == 0 ? 31 : below(9));
    case 15:
      return narrow("and.b32", {any_narrow()}, power - 1);
    case 16:
      return narrow("and.b32", {any_narrow()}, below(2) == 0 ? -power : small * 4);
    case 17:
      return narrow("or.b32", {any_narrow()}, below(2) == 0 ? power : small);
    case 18:
      return narrow(below(2) == 0 ? "xor.b32" : "or.b32", {any_narrow(), any_narrow()});
    case 19:
      return narrow(below(2) == 0 ? "min.s32" : "max.s32", {any_narrow(), any_narrow()});
    case 20:
      return narrow(below(2) == 0 ? "min.u32" : "max.u32", {any_narrow()}, small);
    case 21:
      return narrow(below(2) == 0 ? "div.u32" : "rem.u32", {any_narrow()}, 1 + small);
    case 22:
      return narrow(below(2) == 0 ? "div.s32" : "rem.s32", {any_narrow()}, 1 + small);
    case 23:
      return narrow(below(2) == 0 ? "div.u32" : "rem.u32", {any_narrow(), any_narrow()});
    case 24:
      return narrow(below(2) == 0 ? "not.b32" : "neg.s32", {any_narrow()});
    case 25: {
      Statement made = narrow("bfe.u32", {any_narrow()}, {});
      made.constant = below(6) * 64 + below(12);
      made.text += fmt::format(", {}, {}", made.constant / 64, made.constant % 64);
      return made;
    }
    case 26: {
      Statement made = narrow("bfi.b32", {any_narrow(), any_narrow()}, {});
      made.constant = below(6) * 64 + 1 + below(12);
      made.text += fmt::format(", {}, {}", made.constant / 64, made.constant % 64);
      return made;
    }
    case 27: {
      Statement made = narrow("cvt.u32.u64", {}, {});
      made.from = {any_wide()};
      made.text += fmt::format(", %rd{}", made.from[0]);
      return made;
    }
    case 28:
    case 29: {
      Statement made = narrow("selp.b32", {any_narrow(), any_narrow()}, {});
      made.from.push_back(below(predicates_));
      made.text += fmt::format(", %p{}", made.from[2]);
      return made;
    }
    case 30:
    case 31: {
      constexpr const char* relations[] = {"eq.s32", "ne.s32", "lt.s32", "le.u32",
                                           "gt.s32", "ge.u32", "lt.u32", "ge.s32"};
      Statement made{.name = std::string{"setp."} + relations[below(8)], .to = predicates_};
      made.from = {any_narrow()};
      made.text = fmt::format("{} %p{}, %r{}", made.name, predicates_++, made.from[0]);
      if (below(2) == 0) {
        made.from.push_back(any_narrow());
        made.text += fmt::format(", %r{}", made.from[1]);
      } else {
        made.constant = small;
        made.has_constant = true;
        made.text += fmt::format(", {}", small);
      }
      return made;
    }
    case 32: {
      constexpr const char* combines[] = {"and.pred", "or.pred", "xor.pred"};
      Statement made{.name = combines[below(3)], .to = predicates_};
      made.from = {below(predicates_), below(predicates_)};
      made.text =
          fmt::format("{} %p{}, %p{}, %p{}", made.name, predicates_++, made.from[0], made.from[1]);
      return made;
    }
    case 33:
      return wide(below(2) == 0 ? "cvt.u64.u32" : "cvt.s64.s32", {any_narrow()}, true);
    case 34:
    case 35:
      if (below(4) == 0) return wide("mul.wide.s32", {any_narrow(), any_narrow()}, true);
      return wide(below(2) == 0 ? "mul.wide.u32" : "mul.wide.s32", {any_narrow()}, true,
                  below(2) == 0 ? 4 : small);
    case 36:
      return wide("add.s64", {any_wide(), any_wide()}, false);
    case 37:
      return wide(below(2) == 0 ? "sub.s64" : "mul.lo.s64", {any_wide()}, false, small);
    case 38:
      return wide("shl.b64", {any_wide()}, false, below(5));
    case 39:
      return wide("and.b64", {any_wide()}, false, power - 1);
    case 40:
      return narrow(below(2) == 0 ? "shl.b32" : "shr.u32", {any_narrow(), any_narrow()});
    case 41:
      return narrow("shr.s32", {any_narrow(), any_narrow()});
    default: {
      constexpr unsigned selectors[] = {0x7654, 0x3210, 0x4440, 0x4321, 0x5410, 0x0123, 0x6420};
      Statement made = narrow("prmt.b32", {any_narrow(), any_narrow()});
      made.constant = selectors[below(7)];
      made.text += fmt::format(", {}", made.constant);
      return made;
    }
  }
}

inline std::vector<Statement> Program::block(unsigned count, unsigned depth) {
  std::vector<Statement> made;
  // Registers are numbered through; what a branch makes is set before it, so that it is there
  // after.
  for (unsigned i = 0; i < count; ++i) {
    const unsigned kind = below(12);
    if (kind == 0 && depth < 2) {
      // r = 0 …; @p { r = …; } else { … }
      const unsigned narrow_before = narrows_;
      made.push_back(narrow("mov.u32", {any_narrow()}));
      Statement branch{.kind = Statement::Kind::branch, .from = {below(predicates_)}};
      const unsigned n = narrows_;
      const unsigned w = wides_;
      const unsigned p = predicates_;
      branch.yes = block(2, depth + 1);
      Statement set = narrow("mov.u32", {any_narrow()});
      set.to = narrow_before;
      set.text = fmt::format("mov.u32 %r{}, %r{}", narrow_before, set.from[0]);
      branch.yes.push_back(set);
      const unsigned most_narrow = narrows_;
      const unsigned most_wide = wides_;
      const unsigned most_predicates = predicates_;
      if (below(2) == 0) {
        narrows_ = n;
        wides_ = w;
        predicates_ = p;
        // The other arm may read what was there before alone: its own registers are new ones.
        const unsigned source = any_narrow();
        narrows_ = most_narrow;
        wides_ = most_wide;
        predicates_ = most_predicates;
        Statement other = narrow("add.s32", {source}, 7);
        branch.no.push_back(other);
        Statement move{.name = "mov.u32", .to = narrow_before, .from = {other.to}};
        move.text = fmt::format("mov.u32 %r{}, %r{}", narrow_before, other.to);
        branch.no.push_back(move);
      }
      made.push_back(std::move(branch));
      // What only an arm has made is not read behind it: it gets a value now.
      for (unsigned r = n; r < narrows_; ++r) {
        Statement clear{.name = "mov.u32", .to = r, .from = {r % special_count}};
        clear.text = fmt::format("mov.u32 %r{}, %r{}", r, r % special_count);
        if (r != narrow_before) made.push_back(clear);
      }
      for (unsigned r = w; r < wides_; ++r) {
        Statement clear{.name = "mov.u64", .to = r, .from = {0}};
        clear.text = fmt::format("mov.u64 %rd{}, %rd0", r);
        made.push_back(clear);
      }
      for (unsigned r = p; r < predicates_; ++r) {
        Statement clear{.name = "setp.eq.s32", .to = r, .from = {0}, .has_constant = true};
        clear.text = fmt::format("setp.eq.s32 %p{}, %r0, 0", r);
        made.push_back(clear);
      }
    } else if (kind == 1 && depth < 2) {
      // i = start; p = pointer; do { …; p += step; i += step; } while (i < end)
      made.push_back(narrow("mov.u32", {any_narrow()}));
      const unsigned counter = narrows_ - 1;
      made.push_back(wide("mov.u64", {any_wide()}, false));
      const unsigned walker = wides_ - 1;
      constexpr const char* relations[] = {"lt.s32", "lt.u32", "le.s32",
                                           "ne.s32", "gt.s32", "gt.u32"};
      constexpr std::int64_t steps[] = {1, 2, 4, 32, -1, -4};
      Statement loop{.kind = Statement::Kind::loop, .to = counter};
      const bool goes_down = below(4) == 0;
      loop.name = goes_down ? relations[3 + below(3)] : relations[below(4)];
      loop.constant =
          static_cast<std::uint64_t>(steps[goes_down ? 4 + below(2) : below(4)]) & 0xffffffffU;
      loop.from = {any_narrow()};
      loop.tests_first = below(2) == 0;
      const unsigned test = predicates_++;
      loop.from.push_back(test);
      loop.yes = block(3, depth + 1);
      Statement walk{.name = "add.s64",
                     .to = walker,
                     .from = {walker},
                     .constant = 4 * below(9),
                     .has_constant = true};
      walk.text = fmt::format("add.s64 %rd{}, %rd{}, {}", walker, walker, walk.constant);
      loop.yes.insert(loop.yes.begin() + below(static_cast<unsigned>(loop.yes.size())), walk);
      const unsigned n = counter + 1;
      made.push_back(loop);
      // As behind a branch: a loop that is tested first may make nothing.
      if (loop.tests_first) {
        for (unsigned r = n; r < narrows_; ++r) {
          Statement clear{.name = "mov.u32", .to = r, .from = {r % special_count}};
          clear.text = fmt::format("mov.u32 %r{}, %r{}", r, r % special_count);
          made.push_back(clear);
        }
        for (unsigned r = walker + 1; r < wides_; ++r) {
          Statement clear{.name = "mov.u64", .to = r, .from = {0}};
          clear.text = fmt::format("mov.u64 %rd{}, %rd0", r);
          made.push_back(clear);
        }
        for (unsigned r = test + 1; r < predicates_; ++r) {
          Statement clear{.name = "setp.eq.s32", .to = r, .from = {0}, .has_constant = true};
          clear.text = fmt::format("setp.eq.s32 %p{}, %r0, 0", r);
          made.push_back(clear);
        }
      }
    } else if (kind == 2) {
      // As a compiler indexes an array.
      constexpr std::uint64_t sizes[] = {4, 4, 4, 8, 12, 28, 64, 128, 2048};
      made.push_back(wide(below(2) == 0 ? "mul.wide.u32" : "mul.wide.s32",
                          {below(3) == 0 ? 0 : any_narrow()}, true, sizes[below(9)]));
      made.push_back(wide("add.s64", {0, wides_ - 1}, false));
      made.push_back(
          {.kind = Statement::Kind::store, .from = {wides_ - 1}, .offset = 4 * below(3)});
    } else if (kind < 4) {
      made.push_back({.kind = Statement::Kind::store,
                      .from = {any_wide()},
                      .offset = 4 * static_cast<std::int64_t>(below(5)) - 8});
    } else {
      made.push_back(operation());
    }
  }
  return made;
}

inline void Program::make() {
  narrows_ = special_count + 2;  // the specials, then two parameters
  wides_ = 2;                    // two parameters
  predicates_ = 1;
  body_ = block(22, 0);
  for (unsigned i = 0; i < 3; ++i) {
    body_.push_back(
        {.kind = Statement::Kind::store, .from = {wides_ - 1 - i % wides_}, .offset = 0});
  }
}

inline void Program::write(std::vector<Statement>& statements) {
  for (Statement& one : statements) {
    switch (one.kind) {
      case Statement::Kind::operation:
        line(one.text + ";");
        break;
      case Statement::Kind::store:
        line(fmt::format("st.global.u32 [%rd{}+{}], %r0;", one.from[0], one.offset));
        one.line = line_;
        break;
      case Statement::Kind::branch: {
        const unsigned label = label_;
        label_ += 2;
        line(fmt::format("@!%p{} bra L{};", one.from[0], label));
        write(one.yes);
        if (!one.no.empty()) line(fmt::format("bra.uni L{};", label + 1));
        line(fmt::format("L{}:", label));
        if (!one.no.empty()) {
          write(one.no);
          line(fmt::format("L{}:", label + 1));
        }
        break;
      }
      case Statement::Kind::loop: {
        const unsigned label = label_;
        label_ += 2;
        line(fmt::format("L{}:", label));
        one.line = line_ + 1;
        const std::string test =
            fmt::format("setp.{} %p{}, %r{}, %r{};", one.name, one.from[1], one.to, one.from[0]);
        const std::string count = fmt::format("add.s32 %r{}, %r{}, {};", one.to, one.to,
                                              static_cast<std::int32_t>(one.constant));
        if (one.tests_first) {
          line(test);
          line(fmt::format("@!%p{} bra L{};", one.from[1], label + 1));
          write(one.yes);
          line(count);
          line(fmt::format("bra.uni L{};", label));
        } else {
          write(one.yes);
          line(count);
          line(test);
          line(fmt::format("@%p{} bra L{};", one.from[1], label));
        }
        line(fmt::format("L{}:", label + 1));
        break;
      }
    }
  }
}

inline void Program::write() {
  line(".version 8.0");
  line(".target sm_90");
  line(".address_size 64");
  line(".visible .entry k(.param .u64 image, .param .u64 wide, .param .u32 n, .param .u32 m)");
  line("{");
  line(fmt::format(".reg .pred %p<{}>;", predicates_ + 1));
  line(fmt::format(".reg .b32 %r<{}>;", narrows_ + 1));
  line(fmt::format(".reg .b64 %rd<{}>;", wides_ + 1));
  line("ld.param.u64 %rd0, [image];");
  line("ld.param.u64 %rd1, [wide];");
  for (unsigned i = 0; i < special_count; ++i)
    line(fmt::format("mov.u32 %r{}, {};", i, special_names[i]));
  line(fmt::format("ld.param.u32 %r{}, [n];", special_count));
  line(fmt::format("ld.param.u32 %r{}, [m];", special_count + 1));
  line("setp.lt.s32 %p0, %r0, 7;");
  write(body_);
  line("ret;");
  line("}");
}

inline bool Program::step(const Statement& one, State& state) {
  const auto n = [&](std::size_t i) {
    return static_cast<std::uint32_t>(state.narrow[one.from[i]]);
  };
  const auto w = [&](std::size_t i) { return state.wide[one.from[i]]; };
  const auto is = [&](const char* name) { return one.name == name; };
  const auto set = [&](std::uint64_t value) { state.narrow[one.to] = value & 0xffffffffU; };
  const auto second = [&] {
    return one.has_constant ? static_cast<std::uint32_t>(one.constant) : n(1);
  };
  const auto as_signed = [](std::uint32_t value) { return static_cast<std::int32_t>(value); };
  if (is("mov.u32"))
    set(n(0));
  else if (is("mov.u64"))
    state.wide[one.to] = w(0);
  else if (is("add.s32"))
    set(n(0) + second());
  else if (is("sub.s32"))
    set(n(0) - second());
  else if (is("mul.lo.s32"))
    set(std::uint64_t{n(0)} * second());
  else if (is("mad.lo.s32"))
    set(std::uint64_t{n(0)} * n(1) + n(2));
  else if (is("shl.b32"))
    set(second() > 31 ? 0 : std::uint64_t{n(0)} << second());
  else if (is("shr.u32"))
    set(second() > 31 ? 0 : n(0) >> second());
  else if (is("shr.s32"))
    set(static_cast<std::uint32_t>(as_signed(n(0)) >> std::min(second(), 31U)));
  else if (is("and.b32"))
    set(n(0) & second());
  else if (is("or.b32"))
    set(n(0) | second());
  else if (is("xor.b32"))
    set(n(0) ^ second());
  else if (is("min.s32"))
    set(static_cast<std::uint32_t>(std::min(as_signed(n(0)), as_signed(second()))));
  else if (is("max.s32"))
    set(static_cast<std::uint32_t>(std::max(as_signed(n(0)), as_signed(second()))));
  else if (is("min.u32"))
    set(std::min(n(0), second()));
  else if (is("max.u32"))
    set(std::max(n(0), second()));
  else if (is("div.u32") || is("rem.u32")) {
    if (second() == 0) return false;
    set(is("div.u32") ? n(0) / second() : n(0) % second());
  } else if (is("div.s32") || is("rem.s32")) {
    const std::int64_t by = as_signed(second());
    if (by == 0) return false;
    const std::int64_t value = as_signed(n(0));
    set(static_cast<std::uint64_t>(is("div.s32") ? value / by : value % by));
  } else if (is("not.b32"))
    set(~n(0));
  else if (is("neg.s32"))
    set(std::uint64_t{0} - n(0));
  else if (is("bfe.u32")) {
    set(n(0) >> (one.constant / 64) & ((std::uint64_t{1} << (one.constant % 64)) - 1));
  } else if (is("bfi.b32")) {
    const std::uint64_t mask = ((std::uint64_t{1} << (one.constant % 64)) - 1)
                               << (one.constant / 64);
    set((n(1) & ~mask) | (std::uint64_t{n(0)} << (one.constant / 64) & mask));
  } else if (is("prmt.b32")) {
    const std::uint64_t bytes = std::uint64_t{n(1)} << 32U | n(0);
    std::uint64_t result = 0;
    for (unsigned place = 0; place < 4; ++place) {
      const std::uint64_t from = one.constant >> (4 * place) & 7U;
      result |= (bytes >> (8 * from) & 0xffU) << (8 * place);
    }
    set(result);
  } else if (is("cvt.u32.u64"))
    set(w(0));
  else if (is("selp.b32"))
    set(state.predicates[one.from[2]] ? n(0) : n(1));
  else if (one.name.starts_with("setp.")) {
    const std::string relation = one.name.substr(5, 2);
    const bool is_unsigned = one.name.ends_with("u32");
    const std::int64_t a = is_unsigned ? std::int64_t{n(0)} : as_signed(n(0));
    const std::int64_t b = is_unsigned ? std::int64_t{second()} : as_signed(second());
    state.predicates[one.to] = relation == "eq"   ? a == b
                               : relation == "ne" ? a != b
                               : relation == "lt" ? a < b
                               : relation == "le" ? a <= b
                               : relation == "gt" ? a > b
                                                  : a >= b;
  } else if (one.name.ends_with(".pred")) {
    const bool a = state.predicates[one.from[0]];
    const bool b = state.predicates[one.from[1]];
    state.predicates[one.to] = is("and.pred") ? a && b : is("or.pred") ? a || b : a != b;
  } else if (is("cvt.u64.u32"))
    state.wide[one.to] = n(0);
  else if (is("cvt.s64.s32"))
    state.wide[one.to] = static_cast<std::uint64_t>(std::int64_t{as_signed(n(0))});
  else if (is("mul.wide.u32"))
    state.wide[one.to] = std::uint64_t{n(0)} * static_cast<std::uint32_t>(one.constant);
  else if (is("mul.wide.s32")) {
    state.wide[one.to] = static_cast<std::uint64_t>(
        std::int64_t{as_signed(n(0))} *
        (one.has_constant ? static_cast<std::int64_t>(one.constant) : as_signed(n(1))));
  } else if (is("add.s64"))
    state.wide[one.to] = w(0) + (one.has_constant ? one.constant : w(1));
  else if (is("sub.s64"))
    state.wide[one.to] = w(0) - one.constant;
  else if (is("mul.lo.s64"))
    state.wide[one.to] = w(0) * one.constant;
  else if (is("shl.b64"))
    state.wide[one.to] = w(0) << one.constant;
  else if (is("and.b64"))
    state.wide[one.to] = w(0) & one.constant;
  else
    throw std::logic_error{"no such operation: " + one.name};
  return true;
}

inline bool Program::run(const std::vector<Statement>& statements, const Thread& thread,
                         State& state, std::vector<Seen>& seen,
                         std::map<std::uint32_t, std::uint64_t>& passes, unsigned& fuel) const {
  for (const Statement& one : statements) {
    if (fuel-- == 0) return false;
    switch (one.kind) {
      case Statement::Kind::operation:
        if (!step(one, state)) return false;
        break;
      case Statement::Kind::store:
        seen.push_back(
            {one.line, state.wide[one.from[0]] + static_cast<std::uint64_t>(one.offset), passes});
        break;
      case Statement::Kind::branch:
        if (!run(state.predicates[one.from[0]] ? one.yes : one.no, thread, state, seen, passes,
                 fuel)) {
          return false;
        }
        break;
      case Statement::Kind::loop: {
        Statement test{
            .name = "setp." + one.name, .to = one.from[1], .from = {one.to, one.from[0]}};
        for (passes[one.line] = 0;; ++passes[one.line]) {
          if (fuel-- == 0) return false;
          if (one.tests_first) {
            (void)step(test, state);
            if (!state.predicates[one.from[1]]) break;
          }
          if (!run(one.yes, thread, state, seen, passes, fuel)) return false;
          state.narrow[one.to] = (state.narrow[one.to] + one.constant) & 0xffffffffU;
          if (!one.tests_first) {
            (void)step(test, state);
            if (!state.predicates[one.from[1]]) break;
          }
        }
        break;
      }
    }
  }
  return true;
}

inline std::optional<std::vector<Seen>> Program::run(const Thread& thread) const {
  State state{.narrow = std::vector<std::uint64_t>(narrows_ + 1),
              .wide = std::vector<std::uint64_t>(wides_ + 1),
              .predicates = std::vector<bool>(predicates_ + 1)};
  for (unsigned i = 0; i < special_count; ++i)
    state.narrow[i] = thread.special.at(specials[i]);
  state.narrow[special_count] = thread.numbers[0];
  state.narrow[special_count + 1] = thread.numbers[1];
  state.wide[0] = thread.pointer;
  state.wide[1] = thread.wide;
  state.predicates[0] = static_cast<std::int32_t>(state.narrow[0]) < 7;
  std::vector<Seen> seen;
  std::map<std::uint32_t, std::uint64_t> passes;
  unsigned fuel = 3000;
  if (!run(body_, thread, state, seen, passes, fuel)) return std::nullopt;
  return seen;
}

/// What the atoms of a form are in a thread, at a store; `lines`: of the first instruction of each
/// loop.
inline AtomValues atoms_of(const Thread& thread, const Seen& seen, const ptx::Module& module,
                           const std::vector<std::uint32_t>& lines) {
  return [&](const Atom& atom) -> std::optional<Int128> {
    switch (atom.kind) {
      case AtomKind::special:
        return thread.special.at(static_cast<ptx::Special>(atom.which));
      case AtomKind::parameter: {
        const std::string_view name = module.symbols[atom.which].name;
        if (name == "image") return Int128{thread.pointer};
        if (name == "wide") {
          return atom.is_signed ? Int128{static_cast<std::int64_t>(thread.wide)}
                                : Int128{thread.wide};
        }
        const std::uint32_t number = thread.numbers[name == "n" ? 0 : 1];
        return atom.is_signed ? Int128{static_cast<std::int32_t>(number)} : Int128{number};
      }
      case AtomKind::counter:
      case AtomKind::last_pass: {
        const auto found = seen.passes.find(lines[atom.which]);
        if (found == seen.passes.end()) return std::nullopt;
        return Int128{found->second};
      }
      default:
        return std::nullopt;
    }
  };
}

inline bool hold(const Forms& forms, const std::vector<Condition>& conditions,
                 const AtomValues& values) {
  return std::ranges::all_of(conditions, [&](const Condition& condition) {
    const auto value = forms.evaluate(condition.form, values);
    return value && *value >= condition.range.low && *value <= condition.range.high;
  });
}

/// The lines of the first instructions of the loops.
inline std::vector<std::uint32_t> loop_lines(const ptx::Kernel& kernel, const ControlFlow& flow) {
  std::vector<std::uint32_t> lines;
  for (const Loop& loop : flow.loops)
    lines.push_back(kernel.instructions[flow.blocks[loop.header].begin].line);
  return lines;
}

}  // namespace strata::access::program
