#include "nbody/neighbours/host/packed_cells.hpp"

#include <cmath>

namespace strata::neighbours::cell_array {
namespace {

struct Find {
  float radius;

  template <class Collector>
  void operator()(const PackedCells& packed, std::size_t at, Collector& collector,
                  Work& work) const {
    const Vector<float> me = packed.place(at);
    const Candidates all = packed.candidates();
    const Cells& cells = packed.cells();
    const Around around_x = cells.around(me.x);
    const Around around_y = cells.around(me.y);
    const float low = me.z - radius;
    const float high = me.z + radius;
    for (std::uint32_t y = around_y.first; y <= around_y.last; ++y) {
      const float off_y = squared_distance_to_cell(cells, me.y, y);
      for (std::uint32_t x = around_x.first; x <= around_x.last; ++x) {
        if (off_y + squared_distance_to_cell(cells, me.x, x) >= cells.limit) continue;
        const auto [begin, end] = packed.run(cells.row(y, 0) + x, cells.row(y, 0) + x);
        const auto first =
            static_cast<std::size_t>(std::lower_bound(all.z + begin, all.z + end, low) - all.z);
        std::size_t last = first;
        while (last < end && all.z[last] <= high)
          ++last;
        const std::size_t tests = test_run(all, first, last, me, collector);
        work.tests += tests;
        work.lanes += tests;
      }
    }
  }
};

HostKernel make(const Problem& problem, const Choice& choice, Vectors /*have*/) {
  const float radius = std::sqrt(problem.radius_squared);
  const Cells cells = cells_of(problem.low(), problem.extent(), radius, choice.cells);
  // A little longer, so that no rounding of its ends costs a neighbour.
  return on_all_cores(std::make_shared<PackedSearch<Find>>(
      problem, cells, Find{std::sqrt(cells.limit)}, /*flat=*/true));
}

STRATA_RUNG("neighbours_cell_array", make);

}  // namespace
}  // namespace strata::neighbours::cell_array
