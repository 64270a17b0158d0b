// Every rung of the n-body ladder that runs on a GPU, in every layout and problem, against double
// precision: on random bodies and on those that kernels go wrong on. And faults that were planted.
#include "harness/base/error.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/measure/session.hpp"
#include "harness/model/split_mix.hpp"
#include "harness/run/case_runner.hpp"
#include "nbody/gravity/bodies.cuh"
#include "nbody/gravity/fleet.cuh"
#include "nbody/gravity/ladder.hpp"
#include "nbody/gravity/rung_kernels.cuh"
#include "tests/host/rungs_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <string>
#include <variant>
#include <vector>

namespace strata::nbody {
namespace {

Device& gpu() {
  static const auto device = open_cuda_device(0);
  return *device;
}

/// A session with the axis values of a case.
class Asked {
 public:
  explicit Asked(Params params) {
    record_.which = {
        .suite = "nbody", .benchmark = "x", .backend = Backend::cuda, .params = params};
  }
  [[nodiscard]] Session session() { return {plan_, gpu(), cache_, record_, counting_}; }

 private:
  Plan plan_;
  Cache cache_;
  CaseRecord record_;
  Counting counting_;
};

/// The axes of a rung's cases, beside the problem: all layouts, all values of its own axes.
std::vector<Params> all_choices(const Rung& rung) {
  std::vector<Params> all;
  for (const std::string& layout : rung.layouts)
    all.push_back({{"layout", layout}});
  constexpr int of_the_problem = 3;  // problem, systems, bodies
  for (const Axis& axis : rung.axes | std::views::drop(of_the_problem)) {
    if (axis.name == "sort_every") continue;  // meaningless for one step
    std::vector<Params> more;
    for (const Params& one : all) {
      for (const std::string& value : axis.choices) {
        Params with = one;
        with[axis.name] = value;
        more.push_back(with);
      }
    }
    all = more;
  }
  return all;
}

/// Bodies that a rung may go wrong on.
Bodies hard_bodies(const Problem& problem, const std::string& kind) {
  Bodies bodies = generate(problem);
  if (kind == "coincident" && bodies.bodies > 1) {
    for (const Field f : {Field::px, Field::py, Field::pz})
      bodies.at(f, 1) = bodies.at(f, 0);
  }
  if (kind == "heavy") bodies.at(Field::mass, bodies.total() / 2) = 1e6F;
  SplitMix random{1};
  for (std::size_t i = 0; i < bodies.total(); ++i) {
    if (kind == "ratio")
      bodies.at(Field::mass, i) = std::exp2(static_cast<float>(random.below(20)));
    for (const Field f : {Field::px, Field::py, Field::pz}) {
      if (kind == "offset") bodies.at(f, i) += 100;
      if (kind == "doubles" && i % 2 == 1) bodies.at(f, i) = bodies.at(f, i - 1);
      if (kind == "clump" && i < bodies.total() / 8) bodies.at(f, i) = bodies.at(f, 0);
      if (kind == "far out" && i == bodies.total() / 2) bodies.at(f, i) = 1e5F;
    }
  }
  return bodies;
}

Verdict verdict_of(const Rung& rung, const RungKernel& kernel, const std::string& layout,
                   const Problem& problem, const Bodies& bodies, std::string& said,
                   bool dominated = false) {
  const Verification found =
      verify(kernel, layout, bodies, problem.moves(), device_reference(bodies));
  const Gate gate =
      accuracy_gate(accuracy_of(rung, problem.bodies, found.error, "accelerations", dominated));
  said = gate.detail;
  if (found.misplaced > 0) return Verdict::failed;
  return gate.verdict;
}

class EveryRung : public testing::TestWithParam<std::string> {};

/// Verifies the rung in all its choices on these problems; returns how often.
std::size_t verify_all(const Rung& rung, const std::vector<std::uint32_t>& sizes,
                       const std::vector<std::string>& kinds_of_bodies) {
  const MakeRungKernel make = maker_of<MakeRungKernel>(rung.name);
  std::size_t verified = 0;
  for (const Kind kind : {Kind::single, Kind::galaxies}) {
    for (const std::uint32_t bodies : sizes) {
      for (const std::string& hard : kinds_of_bodies) {
        const Problem problem{
            .kind = kind, .systems = kind == Kind::galaxies ? 3U : 1U, .bodies = bodies};
        const Bodies all = hard_bodies(problem, hard);
        for (Params params : all_choices(rung)) {
          params["problem"] = std::string{to_string(kind)};
          params["systems"] = std::to_string(problem.systems);
          params["bodies"] = std::to_string(bodies);
          params.emplace("sort_every", "1");
          const std::string layout = params.at("layout");
          Asked asked{params};
          const Session session = asked.session();
          std::string said;
          EXPECT_EQ(
              verdict_of(rung, make(session, problem), layout, problem, all, said, hard == "heavy"),
              Verdict::passed)
              << rung.name << ' ' << layout << ' ' << to_string(kind) << ' ' << bodies << ' '
              << hard << ": " << said;
          testing::Test::RecordProperty(layout + ' ' + std::string{to_string(kind)} + ' ' +
                                            std::to_string(bodies) + ' ' + hard,
                                        said);
          ++verified;
        }
      }
    }
  }
  return verified;
}

TEST_P(EveryRung, IsRightOnEveryProblemLayoutAndSize) {
  EXPECT_GE(verify_all(rung_named(GetParam()), {1, 2, 33, 257, 1000, 2049},
                       {"random", "coincident", "heavy"}),
            36U);
}

/// Short enough for a sanitizer: all choices, once.
TEST_P(EveryRung, IsRightOnAnOddSize) {
  EXPECT_GE(verify_all(rung_named(GetParam()), {257}, {"random"}), 2U);
}

TEST(TensorCores, IsRightForBodiesThatAreHardToGroup) {
  EXPECT_GE(verify_all(rung_named("tensor_cores"), {63, 64, 65, 513, 1025, 4097},
                       {"random", "ratio", "offset", "doubles", "clump", "far out", "heavy"}),
            84U);
}

TEST(TensorCores, HasMostPairsOfManyBodiesInTensorForm) {
  const Problem problem{.kind = Kind::single, .systems = 1, .bodies = 65536};
  Asked asked{{{"layout", "soaoas"}, {"ratio", "1.25"}, {"sort_every", "1"}}};
  const Session session = asked.session();
  const RungKernel kernel = maker_of<MakeRungKernel>("tensor_cores")(session, problem);
  std::string said;
  EXPECT_EQ(
      verdict_of(rung_named("tensor_cores"), kernel, "soaoas", problem, generate(problem), said),
      Verdict::passed)
      << said;
  const double near = std::get<double>(kernel.facts().at("near_share"));
  EXPECT_GT(near, 0.01);
  EXPECT_LT(near, 0.08);
}

/// The second step, of bodies that have all moved far, keeps the order of the first.
TEST(TensorCores, IsRightInTheOrderOfAnEarlierStep) {
  const Rung& rung = rung_named("tensor_cores");
  const Problem problem{.kind = Kind::galaxies, .systems = 3, .bodies = 8193};
  Asked asked{{{"layout", "soaoas"}, {"ratio", "1.25"}, {"sort_every", "4"}}};
  const Session session = asked.session();
  const RungKernel kernel = maker_of<MakeRungKernel>(rung.name)(session, problem);
  Bodies bodies = generate(problem);
  const auto after_step = [&](std::size_t number) {
    const auto take = [&](DeviceSteps& buffers, Step step) {
      const Stream stream;
      restore(buffers, stream);
      step.number = number;
      kernel.launch(step, stream.get());
      cuda_check(cudaGetLastError());
      stream.synchronize();
    };
    return verified_step<DeviceBuffer<float>>("soaoas", bodies, /*moves=*/true,
                                              device_reference(bodies), take);
  };
  const auto near = [&] { return std::get<double>(kernel.facts().at("near_share")); };
  (void)after_step(0);
  const double near_in_order = near();
  for (const Field f : {Field::px, Field::py, Field::pz}) {
    for (std::uint32_t s = 0; s < problem.systems; ++s) {
      auto* const first = bodies.fields[static_cast<std::size_t>(f)].data() + s * problem.bodies;
      std::reverse(first, first + problem.bodies);
    }
  }
  const Verification found = after_step(1);
  const Gate gate = accuracy_gate(accuracy_of(rung, problem.bodies, found.error, "accelerations"));
  EXPECT_EQ(gate.verdict, Verdict::passed) << gate.detail;
  EXPECT_EQ(found.misplaced, 0U);
  EXPECT_GT(near(), 1.5 * near_in_order) << "the bodies were sorted";
}

std::vector<std::string> names(bool of_several_gpus) {
  std::vector<std::string> all;
  for (const Rung& rung : rungs_of("nbody", Backend::cuda)) {
    if (rung.has_axis("gpus") == of_several_gpus) all.push_back(rung.name);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Ladder, EveryRung, testing::ValuesIn(names(false)),
                         [](const auto& info) { return info.param; });

// ---- Several GPUs -------------------------------------------------------------------------------

/// The error that so many GPUs, or parts on one, leave of a problem, by the rung's bound.
Gate shared_error(const std::string& rung, const Problem& problem, std::uint32_t gpus) {
  Asked asked{{{"layout", "soaoas"},
               {"per_thread", "4"},
               {"ratio", "1.25"},
               {"sort_every", "1"},
               {"math", "exact"}}};
  const Bodies still = at_rest(generate(problem));
  Fleet fleet{asked.session(), problem, still, gpus, maker_of<MakeFleet>(rung)};
  return accuracy_gate(accuracy_of(rung_named(rung), problem.bodies,
                                   fleet.error(device_reference(still)), "accelerations"));
}

TEST(Fleets, AreRightHoweverManyGpusShareTheWork) {
  ASSERT_EQ(names(true).size(), 3U);
  for (const std::string& rung : names(true)) {
    for (const std::uint32_t gpus : {1U, 2U, 3U, 8U}) {
      for (const std::uint32_t bodies : {1U, 65U, 1025U, 20'000U}) {
        for (const std::uint32_t systems : {1U, 3U}) {
          const Problem problem{.kind = systems > 1 ? Kind::galaxies : Kind::single,
                                .systems = systems,
                                .bodies = bodies};
          const Gate gate = shared_error(rung, problem, gpus);
          EXPECT_EQ(gate.verdict, Verdict::passed) << rung << ", " << gpus << " GPUs, " << systems
                                                   << " of " << bodies << ": " << gate.detail;
        }
      }
    }
  }
}

// ---- Planted faults -----------------------------------------------------------------------------

constexpr unsigned block = 128;
enum class Fault { none, no_barrier, one_loader, no_tail };

template <Fault fault>
__global__ void __launch_bounds__(block) faulty(Work work) {
  __shared__ float4 tile[block];
  const std::uint32_t mine = blockIdx.x * block + threadIdx.x;
  const bool real = mine < work.bodies;
  const float4 me = real ? read_posmass<Soaoas>(work.from, mine, work.total) : massless();
  Acceleration pulls;
  tile[threadIdx.x] = massless();
  __syncthreads();
  const std::uint32_t end = fault == Fault::no_tail ? work.bodies / block * block : work.bodies;
  for (std::uint32_t start = 0; start < end; start += block) {
    const std::uint32_t j = start + threadIdx.x;
    if (fault == Fault::no_barrier && threadIdx.x >= block / 2) __nanosleep(20'000);
    if (fault != Fault::one_loader || threadIdx.x == 0) {
      tile[threadIdx.x] =
          j < work.bodies ? read_posmass<Soaoas>(work.from, j, work.total) : massless();
    }
    if (fault != Fault::no_barrier) __syncthreads();
    for (unsigned k = 0; k < block; ++k)
      pull<Fast>(pulls, me, tile[k], work.softening_squared);
    if (fault != Fault::no_barrier) __syncthreads();
  }
  if (real) finish<Soaoas, false>(work, mine, me, pulls);
}

template <Fault fault>
Verdict verdict_of_fault() {
  const Rung& rung = rung_named("unrolled");
  const Problem problem{.kind = Kind::single, .systems = 1, .bodies = 5 * block + 7};
  std::string said;
  return verdict_of(rung, tile_kernel(faulty<fault>, block, 1, problem), "soaoas", problem,
                    generate(problem), said);
}

TEST(PlantedFaults, AreRefused) {
  (void)gpu();
  EXPECT_EQ(verdict_of_fault<Fault::none>(), Verdict::passed);
  EXPECT_EQ(verdict_of_fault<Fault::no_barrier>(), Verdict::failed);
  EXPECT_EQ(verdict_of_fault<Fault::one_loader>(), Verdict::failed);
  EXPECT_EQ(verdict_of_fault<Fault::no_tail>(), Verdict::failed);
}

}  // namespace
}  // namespace strata::nbody
