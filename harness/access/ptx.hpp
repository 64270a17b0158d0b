// Reads compiler-generated PTX into numbered registers and instructions (PTX ISA 9.0, chapters 4, 5
// and 11). The meaning of instructions is defined elsewhere: see evaluate.hpp and form.hpp.
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
/// True for integers of 8 to 64 bits, including type b.
[[nodiscard]] bool is_integer(Type type);

/// Special registers, set by the hardware.
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

/// A member that makes its owner move-only but leaves it an aggregate.
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
  bool address = false;  ///< in brackets: a register, symbol or integer, plus `offset`
  Special special = Special::other;
  std::uint32_t index = no_index;   ///< reg: into Kernel::registers; symbol: into Module::symbols;
                                    ///< function: into Module::kernels; label: into Kernel::labels
  std::uint64_t bits = 0;           ///< integer: two's complement; real: of the double
  std::int64_t offset = 0;          ///< of an address, or of a symbol: `table+8`, `table[2]`
  std::vector<Operand> items = {};  ///< of a vector; of a texture's or call's list; of brx.idx, in
                                    ///< the place of its list's name: the labels of that list
  [[no_unique_address]] MoveOnly no_copies = {};
};

/// A source position: the index of the file in Module::files, and the place into which it was
/// inlined, if any.
struct Location {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string_view function = {};       ///< of an inlined call, mangled; otherwise empty
  std::uint32_t inlined_at = no_index;  ///< into Kernel::locations
};

struct Instruction {
  std::string_view opcode = {};                  ///< "ld": a view of Module::text
  std::vector<std::string_view> modifiers = {};  ///< "global", "nc", "v4", "f32"
  std::uint32_t guard = no_index;                ///< the predicate register of `@%p1`
  bool guard_negated = false;                    ///< `@!%p1`
  std::vector<Operand> operands = {};  ///< destination first, as written; `%p1|%p2` are two
  std::uint32_t line = 0;              ///< line in the PTX text, from 1
  std::uint32_t location = no_index;   ///< into Kernel::locations

  [[nodiscard]] bool has(std::string_view modifier) const;
  /// The last type among the modifiers: u32 for `cvt.u64.u32`. `type(1)` is the one before it.
  [[nodiscard]] Type type(unsigned from_last = 0) const;
  /// For ld, st, atom, red, …: the first space that is written, otherwise generic; for tex, suld,
  /// …: texture.
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
  std::uint64_t bytes = 0;  ///< 0: extern, with a size that the launch determines
  std::uint64_t align = 1;
  std::uint64_t element = 1;  ///< bytes per scalar: `mov.u64 %rd1, table[5]` adds five of them
  std::vector<std::uint8_t> initial = {};  ///< its first bytes, where they are written as numbers;
                                           ///< those after them are 0
  bool initial_is_known = true;     ///< false: the initialiser contains addresses and is not read
  std::uint32_t kernel = no_index;  ///< for a param or a variable inside a kernel: its kernel
  std::uint64_t offset = 0;         ///< for a param: byte offset in the parameters
};

struct Kernel {
  std::string_view name = {};
  std::string_view text = {};               ///< from its linkage to the end of its body, if any
  bool entry = false;                       ///< .entry; otherwise .func
  bool defined = false;                     ///< false: only declared, or an alias of a function
  std::vector<std::uint32_t> params = {};   ///< into Module::symbols
  std::vector<std::uint32_t> returns = {};  ///< likewise, of a function
  std::vector<Register> registers = {};
  std::vector<Label> labels = {};
  std::vector<Location> locations = {};
  std::vector<Instruction> instructions = {};
  std::array<std::uint32_t, 3> required_block = {};  ///< .reqntid; 0: absent
  std::array<std::uint32_t, 3> most_block = {};      ///< .maxntid; 0: absent
  std::array<std::uint32_t, 3> cluster = {};         ///< .reqnctapercluster; 0: absent
  std::uint32_t line = 0;                            ///< of the PTX text
};

struct Module {
  std::vector<char> text = {};           ///< target of the views; a move keeps its address
  std::vector<char> debug_strings = {};  ///< .debug_str: target of Location::function
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

/// 90 of the target "sm_90a".
[[nodiscard]] unsigned target_of(const Module& module);

/// Limits: largest text, longest line (a table of a megabyte is one line), deepest nesting, most
/// parts (instructions, operands, modifiers and declarations: about 500 MB), and newest `.version`.
inline constexpr std::size_t max_ptx_bytes = 256U << 20U;
inline constexpr std::size_t max_ptx_line = 8U << 20U;
inline constexpr std::size_t max_ptx_depth = 64;
inline constexpr std::size_t max_ptx_parts = 8U << 20U;
inline constexpr unsigned newest_ptx = 99;
/// The newest version whose special registers are known; unknown ones of later versions are
/// Special::other.
inline constexpr unsigned known_ptx = 92;

/// Reads a module. Throws UsageError "FILE:LINE: …" for text that is not PTX, a newer version, a
/// NUL, a name without a declaration, and a line or text over the limits. Valid but unknown
/// opcodes, directives and modifiers are kept or skipped.
[[nodiscard]] Module read(std::string text, std::string_view file,
                          std::size_t most_parts = max_ptx_parts);

}  // namespace strata::ptx
