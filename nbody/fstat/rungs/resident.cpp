#include "nbody/fstat/device_rung.hpp"

namespace strata::fstat::resident {
namespace {

const Rung rung{
    .name = "fstat_resident",
    .backend = Backend::cuda,
    .before = "fstat_all_stacks",
    .question = "What must be packed for each sky point?",
    .change =
        "spectra, and where they are, are packed and copied once; for each sky point only timings, "
        "antennas and matrices, since nothing else differs",
    .source = "own: Breitbart's cuda_prepare (4.3.2) copies almost everything for each sky point",
    .expectation =
        "of 4 MB a sky point 0.2 MB are left, of 7,900 pieces 336: less work for the host than "
        "the sums are for the GPU",
    .approximate = true,
    .predicted = predict_resident};

#if defined(STRATA_HAS_CUDA)
DeviceKernel make(const Observation& seen, const Choice& /*choice*/) {
  return signal_sums_of_cells(seen, Spectra::once);
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::fstat::resident
