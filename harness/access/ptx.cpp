#include "harness/access/ptx.hpp"

#include "harness/access/ptx_constant.hpp"
#include "harness/access/ptx_lexer.hpp"
#include "harness/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace strata::ptx {
namespace {

using Kind = Operand::Kind;

// ---- words of the language ----

struct TypeWord {
  std::string_view word;
  Type type;
  unsigned bytes;
};
constexpr std::array type_words{TypeWord{"pred", Type::pred, 0},
                                TypeWord{"b8", Type::b8, 1},
                                TypeWord{"b16", Type::b16, 2},
                                TypeWord{"b32", Type::b32, 4},
                                TypeWord{"b64", Type::b64, 8},
                                TypeWord{"b128", Type::b128, 16},
                                TypeWord{"u8", Type::u8, 1},
                                TypeWord{"u16", Type::u16, 2},
                                TypeWord{"u32", Type::u32, 4},
                                TypeWord{"u64", Type::u64, 8},
                                TypeWord{"s8", Type::s8, 1},
                                TypeWord{"s16", Type::s16, 2},
                                TypeWord{"s32", Type::s32, 4},
                                TypeWord{"s64", Type::s64, 8},
                                TypeWord{"f16", Type::f16, 2},
                                TypeWord{"f16x2", Type::f16x2, 4},
                                TypeWord{"bf16", Type::bf16, 2},
                                TypeWord{"bf16x2", Type::bf16x2, 4},
                                TypeWord{"tf32", Type::tf32, 4},
                                TypeWord{"f32", Type::f32, 4},
                                TypeWord{"f64", Type::f64, 8},
                                TypeWord{"texref", Type::other, 0},
                                TypeWord{"samplerref", Type::other, 0},
                                TypeWord{"surfref", Type::other, 0}};

/// The type named by a modifier, without its dot; `none` if it names none. Narrower and packed
/// types ("e4m3x2", "s4", "u8x4") are `other`.
Type type_of(std::string_view word) {
  for (const auto& one : type_words) {
    if (one.word == word) return one.type;
  }
  if (word.starts_with("bf") || word.starts_with("tf")) word.remove_prefix(1);
  const auto is_digit = [&](std::size_t at) {
    return at < word.size() && word[at] >= '0' && word[at] <= '9';
  };
  const bool is_short =
      !word.empty() && std::string_view{"bsuf"}.find(word[0]) != std::string_view::npos;
  if (is_short && is_digit(1)) return Type::other;
  const bool is_float = word.size() > 3 && (word[0] == 'e' || word.starts_with("ue"));
  const std::size_t digit = word.starts_with("ue") ? 2 : 1;
  if (is_float && is_digit(digit) && word[digit + 1] == 'm' && is_digit(digit + 2)) {
    return Type::other;
  }
  return Type::none;
}

/// ".shared::cta" is "shared".
std::string_view before_colons(std::string_view word) {
  return word.substr(0, word.find("::"));
}

std::optional<Space> space_of(std::string_view word) {
  constexpr std::array words{
      std::pair{"global", Space::global}, std::pair{"shared", Space::shared},
      std::pair{"local", Space::local},   std::pair{"const", Space::constant},
      std::pair{"param", Space::param},   std::pair{"tex", Space::texture}};
  for (const auto& [name, space] : words) {
    if (before_colons(word) == name) return space;
  }
  return std::nullopt;
}

/// "%tid.x" and others; nothing for a name that is not a special register of PTX 9.2.
std::optional<Special> special_of(std::string_view name) {
  using enum Special;
  static const std::unordered_map<std::string_view, Special> known{
      {"%tid.x", tid_x},
      {"%tid.y", tid_y},
      {"%tid.z", tid_z},
      {"%ntid.x", ntid_x},
      {"%ntid.y", ntid_y},
      {"%ntid.z", ntid_z},
      {"%ctaid.x", ctaid_x},
      {"%ctaid.y", ctaid_y},
      {"%ctaid.z", ctaid_z},
      {"%nctaid.x", nctaid_x},
      {"%nctaid.y", nctaid_y},
      {"%nctaid.z", nctaid_z},
      {"%laneid", laneid},
      {"%warpid", warpid},
      {"%nwarpid", nwarpid},
      {"%smid", smid},
      {"%nsmid", nsmid},
      {"%lanemask_eq", lanemask_eq},
      {"%lanemask_le", lanemask_le},
      {"%lanemask_lt", lanemask_lt},
      {"%lanemask_ge", lanemask_ge},
      {"%lanemask_gt", lanemask_gt},
      {"%clock", clock},
      {"%clock_hi", clock_hi},
      {"%clock64", clock64},
      {"%globaltimer", globaltimer},
      {"%dynamic_smem_size", dynamic_smem_size},
      {"%total_smem_size", total_smem_size},
      {"%cluster_ctaid.x", cluster_ctaid_x},
      {"%cluster_ctaid.y", cluster_ctaid_y},
      {"%cluster_ctaid.z", cluster_ctaid_z},
      {"%cluster_nctaid.x", cluster_nctaid_x},
      {"%cluster_nctaid.y", cluster_nctaid_y},
      {"%cluster_nctaid.z", cluster_nctaid_z},
      {"%cluster_ctarank", cluster_ctarank},
      {"%cluster_nctarank", cluster_nctarank},
      {"%is_explicit_cluster", is_explicit_cluster},
      {"%envreg1", envreg1},
      {"%envreg2", envreg2}};
  if (const auto found = known.find(name); found != known.end()) return found->second;
  constexpr std::array others{"%tid",
                              "%ntid",
                              "%ctaid",
                              "%nctaid",
                              "%cluster_ctaid",
                              "%cluster_nctaid",
                              "%clusterid",
                              "%nclusterid",
                              "%gridid",
                              "%pm",
                              "%envreg",
                              "%globaltimer_",
                              "%reserved_smem_offset_",
                              "%aggr_smem_size",
                              "%current_graph_exec"};
  // Vectors of four as a whole, and numbered ones.
  if (std::ranges::any_of(others, [&](std::string_view one) { return name.starts_with(one); })) {
    return other;
  }
  return std::nullopt;
}

// ---- names and their scopes ----

/// Names, scoped by the block that declares them. Inner blocks may hide outer names.
template <class Value>
class Names {
 public:
  struct Found {
    Value value;
    std::size_t depth;
  };

