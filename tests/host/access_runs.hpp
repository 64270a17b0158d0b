// Evaluates kernels that a test wrote, for tests.
#pragma once

#include "harness/access/evaluate.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace strata::access {

/// A module and a launch of one of its kernels.
struct Launched {
  Launched(const std::string& text, const std::string& yaml) {
    modules.push_back(ptx::read(text, "test.ptx"));
    launch = parse_launch(yaml, "test.yaml", modules);
  }
  [[nodiscard]] Evaluation evaluate(const EvaluateOptions& options = {}) const {
    return access::evaluate(modules[0], launch, options);
  }
  [[nodiscard]] const ptx::Kernel& kernel() const { return modules[0].kernels[launch.kernel]; }

  std::vector<ptx::Module> modules;
  Launch launch;
};

/// A module of one kernel "k" with these parameters and this body; %p, %r, %rd, %f, %fd and %rs are
/// declared, 40 of each.
inline std::string kernel_text(const std::string& params, const std::string& body,
                               const std::string& before = "") {
  return fmt::format(
      ".version 8.0\n.target sm_90\n.address_size 64\n{}\n.visible .entry k({})\n{{\n"
      ".reg .pred %p<40>;\n.reg .b16 %rs<40>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n"
      ".reg .f32 %f<40>;\n.reg .f64 %fd<40>;\n{}\n}}\n",
      before, params, body);
}

/// For a body with pointers a and b: %r0 is the thread's number, %rd2 and %rd3 are its words of
/// both buffers.
inline constexpr const char* own_words =
    "ld.param.u64 %rd0, [a];\nld.param.u64 %rd1, [b];\nmov.u32 %r10, %ctaid.x;\n"
    "mov.u32 %r11, %ntid.x;\nmov.u32 %r12, %tid.x;\nmad.lo.s32 %r0, %r10, %r11, %r12;\n"
    "mul.wide.u32 %rd4, %r0, 4;\nadd.s64 %rd2, %rd0, %rd4;\nadd.s64 %rd3, %rd1, %rd4;\n";

}  // namespace strata::access
