// PTX from what a user has at hand: a .ptx file, a CUDA source, or a binary that holds PTX.
#pragma once

#include "harness/access/ptx.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {

/// How a CUDA source is compiled, and how long a tool may take.
struct Tools {
  std::string compiler = {};  ///< a name or a path; "": nvcc, or clang++ where there is none
  std::vector<std::string> flags = {};  ///< beside ours: "-Iinclude"
  std::string architecture = {};        ///< "sm_90"; "": the compiler's own
  std::chrono::seconds patience{600};
};

struct Input {
  std::string name;  ///< for messages and tables: "app" or, of the second module in it, "app#2"
  ptx::Module module;
};

/// The modules of a file, at least one. Compiles and unpacks in a private folder, which is removed.
/// What a tool says against its input goes to stderr before the exception. Throws UsageError
/// "FILE: …" for what is no PTX, does not compile, or holds machine code alone, and where a tool is
/// missing.
[[nodiscard]] std::vector<Input> read_inputs(const std::filesystem::path& file, const Tools& tools);

/// What ptxas makes of a module.
struct Assembly {
  std::string entry = {};  ///< the kernel that is made, with what it calls; "": all of them
  /// Otherwise each access of the PTX is a machine instruction of its own, where it stands.
  bool is_optimised = true;
  unsigned most_registers = 0;  ///< of a thread; 0: what ptxas likes
};

/// Of a kernel as its PTX stands, with no more registers than blocks of so many threads can have:
/// code that is not optimised needs more of them than the launch was written for.
[[nodiscard]] Assembly unoptimised(std::string_view entry, std::uint64_t threads);

/// Machine code with source lines, a cubin, made of PTX by ptxas for Tools::architecture. `name` is
/// for messages. What ptxas says against it goes to stderr before the exception. Throws UsageError.
[[nodiscard]] std::string assemble(std::string_view ptx, std::string_view name, const Tools& tools,
                                   const Assembly& assembly = {});

/// The PTX texts in what `cuobjdump -ptx` prints.
[[nodiscard]] std::vector<std::string> texts_in_dump(std::string_view dump);

}  // namespace strata::access
