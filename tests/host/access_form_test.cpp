#include "harness/access/control_flow.hpp"
#include "harness/access/form.hpp"
#include "harness/access/kernel_forms.hpp"
#include "tests/host/access_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace strata::access {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// ---------------------------------------------------------------------------------------------
// The algebra.

/// Six leaves of known ranges, and random trees over them that are built twice: as a form, which
/// simplifies, and as a function, which does not.
class RandomTree {
 public:
  using Value = std::function<std::optional<Int128>(const std::vector<Int128>&)>;
  struct Node {
    FormId form = no_form;
    Value value;
  };

  explicit RandomTree(std::uint32_t seed) : random_(seed) {
    for (std::uint32_t i = 0; i < ranges.size(); ++i)
      leaves_.push_back(forms.leaf(AtomKind::parameter, i, ranges[i], 0, 1));
  }

  Node make(unsigned depth) {
    if (depth == 0 || below(8) == 0) {
      if (below(3) == 0) {
        const std::int64_t value = std::int64_t{below(100)} - 30;
        return {forms.constant(value), [value](const auto&) { return Int128{value}; }};
      }
      const std::uint32_t leaf = below(static_cast<std::uint32_t>(ranges.size()));
      return {leaves_[leaf], [leaf](const auto& values) { return values[leaf]; }};
    }
    const Node a = make(depth - 1);
    const Node b = make(depth - 1);
    const auto both = [&](FormId form, auto combine) -> Node {
      return {form, [a, b, combine](const auto& values) -> std::optional<Int128> {
                const auto x = a.value(values);
                const auto y = b.value(values);
                if (!x || !y) return std::nullopt;
                return combine(*x, *y);
              }};
    };
    const auto by = std::int64_t{1} << below(7);
    const std::int64_t odd = 1 + below(12);
    const std::int64_t divisor = below(2) == 0 ? by : odd;
    const auto floor_mod = [](Int128 x, Int128 y) { return (x % y + y) % y; };
    switch (below(17)) {
      case 0:
      case 1:
      case 2:
        return both(forms.add(a.form, b.form), [](Int128 x, Int128 y) { return x + y; });
      case 3:
        return both(forms.subtract(a.form, b.form), [](Int128 x, Int128 y) { return x - y; });
      case 4:
        return both(forms.multiply(a.form, b.form), [](Int128 x, Int128 y) { return x * y; });
      case 5:
        return both(forms.scale(a.form, by), [by](Int128 x, Int128) { return x * by; });
      case 6:
      case 7:
        return both(forms.quotient(a.form, forms.constant(divisor)),
                    [=](Int128 x, Int128) { return (x - floor_mod(x, divisor)) / divisor; });
      case 8:
      case 9:
        return both(forms.remainder(a.form, forms.constant(divisor)),
                    [=](Int128 x, Int128) { return floor_mod(x, divisor); });
      case 10:
        return both(forms.bits(AtomKind::bit_and, a.form, forms.constant(odd * 4)),
                    [=](Int128 x, Int128) { return x & (odd * 4); });
      case 11:
        return both(forms.bits(AtomKind::bit_or, a.form, forms.constant(odd)),
                    [=](Int128 x, Int128) { return x | odd; });
      case 12:
        return both(forms.bits(AtomKind::bit_xor, a.form, b.form),
                    [](Int128 x, Int128 y) { return x ^ y; });
      case 13:
        return both(forms.extreme(AtomKind::minimum, a.form, b.form),
                    [](Int128 x, Int128 y) { return std::min(x, y); });
      case 14:
        return both(forms.select(forms.negative(forms.subtract(a.form, b.form)), b.form, a.form),
                    [](Int128 x, Int128 y) { return x < y ? y : x; });
      case 15:
        return both(forms.select(forms.zero(forms.subtract(a.form, b.form)),
                                 forms.add(a.form, forms.constant(3)), b.form),
                    [](Int128 x, Int128 y) { return x == y ? x + 3 : y; });
      default:
        return both(forms.bits(AtomKind::bit_and, a.form, forms.constant(-by)),
                    [=](Int128 x, Int128) { return x & -by; });
    }
  }

