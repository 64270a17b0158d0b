#include "access_random_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <set>

namespace strata::access {
namespace {

__extension__ using Whole = __int128;  // holds every value of every type exactly

constexpr std::array words{Word::u32, Word::s32, Word::u64, Word::s64};
bool is_wide(Word w) {
  return w == Word::u64 || w == Word::s64;
}
bool is_signed(Word w) {
  return w == Word::s32 || w == Word::s64;
}
const char* name_of(Word w) {
  constexpr std::array names{"u32", "s32", "u64", "s64"};
  return names.at(static_cast<std::size_t>(w));
}
unsigned bits_in_word(Word w) {
  return is_wide(w) ? 64 : 32;
}

/// The number that a word of this type holds when `exact` is put into it.
Whole wrapped(Whole exact, Word w) {
  const Whole modulus = Whole{1} << bits_in_word(w);
  Whole rest = exact % modulus;
  if (rest < 0) rest += modulus;
  if (is_signed(w) && rest >= modulus / 2) rest -= modulus;
  return rest;
}
/// Its bits as a number from 0 on.
Whole plain_bits(Whole value, Word w) {
  return value < 0 ? value + (Whole{1} << bits_in_word(w)) : value;
}
Whole power_of_two(unsigned n) {
  return Whole{1} << n;
}
Whole floor_divided(Whole a, Whole b) {
  const Whole q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

constexpr std::array specials{"%tid.x",   "%tid.y",   "%tid.z", "%ntid.x",
                              "%ctaid.x", "%ctaid.y", "%laneid"};
}  // namespace

RandomKernel::RandomKernel(std::uint64_t seed, bool loads) : random_{seed}, loads_{loads} {
  shape_ = {.grid_x = 1 + random_.below(3),
            .grid_y = 1 + random_.below(2),
            .block_x = 1 + random_.below(70),
            .block_y = 1 + random_.below(3),
            .block_z = 1 + random_.below(2)};
  n_ = static_cast<std::uint32_t>(random_.next());
  m_ = static_cast<std::int32_t>(random_.next());
  k_ = random_.next();
  if (random_.below(2) == 0) {
    n_ %= 100;
    m_ %= 100;
    k_ %= 1000;
  }
  for (unsigned v = 0; v < 6; ++v)
    variables_.push_back(words.at(random_.below(4)));
  program_ = block(3, false);
  program_.push_back(access());
}

Tree RandomKernel::leaf(Word word) {
  switch (random_.below(4)) {
    case 0: {
      const std::uint64_t number = random_.below(3) == 0 ? random_.next() : random_.below(64);
      return {.op = "constant", .word = word, .number = number};
    }
    case 1: {
      const std::uint64_t which = random_.below(3);
      const Word of = which == 0 ? Word::u32 : which == 1 ? Word::s32 : Word::u64;
      Tree param{.op = "param", .word = of, .number = which};
      if (of == word) return param;
      return {.op = "convert", .word = word, .parts = {param}};
    }
    case 2: {
      const std::uint64_t which = random_.below(static_cast<std::uint32_t>(variables_.size()));
      Tree variable{.op = "var", .word = variables_[which], .number = which};
      if (variable.word == word) return variable;
      return {.op = "convert", .word = word, .parts = {variable}};
    }
    default: {
      Tree special{.op = "special", .word = Word::u32, .number = random_.below(specials.size())};
      if (word == Word::u32) return special;
      return {.op = "convert", .word = word, .parts = {special}};
    }
  }
}

Tree RandomKernel::value(Word word, unsigned depth) {
  if (depth == 0 || random_.below(6) == 0) return leaf(word);
  const auto part = [&](Word w) { return value(w, depth - 1); };
  constexpr std::array common{"add", "sub", "mul", "and", "or", "xor", "min", "max", "add", "mul"};
  switch (random_.below(11)) {
    case 0:
      return {.op = "mad", .word = word, .parts = {part(word), part(word), part(word)}};
    case 1:
      return {.op = random_.below(2) == 0 ? "shl" : "shr",
              .word = word,
              .parts = {part(word),
                        {.op = "constant", .word = Word::u32, .number = random_.below(70)}}};
    case 2:
      return {.op = "shr", .word = word, .parts = {part(word), part(Word::u32)}};
    case 3:
      return {.op = random_.below(2) == 0 ? "div" : "rem",
              .word = word,
              .parts = {part(word),
                        {.op = "constant", .word = word, .number = 1U + random_.below(50)}}};
    case 4:
      return {.op = "select", .word = word, .parts = {condition(1), part(word), part(word)}};
    case 5:
      return {
          .op = "convert", .word = word, .parts = {value(words.at(random_.below(4)), depth - 1)}};
    case 6:
      if (word == Word::u32) {
        constexpr std::array counts{"popc", "clz", "brev"};
        return {.op = counts.at(random_.below(3)),
                .word = word,
                .parts = {part(random_.below(2) == 0 ? Word::u32 : Word::u64)}};
      }
      return {.op = is_signed(word) ? "neg" : "not", .word = word, .parts = {part(word)}};
    case 7:
      if (is_wide(word)) {
        const Word narrow = is_signed(word) ? Word::s32 : Word::u32;
        return {.op = "wide", .word = word, .parts = {part(narrow), part(narrow)}};
      }
      return {.op = "high", .word = word, .parts = {part(word), part(word)}};
    case 8:
      return {.op = "field",
              .word = word,
              .parts = {part(word),
                        {.op = "constant", .word = Word::u32, .number = random_.below(70)},
                        {.op = "constant", .word = Word::u32, .number = random_.below(70)}}};
    default:
      return {.op = common.at(random_.below(common.size())),
              .word = word,
              .parts = {part(word), part(word)}};
  }
}

Tree RandomKernel::condition(unsigned depth) {
  if (depth > 0 && random_.below(3) == 0) {
    constexpr std::array joins{"and", "or", "xor"};
    return {.op = joins.at(random_.below(3)),
            .parts = {condition(depth - 1), condition(depth - 1)}};
  }
  constexpr std::array compares{"eq", "ne", "lt", "le", "gt", "ge"};
  const Word word = words.at(random_.below(4));
  // Of few bits: else most conditions are the same for all lanes.
  const auto side = [&] {
    Tree few{.op = "constant", .word = word, .number = random_.below(2) == 0 ? 3U : 31U};
    return random_.below(3) == 0 ? value(word, 1)
                                 : Tree{.op = "and", .word = word, .parts = {value(word, 2), few}};
  };
  return {.op = compares.at(random_.below(6)), .word = word, .parts = {side(), side()}};
}

Statement RandomKernel::access() {
  constexpr std::array widths{1U, 2U, 4U, 8U, 16U};
  Statement one{.kind = "access",
                .tag = tags_++,
                .width = widths.at(random_.below(5)),
                .store = random_.below(3) == 0,
                .guarded = random_.below(4) == 0};
  one.trees = {value(Word::u64, 3)};
  if (one.guarded) one.trees.push_back(condition(1));
  return one;
}

std::vector<Statement> RandomKernel::block(unsigned depth, bool in_loop) {
  std::vector<Statement> made;
  const unsigned count = 2 + random_.below(3);
  for (unsigned i = 0; i < count; ++i) {
    const auto variable = random_.below(static_cast<std::uint32_t>(variables_.size()));
    switch (random_.below(depth > 0 ? 9 : 5)) {
      case 0:
      case 1:
        made.push_back(
            {.kind = "set", .variable = variable, .trees = {value(variables_[variable], 3)}});
        break;
      case 2:
      case 3:
        made.push_back(access());
        break;
      case 4: {
        if (!loads_) {
          made.push_back(access());
          break;
        }
        const unsigned width = is_wide(variables_[variable]) ? 8 : 4;
        made.push_back({.kind = "load",
                        .variable = variable,
                        .tag = tags_++,
                        .width = width,
                        .trees = {value(Word::u64, 2)}});
        break;
      }
      case 5:
      case 6: {
        Statement one{.kind = "if", .trees = {condition(2)}, .body = block(depth - 1, in_loop)};
        if (random_.below(2) == 0) one.otherwise = block(depth - 1, in_loop);
        made.push_back(std::move(one));
        break;
      }
      case 7: {
        Statement one{
            .kind = "loop", .trees = {value(Word::u32, 2)}, .body = block(depth - 1, true)};
        made.push_back(std::move(one));
        break;
      }
      default: {
        const std::uint32_t way = random_.below(3);
        if (way != 2 && !in_loop) break;
        made.push_back({.kind = way == 0   ? "break"
                                : way == 1 ? "continue"
                                           : "return",
                        .guarded = random_.below(2) == 0,
                        .trees = {condition(1)}});
      }
    }
  }
  return made;
}

// --- as PTX --------------------------------------------------------------------------------------

namespace {

class Writer {
 public:
  explicit Writer(const std::vector<Word>& variables) : variables_{variables} {}

