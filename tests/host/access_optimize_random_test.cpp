// Random kernels, changed in every way and run: what is optimized leaves what the original leaves.
#include "access_random_kernels.hpp"
#include "access_runs.hpp"
#include "harness/access/optimize/optimize.hpp"
#include "harness/access/optimize/same_results.hpp"
#include "harness/base/error.hpp"
#include "harness/model/split_mix.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

namespace strata::access {
namespace {

/// Writes kernels whose accesses lie side by side: in a thread, in neighbours, in passes of a loop,
/// and behind branches on data. Inputs are param_0 and param_1, the output is param_2.
class SideBySide {
 public:
  explicit SideBySide(std::uint64_t seed) : random_{seed} {
    width_ = 1U << random_.below(4);
    line("ld.param.u64 %rd1, [param_0];\nld.param.u64 %rd2, [param_1];");
    line("ld.param.u64 %rd3, [param_2];\nld.param.u32 %r1, [param_3];");
    line("ld.param.u32 %r2, [param_4];");
    for (unsigned axis = 0; axis < 2; ++axis) {
      const char letter = "xy"[axis];
      line(
          fmt::format("mov.u32 %r5, %ctaid.{0};\nmov.u32 %r6, %ntid.{0};\nmov.u32 %r7, %tid.{0};\n"
                      "mad.lo.u32 %r{1}, %r5, %r6, %r7;",
                      letter, 3 + axis));
    }
    for (const unsigned zero : {8, 9, 10, 11, 22, 23})
      line(fmt::format("mov.u32 %r{}, 0;", zero));
    line("mov.u32 %r12, %r3;\nmov.u32 %r13, 1;\nmov.u64 %rd8, 0;\nmov.u64 %rd9, 0;");
    if (random_.below(2) == 0) line("setp.ge.u32 %p0, %r3, %r1;\n@%p0 bra end;");
    statements(3);
    store();
    text_ += "end:\nret;";
  }
  [[nodiscard]] std::string ptx() const {
    return kernel_text(
        ".param .u64 param_0, .param .u64 param_1, .param .u64 param_2, .param .u32 param_3, "
        ".param .u32 param_4",
        text_);
  }

 private:
  void line(const std::string& text) { text_ += text + '\n'; }
  /// One of four numbers that the kernel works on.
  std::string number() { return fmt::format("%r{}", 10 + random_.below(4)); }
  std::string one_of(std::initializer_list<const char*> choices) {
    return std::data(choices)[random_.below(static_cast<std::uint32_t>(choices.size()))];
  }

  /// %r20: an element, alike for neighbours but for a small factor.
  void element() {
    const std::string x = one_of({"%r3", "%r3", "%r3", "%r4", "%r7", "%r5"});
    const std::string more = one_of({"%r4", "%r8", "%r9", "%r19", "%r8"});
    if (more == "%r19") line(fmt::format("and.b32 %r19, {}, 15;", number()));
    const std::string factor = one_of({"%r1", "%r1", "%r2", "16", "64", "3", "0"});
    line(fmt::format("mul.lo.u32 %r20, {}, {};", x, one_of({"1", "1", "1", "2", "4", "3"})));
    if (random_.below(2) == 0) line(fmt::format("mad.lo.u32 %r20, {}, {}, %r20;", more, factor));
    if (random_.below(2) == 0)
      line(fmt::format("add.u32 %r20, %r20, {};", one_of({"%r8", "%r9", "4", "7"})));
  }
  void address(const char* pointer) {
    element();
    line(fmt::format("mul.wide.{}32 %rd5, %r20, {};\nadd.s64 %rd6, {}, %rd5;",
                     random_.below(2) == 0 ? 'u' : 's', width_, pointer));
    if (random_.below(2) == 0) {
      line(fmt::format("mad.lo.s64 %rd6, %rd{}, {}, %rd6;", 8 + random_.below(2),
                       width_ * (random_.below(3) == 0 ? 1 : 64)));
    }
  }
  [[nodiscard]] std::string type() { return fmt::format("u{}", 8 * width_); }

