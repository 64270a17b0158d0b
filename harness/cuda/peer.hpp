// The GPU beside the one that measures: its memory is reached, its L2 is put into a known state.
#pragma once

#include "harness/cuda/eviction.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/measure/device_lock.hpp"
#include "harness/record/measurement.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace strata {

/// Another device is the current one for a while.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device);
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  CurrentDevice(CurrentDevice&&) = delete;
  CurrentDevice& operator=(CurrentDevice&&) = delete;
  ~CurrentDevice();

 private:
  int before_ = 0;
};

/// What `make` makes on `device`.
template <class Make>
auto made_on(int device, Make&& make) {
  const CurrentDevice current{device};
  return std::forward<Make>(make)();
}

/// The current device reaches the memory of another one for as long as this lives.
class PeerAccess {
 public:
  explicit PeerAccess(int there);
  PeerAccess(const PeerAccess&) = delete;
  PeerAccess& operator=(const PeerAccess&) = delete;
  PeerAccess(PeerAccess&&) = delete;
  PeerAccess& operator=(PeerAccess&&) = delete;
  ~PeerAccess();

 private:
  int there_;
  bool own_ = false;
};

/// The GPU after the current one among those that this process sees. No other run measures it as
/// long as this lives.
class Peer {
 public:
  /// Throws Skipped where there is no other GPU, no direct way to its memory, or another run on it.
  Peer();

  [[nodiscard]] int here() const { return here_; }
  [[nodiscard]] int there() const { return there_; }
  /// Its number and name, and the rank of the way to it where the driver knows one.
  [[nodiscard]] Facts facts() const;

  /// Its L2 holds nobody's data when this returns; or the `bytes` from `data` on, what fits.
  void evict();
  void touch(const void* data, std::size_t bytes);

 private:
  struct Cache {
    Eviction eviction;
    Stream stream;
  };

  int here_ = 0;
  int there_ = 0;
  std::string name_;
  std::optional<DeviceLock> lock_;
  std::unique_ptr<Cache> cache_;  // on the peer, when it is first asked for
};

}  // namespace strata
