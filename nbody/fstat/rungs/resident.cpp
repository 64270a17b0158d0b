#include "nbody/fstat/device_rung.hpp"

namespace strata::fstat::resident {
namespace {

DeviceKernel make(const Observation& seen, const Choice& /*choice*/) {
  return signal_sums_of_cells(seen, Spectra::once);
}

STRATA_RUNG("fstat_resident", make);

}  // namespace
}  // namespace strata::fstat::resident
