#include "nbody/fstat/device_rung.hpp"

#include <array>

namespace strata::fstat::overlapped {
namespace {

struct Memory {
  PackedSpectra spectra;
  std::array<PackedSky, 2> sky;
  SideStream side;

  explicit Memory(const Observation& seen) : spectra{seen}, sky{PackedSky{seen}, PackedSky{seen}} {}
};

DeviceKernel make(const Observation& seen, const Choice& choice) {
  DeviceKernel kernel = maker_of<MakeDeviceKernel>("fstat_polynomial")(seen, choice);
  const auto memory = std::make_shared<Memory>(seen);
  kernel.run = [memory, sums = kernel.sky](const DevicePass& pass, Queue& queue) {
    Queue side{memory->side.stream(), queue.tracer()};
    for (std::uint32_t sky = 0; sky < pass.problem().sky; ++sky) {
      Queue& mine = sky % 2 == 0 ? queue : side;
      PackedSky& vectors = memory->sky[sky % 2];
      vectors.bring(pass, sky, sky == 0 ? &memory->spectra : nullptr, mine);
      KernelStep step = pass.step(sky, 0, 0);
      memory->spectra.add_to(step);
      vectors.add_to(step);
      if (sky == 0) {
        sums.prepare(step, queue);
        memory->side.fork(queue.stream());  // it reads what is made of the spectra, too
      }
      sums.sum(step, mine);
      mine.copy_out(*pass.two_f, pass.result(sky, 0), pass.problem().templates());
    }
    memory->side.join(queue.stream());
    queue.count(side.traffic());
  };
  return kernel;
}

STRATA_RUNG("fstat_overlapped", make);

}  // namespace
}  // namespace strata::fstat::overlapped