  std::vector<Int128> values() {
    std::vector<Int128> made;
    for (const Interval& range : ranges) {
      const auto low = static_cast<std::int64_t>(range.low);
      const auto high = static_cast<std::int64_t>(range.high);
      made.push_back(below(4) == 0   ? low
                     : below(4) == 0 ? high
                                     : std::uniform_int_distribution{low, high}(random_));
    }
    return made;
  }

  [[nodiscard]] std::uint32_t below(std::uint32_t count) {
    return std::uniform_int_distribution<std::uint32_t>{0, count - 1}(random_);
  }

  static constexpr std::array<Interval, 6> ranges{
      {{0, 31}, {0, 1023}, {1, 1024}, {-100, 100}, {0, 65534}, {5, 7}}};
  Forms forms;

 private:
  std::mt19937 random_;
  std::vector<FormId> leaves_;
};

TEST(Form, SimplifiesWithoutChangingAnyValue) {
  std::size_t checked = 0;
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    RandomTree tree{seed};
    const auto node = tree.make(2 + seed % 4);
    if (node.form == no_form) continue;
    for (int round = 0; round < 20; ++round) {
      const auto values = tree.values();
      const auto wanted = node.value(values);
      ASSERT_TRUE(wanted);
      const auto got = tree.forms.evaluate(
          node.form, [&](const Atom& atom) { return std::optional{values.at(atom.which)}; });
      ASSERT_TRUE(got);
      ASSERT_TRUE(*got == *wanted)
          << "seed " << seed << ": " << tree.forms.text(node.form, [](const Atom& atom) {
               return "x" + std::to_string(atom.which);
             });
      const Interval& range = tree.forms.range_of(node.form);
      ASSERT_TRUE(*got >= range.low && *got <= range.high) << "seed " << seed;
      const auto divisor = tree.forms.divisor_of(node.form, [](const Atom&) { return 1U; });
      ASSERT_TRUE(*got % static_cast<std::int64_t>(divisor) == 0) << "seed " << seed;
      ++checked;
    }
  }
  EXPECT_GT(checked, 7000U);
}

TEST(Form, ReplacingLeavesEqualsBuildingWithTheReplacements) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    RandomTree tree{seed};
    const auto node = tree.make(4);
    if (node.form == no_form) continue;
    // Leaf 1 becomes 32 · leaf 0 + 5, which is in its range.
    const FormId first = tree.forms.leaf(AtomKind::parameter, 0, tree.ranges[0], 0, 1);
    const FormId with = tree.forms.add(tree.forms.scale(first, 32), tree.forms.constant(5));
    Forms::Replaced replaced;
    const FormId form = tree.forms.replace(
        node.form,
        [&](AtomId id) -> std::optional<FormId> {
          const Atom& atom = tree.forms.atom(id);
          if (atom.kind == AtomKind::parameter && atom.which == 1) return with;
          return std::nullopt;
        },
        replaced);
    if (form == no_form) continue;
    for (int round = 0; round < 10; ++round) {
      auto values = tree.values();
      values[1] = 32 * values[0] + 5;
      const auto got = tree.forms.evaluate(
          form, [&](const Atom& atom) { return std::optional{values.at(atom.which)}; });
      ASSERT_TRUE(got && *got == *node.value(values)) << "seed " << seed;
    }
  }
}

class FormText : public testing::Test {
 protected:
  FormId leaf(std::uint32_t which, Interval range = {0, 1023}) {
    return forms.leaf(AtomKind::special, which, range);
  }
  std::string text(FormId form) const {
    return forms.text(form, [](const Atom& atom) { return std::string{"xyzn"[atom.which]}; });
  }
  Forms forms;
};

TEST_F(FormText, FactorsOutWhatTermsShare) {
  const FormId x = leaf(0);
  const FormId y = leaf(1);
  const FormId n = leaf(3);
  const FormId row = forms.add(forms.scale(y, 16), x);
  EXPECT_EQ(text(forms.scale(row, 1920)), "1920·(16·y + x)");
  EXPECT_EQ(text(forms.scale(forms.add(forms.multiply(row, n), x), 4)), "4·(n·(16·y + x) + x)");
  EXPECT_EQ(text(forms.subtract(x, forms.constant(1))), "x − 1");
  EXPECT_EQ(text(forms.constant(0)), "0");
}

