#include "nbody/fstat/device_rung.hpp"

namespace strata::fstat::all_stacks {
namespace {

const Rung rung{
    .name = "fstat_all_stacks",
    .backend = Backend::cuda,
    .before = "fstat_one_launch",
    .question = "And to sum all stacks by one kernel?",
    .change =
        "a block for each frequency of each stack, for each cell: the grid's second dimension",
    .source = seed("4.4: calculate all frames at the same time, proposed"),
    .expectation =
        "161 blocks fill a GPU of 132 SMs once and leave it empty at their end; 13,524 keep it "
        "busy. More threads are idle, since all blocks have room for the longest group of all",
    .approximate = true,
    .predicted = predict_all_stacks};

#if defined(STRATA_HAS_CUDA)
DeviceKernel make(const Observation& seen, const Choice& /*choice*/) {
  return signal_sums_of_cells(seen, Spectra::each_sky_point);
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::fstat::all_stacks