  void load() {
    address(one_of({"%rd1", "%rd2"}).c_str());
    const unsigned count = 1 + random_.below(4);
    for (unsigned i = 0; i < count; ++i) {
      const std::string to = number();
      if (width_ == 8) {
        line(fmt::format("ld.global.u64 %rd7, [%rd6+{}];\ncvt.u32.u64 {}, %rd7;", 8 * i, to));
      } else {
        line(fmt::format(
            "ld.global.{} {}, [%rd6+{}];",
            random_.below(3) == 0 && width_ < 4 ? fmt::format("s{}", 8 * width_) : type(), to,
            width_ * i));
      }
    }
  }
  void store() {
    address("%rd3");
    const unsigned count = 1 + random_.below(4);
    for (unsigned i = 0; i < count; ++i) {
      if (width_ == 8) {
        line(fmt::format("cvt.u64.u32 %rd7, {};\nst.global.u64 [%rd6+{}], %rd7;", number(), 8 * i));
      } else {
        line(fmt::format("st.global.{} [%rd6+{}], {};", type(), width_ * i, number()));
      }
    }
  }
  void compare(unsigned predicate) {
    line(fmt::format("and.b32 %r21, {}, {};\nsetp.{}.u32 %p{}, %r21, {};",
                     one_of({"%r10", "%r11", "%r12", "%r3", "%r8"}), one_of({"1", "3", "7"}),
                     one_of({"eq", "ne", "lt", "ge"}), predicate, random_.below(3)));
  }
  void branch() {
    const unsigned label = labels_++;
    // The same guard decides again further on, where nothing wrote it in between.
    const bool decides_twice = label < 8 && random_.below(3) == 0;
    const unsigned guard = decides_twice ? 4 + label : 1;
    compare(guard);
    line(fmt::format("@%p{} bra else{};", guard, label));
    statements(depth_);
    const bool has_other = random_.below(2) == 0;
    if (has_other) line(fmt::format("bra meet{};", label));
    line(fmt::format("else{}:", label));
    if (has_other) {
      statements(depth_);
      line(fmt::format("meet{}:", label));
    }
    if (!decides_twice) return;
    if (random_.below(2) == 0) line(fmt::format("add.u32 {0}, {0}, 5;", number()));
    line(fmt::format("@{}%p{} bra past{};", one_of({"", "!"}), guard, label));
    statements(depth_);
    line(fmt::format("past{}:", label));
  }
  void loop() {
    const unsigned label = labels_++;
    const std::string counter = depth_ == 1 ? "%r9" : "%r8";
    const std::string steps =
        fmt::format("add.u32 {0}, {0}, 1;\nadd.s64 %rd{1}, %rd{1}, 1;", counter, counter.back());
    line(fmt::format("mov.u32 {}, 0;\nmov.u64 %rd{}, 0;", counter, counter.back()));
    if (random_.below(3) == 0) {
      // Each thread as often as its data say.
      line(fmt::format("and.b32 %r2{}, {}, 3;", 2 + depth_, number()));
    } else {
      line(fmt::format("mov.u32 %r2{}, {};", 2 + depth_, one_of({"3", "4", "8", "%r2"})));
    }
    line(fmt::format("loop{}:", label));
    const bool counts_first = random_.below(3) == 0;
    if (counts_first) line(steps);
    if (random_.below(3) == 0) {
      // The next pass begins early: only what comes below may end the loop.
      compare(2);
      line(fmt::format("setp.lt.and.u32 %p2, {}, 6, %p2;\n@%p2 bra next{};", counter, label));
    }
    statements(depth_);
    if (random_.below(4) == 0) {
      compare(2);
      line(fmt::format("@%p2 bra left{};", label));
    }
    if (random_.below(3) == 0) {
      line(fmt::format("setp.ge.u32 %p3, {}, %r2{};\n@%p3 bra left{};\nnext{}:", counter,
                       2 + depth_, label, label));
      if (!counts_first) line(steps);
      line(fmt::format("bra loop{};", label));
    } else {
      line(fmt::format("next{}:", label));
      if (!counts_first) line(steps);
      line(
          fmt::format("setp.lt.u32 %p3, {}, %r2{};\n@%p3 bra loop{};", counter, 2 + depth_, label));
    }
    line(fmt::format("left{}:", label));
  }
  void statements(unsigned depth) {
    const unsigned before = depth_;
    depth_ = depth - 1;
    const unsigned count = 1 + random_.below(3);
    for (unsigned i = 0; i < count; ++i) {
      const unsigned kind = random_.below(depth_ > 0 ? 6 : 4);
      if (kind == 0) {
        store();
      } else if (kind < 3) {
        load();
      } else if (kind == 3) {
        line(fmt::format("mad.lo.u32 {0}, {0}, 3, {1};", number(), number()));
      } else if (kind == 4) {
        branch();
      } else {
        loop();
      }
    }
    depth_ = before;
  }

