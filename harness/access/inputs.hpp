// PTX from a user's file: a .ptx file, a CUDA source, or a binary that contains PTX.
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
  std::string compiler = {};            ///< name or path; "": nvcc, otherwise clang++
  std::vector<std::string> flags = {};  ///< additional flags: "-Iinclude"
  std::string architecture = {};        ///< "sm_90"; "": the compiler's default
  std::chrono::seconds patience{600};
};

struct Input {
  std::string name;  ///< for messages and tables: "app", or "app#2" for its second module
  ptx::Module module;
};

/// The modules of a file, at least one. Compiles and unpacks in a temporary folder, which is
/// removed. Error output of a tool goes to stderr before the exception. Throws UsageError "FILE: …"
/// for a file that is not PTX, does not compile, or contains only machine code, and if a tool is
/// missing.
[[nodiscard]] std::vector<Input> read_inputs(const std::filesystem::path& file, const Tools& tools);

/// How ptxas assembles a module.
struct Assembly {
  std::string entry = {};  ///< the kernel to assemble, with the functions that it calls; "": all
  /// False: each access of the PTX is a separate machine instruction, in its place.
  bool is_optimised = true;
  unsigned most_registers = 0;  ///< per thread; 0: ptxas decides
  bool is_quiet = false;        ///< nothing goes to stderr
};

/// For a kernel as its PTX is written, with at most as many registers as blocks of that many
/// threads can have: unoptimised code needs more of them than the launch was written for.
[[nodiscard]] Assembly unoptimised(std::string_view entry, std::uint64_t threads);

/// A cubin with source lines, assembled by ptxas for Tools::architecture. `name` is for messages.
/// Error output of ptxas goes to stderr before the exception. Throws UsageError.
[[nodiscard]] std::string assemble(std::string_view ptx, std::string_view name, const Tools& tools,
                                   const Assembly& assembly = {});

/// Machine code as text, with source lines (`nvdisasm -g`). Throws UsageError if nvdisasm is
/// missing or fails.
[[nodiscard]] std::string disassemble(std::string_view cubin, std::string_view name,
                                      const Tools& tools);

/// The PTX texts in the output of `cuobjdump -ptx`.
[[nodiscard]] std::vector<std::string> texts_in_dump(std::string_view dump);

}  // namespace strata::access
