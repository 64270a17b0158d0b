#include "nbody/neighbours/host/vector_search.hpp"

#include <cmath>

namespace strata::neighbours::cpu_vectors {
namespace {

const Rung rung{.name = "neighbours_cpu_vectors",
                .backend = Backend::host,
                .before = "neighbours_cpu_packed",
                .question = "How much does it gain to test a vector of candidates at once?",
                .change =
                    "the CPU's widest vectors, over the agents of a row of cells; hits are "
                    "compacted by a permutation, or by AVX-512's compress instruction",
                .source =
                    "Schlegel, Willhalm, Lehner, Fast sorted-set intersection using SIMD "
                    "instructions, ADMS 2011: a table of permutations by the mask",
                .expectation =
                    "as many distance tests, with most of the lanes used, and several times the "
                    "rate where lists are written; boids and circles gain less, because each "
                    "neighbour is processed separately",
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

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::cpu_vectors
