// What a GPU did and when, from CUPTI's activity records: kernels, copies and fills with their
// begin and end times.
#include "harness/counters/counters.hpp"
#include "harness/counters/tracer.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/cupti_check.hpp"
#include "harness/cuda/cupti_library.hpp"

#include <cupti_activity.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace strata {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{4} << 20;
constexpr std::size_t usual_buffers = 4;
constexpr std::size_t alignment = 8;  // ACTIVITY_RECORD_ALIGNMENT

std::int64_t when(std::uint64_t nanoseconds) {
  return static_cast<std::int64_t>(nanoseconds);
}

Activity::Of of_copy(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return Activity::Of::copy_in;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return Activity::Of::copy_out;
    default:
      return Activity::Of::copy_within;
  }
}

/// A batch of copies is one record. Older toolkits do not record of how many.
template <class Record>
std::uint64_t copies_of(const Record& record) {
  if constexpr (requires { record.copyCount; }) {
    return std::max<std::uint64_t>(1, record.copyCount);
  }
  return 1;
}

/// All nodes of a graph have the correlation of the call that launched it.
template <class Record>
std::uint64_t launch_of(const Record& record) {
  return record.graphId == 0 ? 0 : record.correlationId;
}

/// CUPTI's callbacks carry no data of ours and come from its own thread, so there is one collection
/// per process, as there is one CUPTI.
class Collection {
 public:
  static Collection& the() {
    // Never destroyed, because CUPTI may deliver a last buffer while the process ends.
    static Collection* const all = new Collection;  // NOLINT(cppcoreguidelines-owning-memory)
    return *all;
  }

  void take(std::uint8_t* buffer, std::size_t bytes) {
    const std::lock_guard lock{mutex_};
    CUpti_Activity* record = nullptr;
    CUptiResult status = CUPTI_SUCCESS;
    while ((status = cuptiActivityGetNextRecord(buffer, bytes, &record)) == CUPTI_SUCCESS)
      keep(*record);
    if (status != CUPTI_ERROR_MAX_LIMIT_REACHED && status_ == CUPTI_SUCCESS) status_ = status;
  }
  /// Memory for records, or null. Buffers are used again, because the first touch of each page of
  /// a new one would be part of a sample.
  std::uint8_t* buffer() {
    const std::lock_guard lock{mutex_};
    if (buffers_.empty()) return new_buffer();
    std::uint8_t* const last = buffers_.back();
    buffers_.pop_back();
    return last;
  }
  void take_back(std::uint8_t* buffer) {
    const std::lock_guard lock{mutex_};
    buffers_.push_back(buffer);
  }
  /// All records since the last call. Throws CuptiError if a buffer could not be read.
  std::vector<Activity> take_all() {
    const std::lock_guard lock{mutex_};
    cupti_check(std::exchange(status_, CUPTI_SUCCESS));
    return std::exchange(kept_, {});
  }

 private:
  Collection() {
    for (std::size_t i = 0; i < usual_buffers; ++i)
      if (std::uint8_t* const buffer = new_buffer()) buffers_.push_back(buffer);
  }

  static std::uint8_t* new_buffer() {
    auto* const made = static_cast<std::uint8_t*>(std::aligned_alloc(alignment, buffer_bytes));
    if (made != nullptr) std::memset(made, 0xFF, buffer_bytes);
    return made;
  }

