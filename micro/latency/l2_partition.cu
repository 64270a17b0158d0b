// The CUDA backend of l2_partition: l2_partition.hpp says what it asks.
#include "harness/case/error.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/measure/counted_work.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"
#include "micro/latency/l2_partition.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

namespace strata::l2_partition {
namespace {

/// What one walker leaves behind.
struct Record {
  std::uint64_t cycles;
  std::uint64_t nanoseconds;
  std::uint64_t wrong;  ///< exchanges that did not give the address back
  std::uint64_t sm;
};

/// Puts its address into the word of each line.
__global__ void settle(const std::uint64_t* line_addresses) {
  const std::uint64_t at = line_addresses[threadIdx.x];
  *reinterpret_cast<std::uint64_t*>(at) = at;
}

/// The word holds its own address: what comes back is where the next exchange goes.
__device__ __forceinline__ void exchange(std::uint64_t& at) {
  // Wanted: ATOMG.E.EXCH.64
  asm volatile("atom.global.exch.b64 %0, [%0], %0;" : "+l"(at) : : "memory");
}

/// One thread of each SM goes over all lines, each SM from another one on, so that hardly ever two
/// of them are at one line. `cycles`: of each walker and line.
__global__ void visit(const std::uint64_t* line_addresses, std::uint32_t turns,
                      std::uint64_t* cycles, Record* records) {
  const std::uint32_t start = blockIdx.x * lines / gridDim.x;
  std::uint64_t wrong = 0;
  const std::uint64_t first_nanosecond = global_nanoseconds();
  const std::uint64_t first_cycle = cycles_now();
#pragma unroll 1
  for (std::uint32_t i = 0; i < lines; ++i) {
    const std::uint32_t line = (start + i) % lines;
    const std::uint64_t own = line_addresses[line];
    std::uint64_t at = own;
    // Once over, so that the page is known and the line has come.
#pragma unroll
    for (std::uint32_t u = 0; u < turn; ++u)
      exchange(at);
    consume(static_cast<std::uint32_t>(at));
    const std::uint64_t begin = cycles_now();
#pragma unroll 1
    for (std::uint32_t t = 0; t < turns; ++t) {
#pragma unroll
      for (std::uint32_t u = 0; u < turn; ++u)
        exchange(at);
    }
    consume(static_cast<std::uint32_t>(at));
    const std::uint64_t end = cycles_now();
    cycles[blockIdx.x * lines + line] = end - begin;
    wrong += at == own ? 0 : 1;
  }
  records[blockIdx.x] = {cycles_now() - first_cycle, global_nanoseconds() - first_nanosecond, wrong,
                         sm_id()};
}

class Visits {
 public:
  explicit Visits(unsigned sms)
      : sms_{sms},
        room_{room_bytes},
        addresses_{lines},
        cycles_{std::size_t{sms} * lines},
        landed_cycles_{std::size_t{sms} * lines},
        records_{sms},
        landed_{sms} {
    std::vector<std::uint64_t> addresses = offsets();
    for (std::uint64_t& one : addresses)
      one += reinterpret_cast<std::uintptr_t>(room_.data());
    addresses_.upload(addresses);
    settle<<<1, lines, 0, stream_.get()>>>(addresses_.data());
    cuda_check(cudaGetLastError());
    (void)run(brief_turns);  // loads the code
  }

  void prepare() {}

  Observation observe() {
    const double brief_seconds = run(brief_turns);
    const std::vector<Row> brief = rows();
    const double full_seconds = run(full_turns);
    const std::vector<Row> full = rows();
    constexpr double accesses = (full_turns - brief_turns) * turn;
    Observation seen{.cycles = {.rows = sms_, .columns = lines, .cells = {}}};
    double most = 0;
    std::vector<double> hertz;
    for (unsigned i = 0; i < sms_; ++i) {
      if (full[i].sm != brief[i].sm) throw std::runtime_error{"two launches ran on different SMs"};
      double sum = 0;
      for (std::size_t line = 0; line < lines; ++line) {
        const double one = (full[i].cycles[line] - brief[i].cycles[line]) / accesses;
        seen.cycles.cells.push_back(one);
        sum += one;
      }
      most = std::max(most, sum / lines);
      hertz.push_back(full[i].hertz);
    }
    seen.slowest = most;
    seen.core_hertz = median(hertz);
    seen.outside = (full_seconds - brief_seconds) * seen.core_hertz / (accesses * lines);
    return seen;
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.slowest, seen.outside};
  }