  void declare(std::string_view name, Value value, std::size_t depth) {
    const auto [place, is_new] = names_.try_emplace(name, Found{value, depth});
    hidden_.emplace_back(name, is_new ? std::nullopt : std::optional{place->second});
    place->second = {value, depth};
  }
  [[nodiscard]] const Found* find(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::size_t mark() const { return hidden_.size(); }
  void forget_since(std::size_t mark) {
    for (; hidden_.size() > mark; hidden_.pop_back()) {
      const auto& [name, before] = hidden_.back();
      if (before) {
        names_.find(name)->second = *before;
      } else {
        names_.erase(name);
      }
    }
  }

 private:
  std::unordered_map<std::string_view, Found> names_;
  std::vector<std::pair<std::string_view, std::optional<Found>>> hidden_;
};

/// The meaning of a name. For a register in four parts (".v4"), the first of them.
struct Named {
  Kind kind = Kind::none;
  std::uint32_t index = no_index;
  unsigned parts = 1;
};

/// `%r<12>`: its registers are created when first used.
struct Range {
  Type type = Type::none;
  unsigned parts = 1;
  std::uint64_t count = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> made;
};

/// A block, as the scope of its labels.
struct Block {
  std::uint32_t around = no_index;
  std::size_t names = 0;
  std::size_t ranges = 0;
};

/// The name of a label, or of a list of them, where it was used.
struct LabelUse {
  std::uint32_t block;
  std::uint32_t instruction;
  std::uint32_t operand;
  Token name;
};

/// Where a label or a list is in a kernel.
struct LabelKey {
  std::uint32_t block;
  std::string_view name;
  bool operator==(const LabelKey&) const = default;
};
struct LabelHash {
  std::size_t operator()(const LabelKey& key) const {
    return std::hash<std::string_view>{}(key.name) * 31 + key.block;
  }
};

struct LabelFound {
  std::uint32_t label = no_index;   ///< into Kernel::labels
  std::vector<Token> targets = {};  ///< of `.branchtargets`
};

/// PTX allows 32764 for an entry; a function may return a structure.
constexpr std::uint64_t max_parameter_bytes = 1U << 20U;
constexpr std::uint64_t max_variable_bytes = std::uint64_t{1} << 48U;

/// A declaration without its names.
struct Declared {
  Space space = Space::generic;
  Type type = Type::none;
  unsigned parts = 1;
  std::uint64_t align = 0;  ///< 0: the alignment of its type
  bool is_pointer = false;
};

// ---- the reader ----

class Reader {
 public:
  Reader(Module& module, std::string_view file, std::size_t most_parts)
      : module_{module},
        lexer_{{module.text.data(), module.text.size()}, file},
        most_parts_{most_parts} {}

  void run();

 private:
  // Messages and bounds.
  void count_part();
  void go_deeper();
  std::uint32_t small_number(std::string_view expected);

  // The module.
  void read_version();
  void read_target();
  void read_file();
  void read_section();
  void read_debug_strings();
  void read_alias();
  void pass_over_directive();
  void pass_over_brackets();
  void pass_to(std::string_view sign);

  // Declarations.
  bool take_declaration_word(Declared& declared);
  Declared read_declaration();
  void read_variables(Space space, bool is_extern);
  std::uint32_t read_variable(const Declared& declared, bool is_extern);
  std::uint64_t read_dimensions(std::vector<std::uint64_t>& dimensions);
  std::uint64_t read_values(const Declared& declared, std::span<const std::uint64_t> dimensions,
                            std::uint64_t at, Symbol& symbol);
  void read_value(const Declared& declared, std::uint64_t at, Symbol& symbol);
  void read_registers();
  std::uint32_t make_register(std::string_view name, Type type, unsigned parts);

  // Functions.
  void read_function(bool is_entry);
  std::vector<std::uint32_t> read_params();
  void read_limits();
  std::uint32_t enter_function(const Token& name);
  void read_body();
  void open_block();
  void close_block();
  void read_statement();
  void read_directive();
  void read_location();
  void read_label(const Token& name);
  void read_instruction(const Token& opcode, std::uint32_t guard, bool negated);
  /// `role`: of the register, in the message if it is no predicate.
  std::uint32_t read_predicate(const std::string& role);
  void settle_labels();
  const LabelFound& find_label(std::uint32_t block, const Token& name) const;
  void settle_function_names();

  // Operands.
  Operand read_operand(bool in_call);
  Operand read_address();
  Operand read_list(std::string_view end);
  Operand read_name();
  std::optional<Named> find_name(std::string_view name);
  const Names<std::uint32_t>::Found* find_range(std::string_view name, std::uint64_t& number) const;
  [[noreturn]] void refuse_undeclared(const Token& name) const;

  Module& module_;
  Lexer lexer_;
  std::size_t most_parts_;
  std::size_t parts_ = 0;
  std::uint64_t initial_bytes_ = 0;

  Names<Named> names_;
  Names<std::uint32_t> range_names_;  // by the text before the number
  std::vector<Range> ranges_;
  std::unordered_map<std::string_view, std::uint32_t> functions_;
  std::unordered_map<std::string_view, std::size_t> debug_labels_;  // into debug_strings

  // Of the function that is being read.
  std::uint32_t kernel_ = no_index;  // into Module::kernels, once it has a name
  const char* begin_ = nullptr;      ///< of the text outside of functions, its linkage included
  Kernel now_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> open_;  // open blocks, the innermost last
  std::unordered_map<LabelKey, LabelFound, LabelHash> labels_;
  std::vector<LabelUse> uses_;
  std::size_t depth_ = 0;  // nesting depth of lists
  std::uint32_t location_ = no_index;
  using Position = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Position, std::uint32_t> last_location_;
  std::map<std::tuple<Position, std::string_view, std::uint64_t, std::uint32_t>, std::uint32_t>
      locations_;

