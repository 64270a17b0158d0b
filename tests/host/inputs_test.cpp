#include "harness/access/inputs.hpp"

#include "harness/base/error.hpp"
#include "tests/host/temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace strata::access {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

constexpr std::string_view ptx_text = ".version 9.0\n.target sm_90\n.entry k() { ret; }\n";

/// Files of a test, and tools that are shell scripts.
class Inputs : public testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view text) {
    std::ofstream{folder_.path() / name, std::ios::binary} << text;
    return (folder_.path() / name).string();
  }
  /// A tool of PATH. Its first lines record its arguments.
  void install(const std::string& name, std::string_view script) {
    fs::create_directories(folder_.path() / "bin");
    const std::string file =
        write("bin/" + name, fmt::format("#!/bin/sh\nfor word; do echo \"$word\" >> '{}'; done\n"
                                         "echo \"$TMPDIR\" > '{}'\n{}\n",
                                         words_file(), tmpdir_file(), script));
    fs::permissions(file, fs::perms::owner_all);
    path_ = (folder_.path() / "bin").string() + ":/usr/bin:/bin";
    (void)::setenv("PATH", path_.c_str(), 1);
  }
  std::string words_file() { return (folder_.path() / "words").string(); }
  std::string tmpdir_file() { return (folder_.path() / "tmpdir").string(); }
  static std::string text_of(const std::string& file) {
    std::ifstream stream{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{stream}, std::istreambuf_iterator<char>{}};
  }
  void TearDown() override { (void)::setenv("PATH", before_.c_str(), 1); }

  static constexpr std::string_view writes_ptx =  // into what follows -o
      "while [ $# -gt 0 ]; do if [ \"$1\" = -o ]; then out=$2; fi; shift; done\n"
      "printf '.version 9.0\\n.target sm_90\\n.entry k() { ret; }\\n' > \"$out\"";

 private:
  TemporaryFolder folder_;
  std::string path_;
  std::string before_ = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
};

TEST_F(Inputs, APtxFileIsReadAsItIs) {
  const std::string file = write("k.ptx", ptx_text);
  const auto inputs = read_inputs(file, {});
  ASSERT_EQ(inputs.size(), 1U);
  EXPECT_EQ(inputs[0].name, file);
  EXPECT_EQ(inputs[0].module.kernels.at(0).name, "k");
}

TEST_F(Inputs, ASourceIsCompiledWithItsLines) {
  install("nvcc", writes_ptx);
  const std::string source = write("a b;c.cu", "");
  const auto inputs =
      read_inputs(source, {.flags = {"-I a", "-DX='$(id)'"}, .architecture = "sm_90"});
  EXPECT_EQ(inputs.at(0).name, source);
  EXPECT_EQ(inputs[0].module.kernels.at(0).name, "k");
  EXPECT_THAT(text_of(words_file()),
              AllOf(StartsWith("-ptx\n-lineinfo\n-arch=sm_90\n-I a\n-DX='$(id)'\n-o\n"),
                    EndsWith("\n" + source + "\n")))
      << "no shell came between";
  std::string used = text_of(tmpdir_file());
  used.pop_back();
  EXPECT_THAT(used, HasSubstr("strata-access-"));
  EXPECT_FALSE(fs::exists(used)) << "the private folder is gone";
}

TEST_F(Inputs, NamesThatNvccPassesToAShellAreRefused) {
  install("nvcc", writes_ptx);
  for (const char* name : {"$(id).cu", "`id`.cu", "a\".cu", "a\nb.cu"}) {
    const std::string source = write(name, "");
    EXPECT_THAT([&] { (void)read_inputs(source, {}); },
                ThrowsMessage<UsageError>(HasSubstr("rename the file")));
    EXPECT_FALSE(fs::exists(words_file())) << "nvcc is not started";
  }
  install("clang++", writes_ptx);
  EXPECT_EQ(read_inputs(write("$(id).cu", ""), {.compiler = "clang++"}).size(), 1U);
}

TEST_F(Inputs, ClangIsAskedInItsOwnWords) {
  install("clang++", writes_ptx);
  const auto inputs =
      read_inputs(write("k.cu", ""), {.compiler = "clang++", .architecture = "sm_80"});
  EXPECT_EQ(inputs.size(), 1U);
  EXPECT_THAT(text_of(words_file()),
              StartsWith("-x\ncuda\n--cuda-device-only\n-S\n-O3\n-gline-tables-only\n"
                         "--cuda-gpu-arch=sm_80\n-o\n"));
}

TEST_F(Inputs, WhatTheCompilerSaysIsPassedOn) {
  install("nvcc", "echo 'k.cu(3): error: expected a \";\"'; exit 2");
  const std::string file = write("k.cu", "");
  testing::internal::CaptureStderr();
  EXPECT_THAT([&] { (void)read_inputs(file, {}); },
              ThrowsMessage<UsageError>(
                  AllOf(StartsWith(file + ": nvcc exited with status 2; expected CUDA C++ that"),
                        HasSubstr("--flag"))));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "k.cu(3): error: expected a \";\"\n");
}

