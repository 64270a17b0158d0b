// Prints the first numbers of a run folder, for first_numbers_test.py.
#include "harness/base/regular_file.hpp"
#include "harness/record/record_json.hpp"
#include "harness/run/first_numbers.hpp"

#include <cstdio>
#include <fcntl.h>
#include <filesystem>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path run{argv[1]};
  const auto context = strata::from_json<strata::RunContext>(
      strata::read_regular(run / "context.json", O_NOFOLLOW, "the context of a run", 1 << 25));
  const auto records = strata::read_samples(run / "samples.jsonl", context.sweep.cases);
  for (const auto& line : strata::first_numbers(context, records))
    std::puts(line.c_str());
  return 0;
}