  std::string text;

  std::string value(const Tree& tree) {
    const std::string type = name_of(tree.word);
    if (tree.op == "var") return variable(tree.number);
    if (tree.op == "constant") return constant(tree);
    if (tree.op == "special") return emit("mov.u32", Word::u32, {specials.at(tree.number)});
    if (tree.op == "param") {
      constexpr std::array names{"n", "m", "q"};
      return emit(fmt::format("ld.param.{}", type), tree.word,
                  {fmt::format("[{}]", names.at(tree.number))});
    }
    if (tree.op == "select") {
      const std::string p = condition(tree.parts[0]);
      const std::string a = value(tree.parts[1]);
      return emit("selp." + type, tree.word, {a, value(tree.parts[2]), p});
    }
    std::vector<std::string> parts;
    for (const Tree& part : tree.parts)
      parts.push_back(value(part));
    const std::string bits = is_wide(tree.word) ? "b64" : "b32";
    if (tree.op == "convert") {
      return emit(fmt::format("cvt.{}.{}", type, name_of(tree.parts[0].word)), tree.word, parts);
    }
    if (tree.op == "and" || tree.op == "or" || tree.op == "xor" || tree.op == "not") {
      return emit(fmt::format("{}.{}", tree.op, bits), tree.word, parts);
    }
    if (tree.op == "shl") return emit("shl." + bits, tree.word, parts);
    if (tree.op == "mul") return emit("mul.lo." + type, tree.word, parts);
    if (tree.op == "mad") return emit("mad.lo." + type, tree.word, parts);
    if (tree.op == "high") return emit("mul.hi." + type, tree.word, parts);
    if (tree.op == "field") return emit("bfe." + type, tree.word, parts);
    if (tree.op == "wide") {
      return emit(fmt::format("mul.wide.{}", name_of(tree.parts[0].word)), tree.word, parts);
    }
    if (tree.op == "popc" || tree.op == "clz" || tree.op == "brev") {
      const bool wide = is_wide(tree.parts[0].word);
      const std::string of = emit(fmt::format("{}.{}", tree.op, wide ? "b64" : "b32"),
                                  wide && tree.op == "brev" ? Word::u64 : Word::u32, parts);
      return wide && tree.op == "brev" ? emit("cvt.u32.u64", Word::u32, {of}) : of;
    }
    return emit(fmt::format("{}.{}", tree.op, type), tree.word, parts);
  }

