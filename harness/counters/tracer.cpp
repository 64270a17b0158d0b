#include "harness/counters/tracer.hpp"

#include <chrono>
#include <stdexcept>

namespace strata {

std::int64_t Tracer::now() const {
  using std::chrono::nanoseconds;
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<nanoseconds>(since).count();
}

void MarkTracer::begin() {
  Tracer::begin();
  pieces_.clear();
  device_->clear();
}

void MarkTracer::begin_piece(void* queue, const Activity& what) {
  if (pieces_.empty()) zero_ = now();  // the device is idle and reaches the mark at once
  pieces_.push_back(what);
  device_->put(queue);
}

void MarkTracer::end_piece(void* queue) {
  device_->put(queue);
}

std::vector<Activity> MarkTracer::end() {
  std::vector<Activity> all = Tracer::end();
  const std::vector<std::int64_t> reached = device_->nanoseconds();
  if (reached.size() != 2 * pieces_.size()) {
    throw std::runtime_error{"an operation has no end mark"};
  }
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    pieces_[i].begin = zero_ + reached[2 * i];
    pieces_[i].end = zero_ + reached[2 * i + 1];
    all.push_back(std::move(pieces_[i]));
  }
  pieces_.clear();
  return all;
}

}  // namespace strata