TEST_F(FormText, FoldsOperationsWhoseResultFollowsFromRanges) {
  const FormId x = leaf(0, {0, 31});
  const FormId y = leaf(1);
  const FormId threads = forms.add(forms.scale(y, 32), x);
  EXPECT_EQ(text(forms.quotient(threads, forms.constant(32))), "y");
  EXPECT_EQ(text(forms.remainder(threads, forms.constant(32))), "x");
  EXPECT_EQ(text(forms.quotient(threads, forms.constant(64))), "(y / 2)");
  EXPECT_EQ(text(forms.remainder(threads, forms.constant(64))), "32·(y % 2) + x");
  EXPECT_EQ(text(forms.remainder(leaf(1), forms.constant(1024))), "y");
  EXPECT_EQ(text(forms.bits(AtomKind::bit_or, forms.scale(y, 4), forms.constant(3))), "4·y + 3");
  EXPECT_EQ(text(forms.quotient(forms.quotient(y, forms.constant(6)), forms.constant(7))),
            "(y / 42)");
  const FormId rest = forms.remainder(y, forms.constant(7));
  EXPECT_EQ(text(forms.subtract(y, rest)), "7·(y / 7)");
  EXPECT_EQ(text(forms.add(forms.scale(forms.quotient(y, forms.constant(7)), 7), rest)), "y");
}

TEST_F(FormText, FoldsNothingThatASingleValueContradicts) {
  const FormId x = leaf(0, {0, 32});
  const FormId y = leaf(1);
  const FormId sum = forms.add(forms.scale(y, 32), x);
  EXPECT_EQ(text(forms.quotient(sum, forms.constant(64))), "((32·y + x) / 64)");
  EXPECT_EQ(text(forms.remainder(sum, forms.constant(64))), "((32·y + x) % 64)");
  const auto predicate = [&](FormId form) {
    return forms.predicate_text(form, true,
                                [](const Atom& atom) { return std::string{"xyzn"[atom.which]}; });
  };
  const auto difference = [&](std::int64_t by) {
    return forms.negative(forms.subtract(forms.scale(y, 4), forms.constant(by)));
  };
  EXPECT_EQ(predicate(difference(8)), "y < 2");
  EXPECT_EQ(predicate(difference(5)), "y < 2");
  EXPECT_EQ(predicate(difference(4)), "y < 1");
}

TEST_F(FormText, GivesUpOnFormsThatAreTooLarge) {
  FormId sum = forms.constant(0);
  for (std::uint32_t i = 0; i < 2 * Forms::most_terms; ++i)
    sum = forms.add(sum, forms.leaf(AtomKind::parameter, i, {0, 9}, 0, 4));
  EXPECT_EQ(sum, no_form);
  FormId deep = leaf(0);
  for (int i = 0; i < 100; ++i)
    deep = forms.remainder(forms.add(deep, forms.multiply(deep, deep)), forms.constant(1000003));
  EXPECT_EQ(deep, no_form);
  FormId large = forms.constant(std::int64_t{1} << 62U);
  EXPECT_EQ(forms.scale(large, 4), no_form);
}

// ---------------------------------------------------------------------------------------------
// The registers of a kernel.

/// A kernel between braces, with some registers, and parameters image (a pointer), n and m.
struct ReadKernel {
  explicit ReadKernel(const std::string& body, const std::string& directives = "")
      : module(ptx::read(".version 8.0\n.target sm_90\n.address_size 64\n"
                         ".visible .entry k(.param .u64 image, .param .u32 n, .param .u32 m, "
                         ".param .align 4 .b8 table[64])\n" +
                             directives +
                             "{\n.reg .pred %p<9>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n"
                             ".reg .f32 %f<9>;\n"
                             "ld.param.u64 %rd1, [image];\nld.param.u32 %r1, [n];\n"
                             "ld.param.u32 %r2, [m];\nmov.u32 %r3, %tid.x;\n"
                             "mov.u32 %r4, %ctaid.x;\nmov.u32 %r5, %ntid.x;\n" +
                             body + "ret;\n}\n",
                         "sample.ptx")),
        flow(control_flow(module.kernels.front())),
        forms(module, module.kernels.front(), flow) {}