  std::string condition(const Tree& tree) {
    const std::string p = fmt::format("%p{}", predicates_++);
    if (tree.op == "and" || tree.op == "or" || tree.op == "xor") {
      if (tree.parts[0].op == "and" || tree.parts[0].op == "or" || tree.parts[0].op == "xor") {
        const std::string a = condition(tree.parts[0]);
        line(fmt::format("{}.pred {}, {}, {}", tree.op, p, a, condition(tree.parts[1])));
        return p;
      }
      // Combined by the comparison itself.
      const std::string b = condition(tree.parts[1]);
      const Tree& first = tree.parts[0];
      const std::string x = value(first.parts[0]);
      line(fmt::format("setp.{}.{}.{} {}, {}, {}, {}", first.op, tree.op, name_of(first.word), p, x,
                       value(first.parts[1]), b));
      return p;
    }
    const std::string a = value(tree.parts[0]);
    line(fmt::format("setp.{}.{} {}, {}, {}", tree.op, name_of(tree.word), p, a,
                     value(tree.parts[1])));
    return p;
  }

  std::string address(const Tree& index, unsigned tag, unsigned width) {
    const std::string masked =
        emit("and.b64", Word::u64, {value(index), std::to_string((1U << index_bits) - 1)});
    const std::string base = emit("ld.param.u64", Word::u64, {fmt::format("[b{}]", tag)});
    return emit("mad.lo.u64", Word::u64, {masked, std::to_string(width), base});
  }

