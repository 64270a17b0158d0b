// What do fences and ordered accesses cost, by scope and by the stores in flight before them?
//
// One thread alone. Before each fence or ordered store it stores to other lines, which are in
// flight when it begins; the number includes those stores. A fence returns nothing that the next
// could need, so the check `dependence` does not apply: the machine code must hold all of them in
// the loop, in program order, and the words after the launch show that all stores were done. Loads
// form a chain through a ring of lines in L2: each address is the word loaded last.
//   fence_acq_rel  fence.acq_rel; fence_sc: fence.sc, which __threadfence() is
//   proxy_async    fence.proxy.async, after stores to shared memory: generic accesses before
//                  asynchronous copies
//   load           ld.acquire, or ld.relaxed without a price of order
//   store          st.release, or st.relaxed
#include "harness/cuda/benchmark.cuh"
#include "micro/pattern/random_cycle.hpp"

namespace strata::fences {

enum class Operation : std::uint8_t {
  fence_acq_rel,
  fence_sc,
  proxy_async,
  load_relaxed,
  load_acquire,
  store_relaxed,
  store_release
};
constexpr auto operations =
    choices_of<Operation>("fence_acq_rel", "fence_sc", "proxy_async", "load_relaxed",
                          "load_acquire", "store_relaxed", "store_release");
enum class Scope : std::uint8_t { cta, cluster, gpu, sys };
constexpr auto scopes = choices_of<Scope>("cta", "cluster", "gpu", "sys");

constexpr std::uint32_t unroll = 8;  ///< operations of a round

/// Values of the axes.
struct Shape {
  Operation operation = Operation::fence_acq_rel;
  Scope scope = Scope::gpu;
  std::uint32_t stores = 0;  ///< before each operation

  [[nodiscard]] constexpr bool loads() const {
    return operation == Operation::load_relaxed || operation == Operation::load_acquire;
  }
  [[nodiscard]] constexpr bool stores_itself() const {
    return operation == Operation::store_relaxed || operation == Operation::store_release;
  }
  /// Lines that the thread stores to, one word each. The operations of a round store to as many
  /// lines: of several relaxed stores to one word, ptxas keeps the last.
  [[nodiscard]] constexpr std::uint32_t lines() const {
    return stores + (stores_itself() ? unroll : 0);
  }
  /// Which of the last `unroll` operations stores last to `line`.
  [[nodiscard]] constexpr std::uint32_t last_of(std::uint32_t line) const {
    return line < stores ? unroll - 1 : line - stores;
  }
};

constexpr std::uint32_t line_words = 32;
constexpr std::uint32_t most_lines = 16;
constexpr std::uint32_t slots = 64;  ///< of the ring, one in each line

/// What the thread stores to line `line` in operation `index`.
[[nodiscard]] STRATA_HD constexpr std::uint32_t stored(std::uint32_t index, std::uint32_t line) {
  return index * 0x9E3779B1U + line * 0x85EBCA77U;
}

namespace {

Shape shape_of(const Params& params) {
  return {.operation = operations.of(params.at("operation")),
          .scope = scopes.of(params.at("scope")),
          .stores = number_of<std::uint32_t>(params, "stores")};
}

/// Why there is no such operation, or null.
constexpr const char* why_not(const Shape& shape) {
  if (shape.operation == Operation::proxy_async && shape.scope != Scope::cta) {
    return "the fence of shared memory has no scope: it is listed under cta";
  }
  if (shape.loads() && shape.stores > 0) return "a load does not wait for earlier stores";
  return nullptr;
}

std::optional<std::string> excludes(const Params& params, Backend backend) {
  if (backend == Backend::host) return "a CPU has none of these instructions";
  if (const char* const why = why_not(shape_of(params))) return why;
  return std::nullopt;
}

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "fences",
      .question = "What do fences and ordered accesses cost, by scope and by stores in flight?",
      .axes = {operations.axis("operation", "fence or ordered access"),
               scopes.axis("scope", "threads for which it orders accesses"),
               listed_axis("stores", "stores to other lines before each of them", {"0", "1", "8"})},
      .quantities = {{"operation_cycles",
                      "cycles from one operation, and the stores before it, to the next"},
                     {"operation_time", "the same in seconds"},
                     {"core_clock", "clock of the core meanwhile"}},
      .seconds_per_case = 0.01,
      .excludes = excludes};
}