  /// The name of an inlined function, whose text comes at the end of the module.
  struct FunctionName {
    std::uint32_t kernel;
    std::uint32_t location;
    std::string_view label;
    std::uint64_t offset;
  };
  std::vector<FunctionName> function_names_;
};

void Reader::count_part() {
  if (++parts_ <= most_parts_) return;
  lexer_.refuse_at(lexer_.peek().line,
                   fmt::format("more than {} instructions, operands and declarations", most_parts_),
                   "a smaller module", "compile fewer kernels into one file");
}

void Reader::go_deeper() {
  if (++depth_ <= max_ptx_depth) return;
  lexer_.refuse_at(lexer_.peek().line,
                   fmt::format("more than {} nested lists or blocks", max_ptx_depth), "fewer",
                   "give compiler-generated PTX");
}

std::uint32_t Reader::small_number(std::string_view expected) {
  const Token token = lexer_.peek();
  if (!begins_constant(token)) lexer_.unexpected(expected);
  const Constant number = take_constant(lexer_);
  if (number.is_real() || number.bits > std::numeric_limits<std::int32_t>::max()) {
    lexer_.refuse_at(token.line, in_quotes(token.text) + " is out of range", expected,
                     "give compiler-generated PTX");
  }
  return static_cast<std::uint32_t>(number.bits);
}

void Reader::run() {
  read_version();
  bool is_extern = false;
  bool has_linkage = false;
  while (lexer_.peek().kind != Token::Kind::end) {
    const Token token = lexer_.peek();
    if (!std::exchange(has_linkage, false)) begin_ = token.text.data();
    if (token.kind == Token::Kind::word) {  // label of debug information
      (void)lexer_.take();
      lexer_.need(":");
      continue;
    }
    if (lexer_.take_if(";")) continue;
    if (token.is("@")) {  // "@@DWARF …", of old compilers
      pass_over_directive();
      continue;
    }
    if (token.kind != Token::Kind::dotted) lexer_.unexpected("a directive");
    const std::string_view word = token.text.substr(1);
    const bool is_linkage =
        word == "visible" || word == "weak" || word == "common" || word == "extern";
    if (is_linkage) {
      is_extern = word == "extern";
      has_linkage = true;
      (void)lexer_.take();
      continue;
    }
    if (word == "entry" || word == "func") {
      (void)lexer_.take();
      read_function(word == "entry");
    } else if (const auto space = space_of(word)) {
      (void)lexer_.take();
      read_variables(*space, is_extern);
    } else if (lexer_.take_if(".target")) {
      read_target();
    } else if (lexer_.take_if(".file")) {
      read_file();
    } else if (lexer_.take_if(".section")) {
      read_section();
    } else if (lexer_.take_if(".alias")) {
      read_alias();
    } else {
      pass_over_directive();
    }
    is_extern = false;
  }
  settle_function_names();
}

void Reader::read_version() {
  constexpr std::string_view mend = "give a .ptx file, as written by nvcc -ptx";
  const Token first = lexer_.peek();
  if (!lexer_.take_if(".version")) {
    const bool empty = first.kind == Token::Kind::end;
    lexer_.refuse_at(first.line, empty ? "nothing" : in_quotes(first.text),
                     "'.version', at the start of PTX", mend);
  }
  const Token number = lexer_.need(Token::Kind::number, "the PTX version, such as 9.0");
  const auto parts = split(number.text, '.');
  const auto major = whole_number(parts.front());
  const auto minor = whole_number(parts.back());
  constexpr long long most = 99;
  const auto fits = [](const auto& part, long long largest) {
    return part && *part >= 0 && *part <= largest;
  };
  if (parts.size() != 2 || !fits(major, most) || !fits(minor, 9)) {
    lexer_.refuse_at(number.line, in_quotes(number.text), "the PTX version, such as 9.0", mend);
  }
  module_.version = static_cast<unsigned>(*major * 10 + *minor);
  if (module_.version > newest_ptx) {
    lexer_.refuse_at(number.line, fmt::format("PTX {}", number.text),
                     fmt::format("at most PTX {}.{}", newest_ptx / 10, newest_ptx % 10),
                     "compile with an older toolkit");
  }
}

void Reader::read_target() {
  module_.target = lexer_.need(Token::Kind::word, "a target, such as sm_90").text;
  while (lexer_.take_if(","))
    (void)lexer_.need(Token::Kind::word, "a property of the target");
}

void Reader::read_file() {
  constexpr std::uint32_t most_files = 1U << 20U;
  const Token place = lexer_.peek();
  const std::uint32_t number = small_number("the number of a file");
  if (number > most_files) {
    lexer_.refuse_at(place.line, fmt::format("file number {}", number),
                     fmt::format("at most {}", most_files), "give compiler-generated PTX");
  }
  const Token name = lexer_.need(Token::Kind::quoted, "the name of a file");
  if (module_.files.size() <= number) module_.files.resize(number + 1);
  module_.files[number] = name.text.substr(1, name.text.size() - 2);
  while (lexer_.take_if(","))  // modification time and size
    (void)take_constant(lexer_);
}

void Reader::read_section() {
  const Token name = lexer_.take();
  while (!lexer_.peek().is("{")) {
    if (lexer_.peek().kind == Token::Kind::end) lexer_.unexpected("'{'");
    (void)lexer_.take();
  }
  (void)lexer_.take();
  if (name.is(".debug_str")) {
    debug_labels_.try_emplace(name.text, module_.debug_strings.size());
    read_debug_strings();
  } else {
    pass_to("}");
  }
}

void Reader::read_debug_strings() {
  while (!lexer_.take_if("}")) {
    if (lexer_.peek().kind == Token::Kind::word) {
      debug_labels_.try_emplace(lexer_.take().text, module_.debug_strings.size());
      lexer_.need(":");
      continue;
    }
    lexer_.need(".b8");
    do {
      const Constant byte = take_constant(lexer_);
      module_.debug_strings.push_back(static_cast<char>(byte.integer() & 0xFFU));
    } while (lexer_.take_if(","));
  }
}

void Reader::read_alias() {
  const Token name = lexer_.need(Token::Kind::word, "the name of a function");
  lexer_.need(",");
  const Token meant = lexer_.need(Token::Kind::word, "the name of a function");
  lexer_.need(";");
  const auto found = functions_.find(meant.text);
  if (found == functions_.end()) {
    lexer_.refuse_at(meant.line, in_quotes(meant.text) + " is not declared",
                     "a function declared above", "give the complete file");
  }
  functions_[name.text] = found->second;
}

void Reader::pass_over_directive() {
  // Most end at the end of the line, some with a semicolon.
  const std::uint32_t line = lexer_.take().line;
  while (lexer_.peek().kind != Token::Kind::end && lexer_.peek().line == line) {
    if (lexer_.take().is(";")) return;
  }
}

/// Skips "(…)" with any content.
void Reader::pass_over_brackets() {
  lexer_.need("(");
  for (std::size_t open = 1; open > 0;) {
    if (lexer_.peek().kind == Token::Kind::end) lexer_.unexpected("')'");
    const Token token = lexer_.take();
    if (token.is("(")) ++open;
    if (token.is(")")) --open;
  }
}

void Reader::pass_to(std::string_view sign) {
  while (!lexer_.take_if(sign)) {
    if (lexer_.peek().kind == Token::Kind::end) lexer_.need(sign);
    (void)lexer_.take();
  }
}

// ---- declarations ----

/// Reads a word between the space and the name.
bool Reader::take_declaration_word(Declared& declared) {
  if (lexer_.peek().kind != Token::Kind::dotted) return false;
  const Token token = lexer_.take();
  const std::string_view word = token.text.substr(1);
  if (const Type type = type_of(word); type != Type::none) {
    declared.type = type;
  } else if (word == "align") {
    const std::uint32_t align = small_number("an alignment in bytes");
    if (!std::has_single_bit(align)) {
      lexer_.refuse_at(token.line, fmt::format("an alignment of {}", align), "a power of two",
                       "give compiler-generated PTX");
    }
    if (!declared.is_pointer) declared.align = align;
  } else if (word == "ptr") {
    // What follows describes the pointed-to memory.
    declared.is_pointer = true;
  } else if (word == "v2" || word == "v4" || word == "v8") {
    declared.parts = static_cast<unsigned>(word[1] - '0');
  } else if (word == "attribute") {
    pass_over_brackets();
  }
  return true;
}

Declared Reader::read_declaration() {
  Declared declared;
  while (take_declaration_word(declared)) {
  }
  return declared;
}

void Reader::read_variables(Space space, bool is_extern) {
  Declared declared = read_declaration();
  declared.space = space;
  do {
    (void)read_variable(declared, is_extern);
  } while (lexer_.take_if(","));
  lexer_.need(";");
}

/// Reads the name, its dimensions and its initialiser; returns its index in Module::symbols.
std::uint32_t Reader::read_variable(const Declared& declared, bool is_extern) {
  const Token name = lexer_.need(Token::Kind::word, "the name of a variable");
  const std::uint64_t element = std::uint64_t{bytes_of(declared.type)} * declared.parts;
  Symbol symbol{.name = name.text,
                .space = declared.type == Type::other ? Space::texture : declared.space,
                .align = std::max<std::uint64_t>({declared.align, element, 1}),
                .kernel = kernel_};
  if (declared.align != 0) symbol.align = declared.align;
  symbol.element = bytes_of(declared.type);
  std::vector<std::uint64_t> dimensions;
  symbol.bytes = read_dimensions(dimensions) * element;
  if (lexer_.take_if("=")) {
    const std::uint64_t end = read_values(declared, dimensions, 0, symbol);
    if (symbol.bytes == 0) symbol.bytes = end;
    if (!symbol.initial_is_known) symbol.initial = {};
  }
  count_part();
  // An extern declaration and a later definition are the same variable.
  if (kernel_ == no_index) {
    if (const auto* found = names_.find(name.text);
        found != nullptr && found->value.kind == Kind::symbol) {
      if (!is_extern) module_.symbols[found->value.index] = std::move(symbol);
      return found->value.index;
    }
  }
  const auto index = static_cast<std::uint32_t>(module_.symbols.size());
  module_.symbols.push_back(std::move(symbol));
  names_.declare(name.text, {.kind = Kind::symbol, .index = index}, open_.size());
  return index;
}

/// Number of elements of an array; 0 if its first size is missing.
std::uint64_t Reader::read_dimensions(std::vector<std::uint64_t>& dimensions) {
  std::uint64_t all = 1;
  while (lexer_.take_if("[")) {
    const Token first = lexer_.peek();
    const std::uint64_t size = first.is("]") ? 0 : take_constant(lexer_).integer();
    lexer_.need("]");
    dimensions.push_back(size);
    count_part();
    if (size > max_variable_bytes || all * size > max_variable_bytes) {
      lexer_.refuse_at(first.line, "an array that exceeds the address space", "a smaller array",
                       "give compiler-generated PTX");
    }
    all *= size;
  }
  return all;
}

// NOLINTBEGIN(misc-no-recursion): lists hold lists, and go_deeper() counts them
/// Reads values, or a list of them, into the bytes from `at` on; returns where they end. An inner
/// list fills one element of the outermost dimension.
std::uint64_t Reader::read_values(const Declared& declared,
                                  std::span<const std::uint64_t> dimensions, std::uint64_t at,
                                  Symbol& symbol) {
  const std::uint64_t scalar = bytes_of(declared.type);
  if (!lexer_.take_if("{")) {
    read_value(declared, at, symbol);
    return at + scalar;
  }
  go_deeper();
  const auto inner = dimensions.empty() ? dimensions : dimensions.subspan(1);
  std::uint64_t step = scalar * declared.parts;
  for (const std::uint64_t size : inner)
    step *= size;
  step = std::max<std::uint64_t>(step, 1);
  std::uint64_t end = at;
  while (!lexer_.peek().is("}")) {
    if (lexer_.peek().is("{")) {
      const std::uint64_t start = at + (end - at + step - 1) / step * step;
      (void)read_values(declared, inner, start, symbol);
      end = start + step;
    } else {
      read_value(declared, end, symbol);
      end += scalar;
    }
    count_part();
    if (end > max_variable_bytes) lexer_.unexpected("fewer values");
    if (!lexer_.take_if(",")) break;
  }
  lexer_.need("}");
  --depth_;
  return at + (end - at + step - 1) / step * step;
}

// NOLINTEND(misc-no-recursion)

void Reader::read_value(const Declared& declared, std::uint64_t at, Symbol& symbol) {
  const std::uint32_t line = lexer_.peek().line;
  std::optional<Constant> value;
  if (begins_constant(lexer_.peek())) value = take_constant(lexer_);
  // An address: a name, generic(name), or 0xff00(name), which is one byte of it. Or a property of a
  // texture: addr_mode_0 = wrap.
  if (!value || lexer_.peek().is("(")) {
    symbol.initial_is_known = false;
    if (!value) (void)lexer_.need(Token::Kind::word, "a number or a name");
    if (lexer_.take_if("(")) pass_to(")");
    if (lexer_.take_if("=")) (void)lexer_.take();
    if (begins_constant(lexer_.peek())) (void)take_constant(lexer_);
    return;
  }
  std::uint64_t bits = value->integer();
  const std::size_t bytes = bytes_of(declared.type);
  const bool is_float = declared.type == Type::f32 || declared.type == Type::f64;
  if (is_float || value->is_real()) {
    bits = std::bit_cast<std::uint64_t>(value->real());
    if (bytes == sizeof(float))
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(value->real()));
  }
  if (at + bytes > symbol.initial.size()) {
    initial_bytes_ += at + bytes - symbol.initial.size();
    if (initial_bytes_ > max_ptx_bytes) {
      lexer_.refuse_at(line, fmt::format("initialisers of more than {} bytes", max_ptx_bytes),
                       "smaller tables", "compile fewer kernels into one file");
    }
    symbol.initial.resize(at + bytes);
  }
  for (std::size_t byte = 0; byte < std::min<std::size_t>(bytes, sizeof bits); ++byte)
    symbol.initial[at + byte] = static_cast<std::uint8_t>(bits >> (8 * byte));
}

void Reader::read_registers() {
  const std::uint32_t line = lexer_.peek().line;
  const Declared declared = read_declaration();
  if (declared.type == Type::none) {
    lexer_.refuse_at(line, "a register without a type", "one, such as .b32",
                     "give compiler-generated PTX");
  }
  do {
    const Token name = lexer_.need(Token::Kind::word, "the name of a register");
    if (lexer_.take_if("<")) {
      const Token count = lexer_.peek();
      // Not read as a constant expression, which could contain the '>'.
      const auto number =
          whole_number(lexer_.need(Token::Kind::number, "a number of registers").text);
      if (!number) {
        lexer_.refuse_at(count.line, in_quotes(count.text), "a number of registers",
                         "give compiler-generated PTX");
      }
      lexer_.need(">");
      range_names_.declare(name.text, static_cast<std::uint32_t>(ranges_.size()), open_.size());
      ranges_.push_back({.type = declared.type,
                         .parts = declared.parts,
                         .count = static_cast<std::uint64_t>(*number)});
    } else {
      const std::uint32_t index = make_register(name.text, declared.type, declared.parts);
      names_.declare(name.text, {.kind = Kind::reg, .index = index, .parts = declared.parts},
                     open_.size());
    }
    count_part();
  } while (lexer_.take_if(","));
}

/// Creates one register per part; returns the first.
std::uint32_t Reader::make_register(std::string_view name, Type type, unsigned parts) {
  const auto first = static_cast<std::uint32_t>(now_.registers.size());
  for (unsigned part = 0; part < parts; ++part) {
    now_.registers.push_back({.name = name, .type = type});
    count_part();
  }
  return first;
}

// ---- functions ----

void Reader::read_function(bool is_entry) {
  now_ = Kernel{.entry = is_entry, .line = lexer_.peek().line};
  // Declarations from here on end with the function.
  const std::size_t names = names_.mark();
  const std::size_t ranges = range_names_.mark();
  const auto first_symbol = static_cast<std::ptrdiff_t>(module_.symbols.size());
  read_limits();
  if (lexer_.peek().is("(")) now_.returns = read_params();
  const Token name = lexer_.need(Token::Kind::word, "the name of a function");
  now_.name = name.text;
  const std::uint32_t index = enter_function(name);
  if (lexer_.peek().is("(")) now_.params = read_params();
  read_limits();
  kernel_ = index;
  for (auto symbol = module_.symbols.begin() + first_symbol; symbol != module_.symbols.end();
       ++symbol) {
    symbol->kernel = index;
  }
  if (lexer_.peek().is("{")) {
    if (module_.kernels[index].defined) {
      lexer_.refuse_at(name.line, in_quotes(name.text) + " is defined twice",
                       "one definition per name", "give compiler-generated PTX");
    }
    now_.defined = true;
    read_body();
    const Token& next = lexer_.peek();
    const char* const end = next.kind == Token::Kind::end
                                ? module_.text.data() + module_.text.size()
                                : next.text.data();
    now_.text = {begin_, static_cast<std::size_t>(end - begin_)};
    module_.kernels[index] = std::move(now_);
  } else {
    lexer_.need(";");
    module_.symbols.erase(module_.symbols.begin() + first_symbol, module_.symbols.end());
  }
  kernel_ = no_index;
  names_.forget_since(names);
  range_names_.forget_since(ranges);
  ranges_.clear();
}

/// The index of the function in Module::kernels, possibly from an earlier declaration.
std::uint32_t Reader::enter_function(const Token& name) {
  const auto next = static_cast<std::uint32_t>(module_.kernels.size());
  const auto [place, is_new] = functions_.try_emplace(name.text, next);
  if (is_new) {
    module_.kernels.push_back({.name = name.text, .entry = now_.entry, .line = now_.line});
    count_part();
  }
  return place->second;
}

std::vector<std::uint32_t> Reader::read_params() {
  std::vector<std::uint32_t> params;
  std::uint64_t offset = 0;
  lexer_.need("(");
  if (lexer_.take_if(")")) return params;
  do {
    if (!now_.entry && lexer_.take_if(".reg")) {
      read_registers();
    } else {
      lexer_.need(".param");
      Declared declared = read_declaration();
      declared.space = Space::param;
      const std::uint32_t index = read_variable(declared, false);
      Symbol& symbol = module_.symbols[index];
      symbol.offset = (offset + symbol.align - 1) / symbol.align * symbol.align;
      offset = symbol.offset + symbol.bytes;
      if (offset > max_parameter_bytes) {
        lexer_.refuse_at(lexer_.peek().line,
                         fmt::format("parameters of more than {} bytes", max_parameter_bytes),
                         "fewer", "give compiler-generated PTX");
      }
      params.push_back(index);
    }
  } while (lexer_.take_if(","));
  lexer_.need(")");
  return params;
}

/// Directives of a function besides its name and parameters: ".maxntid 256, 1, 1".
void Reader::read_limits() {
  while (lexer_.peek().kind == Token::Kind::dotted) {
    const Token word = lexer_.take();
    if (word.is(".pragma")) {
      pass_to(";");
      continue;
    }
    if (lexer_.peek().is("(")) {
      if (!word.is(".attribute")) break;  // return values of the function
      pass_over_brackets();
      continue;
    }
    std::array<std::uint32_t, 3> sizes{1, 1, 1};
    std::size_t given = 0;
    while (lexer_.peek().kind == Token::Kind::number) {
      const std::uint32_t size = small_number("a number of threads");
      if (given < sizes.size()) sizes[given] = size;
      ++given;
      if (!lexer_.take_if(",")) break;
    }
    if (given == 0) continue;
    if (word.is(".reqntid")) now_.required_block = sizes;
    if (word.is(".maxntid")) now_.most_block = sizes;
    if (word.is(".reqnctapercluster")) now_.cluster = sizes;
  }
}

void Reader::read_body() {
  blocks_.clear();
  labels_.clear();
  uses_.clear();
  location_ = no_index;
  last_location_.clear();
  locations_.clear();
  open_block();
  while (!open_.empty())
    read_statement();
  settle_labels();
}

void Reader::open_block() {
  lexer_.need("{");
  go_deeper();
  count_part();
  blocks_.push_back({.around = open_.empty() ? no_index : open_.back(),
                     .names = names_.mark(),
                     .ranges = range_names_.mark()});
  open_.push_back(static_cast<std::uint32_t>(blocks_.size() - 1));
}

void Reader::close_block() {
  lexer_.need("}");
  --depth_;
  names_.forget_since(blocks_[open_.back()].names);
  range_names_.forget_since(blocks_[open_.back()].ranges);
  open_.pop_back();
}

void Reader::read_statement() {
  const Token token = lexer_.peek();
  if (token.is("{")) return open_block();
  if (token.is("}")) return close_block();
  if (lexer_.take_if(";")) return;
  if (token.kind == Token::Kind::dotted) return read_directive();
  std::uint32_t guard = no_index;
  bool negated = false;
  if (lexer_.take_if("@")) {
    negated = lexer_.take_if("!");
    guard = read_predicate("guards an instruction");
  }
  const Token word = lexer_.need(Token::Kind::word, "an instruction or '}'");
  if (guard == no_index && lexer_.take_if(":")) return read_label(word);
  read_instruction(word, guard, negated);
}

std::uint32_t Reader::read_predicate(const std::string& role) {
  const Token name = lexer_.need(Token::Kind::word, "a predicate");
  const auto found = find_name(name.text);
  if (!found || found->kind != Kind::reg) refuse_undeclared(name);
  if (now_.registers[found->index].type != Type::pred) {
    lexer_.refuse_at(name.line, in_quotes(name.text) + " " + role, "a predicate",
                     "give compiler-generated PTX");
  }
  return found->index;
}

void Reader::read_directive() {
  if (lexer_.take_if(".reg")) {
    read_registers();
    return lexer_.need(";");
  }
  if (lexer_.take_if(".loc")) return read_location();
  if (lexer_.take_if(".file")) return read_file();
  if (lexer_.take_if(".section")) return read_section();
  if (lexer_.take_if(".pragma")) return pass_to(";");
  if (const auto space = space_of(lexer_.peek().text.substr(1))) {
    (void)lexer_.take();
    return read_variables(*space, false);
  }
  pass_over_directive();
}

void Reader::read_location() {
  const auto position = [&]() -> Position {
    const std::uint32_t file = small_number("the number of a file");
    const std::uint32_t line = small_number("a line");
    return {file, line, small_number("a column")};
  };
  const Position at = position();
  std::string_view label;
  std::uint64_t offset = 0;
  std::uint32_t inlined_at = no_index;
  const auto add = [&](const Position& where) {
    count_part();
    now_.locations.push_back({.file = std::get<0>(where),
                              .line = std::get<1>(where),
                              .column = std::get<2>(where),
                              .inlined_at = inlined_at});
    return static_cast<std::uint32_t>(now_.locations.size() - 1);
  };
  while (lexer_.take_if(",")) {
    if (lexer_.take_if("function_name")) {
      label = lexer_.take().text;
      if (lexer_.peek().is("+")) offset = take_constant(lexer_).integer();
    } else {
      lexer_.need("inlined_at");
      const Position where = position();
      const auto known = last_location_.find(where);
      inlined_at = known != last_location_.end() ? known->second : add(where);
      last_location_[where] = inlined_at;
    }
  }
  const auto [place, is_new] = locations_.try_emplace({at, label, offset, inlined_at}, no_index);
  if (is_new) {
    place->second = add(at);
    if (!label.empty()) {
      function_names_.push_back(
          {.kernel = kernel_, .location = place->second, .label = label, .offset = offset});
    }
  }
  location_ = place->second;
  last_location_[at] = location_;
}

/// Reads what follows "name:": an instruction, or a list of labels or functions.
void Reader::read_label(const Token& name) {
  LabelFound found{.label = static_cast<std::uint32_t>(now_.labels.size())};
  if (lexer_.take_if(".branchtargets")) {
    do {
      found.targets.push_back(lexer_.need(Token::Kind::word, "a label"));
      count_part();
    } while (lexer_.take_if(","));
    lexer_.need(";");
  } else if (lexer_.peek().is(".calltargets") || lexer_.peek().is(".callprototype")) {
    pass_to(";");
  }
  count_part();
  now_.labels.push_back(
      {.name = name.text, .instruction = static_cast<std::uint32_t>(now_.instructions.size())});
  if (!labels_.try_emplace({open_.back(), name.text}, std::move(found)).second) {
    lexer_.refuse_at(name.line, "a second label " + in_quotes(name.text), "one per block",
                     "give compiler-generated PTX");
  }
}

void Reader::read_instruction(const Token& opcode, std::uint32_t guard, bool negated) {
  Instruction instruction{.opcode = opcode.text,
                          .guard = guard,
                          .guard_negated = negated,
                          .line = opcode.line,
                          .location = location_};
  count_part();
  while (lexer_.peek().kind == Token::Kind::dotted) {
    instruction.modifiers.push_back(lexer_.take().text.substr(1));
    count_part();
  }
  const bool is_call = opcode.is("call");
  const bool is_branch = opcode.is("bra");
  while (!lexer_.peek().is(";")) {
    const Token first = lexer_.peek();
    Operand operand = is_branch && first.kind == Token::Kind::word ? Operand{.kind = Kind::label}
                                                                   : read_operand(is_call);
    if (operand.kind == Kind::label) {
      uses_.push_back({.block = open_.back(),
                       .instruction = static_cast<std::uint32_t>(now_.instructions.size()),
                       .operand = static_cast<std::uint32_t>(instruction.operands.size()),
                       .name = first});
      if (is_branch) (void)lexer_.take();
    }
    instruction.operands.push_back(std::move(operand));
    if (!lexer_.take_if(",") && !lexer_.take_if("|")) break;
  }
  lexer_.need(";");
  const std::size_t target = is_branch ? 0 : 1;
  if ((is_branch || opcode.is("brx")) &&
      (instruction.operands.size() <= target || instruction.operands[target].kind != Kind::label)) {
    lexer_.refuse_at(opcode.line, "a branch to something other than a label",
                     "a label or a list of labels", "give compiler-generated PTX");
  }
  now_.instructions.push_back(std::move(instruction));
}

/// Resolves labels, which may be used before they are defined and belong to the innermost block
/// that has them.
void Reader::settle_labels() {
  for (const auto& use : uses_) {
    Operand& operand = now_.instructions[use.instruction].operands[use.operand];
    const LabelFound& found = find_label(use.block, use.name);
    operand.index = found.label;
    const bool is_list = now_.instructions[use.instruction].opcode == "brx";
    if (is_list == found.targets.empty()) {
      lexer_.refuse_at(use.name.line, in_quotes(use.name.text) + " is of the other kind",
                       is_list ? "a list of labels" : "a label", "give compiler-generated PTX");
    }
    if (!is_list) continue;
    operand.kind = Kind::vector;
    operand.index = no_index;
    for (const Token& target : found.targets) {
      count_part();
      operand.items.push_back({.kind = Kind::label, .index = find_label(use.block, target).label});
    }
  }
}

const LabelFound& Reader::find_label(std::uint32_t block, const Token& name) const {
  for (; block != no_index; block = blocks_[block].around) {
    if (const auto found = labels_.find({block, name.text}); found != labels_.end()) {
      return found->second;
    }
  }
  refuse_undeclared(name);
}

void Reader::settle_function_names() {
  constexpr std::size_t longest = 4096;
  const std::string_view all{module_.debug_strings.data(), module_.debug_strings.size()};
  for (const auto& one : function_names_) {
    const auto label = debug_labels_.find(one.label);
    if (label == debug_labels_.end() || one.offset > all.size() - label->second) continue;
    const auto start = all.substr(label->second + one.offset, longest);
    module_.kernels[one.kernel].locations[one.location].function =
        start.substr(0, start.find('\0'));
  }
}

// ---- operands ----

// NOLINTBEGIN(misc-no-recursion): lists hold lists, and go_deeper() counts them
Operand Reader::read_operand(bool in_call) {
  count_part();
  const Token token = lexer_.peek();
  if (lexer_.take_if("!")) {
    return {.kind = Kind::reg, .negated = true, .index = read_predicate("is negated")};
  }
  if (token.is("[")) return read_address();
  if (lexer_.take_if("{")) return read_list("}");
  if (in_call && lexer_.take_if("(")) return read_list(")");
  if (begins_constant(token)) {
    const Constant value = take_constant(lexer_);
    return {.kind = value.is_real() ? Kind::real : Kind::integer, .bits = value.bits};
  }
  if (token.kind != Token::Kind::word) lexer_.unexpected("an operand");
  return read_name();
}

Operand Reader::read_list(std::string_view end) {
  Operand list{.kind = Kind::vector};
  go_deeper();
  while (!lexer_.peek().is(end)) {
    const Token first = lexer_.peek();
    list.items.push_back(read_operand(false));
    if (list.items.back().kind == Kind::label) refuse_undeclared(first);
    if (!lexer_.take_if(",")) break;
  }
  lexer_.need(end);
  --depth_;
  return list;
}

Operand Reader::read_address() {
  lexer_.need("[");
  go_deeper();
  const Token first = lexer_.peek();
  Operand operand = read_operand(false);
  if (operand.kind == Kind::label) refuse_undeclared(first);
  if (lexer_.take_if(",")) {  // a texture and its coordinates
    Operand list = read_list("]");
    list.items.insert(list.items.begin(), std::move(operand));
    operand = std::move(list);
  } else {
    if (begins_constant(lexer_.peek())) {
      operand.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(operand.offset) +
                                                 take_constant(lexer_).integer());
    }
    lexer_.need("]");
  }
  --depth_;
  operand.address = true;
  return operand;
}