  void statements(const std::vector<Statement>& all, const std::string& end_of_turn,
                  const std::string& end_of_loop) {
    for (const Statement& one : all) {
      if (one.kind == "set") {
        const std::string from = value(one.trees[0]);
        const bool wide = is_wide(variables_[one.variable]);
        line(fmt::format("mov.b{} {}, {}", wide ? 64 : 32, variable(one.variable), from));
      } else if (one.kind == "load") {
        const std::string at = address(one.trees[0], one.tag, one.width);
        line(fmt::format("ld.global.u{} {}, [{}]", 8 * one.width, variable(one.variable), at));
      } else if (one.kind == "access") {
        write_access(one);
      } else if (one.kind == "if") {
        const std::string p = condition(one.trees[0]);
        const std::string otherwise = label();
        const std::string after = label();
        line(fmt::format("@!{} bra {}", p, otherwise));
        statements(one.body, end_of_turn, end_of_loop);
        line("bra " + after);
        text += otherwise + ":\n";
        statements(one.otherwise, end_of_turn, end_of_loop);
        text += after + ":\n";
      } else if (one.kind == "loop") {
        const std::string count = emit("rem.u32", Word::u32, {value(one.trees[0]), "5"});
        const std::string turn = fmt::format("%r{}", narrow_++);
        line(fmt::format("mov.u32 {}, 0", turn));
        const std::string begin = label();
        const std::string next = label();
        const std::string after = label();
        text += begin + ":\n";
        const std::string p = fmt::format("%p{}", predicates_++);
        line(fmt::format("setp.ge.u32 {}, {}, {}", p, turn, count));
        line(fmt::format("@{} bra {}", p, after));
        statements(one.body, next, after);
        text += next + ":\n";
        line(fmt::format("add.u32 {}, {}, 1", turn, turn));
        line("bra " + begin);
        text += after + ":\n";
      } else {
        const std::string p = condition(one.trees[0]);
        if (one.kind == "return" && one.guarded) {
          line(fmt::format("@{} ret", p));
        } else {
          line(fmt::format("@{} bra {}", p,
                           one.kind == "break"      ? end_of_loop
                           : one.kind == "continue" ? end_of_turn
                                                    : "$end"));
        }
      }
    }
  }

  [[nodiscard]] unsigned narrow() const { return narrow_; }
  [[nodiscard]] unsigned wide() const { return wide_; }
  [[nodiscard]] unsigned predicates() const { return predicates_; }

 private:
  void line(const std::string& one) { text += "  " + one + ";\n"; }
  std::string label() { return fmt::format("$L{}", labels_++); }
  std::string variable(std::uint64_t which) const {
    return fmt::format("%{}{}", is_wide(variables_[which]) ? "rd" : "r", which);
  }
  static std::string constant(const Tree& tree) {
    if (is_wide(tree.word)) {
      return is_signed(tree.word) ? std::to_string(static_cast<std::int64_t>(tree.number))
                                  : fmt::format("0x{:x}U", tree.number);
    }
    const auto low = static_cast<std::uint32_t>(tree.number);
    return is_signed(tree.word) ? std::to_string(static_cast<std::int32_t>(low))
                                : std::to_string(low);
  }
  std::string emit(const std::string& opcode, Word word, const std::vector<std::string>& sources) {
    const std::string to =
        is_wide(word) ? fmt::format("%rd{}", wide_++) : fmt::format("%r{}", narrow_++);
    line(fmt::format("{} {}, {}", opcode, to, fmt::join(sources, ", ")));
    return to;
  }
  void write_access(const Statement& one) {
    const std::string at = address(one.trees[0], one.tag, one.width);
    const std::string guard = one.guarded ? fmt::format("@{} ", condition(one.trees[1])) : "";
    const bool vector = one.width > 8;
    const std::string type = vector ? "v2.u64" : fmt::format("u{}", 8 * one.width);
    const std::string data = vector ? "{%rd98, %rd99}" : one.width == 8 ? "%rd98" : "%r98";
    line(one.store ? fmt::format("{}st.global.{} [{}], {}", guard, type, at, data)
                   : fmt::format("{}ld.global.{} {}, [{}]", guard, type, data, at));
  }

