#include "nbody/neighbours/host/packed_cells.hpp"

#include <cmath>

namespace strata::neighbours::cpu_packed {
namespace {

struct Find {
  template <class Collector>
  void operator()(const PackedCells& packed, std::size_t at, Collector& collector,
                  Work& work) const {
    const Vector<float> me = packed.place(at);
    const Candidates all = packed.candidates();
    Rows rows{packed.cells(), me};
    for (std::uint32_t first = 0, last = 0; rows.next(first, last);) {
      const auto [from, to] = packed.run(first, last);
      const std::size_t tests = test_run(all, from, to, me, collector);
      work.tests += tests;
      work.lanes += tests;
    }
  }
};

HostKernel make(const Problem& problem, const Choice& choice, Vectors /*have*/) {
  const Cells cells =
      cells_of(problem.low(), problem.extent(), std::sqrt(problem.radius_squared), choice.cells);
  return on_all_cores(std::make_shared<PackedSearch<Find>>(problem, cells, Find{}));
}

STRATA_RUNG("neighbours_cpu_packed", make);

}  // namespace
}  // namespace strata::neighbours::cpu_packed
