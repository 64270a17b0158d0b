#include "nbody/neighbours/host/vector_search.hpp"

#include <cmath>

namespace strata::neighbours::cpu_vectors {
namespace {

template <class Collector>
struct Kernel {
  template <unsigned lanes>
  [[STRATA_INLINE]] static void run(const PackedCells& packed, std::size_t at, Collector& collector,
                                    Work& work) {
    VectorRows::search<lanes>(packed, packed.candidates(), at, collector, work);
  }
};
using Find = ForEachCollector<Kernel, const PackedCells&, std::size_t>;

HostKernel make(const Problem& problem, const Choice& choice, Vectors have) {
  const Cells cells =
      cells_of(problem.low(), problem.extent(), std::sqrt(problem.radius_squared), choice.cells);
  return on_all_cores(std::make_shared<PackedSearch<Find>>(problem, cells, Find{have}),
                      to_string(have));
}

STRATA_RUNG("neighbours_cpu_vectors", make);

}  // namespace
}  // namespace strata::neighbours::cpu_vectors
