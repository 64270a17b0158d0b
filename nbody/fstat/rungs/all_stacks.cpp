#include "nbody/fstat/device_rung.hpp"

namespace strata::fstat::all_stacks {
namespace {

DeviceKernel make(const Observation& seen, const Choice& /*choice*/) {
  return signal_sums_of_cells(seen, Spectra::each_sky_point);
}

STRATA_RUNG("fstat_all_stacks", make);

}  // namespace
}  // namespace strata::fstat::all_stacks