  SplitMix random_;
  unsigned width_ = 4;
  unsigned depth_ = 0;
  unsigned labels_ = 0;
  std::string text_;
};

/// What came of the changes of some kernels.
struct OptimizeTally {
  unsigned made = 0;
  unsigned refused = 0;
  unsigned groups = 0;
  unsigned compared = 0;
  unsigned untaken = 0;
};

constexpr std::array changes{"group=16",
                             "threads=2",
                             "threads=8",
                             "passes=2",
                             "passes=4",
                             "swap=x,y",
                             "swap=x,z",
                             "swap_blocks=x,y",
                             "exchange=x",
                             "exchange=x threads=4",
                             "exchange=y",
                             "exchange=y threads=2",
                             "swap=x,y threads=2",
                             "threads=2 passes=2",
                             "threads=4 given=param_3:1"};

void mend_in_every_way(const ptx::Module& module, OptimizeTally& tally) {
  for (const char* const words : changes) {
    try {
      const Change change = parse_change("--change", words, module, module.kernels[0]);
      const Optimized optimized = optimize(module, 0, change);
      ++tally.made;
      tally.groups += optimized.groups;
      const Comparisons all = compare_samples(module, 0, optimized, 2, 8, std::uint64_t{1} << 18U);
      tally.compared += all.compared;
      if (all.compared == 0) {
        ++tally.untaken;
        if (std::getenv("WHY"))
          fmt::print("{}: {} {} | {} {}\n", words, all.refused, all.why, all.failed, all.fault);
      }
      ASSERT_TRUE(all.worst.is_same())
          << words << ": " << all.worst.failure << " seed " << all.seed << optimized.text;
    } catch (const NotOptimized&) {
      ++tally.refused;
    } catch (const UsageError&) {  // no axis of the grid is free, or no such parameter
      ++tally.refused;
    }
  }
}

/// More of them: STRATA_MEND_KERNELS=1000.
std::uint64_t kernels_asked(std::uint64_t otherwise) {
  const char* const asked = std::getenv("STRATA_MEND_KERNELS");
  return asked == nullptr ? otherwise : std::strtoull(asked, nullptr, 10);
}

void tell(std::uint64_t kernels, const OptimizeTally& tally) {
  fmt::print(
      "{} kernels: {} changes made, {} of them taken by no launch, {} refused, {} groups, "
      "{} launches compared\n",
      kernels, tally.made, tally.untaken, tally.refused, tally.groups, tally.compared);
}

TEST(OptimizedRandomKernels, OfAccessesSideBySideLeaveWhatTheOriginalsLeave) {
  OptimizeTally tally;
  const std::uint64_t kernels = kernels_asked(12);
  for (std::uint64_t seed = 0; seed < kernels; ++seed) {
    SCOPED_TRACE(seed);
    const ptx::Module module = ptx::read(SideBySide{seed}.ptx(), "random.ptx");
    mend_in_every_way(module, tally);
    if (testing::Test::HasFatalFailure()) return;
  }
  tell(kernels, tally);
  EXPECT_GT(tally.groups, 2 * kernels);  // else it says little
  EXPECT_GT(tally.compared, 4 * kernels);
}

TEST(OptimizedRandomKernels, OfAnyAddressesLeaveWhatTheOriginalsLeave) {
  OptimizeTally tally;
  const std::uint64_t kernels = kernels_asked(2);
  for (std::uint64_t seed = 0; seed < kernels; ++seed) {
    SCOPED_TRACE(seed);
    const RandomKernel random{seed, /*loads=*/seed % 2 == 1};
    mend_in_every_way(ptx::read(random.ptx(), "random.ptx"), tally);
    if (testing::Test::HasFatalFailure()) return;
  }
  tell(kernels, tally);
  EXPECT_GT(tally.compared, kernels);
}

}  // namespace
}  // namespace strata::access