  /// What crosses between the halves, for each exchange.
  void count(Session& session) {
    const Counted counted = strata::count(session, {.prepare = [this] { poison(); },
                                                    .work = [this] { launch(full_turns); },
                                                    .overhead = [this] { launch(0); }});
    const auto crossed = counted.net("l2_fabric_sectors");
    if (!crossed) throw Skipped{"the chip counts nothing between halves of L2"};
    const double accesses = double{full_turns} * turn * lines * sms_;
    session.add(Measurement{.quantity = "fabric_sectors_per_access",
                            .unit = "sector",
                            .provenance = Provenance::counted,
                            .method = "cupti_net",
                            .samples = {*crossed / accesses}});
    land();
  }

  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_, "exchanged words that hold their own address");
  }
  [[nodiscard]] Gate placement() const {
    std::vector<std::uint32_t> where;
    for (const Record& one : landed_.span())
      where.push_back(static_cast<std::uint32_t>(one.sm));
    return placement_gate(where, sms_, 1);
  }
  [[nodiscard]] static Gate code() {
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, visit));
    return spill_gate(attributes.localSizeBytes, attributes.numRegs);
  }

 private:
  /// Of one SM.
  struct Row {
    std::uint64_t sm;
    double hertz;
    std::vector<double> cycles;
  };

  void poison() {
    constexpr int byte = 0xA5;
    records_.poison(byte, stream_.get());
    cycles_.poison(byte, stream_.get());
  }

  void launch(std::uint32_t turns) {
    visit<<<sms_, 1, 0, stream_.get()>>>(addresses_.data(), turns, cycles_.data(), records_.data());
    cuda_check(cudaGetLastError());
  }

  double run(std::uint32_t turns) {
    poison();
    begin_.record(stream_.get());
    launch(turns);
    end_.record(stream_.get());
    land();
    return end_.seconds_since(begin_);
  }

  void land() {
    landed_cycles_.download_from(cycles_, stream_.get());
    landed_.download_from(records_, stream_.get());
    stream_.synchronize();
    for (const Record& one : landed_.span()) {
      checked_ += lines;
      different_ += std::min<std::uint64_t>(one.wrong, lines);
    }
  }

  /// By SM, so that two launches can be put together.
  [[nodiscard]] std::vector<Row> rows() const {
    std::vector<Row> result;
    for (unsigned block = 0; block < sms_; ++block) {
      const Record& one = landed_.span()[block];
      const auto cells = landed_cycles_.span().subspan(std::size_t{block} * lines, lines);
      constexpr double nano = 1e-9;
      result.push_back(
          {one.sm,
           static_cast<double>(one.cycles) / (static_cast<double>(one.nanoseconds) * nano),
           {cells.begin(), cells.end()}});
    }
    std::ranges::sort(result, {}, &Row::sm);
    return result;
  }

  unsigned sms_;
  Stream stream_;
  DeviceBuffer<char> room_;
  DeviceBuffer<std::uint64_t> addresses_;
  DeviceBuffer<std::uint64_t> cycles_;
  PinnedBuffer<std::uint64_t> landed_cycles_;
  DeviceBuffer<Record> records_;
  PinnedBuffer<Record> landed_;
  Event begin_;
  Event end_;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

void run(Session& session) {
  const Facts& facts = session.device().identity().facts;
  Visits visits{static_cast<unsigned>(std::get<std::int64_t>(facts.at("sm_count")))};
  if (session.counters() != nullptr) {
    visits.count(session);
    session.add(visits.result());
    return;
  }
  const auto seen = collect(visits, session.plan());
  report(session, seen);
  session.add(visits.result());
  session.add(visits.placement());
  session.add(Visits::code());
  session.fact("lines", std::int64_t{lines});
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::l2_partition
