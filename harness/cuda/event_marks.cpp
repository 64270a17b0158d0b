// Marks in the queue of a GPU: CUDA events.
#include "harness/counters/tracer.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/stream.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace strata {
namespace {

class EventMarks final : public DeviceMarks {
 public:
  void clear() override { count_ = 0; }
  void put(void* queue) override {
    if (count_ == events_.size()) events_.emplace_back();
    events_[count_++].record_in(static_cast<cudaStream_t>(queue));
  }
  [[nodiscard]] std::vector<std::int64_t> nanoseconds() override {
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < count_; ++i)
      all.push_back(std::llround(1e9 * events_[i].seconds_since(events_.front())));
    return all;
  }

 private:
  std::vector<Event> events_;  ///< reused: creating one costs more than recording it
  std::size_t count_ = 0;      ///< the number in use
};

}  // namespace

std::unique_ptr<DeviceMarks> open_device_marks() {
  return std::make_unique<EventMarks>();
}

}  // namespace strata
