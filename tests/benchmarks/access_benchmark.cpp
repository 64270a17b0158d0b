// How fast are kernels analysed? A transposition of 128 × 128 words through tiles of shared memory,
// on one host thread: its PTX is read, its requests are computed warp by warp, and it is run.
#include "harness/access/evaluate.hpp"
#include "harness/access/execute.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/program.hpp"
#include "harness/access/ptx.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace strata::access {
namespace {

constexpr std::size_t side = 128;
constexpr std::size_t words = side * side;
constexpr std::uint64_t blocks = 64;

std::string text_of(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream{std::string{STRATA_PTX_DATA} + '/' + name}.rdbuf();
  return std::move(text).str();
}

std::vector<ptx::Module> modules() {
  std::vector<ptx::Module> all;
  all.push_back(ptx::read(text_of("numba_transpose.ptx"), "numba_transpose.ptx"));
  return all;
}

Launch launch_of(const std::vector<ptx::Module>& modules) {
  return parse_launch(text_of("transpose.yaml"), "transpose.yaml", modules);
}

/// The matrix, its transposition and a variable of the module, in this order.
class Matrices final : public DeviceMemory {
 public:
  explicit Matrices(const Launch& launch) : launch_{launch}, data_(launch.buffers.size()) {
    for (auto& matrix : data_)
      matrix.resize(words);
    for (std::size_t i = 0; i < words; ++i)
      data_.front()[i] = static_cast<std::uint32_t>(i);
  }
  std::uint8_t* at(std::uint64_t address, std::uint64_t bytes) override {
    for (std::size_t b = 0; b < data_.size(); ++b) {
      const Buffer& buffer = launch_.buffers[b];
      if (buffer.contains(address, bytes)) {
        return reinterpret_cast<std::uint8_t*>(data_[b].data()) + (address - buffer.address);
      }
    }
    return nullptr;
  }
  [[nodiscard]] bool are_transposed() const {
    for (std::size_t i = 0; i < words; ++i) {
      if (data_[1][i] != i % side * side + i / side) return false;
    }
    return true;
  }

 private:
  const Launch& launch_;
  std::vector<std::vector<std::uint32_t>> data_;
};

void ptx_is_read(benchmark::State& state) {
  const std::string text = text_of("triton_product.ptx");
  std::size_t kernels = 0;
  for (auto _ : state)
    kernels = ptx::read(text, "triton_product.ptx").kernels.size();
  if (kernels != 1) state.SkipWithError("not one kernel");
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(ptx_is_read);

void requests_are_evaluated(benchmark::State& state) {
  const auto all = modules();
  const Launch launch = launch_of(all);
  Evaluation evaluation;
  for (auto _ : state)
    evaluation = evaluate(all[0], launch, {.threads = 1});
  if (!evaluation.is_exact() || evaluation.blocks_run != blocks) {
    state.SkipWithError("not every block is exact");
  }
  state.counters["instructions"] = benchmark::Counter(
      static_cast<double>(evaluation.instructions), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(requests_are_evaluated);

void kernel_is_executed(benchmark::State& state) {
  const auto all = modules();
  const Launch launch = launch_of(all);
  const Program program = compile(all[0], launch, Part::results);
  Matrices matrices{launch};
  Executed executed;
  for (auto _ : state)
    executed = execute(all[0], launch, program, matrices);
  if (!matrices.are_transposed()) state.SkipWithError("the matrix is not transposed");
  state.counters["instructions"] = benchmark::Counter(
      static_cast<double>(executed.instructions), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(kernel_is_executed);

}  // namespace
}  // namespace strata::access
