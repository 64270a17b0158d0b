// PTX as a compiler writes it, read into numbered registers and instructions (PTX ISA 9.0, chapters
// 4, 5 and 11). What an instruction does is not known here: that is evaluate.hpp's and form.hpp's
// business.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::ptx {

/// State spaces of declarations and memory instructions.
enum class Space : std::uint8_t { generic, global, shared, local, constant, param, texture };

/// The last type of an opcode, or that of a declaration.
enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  other
};
/// Bytes of a value; 0 for pred, none and other.
[[nodiscard]] unsigned bytes_of(Type type);
[[nodiscard]] bool is_signed(Type type);
/// Of 8 to 64 bits; those of type b are, too.
[[nodiscard]] bool is_integer(Type type);

/// Registers that the hardware fills.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  dynamic_smem_size,
  total_smem_size,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  envreg1,
  envreg2,
  other
};

inline constexpr std::uint32_t no_index = 0xffffffff;

/// A member that leaves its owner an aggregate, and keeps it from being copied.
struct MoveOnly {
  MoveOnly() = default;
  MoveOnly(const MoveOnly&) = delete;
  MoveOnly& operator=(const MoveOnly&) = delete;
  MoveOnly(MoveOnly&&) = default;
  MoveOnly& operator=(MoveOnly&&) = default;
  ~MoveOnly() = default;
};

/// One operand. `%r1`, `!%p1`, `-4`, `0f3F800000`, `%tid.x`, `sum`, `[%rd1+16]`, `[param_0]`,
/// `{%f1, %f2}`, `_`.
struct Operand {
  enum class Kind : std::uint8_t {
    none,
    reg,
    integer,
    real,
    special,
    symbol,
    function,
    label,
    vector,
    sink
  };
  Kind kind = Kind::none;
  bool negated = false;  ///< `!%p1`
  bool address = false;  ///< in brackets: a reg, symbol or integer, plus `offset`
  Special special = Special::other;
  std::uint32_t index = no_index;   ///< reg: into Kernel::registers; symbol: into Module::symbols;
                                    ///< function: into Module::kernels; label: into Kernel::labels
  std::uint64_t bits = 0;           ///< integer: two's complement; real: of the double
  std::int64_t offset = 0;          ///< of an address, or of a symbol: `table+8`, `table[2]`
  std::vector<Operand> items = {};  ///< of a vector; of a texture's or call's list; of brx.idx, in
                                    ///< the place of its list's name: the labels of that list
  [[no_unique_address]] MoveOnly no_copies = {};
};

/// A source position: the file's number in Module::files, and where it was inlined to, if it was.
struct Location {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string_view function = {};       ///< of an inlined call, as mangled; else empty
  std::uint32_t inlined_at = no_index;  ///< into Kernel::locations
};

struct Instruction {
  std::string_view opcode = {};                  ///< "ld": refers to Module::text
  std::vector<std::string_view> modifiers = {};  ///< "global", "nc", "v4", "f32"
  std::uint32_t guard = no_index;                ///< the predicate register of `@%p1`
  bool guard_negated = false;                    ///< `@!%p1`
  std::vector<Operand> operands = {};  ///< destination first, as written; `%p1|%p2` is two
  std::uint32_t line = 0;              ///< of the PTX text, from 1 on
  std::uint32_t location = no_index;   ///< into Kernel::locations

  [[nodiscard]] bool has(std::string_view modifier) const;
  /// The last type among the modifiers: of `cvt.u64.u32`, u32. `type(1)` is the one before it.
  [[nodiscard]] Type type(unsigned from_last = 0) const;
  /// Of ld, st, atom, red, …: the first that is written, else generic; of tex, suld, …: texture.
  [[nodiscard]] Space space() const;
  /// Elements of a vector access: 1, 2, 4 or 8.
  [[nodiscard]] unsigned vector_width() const;
};

struct Register {
  std::string_view name = {};  ///< "%rd12"
  Type type = Type::none;
};

/// A label, and the instruction that follows it (Kernel::instructions.size() at the end).
struct Label {
  std::string_view name = {};
  std::uint32_t instruction = no_index;
};

/// A variable outside the registers.
struct Symbol {
  std::string_view name = {};
  Space space = Space::generic;
  std::uint64_t bytes = 0;  ///< 0: extern, of a size that the launch tells
  std::uint64_t align = 1;
  std::uint64_t element = 1;  ///< bytes of a scalar in it: `mov.u64 %rd1, table[5]` takes five
  std::vector<std::uint8_t> initial = {};  ///< its first bytes, where they are written as numbers;
                                           ///< those after them are 0
  bool initial_is_known = true;     ///< false: the initialiser holds addresses, and is not read
  std::uint32_t kernel = no_index;  ///< of a param or a variable inside a kernel: whose
  std::uint64_t offset = 0;         ///< of a param: from the first byte of the parameters
};

struct Kernel {
  std::string_view name = {};
  std::string_view text = {};  ///< from its linkage to the end of its body, where it has one
  bool entry = false;    ///< .entry; else .func
  bool defined = false;  ///< false: only declared, or the other name of a function
  std::vector<std::uint32_t> params = {};  ///< into Module::symbols
  std::vector<Register> registers = {};
  std::vector<Label> labels = {};
  std::vector<Location> locations = {};
  std::vector<Instruction> instructions = {};
  std::array<std::uint32_t, 3> required_block = {};  ///< .reqntid; 0: not said
  std::array<std::uint32_t, 3> most_block = {};      ///< .maxntid; 0: not said
  std::array<std::uint32_t, 3> cluster = {};         ///< .reqnctapercluster; 0: not said
  std::uint32_t line = 0;                            ///< of the PTX text
};

struct Module {
  std::vector<char> text = {};           ///< what the views refer to; a move keeps its place
  std::vector<char> debug_strings = {};  ///< .debug_str: what Location::function refers to
  unsigned version = 0;                  ///< 90 of `.version 9.0`
  std::string_view target = {};          ///< "sm_90a"
  std::vector<std::string> files =
      {};  ///< by number, from 1 on, as `.file` gives them; "" where none
  std::vector<Symbol> symbols = {};
  std::vector<Kernel> kernels = {};

  Module() = default;
  Module(Module&&) = default;
  Module& operator=(Module&&) = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module() = default;
};

/// Largest text, longest line (a table of a megabyte is one), deepest nesting, most parts
/// (instructions, operands, modifiers and declarations: some 500 MB) and newest `.version` that are
/// read.
inline constexpr std::size_t max_ptx_bytes = 256U << 20U;
inline constexpr std::size_t max_ptx_line = 8U << 20U;
inline constexpr std::size_t max_ptx_depth = 64;
inline constexpr std::size_t max_ptx_parts = 8U << 20U;
inline constexpr unsigned newest_ptx = 99;
/// The newest version whose special registers are known; of later ones others are Special::other.
inline constexpr unsigned known_ptx = 92;

/// Reads a module. Throws UsageError "FILE:LINE: …" for what is not PTX, a newer version, a NUL, a
/// name without a declaration, a line or text over the limits. What it reads but does not know (an
/// opcode, a directive, a modifier) it keeps or passes over.
[[nodiscard]] Module read(std::string text, std::string_view file,
                          std::size_t most_parts = max_ptx_parts);

}  // namespace strata::ptx