  /// The text of the address of the last access to memory.
  std::string address() {
    const Meaning meaning = last();
    if (meaning.form == no_form) return "?";
    return forms.forms().text(meaning.form, [this](const Atom& atom) { return forms.name(atom); });
  }
  std::vector<std::string> conditions() {
    std::vector<std::string> texts;
    for (const Condition& one : forms.open_conditions(last().conditions, block))
      texts.push_back(forms.text(one));
    return texts;
  }
  Meaning last() {
    Meaning meaning;
    const auto& instructions = module.kernels.front().instructions;
    for (std::uint32_t i = 0; i < instructions.size(); ++i) {
      if (instructions[i].space() == ptx::Space::param) continue;
      for (const auto& operand : instructions[i].operands) {
        if (!operand.address) continue;
        meaning = forms.address(i, operand);
        block = flow.block_of[i];
      }
    }
    return meaning;
  }
  std::vector<Reason> hidden() {
    std::vector<Reason> reasons;
    forms.forms().visit(last().form, [&](AtomId id) {
      const Atom& atom = forms.forms().atom(id);
      if (atom.kind == AtomKind::hidden) reasons.push_back(forms.hidden(atom.which).reason);
    });
    return reasons;
  }

  ptx::Module module;
  ControlFlow flow;
  KernelForms forms;
  std::uint32_t block = 0;
};