// NOLINTEND(misc-no-recursion)

/// A register, a variable with an offset, a function, a special register; any other name must later
/// prove to be a label.
Operand Reader::read_name() {
  const Token name = lexer_.need(Token::Kind::word, "a name");
  if (name.is("_")) return {.kind = Kind::sink};
  std::string_view part;
  if (lexer_.peek().kind == Token::Kind::dotted && lexer_.touches(name)) part = lexer_.take().text;
  if (const auto found = find_name(name.text)) {
    Operand operand{.kind = found->kind, .index = found->index};
    const auto place =
        part.size() == 2 ? std::string_view{"xyzwrgba"}.find(part[1]) : std::string_view::npos;
    if (found->parts > 1 && place % 4 < found->parts && place != std::string_view::npos) {
      operand.index += static_cast<std::uint32_t>(place % 4);
    } else if (found->parts > 1) {
      operand = {.kind = Kind::vector};
      for (std::uint32_t one = 0; one < found->parts; ++one) {
        operand.items.push_back({.kind = Kind::reg, .index = found->index + one});
        count_part();
      }
    }
    if (found->kind == Kind::symbol && lexer_.take_if("[")) {
      operand.offset = static_cast<std::int64_t>(take_constant(lexer_).integer() *
                                                 module_.symbols[found->index].element);
      lexer_.need("]");
    } else if (found->kind == Kind::symbol && (lexer_.peek().is("+") || lexer_.peek().is("-"))) {
      operand.offset = static_cast<std::int64_t>(take_constant(lexer_).integer());
    }
    return operand;
  }
  if (name.text.starts_with('%')) {
    const auto special = special_of({name.text.data(), name.text.size() + part.size()});
    if (!special && module_.version <= known_ptx) refuse_undeclared(name);
    return {.kind = Kind::special, .special = special.value_or(Special::other)};
  }
  return {.kind = Kind::label};
}

