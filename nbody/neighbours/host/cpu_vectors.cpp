#include "nbody/neighbours/host/vector_search.hpp"

#include <cmath>

namespace strata::neighbours::cpu_vectors {
namespace {

const Rung rung{.name = "neighbours_cpu_vectors",
                .backend = Backend::host,
                .before = "neighbours_cpu_packed",
                .question =
                    "What does it bring to test as many candidates at once as a vector has "
                    "lanes?",
                .change =
                    "the widest vectors of the CPU, over the agents of a row of cells; those "
                    "found are squeezed together by a permutation, or by AVX-512's own "
                    "instruction",
                .source =
                    "Schlegel, Willhalm, Lehner, Fast sorted-set intersection using SIMD "
                    "instructions, ADMS 2011: a table of permutations by the mask",
                .expectation =
                    "as many distance tests, most of the lanes used, and where lists are "
                    "written several times the rate; boids and circles gain less, since "
                    "what becomes of a neighbour is done one by one",
                .predicted_tests = predict_rows,
                .axes = {cells_axis()}};

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

STRATA_NEIGHBOURS_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::cpu_vectors