  const std::vector<Word>& variables_;
  unsigned narrow_ = 100;
  unsigned wide_ = 100;
  unsigned predicates_ = 0;
  unsigned labels_ = 0;
};

}  // namespace

std::string RandomKernel::ptx() const {
  Writer writer{variables_};
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    writer.text += fmt::format("  mov.u{} %{}{}, {};\n", is_wide(variables_[v]) ? 64 : 32,
                               is_wide(variables_[v]) ? "rd" : "r", v, 7 * v);
  }
  writer.statements(program_, "", "");
  std::string params;
  for (unsigned tag = 0; tag < tags_; ++tag)
    params += fmt::format(".param .u64 b{}, ", tag);
  return fmt::format(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k({}.param .u32 n, .param "
      ".u32 "
      "m, .param .u64 q)\n{{\n.reg .pred %p<{}>;\n.reg .b32 %r<{}>;\n.reg .b64 %rd<{}>;\n{}$end:\n "
      " "
      "ret;\n}}\n",
      params, writer.predicates() + 1, writer.narrow() + 1, writer.wide() + 1, writer.text);
}

std::uint64_t RandomKernel::address_of(unsigned tag) {
  return (std::uint64_t{1} << 36U) + tag * (std::uint64_t{1} << 24U);
}

std::string RandomKernel::launch(const std::string& fill, std::uint32_t wider) const {
  std::string text = fmt::format(
      "schema: 1\nkernel: k\ngrid: [{}, {}]\nblock: [{}, {}, {}]\narguments:\n",
      wider * shape_.grid_x, shape_.grid_y, shape_.block_x, shape_.block_y, shape_.block_z);
  for (unsigned tag = 0; tag < tags_; ++tag) {
    text += fmt::format("  - {{bytes: {}, address: {}, fill: {}}}\n", buffer_bytes, address_of(tag),
                        fill);
  }
  return text + fmt::format("  - {}\n  - {}\n  - {}\n", n_, m_, k_);
}

// --- thread by thread ----------------------------------------------------------------------------

namespace {

/// One thread, which notes where it accesses what, in which turn of which loops.
struct Thread {
  enum class Goes : std::uint8_t { on, leaves_loop, next_turn, ends };
  using Turns = std::vector<unsigned>;
  using Note = std::function<void(unsigned tag, const Turns&, unsigned width, std::uint64_t at)>;

  const std::vector<Word>& words_of_variables;
  const RandomKernel::Content& content;
  Note note;
  std::array<std::uint32_t, specials.size()> special{};
  std::array<Whole, 3> params{};
  std::vector<Whole> variables = {};
  Turns turns = {};

  Whole value(const Tree& tree) {
    const Word w = tree.word;
    const auto part = [&](std::size_t i) { return value(tree.parts[i]); };
    if (tree.op == "var") return variables[tree.number];
    if (tree.op == "constant") return wrapped(Whole{tree.number}, w);
    if (tree.op == "special") return special.at(tree.number);
    if (tree.op == "param") return params.at(tree.number);
    if (tree.op == "select") return holds(tree.parts[0]) ? part(1) : part(2);
    if (tree.op == "convert") return wrapped(part(0), w);
    if (tree.op == "add") return wrapped(part(0) + part(1), w);
    if (tree.op == "sub") return wrapped(part(0) - part(1), w);
    if (tree.op == "mul" || tree.op == "wide") return product(part(0), part(1), w);
    if (tree.op == "mad") return wrapped(product(part(0), part(1), w) + part(2), w);
    if (tree.op == "neg") return wrapped(-part(0), w);
    if (tree.op == "not") return wrapped(-part(0) - 1, w);
    if (tree.op == "min") return std::min(part(0), part(1));
    if (tree.op == "max") return std::max(part(0), part(1));
    if (tree.op == "div") return part(0) / part(1);
    if (tree.op == "rem") return part(0) % part(1);
    if (tree.op == "high") return floor_divided(part(0) * part(1), power_of_two(32));
    if (tree.op == "shl") return shifted_left(part(0), part(1), w);
    if (tree.op == "shr") {
      const auto by = static_cast<unsigned>(std::min<Whole>(part(1), bits_in_word(w)));
      return floor_divided(part(0), power_of_two(by));
    }
    return by_bits(tree, w);
  }