TEST(KernelForms, StatesThatTheIndexOfAThreadMustNotWrapAround) {
  ReadKernel sample{
      "mad.lo.s32 %r6, %r4, %r5, %r3;\nmul.wide.s32 %rd2, %r6, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "ld.global.f32 %f1, [%rd3];\n"};
  EXPECT_EQ(sample.address(), "image + 4·(threadIdx.x + blockDim.x·blockIdx.x)");
  EXPECT_THAT(sample.conditions(), ElementsAre("threadIdx.x + blockDim.x·blockIdx.x < 2^31"));
}

TEST(KernelForms, ProvesThatASmallIndexDoesNotWrapAround) {
  ReadKernel sample{
      "mov.u32 %r7, %ctaid.y;\nmad.lo.s32 %r6, %r7, %r5, %r3;\nmul.wide.s32 %rd2, %r6, 4;\n"
      "add.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3+8];\n"};
  EXPECT_EQ(sample.address(), "image + 4·(threadIdx.x + blockDim.x·blockIdx.y + 2)");
  EXPECT_THAT(sample.conditions(), IsEmpty());
}

TEST(KernelForms, ProvesByTheBranchesThatLeadThere) {
  const std::string body =
      "add.s32 %r6, %r1, %r3;\nsetp.gt.u32 %p1, %r1, 1000;\n{}bra END;\nmul.wide.u32 %rd2, %r6, "
      "4;\n"
      "add.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\nEND:\n";
  ReadKernel guarded{fmt::format(fmt::runtime(body), "@%p1 ")};
  EXPECT_THAT(guarded.conditions(), IsEmpty());
  ReadKernel other_side{fmt::format(fmt::runtime(body), "@!%p1 ")};
  EXPECT_THAT(other_side.conditions(), ElementsAre("threadIdx.x + n < 2^32"));
}

TEST(KernelForms, ProvesUpToTheLastNumber) {
  // threadIdx.x is 1023 at the most.
  const std::string body =
      "add.s32 %r6, %r1, %r3;\nsetp.gt.u32 %p1, %r1, {};\n@%p1 bra END;\nmul.wide.u32 %rd2, %r6, "
      "4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\nEND:\n";
  ReadKernel just{fmt::format(fmt::runtime(body), 4294966272U)};
  EXPECT_THAT(just.conditions(), IsEmpty());
  ReadKernel one_more{fmt::format(fmt::runtime(body), 4294966273U)};
  EXPECT_THAT(one_more.conditions(), ElementsAre("threadIdx.x + n < 2^32"));
}

TEST(KernelForms, TakesTheMostThreadsForAProduct) {
  // A block of 256 x 1 threads may be launched as well.
  ReadKernel sample{
      "shr.u32 %r6, %r3, 4;\nmul.wide.u32 %rd2, %r6, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "ld.global.f32 %f1, [%rd3];\n",
      ".maxntid 16, 16, 1\n"};
  EXPECT_EQ(sample.address(), "image + 4·(threadIdx.x / 16)");
}

TEST(KernelForms, StatesThatALoopMustEndBeforeItsIndexWrapsAround) {
  const std::string body =
      "mov.u32 %r6, %r2;\nL1:\nmul.wide.u32 %rd2, %r6, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "ld.global.f32 %f1, [%rd3];\nadd.s32 %r6, %r6, {};\nsetp.lt.u32 %p1, %r6, %r1;\n"
      "@%p1 bra L1;\n";
  ReadKernel by_four{fmt::format(fmt::runtime(body), 4)};
  EXPECT_THAT(by_four.conditions(), testing::UnorderedElementsAre("n + 3 < 2^32", "m + 4 < 2^32"));
  ReadKernel by_one{fmt::format(fmt::runtime(body), 1)};
  EXPECT_THAT(by_one.conditions(), ElementsAre("m + 1 < 2^32"));
}

TEST(KernelForms, StatesWhatBothFactorsOfAWideProductNeed) {
  ReadKernel sample{
      "add.s32 %r6, %r1, %r2;\nadd.s32 %r7, %r1, %r3;\nmul.wide.u32 %rd2, %r6, %r7;\n"
      "add.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\n"};
  EXPECT_THAT(sample.conditions(),
              testing::UnorderedElementsAre("n + m < 2^32", "threadIdx.x + n < 2^32"));
}

TEST(KernelForms, DoesNotSelectByABranchThatBothPathsPass) {
  // The block at L1 is reached with either answer to the first question.
  ReadKernel sample{
      "setp.lt.u32 %p1, %r3, 8;\nsetp.lt.u32 %p2, %r1, 5;\nmov.u32 %r6, 0;\n@%p1 bra L1;\n"
      "@%p2 bra L2;\nL1:\nmov.u32 %r6, 1;\nL2:\nmul.wide.u32 %rd2, %r6, 4;\n"
      "add.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\n"};
  EXPECT_THAT(sample.hidden(), ElementsAre(Reason::paths));
}

TEST(KernelForms, KeepsTheWrapAroundOfAHash) {
  ReadKernel sample{
      "mul.lo.s32 %r6, %r3, -1640531535;\nshr.u32 %r7, %r6, 16;\nmul.wide.u32 %rd2, %r7, 4;\n"
      "add.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\n"};
  EXPECT_THAT(sample.address(), HasSubstr("mod 4294967296"));
  EXPECT_THAT(sample.conditions(), IsEmpty());
}

TEST(KernelForms, SolvesALoopThatCounts) {
  ReadKernel sample{
      "mov.u32 %r6, %r3;\nL1:\nmul.wide.u32 %rd2, %r6, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "ld.global.f32 %f1, [%rd3];\nadd.s32 %r6, %r6, 256;\nsetp.lt.u32 %p1, %r6, 4096;\n"
      "@%p1 bra L1;\n"};
  const std::string address = sample.address();
  EXPECT_THAT(address, testing::MatchesRegex("image \\+ 4·\\(256·loop@[0-9]+ \\+ threadIdx.x\\)"));
  EXPECT_THAT(sample.conditions(), IsEmpty());
  EXPECT_TRUE(sample.forms.forms().range_of(sample.forms.loop(0).counter).high == 15);
}

TEST(KernelForms, SolvesAPointerThatIsMovedAlong) {
  ReadKernel sample{
      "mul.wide.u32 %rd2, %r3, 8;\nadd.s64 %rd5, %rd1, %rd2;\ncvt.u64.u32 %rd6, %r2;\n"
      "mov.u32 %r6, 0;\nL1:\nld.global.f32 %f1, [%rd5+4];\nadd.s64 %rd5, %rd5, %rd6;\n"
      "add.s32 %r6, %r6, 1;\nsetp.ne.s32 %p1, %r6, %r1;\n@%p1 bra L1;\n"};
  EXPECT_THAT(sample.address(),
              testing::MatchesRegex("image \\+ 8·threadIdx.x \\+ m·loop@[0-9]+ \\+ 4"));
}

TEST(KernelForms, DoesNotTreatAStepAsConstantIfIterationsMayChangeIt) {
  // The clock is read in every pass, of no register.
  ReadKernel sample{
      "mov.u32 %r6, %r3;\nL1:\nmov.u32 %r7, %clock;\nadd.s32 %r6, %r6, %r7;\n"
      "mul.wide.u32 %rd2, %r6, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\n"
      "setp.lt.u32 %p1, %r6, %r1;\n@%p1 bra L1;\n"};
  EXPECT_THAT(sample.hidden(), testing::UnorderedElementsAre(Reason::loop, Reason::special));
}

TEST(KernelForms, FollowsAnIndexAfterItsLoop) {
  // Bottom-tested from 0 by 4 while below n: behind it the index is the next multiple of 4.
  ReadKernel sample{
      "mov.u32 %r6, 0;\nL1:\nadd.s32 %r6, %r6, 4;\nsetp.lt.u32 %p1, %r6, %r1;\n@%p1 bra L1;\n"
      "mul.wide.u32 %rd2, %r6, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\n"};
  Forms& forms = sample.forms.forms();
  const Meaning meaning = sample.last();
  for (const std::uint32_t n : {0U, 1U, 4U, 5U, 8U, 1001U}) {
    const auto got = forms.evaluate(meaning.form, [&](const Atom& atom) -> std::optional<Int128> {
      if (atom.kind != AtomKind::parameter) return std::nullopt;
      return atom.bytes == 8 ? 0 : Int128{n};
    });
    ASSERT_TRUE(got);
    EXPECT_EQ(static_cast<std::int64_t>(*got), 4 * std::max(4U, (n + 3) / 4 * 4)) << n;
  }
}

TEST(KernelForms, ChoosesByTheBranchWherePathsMeet) {
  ReadKernel sample{
      "setp.lt.u32 %p1, %r3, 8;\nmov.u32 %r6, 0;\n@!%p1 bra L1;\nmov.u32 %r6, %r3;\nL1:\n"
      "mul.wide.u32 %rd2, %r6, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\n"};
  EXPECT_EQ(sample.address(), "image + 4·(threadIdx.x < 8 ? threadIdx.x : 0)");
}

TEST(KernelForms, ReadsAGuardedMoveAsAChoice) {
  ReadKernel sample{
      "setp.lt.u32 %p1, %r3, 8;\nmov.u32 %r6, 0;\n@%p1 mov.u32 %r6, %r3;\n"
      "mul.wide.u32 %rd2, %r6, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\n"};
  EXPECT_EQ(sample.address(), "image + 4·(threadIdx.x < 8 ? threadIdx.x : 0)");
}

TEST(KernelForms, NamesTheReasonOfAnUnknownAddress) {
  const auto reasons = [](const std::string& makes_r6) {
    return ReadKernel{makes_r6 +
                      "mul.wide.u32 %rd2, %r6, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
                      "ld.global.f32 %f1, [%rd3];\n"}
        .hidden();
  };
  EXPECT_THAT(reasons("ld.global.u32 %r6, [%rd1];\n"), ElementsAre(Reason::load));
  EXPECT_THAT(reasons("atom.global.add.u32 %r6, [%rd1], 1;\n"), ElementsAre(Reason::atomic));
  EXPECT_THAT(reasons("shfl.sync.bfly.b32 %r6, %r3, 1, 31, -1;\n"),
              ElementsAre(Reason::other_lanes));
  EXPECT_THAT(reasons("cvt.rn.f32.u32 %f1, %r3;\ncvt.rzi.u32.f32 %r6, %f1;\n"),
              ElementsAre(Reason::floating));
  EXPECT_THAT(reasons("mov.u32 %r6, %smid;\n"), ElementsAre(Reason::special));
  EXPECT_THAT(reasons("popc.b32 %r6, %r3;\n"), ElementsAre(Reason::operation));
  EXPECT_THAT(reasons("mov.u32 %r6, %r3;\nL1:\nmul.lo.s32 %r6, %r6, 3;\nsetp.lt.u32 %p1, %r6, "
                      "%r1;\n@%p1 bra L1;\n"),
              ElementsAre(Reason::loop));
}

TEST(KernelForms, ReadsParametersByPlace) {
  ReadKernel sample{
      "mov.b64 %rd4, table;\nand.b32 %r6, %r3, 7;\nmul.wide.u32 %rd2, %r6, 4;\n"
      "add.s64 %rd3, %rd4, %rd2;\nld.param.u32 %r7, [%rd3+8];\nld.param.u32 %r8, [table+4];\n"
      "mad.lo.s32 %r9, %r7, 4, %r8;\ncvt.u64.u32 %rd5, %r9;\nadd.s64 %rd6, %rd1, %rd5;\n"
      "ld.global.f32 %f1, [%rd6];\n"};
  EXPECT_EQ(sample.address(), "image + 4·table[byte 4·(threadIdx.x % 8) + 8] + table[4]");
}

TEST(KernelForms, KnowsTheRequiredBlock) {
  ReadKernel sample{
      "mad.lo.s32 %r6, %r4, %r5, %r3;\nmul.wide.u32 %rd2, %r6, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "ld.global.f32 %f1, [%rd3];\n",
      ".reqntid 128, 1, 1\n"};
  EXPECT_EQ(sample.address(), "image + 4·(128·blockIdx.x + threadIdx.x)");
}

// ---------------------------------------------------------------------------------------------
// Random programs, run here.

struct FormTally {
  std::size_t programs = 0;
  std::size_t stores = 0;    ///< that were run
  std::size_t followed = 0;  ///< with a form of nothing hidden
  std::size_t held = 0;      ///< and their conditions true
  std::size_t wrapped = 0;   ///< the form is not the address, and a condition said so
};

/// Runs a program for some threads and holds every address against its form.
void check_program(std::uint32_t seed, FormTally& tally) {
  program::Program made{seed};
  SCOPED_TRACE(fmt::format("seed {}", seed));
  const ptx::Module module = ptx::read(made.ptx(), "random.ptx");
  const ptx::Kernel& kernel = module.kernels.front();
  const ControlFlow flow = control_flow(kernel);
  KernelForms forms{module, kernel, flow};
  ++tally.programs;

  struct Store {
    Meaning meaning;
    std::vector<Condition> conditions;
  };
  std::map<std::uint32_t, Store> stores;
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    if (kernel.instructions[i].opcode != "st" || !is_reachable(flow, flow.block_of[i])) continue;
    Store store{.meaning = forms.address(i, kernel.instructions[i].operands[0])};
    store.conditions = forms.open_conditions(store.meaning.conditions, flow.block_of[i]);
    stores[kernel.instructions[i].line] = store;
  }
  const std::vector<std::uint32_t> lines = program::loop_lines(kernel, flow);

  for (int round = 0; round < 12; ++round) {
    const program::Thread thread = made.thread();
    const auto seen = made.run(thread);
    if (!seen) continue;
    for (const program::Seen& one : *seen) {
      const Store& store = stores.at(one.line);
      const AtomValues values = program::atoms_of(thread, one, module, lines);
      ++tally.stores;
      const auto got = forms.forms().evaluate(store.meaning.form, values);
      if (!got) continue;
      ++tally.followed;
      const bool holds = program::hold(forms.forms(), store.conditions, values);
      const bool is_right = static_cast<std::uint64_t>(*got) == one.address;
      tally.held += holds ? 1 : 0;
      tally.wrapped += is_right ? 0 : 1;
      const auto names = [&](const Atom& atom) { return forms.name(atom); };
      ASSERT_TRUE(is_right || !holds) << made.ptx() << "\nline " << one.line << ": "
                                      << forms.forms().text(store.meaning.form, names) << " is "
                                      << static_cast<std::uint64_t>(*got) << ", not " << one.address
                                      << "; tid " << thread.special.at(ptx::Special::tid_x)
                                      << " ntid " << thread.special.at(ptx::Special::ntid_x)
                                      << " ctaid " << thread.special.at(ptx::Special::ctaid_x)
                                      << " n " << thread.numbers[0] << " m " << thread.numbers[1];
    }
  }
}

TEST(KernelForms, AreTheAddressesOfRandomProgramsWhileTheirConditionsHold) {
  FormTally tally;
  for (std::uint32_t seed = 0; seed < 120 && !testing::Test::HasFatalFailure(); ++seed)
    check_program(seed, tally);
  // Neither are conditions false throughout, nor is there nothing that could wrap around.
  EXPECT_GT(tally.stores, 5000U);
  EXPECT_GT(tally.followed * 10, tally.stores * 8);
  EXPECT_GT(tally.held * 10, tally.followed * 7);
  EXPECT_GT(tally.wrapped, 30U);
}

}  // namespace
}  // namespace strata::access
