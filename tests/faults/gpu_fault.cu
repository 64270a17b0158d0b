// What happens to a run when a kernel does what no kernel should? One kind of misbehaviour a case;
// only the test executable has them.
#undef NDEBUG  // an assertion of a kernel is one of them
#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/measure/session.hpp"

#include <cassert>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>

namespace strata::gpu_fault {
namespace {

enum class Kind {
  ok,
  illegal_address,
  misaligned_address,
  assertion,
  trap,
  bad_launch,
  out_of_memory,
  endless,
  crash
};
constexpr auto kinds = choices_of<Kind>("ok", "illegal_address", "misaligned_address", "assertion",
                                        "trap", "bad_launch", "out_of_memory", "endless", "crash");

Benchmark declare() {
  return {.suite = "faults",
          .name = "fault",
          .question = "What happens to a run when a kernel misbehaves?",
          .axes = {number_axis("index", "tells cases of one kind apart", 0, 99, {"0"}),
                   kinds.axis("kind", "what the kernel does")},
          .quantities = {{"answer", "the case's index"}},
          .seconds_per_case = 0.01,
          .excludes = {}};
}

__global__ void misbehave(Kind kind, double index, double* answer) {
  const auto at = reinterpret_cast<std::size_t>(answer);
  switch (kind) {
    case Kind::illegal_address:
      *reinterpret_cast<volatile double*>(at + (std::size_t{1} << 46U)) = index;
      break;
    case Kind::misaligned_address:
      *reinterpret_cast<volatile double*>(at + 1) = index;
      break;
    case Kind::assertion:
      assert(index < 0);
      break;
    case Kind::trap:
      __trap();
      break;
    case Kind::endless:
    case Kind::crash:
      while (*static_cast<volatile double*>(answer) == 0) {
      }
      break;
    default:
      *answer = index;
  }
}

void run(Session& session) {
  const Kind kind = kinds.of(session.param("kind"));
  constexpr std::size_t too_much = std::size_t{1} << 46U;
  const DeviceBuffer<double> answer{kind == Kind::out_of_memory ? too_much : 1};
  cuda_check(cudaMemset(answer.data(), 0, sizeof(double)));
  // So many kernels do well before the one that does not: it comes early or late in its case.
  const auto index = session.integer("index");
  for (std::int64_t i = 0; i < index; ++i)
    misbehave<<<1, 1>>>(Kind::ok, 0, answer.data());
  constexpr unsigned too_many = 4096;
  misbehave<<<1, kind == Kind::bad_launch ? too_many : 1>>>(kind, static_cast<double>(index),
                                                            answer.data());
  cuda_check(cudaGetLastError());
  if (kind == Kind::crash) (void)std::raise(SIGSEGV);
  double landed = -1;
  cuda_check(cudaMemcpy(&landed, answer.data(), sizeof landed, cudaMemcpyDeviceToHost));
  session.add(Measurement{.quantity = "answer",
                          .unit = "1",
                          .provenance = Provenance::modelled,
                          .method = "given",
                          .samples = {landed}});
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::gpu_fault