  bool holds(const Tree& tree) {
    if (tree.op == "and") return holds(tree.parts[0]) & holds(tree.parts[1]);
    if (tree.op == "or") return holds(tree.parts[0]) | holds(tree.parts[1]);
    if (tree.op == "xor") return holds(tree.parts[0]) != holds(tree.parts[1]);
    const Whole a = value(tree.parts[0]);
    const Whole b = value(tree.parts[1]);
    if (tree.op == "eq") return a == b;
    if (tree.op == "ne") return a != b;
    if (tree.op == "lt") return a < b;
    if (tree.op == "le") return a <= b;
    return tree.op == "gt" ? a > b : a >= b;
  }

  Goes run(const std::vector<Statement>& all) {
    for (const Statement& one : all) {
      const Goes goes = run(one);
      if (goes != Goes::on) return goes;
    }
    return Goes::on;
  }

 private:
  /// Of 64 bits, by halves: the whole one does not fit into 128 with its sign.
  static Whole product(Whole a, Whole b, Word w) {
    const Whole x = plain_bits(a, Word::u64) % power_of_two(bits_in_word(w));
    const Whole y = plain_bits(b, Word::u64) % power_of_two(bits_in_word(w));
    const Whole low = y % power_of_two(32);
    const Whole high = y / power_of_two(32);
    return wrapped(x * low + (x * high) % power_of_two(32) * power_of_two(32), w);
  }
  static Whole shifted_left(Whole a, Whole by, Word w) {
    Whole result = a;
    const Whole turns_left = std::min<Whole>(by, bits_in_word(w));
    for (Whole i = 0; i < turns_left; ++i)
      result = wrapped(2 * result, w);
    return result;
  }
  Whole by_bits(const Tree& tree, Word w) {
    const Word of = tree.parts[0].word;
    const Whole a = plain_bits(value(tree.parts[0]), of);
    const unsigned width = bits_in_word(of);
    const auto bit = [&](Whole x, unsigned i) {
      return static_cast<unsigned>(x / power_of_two(i) % 2);
    };
    Whole result = 0;
    if (tree.op == "popc") {
      for (unsigned i = 0; i < width; ++i)
        result += bit(a, i);
      return result;
    }
    if (tree.op == "clz") {
      while (result < width && bit(a, width - 1 - static_cast<unsigned>(result)) == 0)
        ++result;
      return result;
    }
    if (tree.op == "brev") {
      for (unsigned i = 0; i < width; ++i)
        result += bit(a, i) * power_of_two(width - 1 - i);
      return wrapped(result, w);
    }
    const Whole b = plain_bits(value(tree.parts[1]), tree.parts[1].word);
    if (tree.op == "field") {  // as the manual writes it
      const auto first = static_cast<unsigned>(b % 256);
      const auto count = static_cast<unsigned>(value(tree.parts[2]) % 256);
      const bool sign =
          is_signed(of) && count > 0 && bit(a, std::min(first + count - 1, width - 1));
      for (unsigned i = 0; i < width; ++i) {
        const bool inside = i < count && first + i < width;
        result += (inside ? bit(a, first + i) : sign ? 1U : 0U) * power_of_two(i);
      }
      return wrapped(result, w);
    }
    for (unsigned i = 0; i < width; ++i) {
      const bool x = bit(a, i) != 0;
      const bool y = bit(b, i) != 0;
      const bool set = tree.op == "and" ? x && y : tree.op == "or" ? x || y : x != y;
      if (set) result += power_of_two(i);
    }
    return wrapped(result, w);
  }

