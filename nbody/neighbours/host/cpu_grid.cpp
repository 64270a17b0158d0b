#include "nbody/neighbours/host/collect.hpp"
#include "nbody/neighbours/model/cells.hpp"

#include <cmath>

namespace strata::neighbours::cpu_grid {
namespace {

class Search {
 public:
  Search(const Problem& problem, const Choice& choice)
      : cells_{cells_of(problem.low(), problem.extent(), std::sqrt(problem.radius_squared),
                        choice.cells)},
        members_(cells_.all()) {}

  void step(const Step& step, const ThreadRank& thread) {
    if (thread.rank == 0) {
      const HostPhase building = step.building(thread.rank);
      fill(step);
      pieces_.begin();
      ++step.work[0].rebuilds;
    }
    thread.wait_for_all();
    with_collector(step, thread, [&](auto& collector) {
      std::uint64_t tests = 0;
      pieces_.take(step.agents(), [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i)
          tests += search(step, static_cast<std::uint32_t>(i), collector);
      });
      step.work[thread.rank].tests += tests;
      step.work[thread.rank].lanes += tests;
    });
  }

 private:
  void fill(const Step& step) {
    for (auto& agents : members_)
      agents.clear();  // which keeps its memory
    for (std::uint32_t i = 0; i < step.agents(); ++i)
      members_[cells_.of(place_of(step, i))].push_back(i);
  }

  template <class Collector>
  std::uint64_t search(const Step& step, std::uint32_t i, Collector& collector) const {
    const Vector<float> me = place_of(step, i);
    std::uint64_t tests = 0;
    collector.begin(i);
    visit_cells(cells_, me, [&](std::uint32_t cell) {
      tests += test_agents(step, me, members_[cell], collector);
    });
    collector.end();
    return tests;
  }
  template <class Collector>
  static std::uint64_t test_agents(const Step& step, const Vector<float>& me,
                                   std::span<const std::uint32_t> members, Collector& collector) {
    std::uint64_t tests = 0;
    for (const std::uint32_t j : members) {
      const Vector<float> offset = place_of(step, j) - me;
      const float squared = dot(offset, offset);
      if (squared < collector.limit() && j != collector.self()) {
        collector.take(j, squared, offset);
      }
      ++tests;
    }
    return tests;
  }

  Cells cells_;
  std::vector<std::vector<std::uint32_t>> members_;
  Pieces pieces_;
};

HostKernel make(const Problem& problem, const Choice& choice, Vectors /*have*/) {
  return on_all_cores(std::make_shared<Search>(problem, choice));
}

STRATA_RUNG("neighbours_cpu_grid", make);

}  // namespace
}  // namespace strata::neighbours::cpu_grid