  void keep(const CUpti_Activity& record) {
    switch (record.kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      case CUPTI_ACTIVITY_KIND_KERNEL: {
        // CUDA 12 has no newer one; each newer one begins with it.
        const auto& one = reinterpret_cast<const CUpti_ActivityKernel9&>(record);
        const std::string name = one.name == nullptr ? "" : one.name;
        // The driver fills memory in a graph by kernels of its own, such as "memset32".
        const bool fills = one.graphId != 0 && name.starts_with("memset");
        kept_.push_back({.of = fills ? Activity::Of::fill : Activity::Of::kernel,
                         .kernel = name,
                         .begin = when(one.start),
                         .end = when(one.end),
                         .graph_launch = launch_of(one)});
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const auto& one = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
        kept_.push_back({.of = of_copy(one.copyKind),
                         .begin = when(one.start),
                         .end = when(one.end),
                         .bytes = one.bytes,
                         .count = copies_of(one)});
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMSET: {
        const auto& one = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
        kept_.push_back({.of = Activity::Of::fill,
                         .begin = when(one.start),
                         .end = when(one.end),
                         .graph_launch = launch_of(one)});
        break;
      }
      default:
        break;
    }
  }

  std::mutex mutex_;
  std::vector<std::uint8_t*> buffers_;  ///< free ones
  std::vector<Activity> kept_;
  CUptiResult status_ = CUPTI_SUCCESS;
};

// A CUPTI callback must not throw. Without a buffer CUPTI drops records, and counts them.
void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  *buffer = Collection::the().buffer();
  *bytes = *buffer == nullptr ? 0 : buffer_bytes;
  *records = 0;  // 0: as many as fit
}
void CUPTIAPI take_buffer(CUcontext /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                          std::size_t /*bytes*/, std::size_t valid) {
  if (buffer == nullptr) return;
  if (valid > 0) Collection::the().take(buffer, valid);
  Collection::the().take_back(buffer);
}

class CuptiTracer final : public Tracer {
 public:
  CuptiTracer() {
    attach();  // throws now, and not within a sample, if CUPTI refuses
    detach();
  }
  CuptiTracer(const CuptiTracer&) = delete;
  CuptiTracer& operator=(const CuptiTracer&) = delete;
  CuptiTracer(CuptiTracer&&) = delete;
  CuptiTracer& operator=(CuptiTracer&&) = delete;
  ~CuptiTracer() override {
    if (attached_) cupti_release(cuptiFinalize(), "ending activity records");
  }

  [[nodiscard]] const char* method() const override { return "cupti_activity"; }
  [[nodiscard]] bool slows() const override { return true; }
  /// 0 between samples, or if CUPTI has no time. Destructors call this, so it must not throw; end()
  /// does.
  [[nodiscard]] std::int64_t now() const override {
    if (!attached_) return 0;  // the call would start CUPTI again
    std::uint64_t nanoseconds = 0;
    return cuptiGetTimestamp(&nanoseconds) == CUPTI_SUCCESS ? when(nanoseconds) : 0;
  }
  void begin() override {
    Tracer::begin();
    if (!attached_) attach();
    (void)flush();
    (void)Collection::the().take_all();
  }
  [[nodiscard]] std::vector<Activity> end() override {
    const std::size_t dropped = flush();
    detach();
    std::vector<Activity> all = Tracer::end();
    std::ranges::move(Collection::the().take_all(), std::back_inserter(all));
    if (dropped > 0) throw std::runtime_error{fmt::format("CUPTI dropped {} records", dropped)};
    for (const Activity& one : all) {
      if (one.begin > 0 && one.begin <= one.end) continue;
      throw std::runtime_error{"CUPTI recorded an operation without its times"};
    }
    return all;
  }

 private:
  void attach() {
    attached_ = true;
    cupti_check(cuptiActivityRegisterCallbacks(give_buffer, take_buffer));
    for (const auto kind : kinds)
      cupti_check(cuptiActivityEnable(kind));
  }
  /// Nothing less makes calls of the runtime as fast as they are without CUPTI.
  void detach() {
    attached_ = false;
    for (const auto kind : kinds)
      cupti_check(cuptiActivityDisable(kind));
    cupti_check(cuptiFinalize());
  }
  /// Collects all records and returns how many were lost since the last call. The device is idle,
  /// so every record is complete; a forced flush would also return incomplete ones.
  static std::size_t flush() {
    cupti_check(cuptiActivityFlushAll(0));
    std::size_t dropped = 0;
    cupti_check(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped));
    return dropped;
  }

  // Concurrent, because the other kind serialises kernels.
  static constexpr std::array kinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                    CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};
  bool attached_ = false;
};

}  // namespace

std::unique_ptr<Tracer> open_device_tracer(int ordinal) {
  require_cupti();
  load_modules_eagerly();  // before CUPTI starts the driver
  try {
    return std::make_unique<CuptiTracer>();
  } catch (const CuptiError& error) {
    counters_unavailable(error.code(), "enabling activity records", ordinal);
  }
}

}  // namespace strata