TEST_F(Inputs, ACompilerThatHangsIsEnded) {
  install("nvcc", "sleep 1000 & sleep 1000");
  const std::string file = write("k.cu", "");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT([&] { (void)read_inputs(file, {.patience = std::chrono::seconds{1}}); },
              ThrowsMessage<UsageError>(HasSubstr("nvcc did not finish within 1 s")));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{60});
}

TEST_F(Inputs, ACompilerThatSaysTooMuchIsHeardToTheEnd) {
  install("nvcc", "head -c 3000000 /dev/zero | tr '\\0' 'x'; exit 1");
  const std::string file = write("k.cu", "");
  testing::internal::CaptureStderr();
  EXPECT_THROW((void)read_inputs(file, {}), UsageError);
  EXPECT_EQ(testing::internal::GetCapturedStderr().size(), (1U << 16U) + 1);
}

TEST_F(Inputs, AMissingCompilerIsNamed) {
  const std::string file = write("k.cu", "");
  EXPECT_THAT([&] { (void)read_inputs(file, {.compiler = "no-such-compiler"}); },
              ThrowsMessage<UsageError>(StartsWith(file + ": there is no 'no-such-compiler'")));
}

TEST_F(Inputs, ABinaryGivesEachPtxInIt) {
  install("cuobjdump", fmt::format("cat <<'E'\n\nFatbin ptx code:\n================\narch = sm_90\n"
                                   "code version = [9,0]\nhost = linux\n\n//\n{}\n"
                                   "Fatbin elf code:\n===\narch = sm_80\n\nFatbin ptx code:\n===\n"
                                   "\n{}E",
                                   ptx_text, ptx_text));
  const std::string file = write("app",
                                 "\x7f"
                                 "ELF...");
  const auto inputs = read_inputs(file, {});
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[0].name, file + "#1");
  EXPECT_EQ(inputs[1].name, file + "#2");
  EXPECT_EQ(inputs[1].module.kernels.size(), 1U);
  EXPECT_THAT(text_of(words_file()), AllOf(StartsWith("-ptx\n/"), EndsWith("/app\n")));
}

TEST_F(Inputs, ABinaryOfMachineCodeAloneNamesTheFlagThatMendsIt) {
  install("cuobjdump", "echo");
  const std::string file = write("app.cubin",
                                 "\x7f"
                                 "ELF...");
  EXPECT_THAT([&] { (void)read_inputs(file, {}); },
              ThrowsMessage<UsageError>(
                  AllOf(StartsWith(file + ": contains no PTX"),
                        EndsWith("compile it with -gencode arch=compute_90,code=compute_90"))));
}

TEST_F(Inputs, WhatIsNoFileIsRefused) {
  EXPECT_THAT([&] { (void)read_inputs("/nowhere/k.ptx", {}); },
              ThrowsMessage<UsageError>(StartsWith("/nowhere/k.ptx: cannot be read")));
  EXPECT_THROW((void)read_inputs("/dev/null", {}), UsageError);
  EXPECT_THROW((void)read_inputs("/tmp", {}), UsageError);
  const std::string empty = write("k.ptx", "");
  EXPECT_THAT([&] { (void)read_inputs(empty, {}); },
              ThrowsMessage<UsageError>(StartsWith(empty + ":1: nothing; expected")));
}

TEST(Unoptimised, CodeFitsTheThreadsOfItsBlock) {
  EXPECT_EQ(unoptimised("k", 1024).most_registers, 64U);
  EXPECT_EQ(unoptimised("k", 1000).most_registers, 64U);
  EXPECT_EQ(unoptimised("k", 640).most_registers, 96U);
  EXPECT_EQ(unoptimised("k", 257).most_registers, 168U);
  EXPECT_EQ(unoptimised("k", 256).most_registers, 0U);
  EXPECT_EQ(unoptimised("k", 1).most_registers, 0U);
  EXPECT_EQ(unoptimised("k", 1).entry, "k");
  EXPECT_FALSE(unoptimised("k", 1).is_optimised);
}

TEST(TextsInDump, AreCutWhereTheNextMemberBegins) {
  EXPECT_THAT(texts_in_dump("member a.o:x\nFatbin ptx code:\n\n.version 8.0\na\n\nmember b.o:\n"
                            "Fatbin ptx code:\n.version 9.0\nb"),
              ElementsAre(".version 8.0\na\n\n", ".version 9.0\nb"));
  EXPECT_THAT(texts_in_dump(""), ElementsAre());
}

}  // namespace
}  // namespace strata::access