struct Ring {
  std::vector<std::uint32_t> order = random_order(slots, /*seed=*/29);
  std::vector<std::uint32_t> next = successors(order);
  [[nodiscard]] std::uint32_t after(std::uint32_t loads) const { return order[loads % slots]; }
};

/// `words`: those that a launch stored, one line after the other.
Experiment describe(const Shape& shape, std::span<const std::uint32_t> words) {
  constexpr double timed_seconds = 4e-4;  // of the long launch: hundreds of timer steps
  const auto verify = [=, ring = Ring{}](const Call& call, std::span<const Stamp> stamps,
                                         Tally& tally) {
    const std::uint32_t done = call.length.rounds * unroll;
    tally.one(stamps[0].result == (shape.loads() ? ring.after(done) : done));
    if (words.empty()) return;
    for (std::uint32_t line = 0; line < shape.lines(); ++line) {
      const std::uint32_t last = done - unroll + shape.last_of(line);
      tally.one(words[std::size_t{line} * line_words] == stored(last, line));
    }
  };
  Experiment experiment;
  experiment.slopes = {{.verify = verify,
                        .size = lengths_by_trial(timed_seconds, unroll),
                        .writers = 1,
                        .window = slowest_writer_by_sums(),
                        .held = true}};
  add_both(experiment, "operation_cycles", "cycle");
  experiment.rows.push_back({"operation_time", "s", By::outside,
                             of_slope([](const Seen& seen) { return seen.seconds; })});
  experiment.checked =
      shape.loads() ? "ends of chains" : "stored words, and the number of operations";
  if (shape.loads()) experiment.checks.emplace_back(Dependence{"ends of chains", {}});
  experiment.not_counted = "no counter set has fences";
  experiment.facts = [=](const Experiment&) {
    Facts facts{{"lines_stored", std::int64_t{shape.lines()}}};
    if (!shape.loads())
      facts["no_dependence"] = std::string{"the operation returns nothing that the next needs"};
    return facts;
  };
  return experiment;
}

/// Throws Skipped if the GPU has no such operation.
void need(const Shape& shape, const GpuFacts& gpu) {
  const bool of_hopper = shape.scope == Scope::cluster || shape.operation == Operation::proxy_async;
  if (of_hopper && gpu.major < 9) {
    throw Skipped{"clusters and the asynchronous proxy need compute capability 9.0"};
  }
}

Experiment describe(const Params& params, const GpuFacts& gpu) {
  const Shape shape = shape_of(params);
  need(shape, gpu);
  return describe(shape, {});
}

#ifdef __CUDACC__

// An instruction with a scope in its name.
#if __CUDA_ARCH__ >= 900
#define STRATA_CLUSTER(begin, end, ...) asm volatile(begin ".cluster" end:__VA_ARGS__ : "memory")
#else
#define STRATA_CLUSTER(begin, end, ...) __trap()  // never launched
#endif
#define STRATA_SCOPED(begin, end, ...)                     \
  if constexpr (scope == Scope::cta)                       \
    asm volatile(begin ".cta" end:__VA_ARGS__ : "memory"); \
  else if constexpr (scope == Scope::cluster)              \
    STRATA_CLUSTER(begin, end, __VA_ARGS__);               \
  else if constexpr (scope == Scope::gpu)                  \
    asm volatile(begin ".gpu" end:__VA_ARGS__ : "memory"); \
  else                                                     \
    asm volatile(begin ".sys" end:__VA_ARGS__ : "memory")

/// `at`: the next word of the ring. `own`: the word that the operation stores, if it stores one.
template <Operation operation, Scope scope>
__device__ __forceinline__ void operate([[maybe_unused]] std::uint64_t& at,
                                        [[maybe_unused]] std::uint32_t* own,
                                        [[maybe_unused]] std::uint32_t word) {
  // Wanted: MEMBAR.ALL, MEMBAR.SC; LD and ST with the scope, and around them what orders.
  if constexpr (operation == Operation::fence_acq_rel) {
    STRATA_SCOPED("fence.acq_rel", ";", :);
  } else if constexpr (operation == Operation::fence_sc) {
    STRATA_SCOPED("fence.sc", ";", :);
  } else if constexpr (operation == Operation::proxy_async) {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
#endif
  } else if constexpr (operation == Operation::load_relaxed) {
    STRATA_SCOPED("ld.relaxed", ".global.u64 %0, [%0];", "+l"(at) :);
  } else if constexpr (operation == Operation::load_acquire) {
    STRATA_SCOPED("ld.acquire", ".global.u64 %0, [%0];", "+l"(at) :);
  } else if constexpr (operation == Operation::store_relaxed) {
    STRATA_SCOPED("st.relaxed", ".global.u32 [%0], %1;", : "l"(own), "r"(word));
  } else {
    STRATA_SCOPED("st.release", ".global.u32 [%0], %1;", : "l"(own), "r"(word));
  }
}
#undef STRATA_SCOPED
#undef STRATA_CLUSTER