/// The innermost declaration of the name. Creates the register of a range.
std::optional<Named> Reader::find_name(std::string_view name) {
  const auto* named = names_.find(name);
  std::uint64_t number = 0;
  const auto* in_range = find_range(name, number);
  const bool is_hidden = named != nullptr && in_range != nullptr && named->depth >= in_range->depth;
  if (in_range != nullptr && !is_hidden) {
    Range& range = ranges_[in_range->value];
    const auto [place, is_new] = range.made.try_emplace(number, no_index);
    if (is_new) place->second = make_register(name, range.type, range.parts);
    return Named{.kind = Kind::reg, .index = place->second, .parts = range.parts};
  }
  if (named != nullptr) return named->value;
  if (const auto function = functions_.find(name); function != functions_.end()) {
    return Named{.kind = Kind::function, .index = function->second};
  }
  return std::nullopt;
}

/// The innermost range with this register, and its number there: "%r12" may be 12 of "%r<40>", or 2
/// of "%r1<4>".
const Names<std::uint32_t>::Found* Reader::find_range(std::string_view name,
                                                      std::uint64_t& number) const {
  constexpr std::size_t most_digits = 10;
  const Names<std::uint32_t>::Found* best = nullptr;
  std::uint64_t value = 0;
  std::uint64_t place = 1;
  for (std::size_t digits = 1; digits <= std::min(most_digits, name.size() - 1); ++digits) {
    const char digit = name[name.size() - digits];
    if (digit < '0' || digit > '9') break;
    value += static_cast<std::uint64_t>(digit - '0') * place;
    place *= 10;
    if (digit == '0' && digits > 1) continue;  // "%r012" is not a register of a range
    const auto* found = range_names_.find(name.substr(0, name.size() - digits));
    if (found == nullptr || value >= ranges_[found->value].count) continue;
    if (best != nullptr && best->depth >= found->depth) continue;
    best = found;
    number = value;
  }
  return best;
}

