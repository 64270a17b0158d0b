// libFuzzer target: any bytes are a sweep or are refused in one line. Needs clang; host only.
//
//   sweep_fuzz -max_len=20000 -timeout=10 CORPUS sweeps
#include "harness/case/error.hpp"
#include "harness/case/sweep.hpp"
#include "harness/case/text.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using strata::Backend;

void nothing(strata::Session& /*session*/) {}

// Named as in the sweeps of this project, so that their text gets through as a seed.
const std::vector<strata::Enrolled>& known() {
  static const std::vector<strata::Enrolled> all = [] {
    const auto words = [](const char* name, const std::vector<std::string>& choices) {
      return strata::Axis{.name = name, .meaning = "", .choices = choices, .defaults = choices};
    };
    const auto numbers = [](const char* name, long long least, long long most) {
      return strata::Axis{.name = name,
                          .meaning = "",
                          .choices = {},
                          .minimum = least,
                          .maximum = most,
                          .defaults = {std::to_string(least)}};
    };
    const strata::Benchmark layout_read{
        .suite = "micro",
        .name = "layout_read",
        .question = "?",
        .axes = {words("layout", {"aos", "soa", "aoas", "soaoas", "aosoa32"}),
                 words("residency", {"l1", "l2", "l3", "dram"}), words("cores", {"one", "all"}),
                 words("fields", {"all", "posmass"}), numbers("block_size", 32, 1024),
                 numbers("warps_per_sm", 1, 64)},
        .quantities = {},
        .excludes = {}};
    const strata::Benchmark timer_check{.suite = "micro",
                                        .name = "timer_check",
                                        .question = "?",
                                        .axes = {words("target", {"l1"})},
                                        .quantities = {},
                                        .excludes = {}};
    return std::vector<strata::Enrolled>{{layout_read, nothing, nothing},
                                         {timer_check, nothing, nullptr}};
  }();
  return all;
}

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  try {
    const auto sweep = strata::parse_sweep(text, "fuzz.yaml", known());
    require(!sweep.entries.empty());
    for (const auto backend : {Backend::cuda, Backend::host}) {
      (void)strata::expand(sweep, backend, known());
    }
  } catch (const strata::UsageError& error) {
    const std::string_view message = error.what();
    require(message.starts_with("fuzz.yaml:"));
    require(message.find('\n') == std::string_view::npos);
    require(!strata::find_invalid_utf8(message));
  }
  return 0;
}