/// One thread. `ring`: addresses, of which the thread follows those from `first`.
template <Operation operation, Scope scope, int stores>
__global__ void repeat(const std::uint64_t* ring, std::uint32_t first, std::uint32_t rounds,
                       std::uint32_t* words, Stamp* stamp) {
  constexpr bool is_shared = operation == Operation::proxy_async;
  __shared__ std::uint32_t near[most_lines * line_words];
  auto at = reinterpret_cast<std::uint64_t>(ring + std::size_t{first} * line_words / 2);
  const std::uint64_t begin_of_ring = reinterpret_cast<std::uint64_t>(ring);
  std::uint32_t done = 0;
  const auto once = [&](std::uint32_t u) {
#pragma unroll
    for (int line = 0; line < stores; ++line) {
      const std::uint32_t word = stored(done, line);
      if constexpr (is_shared) {
        store<Access::shared, 4>(shared_address(near + line * line_words), &word);
      } else {
        store<Access::global, 4>(words + line * line_words, &word);
      }
    }
    operate<operation, scope>(at, words + (stores + u) * line_words, stored(done, stores + u));
    ++done;
  };
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
#pragma unroll
    for (std::uint32_t u = 0; u < unroll; ++u)
      once(u);
  }
  consume(static_cast<std::uint32_t>(at));
  const Reading end = reading_after();
  if constexpr (is_shared) {
    for (int line = 0; line < stores; ++line)
      words[line * line_words] = near[line * line_words];
  }
  constexpr bool loads =
      operation == Operation::load_relaxed || operation == Operation::load_acquire;
  constexpr std::uint32_t slot_bytes = line_words * sizeof(std::uint32_t);
  leave(stamp, begin, end, loads ? (at - begin_of_ring) / slot_bytes : done);
}

using Kernel = void (*)(const std::uint64_t*, std::uint32_t, std::uint32_t, std::uint32_t*, Stamp*);

Kernel kernel_for(const Shape& shape) {
  using enum Operation;
  return with_value<fence_acq_rel, fence_sc, proxy_async, load_relaxed, load_acquire, store_relaxed,
                    store_release>(shape.operation, [&]<Operation operation>() {
    using enum Scope;
    return with_value<cta, cluster, gpu, sys>(shape.scope, [&]<Scope scope>() {
      return with_value<0, 1, 8>(static_cast<int>(shape.stores), [&]<int stores>() -> Kernel {
        if constexpr (why_not({operation, scope, stores}) == nullptr) {
          return &repeat<operation, scope, stores>;
        } else {
          return nullptr;
        }
      });
    });
  });
}

void run(Session& session) {
  const Shape shape = shape_of(session.params());
  need(shape, session.gpu());
  const Kernel kernel = kernel_for(shape);
  const Ring ring;
  CudaMachine machine{session, 1};
  const auto& words = machine.output<std::uint32_t>(std::size_t{most_lines} * line_words);
  constexpr std::uint32_t slot_words = line_words / 2;  // of 64 bits
  DeviceBuffer<std::uint64_t> addresses{std::size_t{slots} * slot_words};
  std::vector<std::uint64_t> all(addresses.size());
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    all[std::size_t{slot} * slot_words] = reinterpret_cast<std::uint64_t>(
        addresses.data() + std::size_t{ring.next[slot]} * slot_words);
  }
  addresses.upload(all);
  Experiment experiment = describe(shape, words.landed());
  experiment.slopes[0].launch = [&](const Call& call) {
    kernel<<<1, 1, 0, machine.stream().get()>>>(addresses.data(), ring.after(0), call.length.rounds,
                                                words.data(), machine.device_stamps());
  };
  experiment.kernels = {reinterpret_cast<const void*>(kernel)};
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::fences