void Reader::refuse_undeclared(const Token& name) const {
  lexer_.refuse_at(
      name.line, in_quotes(name.text) + " is not declared",
      "a register, a variable, a function or a label of this block or an enclosing one",
      "give the complete file");
}

}  // namespace

unsigned bytes_of(Type type) {
  const auto* const found = std::ranges::find(type_words, type, &TypeWord::type);
  return found == type_words.end() ? 0 : found->bytes;
}

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

bool is_integer(Type type) {
  switch (type) {
    case Type::b8:
    case Type::b16:
    case Type::b32:
    case Type::b64:
    case Type::u8:
    case Type::u16:
    case Type::u32:
    case Type::u64:
    case Type::s8:
    case Type::s16:
    case Type::s32:
    case Type::s64:
      return true;
    default:
      return false;
  }
}

bool Instruction::has(std::string_view modifier) const {
  return std::ranges::find(modifiers, modifier) != modifiers.end();
}

Type Instruction::type(unsigned from_last) const {
  for (std::size_t left = modifiers.size(); left > 0; --left) {
    const Type type = type_of(modifiers[left - 1]);
    if (type != Type::none && from_last-- == 0) return type;
  }
  return Type::none;
}

Space Instruction::space() const {
  constexpr std::array textures{"tex", "tld4", "txq", "suld", "sust", "sured", "suq"};
  if (std::ranges::find(textures, opcode) != textures.end()) return Space::texture;
  for (const auto& word : modifiers) {
    if (const auto space = space_of(word)) return *space;
  }
  return Space::generic;
}

