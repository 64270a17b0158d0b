#include "harness/cuda/nvml_watch.hpp"

#include <exception>
#include <utility>

namespace strata {

NvmlWatch::NvmlWatch(const NvmlDevice& device, std::chrono::milliseconds pause)
    : NvmlWatch{device.absence().empty()
                    ? std::function<NvmlReading()>{[&device] { return device.reading(); }}
                    : nullptr,
                pause} {}

NvmlWatch::NvmlWatch(std::function<NvmlReading()> read, std::chrono::milliseconds pause)
    : read_{std::move(read)}, thread_{[this, pause](const std::stop_token& stop) {
        read_until(stop, pause);
      }} {}

double NvmlWatch::seconds() const {
  return std::chrono::duration<double>(Clock::now() - began_).count();
}

void NvmlWatch::read_until(const std::stop_token& stop, std::chrono::milliseconds pause) {
  if (!read_) return;
  try {
    std::unique_lock lock{mutex_};
    do {
      readings_.push_back({.seconds = seconds(), .reading = read_()});
    } while (!woken_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); }));
  } catch (const std::exception&) {
    // No memory for another reading: the existing ones are kept.
  }
}

std::vector<TimedReading> NvmlWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  return std::move(readings_);
}

}  // namespace strata
