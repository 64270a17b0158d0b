#include "nbody/neighbours/host/packed_cells.hpp"

#include <cmath>

namespace strata::neighbours::cpu_packed {
namespace {

const Rung rung{.name = "neighbours_cpu_packed",
                .backend = Backend::host,
                .before = "neighbours_cpu_grid",
                .question = "What does it bring that the agents of a cell lie side by side?",
                .change =
                    "places are copied in the order of cells, by all threads: a cell is a piece "
                    "of memory, and so are cells that follow each other along x",
                .source = seed("6.2.1, the device's form of the grid, with places in place of "
                               "references"),
                .expectation =
                    "some more distance tests, since rows of cells are passed over as a "
                    "whole, in far less time: places come in whole lines, and nothing is "
                    "looked up",
                .predicted_tests = predict_rows,
                .axes = {cells_axis()}};

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

STRATA_NEIGHBOURS_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::cpu_packed