unsigned Instruction::vector_width() const {
  for (const std::string_view word : modifiers) {
    if (word == "v2" || word == "v4" || word == "v8") return static_cast<unsigned>(word[1] - '0');
  }
  return 1;
}

Module read(std::string text, std::string_view file, std::size_t most_parts) {
  if (text.size() > max_ptx_bytes) {
    refuse({file}, fmt::format("has more than {} bytes", max_ptx_bytes), "a smaller PTX file",
           "compile fewer kernels into one file");
  }
  std::size_t line_start = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n') line_start = at + 1;
    if (text[at] == '\0') {
      refuse({file, line_of(text, at)}, "a NUL", "PTX, which is text",
             "give a .ptx file, as written by nvcc -ptx");
    }
    if (at - line_start == max_ptx_line) {
      refuse({file, line_of(text, at)}, fmt::format("a line of more than {} bytes", max_ptx_line),
             "shorter lines", "give compiler-generated PTX");
    }
  }
  if (const auto at = find_invalid_utf8(text)) {
    refuse({file, line_of(text, *at)}, "bytes that are not UTF-8", "PTX, which is text",
           "give a .ptx file, as written by nvcc -ptx");
  }
  Module module;
  module.text.assign(text.begin(), text.end());
  text = {};
  Reader{module, file, most_parts}.run();
  return module;
}

unsigned target_of(const Module& module) {
  constexpr unsigned most = 1000;
  unsigned target = 0;
  for (const char c : module.target) {
    if (c >= '0' && c <= '9' && target < most)
      target = 10 * target + static_cast<unsigned>(c - '0');
  }
  return target;
}

}  // namespace strata::ptx