  std::uint64_t accessed(const Statement& one) {
    const auto index = static_cast<std::uint64_t>(value(one.trees[0]) % power_of_two(index_bits));
    const std::uint64_t byte = index * one.width;
    note(one.tag, turns, one.width, RandomKernel::address_of(one.tag) + byte);
    return byte;
  }

  Goes run(const Statement& one) {
    if (one.kind == "set") {
      variables[one.variable] = value(one.trees[0]);
    } else if (one.kind == "access") {
      if (!one.guarded || holds(one.trees[1])) (void)accessed(one);
    } else if (one.kind == "load") {
      const std::uint64_t byte = accessed(one);
      Whole loaded = 0;
      for (unsigned b = 0; b < one.width; ++b)
        loaded += content(one.tag, byte + b) * power_of_two(8 * b);
      variables[one.variable] = wrapped(loaded, words_of_variables[one.variable]);
    } else if (one.kind == "if") {
      return run(holds(one.trees[0]) ? one.body : one.otherwise);
    } else if (one.kind == "loop") {
      const auto count = static_cast<unsigned>(value(one.trees[0]) % 5);
      for (unsigned turn = 0; turn < count; ++turn) {
        turns.push_back(turn);
        const Goes goes = run(one.body);
        turns.pop_back();
        if (goes == Goes::ends) return goes;
        if (goes == Goes::leaves_loop) break;
      }
    } else if (holds(one.trees[0])) {
      return one.kind == "break"      ? Goes::leaves_loop
             : one.kind == "continue" ? Goes::next_turn
                                      : Goes::ends;
    }
    return Goes::on;
  }
};

}  // namespace

std::vector<RandomKernel::Requested> RandomKernel::run(const std::vector<Generation>& generations,
                                                       const Content& content) const {
  std::vector<Requested> requested(tags_);
  for (auto& one : requested)
    one.traffic.resize(generations.size());
  const std::uint32_t threads = shape_.block_x * shape_.block_y * shape_.block_z;
  for (std::uint32_t block = 0; block < shape_.grid_x * shape_.grid_y; ++block) {
    for (std::uint32_t first = 0; first < threads; first += warp_lanes) {
      // Lanes that are in the same turn of the same loops access together.
      std::map<std::pair<unsigned, Thread::Turns>, WarpAccess> seen;
      for (std::uint32_t lane = 0; lane < warp_lanes && first + lane < threads; ++lane) {
        const std::uint32_t thread = first + lane;
        Thread one{
            .words_of_variables = variables_,
            .content = content,
            .note =
                [&](unsigned tag, const Thread::Turns& turns, unsigned width, std::uint64_t at) {
                  WarpAccess& access = seen[{tag, turns}];
                  access.width = width;
                  access.addresses.at(lane) = at;
                },
            .special = {thread % shape_.block_x, thread / shape_.block_x % shape_.block_y,
                        thread / shape_.block_x / shape_.block_y, shape_.block_x,
                        block % shape_.grid_x, block / shape_.grid_x, lane},
            .params = {n_, m_, k_}};
        for (std::size_t v = 0; v < variables_.size(); ++v)
          one.variables.push_back(static_cast<Whole>(7 * v));
        (void)one.run(program_);
      }
      for (const auto& [key, access] : seen) {
        Requested& to = requested[key.first];
        ++to.warps;
        std::set<std::uint64_t> bytes;
        for (const auto& address : access.addresses) {
          if (!address) continue;
          ++to.lanes;
          for (unsigned b = 0; b < access.width; ++b)
            bytes.insert(*address + b);
        }
        to.ideal_sectors += (bytes.size() + sector_bytes - 1) / sector_bytes;
        for (std::size_t g = 0; g < generations.size(); ++g)
          to.traffic[g] += traffic(generations[g], access);
      }
    }
  }
  return requested;
}

}  // namespace strata::access
