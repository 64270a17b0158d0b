// Every rung of the ladder of neighbours that runs on a GPU finds the neighbours that double
// precision finds, moves agents as it does, and computes, copies and launches as much as predicted:
// on random agents and on those that kernels go wrong on. And faults that were planted.
#include "harness/record/gates.hpp"
#include "nbody/neighbours/device_case.cuh"
#include "nbody/neighbours/sorted_cells.cuh"
#include "tests/host/neighbours_sets.hpp"
#include "tests/host/rungs_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace strata::neighbours {
namespace {

constexpr std::size_t few_steps = 3;

/// Those of the rungs on a CPU, and some that fill several blocks, the last of them not.
const std::vector<Set>& sets_for_blocks() {
  static const std::vector<Set> all = [] {
    std::vector<Set> sets = all_sets();
    for (const Kind kind : {Kind::boids, Kind::circles, Kind::list}) {
      for (const std::uint32_t agents : {256U, 257U, 2049U})
        sets.push_back(generated(kind, agents, Spread::uniform));
      // So many in a cluster that lists outgrow what they begin with.
      sets.push_back(generated(kind, 2049, Spread::clustered));
      if (kind != Kind::boids) sets.push_back(generated(kind, 2049, Spread::jittered));
    }
    return sets;
  }();
  return all;
}

std::uint32_t longest_of(const Verification& seen) {
  return std::ranges::max(seen.end_counts);
}

class NeighboursOnGpu : public testing::TestWithParam<Rung> {};

void expect_right(const Rung& rung, const Set& set, const Choice& choice) {
  const DeviceKernel kernel = maker_of<MakeDeviceKernel>(rung.name)(set.problem, choice);
  const DeviceVerification verified = verify_on_device(kernel, set.problem, set.right, few_steps);
  const Verification& seen = verified.seen;
  EXPECT_TRUE(seen.wrong == 0 || !rung.exact) << seen.wrong;
  EXPECT_EQ(seen.checked, 2 * set.problem.agents);
  EXPECT_EQ(seen.motion.empty(), !set.problem.moves());
  for (const Accuracy& one : seen.wrong == 0 ? seen.motion : std::vector<Accuracy>{})
    EXPECT_EQ(accuracy_gate(one).verdict, Verdict::passed) << accuracy_gate(one).detail;

  const Predicted predicted = tests_of(rung)(set.problem, seen.places_before_each_step(), choice);
  const auto made = static_cast<double>(seen.tests.made);
  EXPECT_NEAR(made / few_steps, predicted.tests, 0.01 * predicted.tests);
  // If the agents of a warp are random, only many warps are alike.
  if (!kernel.in_any_order || set.problem.agents > 1000) {
    const double bound = kernel.in_any_order ? 0.03 : 0.01;
    EXPECT_NEAR(made / static_cast<double>(seen.tests.lanes), predicted.used, bound);
  }
  EXPECT_EQ(seen.rebuilds, predicted.rebuilds);
  EXPECT_EQ(seen.tests.idle, predicted.idle);

  const SampleSeen sample = sample_on_device(kernel, set.problem, set.right, verified, few_steps);
  EXPECT_TRUE(sample.different == 0 || seen.wrong > 0) << sample.different;
  const Traffic traffic = traffic_of(rung)(set.problem, choice, few_steps, longest_of(seen)) +
                          Traffic{.bytes = predicted.structure_bytes};
  EXPECT_EQ(sample.traffic.copies, traffic.copies);
  EXPECT_EQ(sample.traffic.bytes, traffic.bytes);
  EXPECT_EQ(sample.traffic.launches, traffic.launches);
  if (set.problem.kind != Kind::boids || !rung.has_axis("shown")) return;
  const SampleSeen shown =
      sample_on_device(kernel, set.problem, set.right, verified, few_steps, /*shown=*/true);
  EXPECT_TRUE(shown.different == 0 || seen.wrong > 0) << shown.different;
  EXPECT_EQ(shown.traffic, traffic + predict_shown(set.problem, few_steps));
}

TEST_P(NeighboursOnGpu, AreThoseOfDoublePrecisionAndCostWhatIsPredicted) {
  for (const Set& set : sets_for_blocks()) {
    for (const Choice& choice : choices_of(GetParam())) {
      SCOPED_TRACE(set.name + ", " + std::to_string(choice.cells) + " cells");
      expect_right(GetParam(), set, choice);
      if (HasFatalFailure()) return;
    }
  }
}

/// Short enough for a sanitizer: all problems, once.
TEST_P(NeighboursOnGpu, AreRightForAnOddNumber) {
  for (const Kind kind : {Kind::boids, Kind::circles, Kind::list})
    expect_right(GetParam(), generated(kind, 257, Spread::clustered),
                 choices_of(GetParam()).back());
  expect_right(GetParam(), generated(Kind::circles, 257, Spread::jittered),
               choices_of(GetParam()).front());
}

INSTANTIATE_TEST_SUITE_P(Ladder, NeighboursOnGpu,
                         testing::ValuesIn(rungs_of("neighbours", Backend::cuda)),
                         [](const auto& rung) { return rung.param.name; });

// ---- Planted faults -----------------------------------------------------------------------------

enum class Fault { none, no_tail, no_barrier, lost_atomic, own_cell_skipped, reach_rounded };

/// All-pairs search by tiles, with a fault.
template <Fault fault>
__global__ void __launch_bounds__(usual_block) faulty_tiles(KernelStep step) {
  __shared__ float4 tile[usual_block];
  const std::uint32_t i = thread_number();
  const bool real = i < step.agents;
  const Vector<float> me = step.place(real ? i : 0);
  Gathering<Kind::list> found{step, i};
  tile[threadIdx.x] = {INFINITY, 0, 0, 0};
  __syncthreads();
  const std::uint32_t end =
      fault == Fault::no_tail ? step.agents / usual_block * usual_block : step.agents;
  for (std::uint32_t start = 0; start < end; start += usual_block) {
    const std::uint32_t j = start + threadIdx.x;
    if (fault == Fault::no_barrier && threadIdx.x >= usual_block / 2) __nanosleep(20'000);
    const Vector<float> place = step.place(j < step.agents ? j : 0);
    tile[threadIdx.x] = {j < step.agents ? place.x : INFINITY, place.y, place.z, 0};
    if (fault != Fault::no_barrier) __syncthreads();
    for (unsigned k = 0; real && k < usual_block; ++k)
      test(me, {tile[k].x, tile[k].y, tile[k].z}, start + k, found);
    if (fault != Fault::no_barrier) __syncthreads();
  }
  if (!real) return;
  found.end(step);
  if (step.tests != nullptr) step.tests[i] = step.agents;
}

/// Counts agents; `lost_atomic`: by a read and a write, between which others read the same.
template <Fault fault>
__global__ void faulty_count(KernelStep step, Cells cells, std::uint32_t* counts,
                             std::uint32_t* ranks) {
  const std::uint32_t i = thread_number();
  if (i >= step.agents) return;
  std::uint32_t* const count = counts + cells.of(step.place(i));
  if (fault != Fault::lost_atomic) {
    ranks[i] = atomicAdd(count, 1U);
    return;
  }
  const std::uint32_t before = *static_cast<volatile std::uint32_t*>(count);
  __nanosleep(1000);
  *static_cast<volatile std::uint32_t*>(count) = before + 1;
  ranks[i] = before;
}
__global__ void scan_by_one(std::uint32_t all, std::uint32_t* counts) {
  if (thread_number() > 0) return;
  std::uint32_t before = 0;
  for (std::uint32_t cell = 0; cell <= all; ++cell) {
    const std::uint32_t here = counts[cell];
    counts[cell] = before;
    before += here;
  }
}
__global__ void put(KernelStep step, Cells cells, const std::uint32_t* starts,
                    const std::uint32_t* ranks, std::uint32_t* ids) {
  const std::uint32_t i = thread_number();
  if (i < step.agents) ids[starts[cells.of(step.place(i))] + ranks[i]] = i;
}
/// A search of cells; `own_cell_skipped`: of all but the agent's own.
template <Fault fault>
struct AskSome {
  Cells cells;
  const std::uint32_t* starts;
  const std::uint32_t* ids;

  template <class Found>
  __device__ std::uint32_t operator()(const KernelStep& step, const Vector<float>& me,
                                      Found& found) const {
    visit_cells(cells, me, [&](std::uint32_t cell) {
      if (fault == Fault::own_cell_skipped && cell == cells.of(me)) return;
      for (std::uint32_t at = starts[cell]; at < starts[cell + 1]; ++at) {
        if (ids[at] < step.agents) test(me, step.place(ids[at]), ids[at], found);
      }
    });
    return step.agents;
  }
};
template <Fault fault>
__global__ void faulty_search(KernelStep step, AskSome<fault> search) {
  take_own_step<Kind::list>(step, thread_number(), search);
}

/// What a step launches, between the copies that a step of Copies::lazy has.
template <class Launch>
DeviceKernel launching(Launch launch) {
  return {.step =
              [launch](const DeviceStep& step, Queue& queue) {
                if (step.first) step.visit_read([&](auto& vector) { queue.copy_in(vector); });
                launch(step, queue);
                if (step.last) step.visit_written([&](auto& vector) { queue.copy_out(vector); });
              },
          .kernels = {}};
}

template <Fault fault>
DeviceKernel faulty_tile() {
  return launching([](const DeviceStep& step, Queue& queue) {
    queue.launch(faulty_tiles<fault>, step.agents(), step.for_kernel());
  });
}
template <Fault fault>
DeviceKernel faulty_grid(const Problem& problem) {
  // Cells a little shorter than the reach, which is then that of two of them.
  Cells cells = cells_for(problem, {.cells = 6});
  if (fault == Fault::reach_rounded) cells.reach = 1;
  struct Memory {
    DeviceBuffer<std::uint32_t> starts;
    DeviceBuffer<std::uint32_t> ranks;
    DeviceBuffer<std::uint32_t> ids;
  };
  const auto memory = std::make_shared<Memory>(Memory{DeviceBuffer<std::uint32_t>{cells.all() + 1},
                                                      DeviceBuffer<std::uint32_t>{problem.agents},
                                                      DeviceBuffer<std::uint32_t>{problem.agents}});
  return launching([=](const DeviceStep& step, Queue& queue) {
    const KernelStep now = step.for_kernel();
    queue.clear(memory->starts);
    memory->ids.poison(0xFF, queue.stream().get());
    queue.launch(faulty_count<fault>, step.agents(), now, cells, memory->starts.data(),
                 memory->ranks.data());
    queue.launch(scan_by_one, 1, cells.all(), memory->starts.data());
    queue.launch(put, step.agents(), now, cells, memory->starts.data(), memory->ranks.data(),
                 memory->ids.data());
    queue.launch(faulty_search<fault>, step.agents(), now,
                 AskSome<fault>{cells, memory->starts.data(), memory->ids.data()});
  });
}

std::size_t wrong_of(const DeviceKernel& kernel, const Set& set) {
  return verify_on_device(kernel, set.problem, set.right, 1).seen.wrong;
}

TEST(PlantedFaultsAmongNeighbours, AreRefused) {
  const Set set = generated(Kind::list, 5 * usual_block + 7, Spread::uniform);
  EXPECT_EQ(wrong_of(faulty_tile<Fault::none>(), set), 0U);
  EXPECT_GT(wrong_of(faulty_tile<Fault::no_tail>(), set), 0U);
  EXPECT_GT(wrong_of(faulty_tile<Fault::no_barrier>(), set), 0U);
  EXPECT_EQ(wrong_of(faulty_grid<Fault::none>(set.problem), set), 0U);
  EXPECT_GT(wrong_of(faulty_grid<Fault::lost_atomic>(set.problem), set), 0U);
  EXPECT_GT(wrong_of(faulty_grid<Fault::own_cell_skipped>(set.problem), set), 0U);
  EXPECT_GT(wrong_of(faulty_grid<Fault::reach_rounded>(set.problem), set), 0U);
}

/// Lists whose counts are too small.
__global__ void cut_lists(KernelStep step) {
  const std::uint32_t i = thread_number();
  if (i < step.agents) step.counts[i] = min(step.counts[i], list_grain);
}
TEST(PlantedFaultsAmongNeighbours, AreRefusedWhereAListIsCutAt32) {
  const Set set = generated(Kind::list, 1000, Spread::clustered);
  const DeviceKernel cutting = launching([](const DeviceStep& step, Queue& queue) {
    queue.launch(faulty_tiles<Fault::none>, step.agents(), step.for_kernel());
    queue.launch(cut_lists, step.agents(), step.for_kernel());
  });
  EXPECT_GT(wrong_of(cutting, set), 0U);
}

/// Agents in an order of their own, of which the ids of the first two become something else.
template <class Change>
DeviceKernel with_first_ids(const Problem& problem, const Change& change) {
  DeviceKernel kernel = maker_of<MakeDeviceKernel>("neighbours_kept_order")(problem, {});
  kernel.step = [inner = kernel.step, change](const DeviceStep& step, Queue& queue) {
    inner(step, queue);
    queue.wait();
    const auto ids = step.to->ids.host.span();
    change(ids[0], ids[1]);
  };
  return kernel;
}
TEST(PlantedFaultsAmongNeighbours, AreRefusedWhereAnAgentIsLostOrTakenForAnother) {
  const Set set = generated(Kind::list, 257, Spread::uniform);
  const auto exchanged = [](std::uint32_t& a, std::uint32_t& b) { std::swap(a, b); };
  const auto lost = [](std::uint32_t& a, const std::uint32_t& b) { a = b; };
  EXPECT_GT(wrong_of(with_first_ids(set.problem, exchanged), set), 0U);
  EXPECT_THROW((void)wrong_of(with_first_ids(set.problem, lost), set), std::runtime_error);
}

TEST(PlantedFaultsAmongNeighbours, AreRefusedWhereNothingIsDone) {
  const Set set = generated(Kind::list, 257, Spread::uniform);
  const DeviceKernel idle = launching([](const DeviceStep&, Queue&) {});
  EXPECT_THROW((void)wrong_of(idle, set), std::runtime_error);
}

}  // namespace
}  // namespace strata::neighbours
