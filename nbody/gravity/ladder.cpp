#include "nbody/gravity/ladder.hpp"

#include "harness/record/gates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

namespace strata::nbody {
namespace {

constexpr const char* thessaly =
    "Papadouli, Markovitsis, Sanchez Cabrera, Parallelization and Optimization of Nbody Simulation "
    "on GPU, University of Thessaly, 2026";
constexpr const char* siegel =
    "Siegel, Ributzka, Li, CUDA Memory Optimizations for Large Data-Structures in the Gravit "
    "Simulator, ICPP Workshops 2009";
constexpr const char* handbook = "Wilt, The CUDA Handbook, 2013, ch. 14";
constexpr const char* gems =
    "Nyland, Harris, Prins, Fast N-Body Simulation with CUDA, GPU Gems 3, "
    "2007, ch. 31";

const std::vector<std::string> every_layout{"aos", "soa", "aoas", "soaoas", "aosoa32"};
const std::vector<std::string> posmass_together{"soaoas"};

Axis numbers(std::string name, std::string meaning, std::vector<std::string> choices,
             std::vector<std::string> defaults) {
  return {.name = std::move(name),
          .meaning = std::move(meaning),
          .choices = std::move(choices),
          .defaults = std::move(defaults)};
}

std::vector<Rung> host_rungs() {
  return {
      {.name = "serial",
       .backend = Backend::host,
       .before = "",
       .question = "What does gravity cost on one core, written down plainly?",
       .change = "a double loop over an array of structures",
       .source = std::string{thessaly} + ", Baseline",
       .expectation = "one square root and one division a pair bound it, neither in vectors",
       .layouts = {"aos"},
       .axes = {}},
      {.name = "openmp",
       .backend = Backend::host,
       .before = "serial",
       .question = "What does it bring to share the bodies out among all cores?",
       .change = "systems, or the bodies of a single one, on all cores",
       .source = std::string{thessaly} + ", OpenMP",
       .expectation = "as many times as there are cores: nothing is shared but what is read",
       .layouts = {"aos"},
       .axes = {}},
      {.name = "cpu_soa",
       .backend = Backend::host,
       .before = "openmp",
       .question = "What does a structure of arrays bring before there are vectors?",
       .change = "each field in an array of its own",
       .source = std::string{handbook} + ", 14.9",
       .expectation = "next to nothing: a core waits for its square roots, not for memory",
       .layouts = {"soa"},
       .axes = {}},
      {.name = "simd",
       .backend = Backend::host,
       .before = "cpu_soa",
       .question = "What do vectors bring, with square roots and divisions as they are?",
       .change = "the widest vectors of the CPU, over the bodies that pull",
       .source = std::string{handbook} + ", 14.9",
       .expectation = "the lanes of a vector, less what square roots and divisions of vectors cost",
       .layouts = {"soa"},
       .axes = {}},
      {.name = "simd_rsqrt",
       .backend = Backend::host,
       .before = "simd",
       .question = "What does an approximate reciprocal square root with a Newton step bring?",
       .change = "rsqrt and one Newton step in place of square root and division",
       .source = std::string{handbook} + ", 14.9, Listing 14.8",
       .expectation = "several times: neither the square root nor the division is pipelined",
       .approximate = true,
       .layouts = {"soa"},
       .axes = {}},
      {.name = "cpu_blocked",
       .backend = Backend::host,
       .before = "simd_rsqrt",
       .question = "How near to its arithmetic peak can the CPU come?",
       .change = "several bodies in registers for each that pulls, in pieces that stay in L1",
       .source = "register blocking as in matrix products (Goto, van de Geijn 2008)",
       .expectation = "loads and the latency of the chain no longer bound it",
       .sum = Sum::blocks,
       .approximate = true,
       .layouts = {"soa"},
       .axes = {}},
      {.name = "cpu_pair_once",
       .backend = Backend::host,
       .before = "cpu_blocked",
       .question = "What does it bring to compute each pair once, for both of its bodies?",
       .change = "Newton's third law: reactions are added up beside the bodies that pull",
       .source = std::string{handbook} + ", 14.1",
       .expectation = "21 operations on vectors for two interactions instead of 17 for one",
       .sum = Sum::blocks,
       .approximate = true,
       .layouts = {"soa"},
       .axes = {}},
  };
}

std::vector<Rung> cuda_rungs() {
  return {
      {.name = "naive",
       .before = "",
       .question = "What does gravity cost when every thread reads every body from global memory?",
       .change = "a thread for each body; one launch for each system, another that moves it",
       .source = std::string{siegel} + ", IV; " + thessaly + ", CUDA",
       .expectation = "L1 answers nearly all loads; the layout decides how many there are",
       .layouts = every_layout,
       .axes = {}},
      {.name = "tiled",
       .before = "naive",
       .question = "What does it bring to read each body once for a whole block, and to move the "
                   "bodies in the same kernel?",
       .change = "tiles in shared memory; the move is fused into the kernel",
       .source = std::string{gems} + "; " + thessaly + ", Shared Memory Tiling & Kernel Fusion",
       .expectation = "global loads fall by the size of a block, shared loads take their place",
       .layouts = every_layout,
       .axes = {}},
      {.name = "one_launch",
       .before = "tiled",
       .question = "What does it bring to compute all systems in one launch?",
       .change = "the system is a row of the grid",
       .source = std::string{thessaly} + ", Elimination of System counting Loop",
       .expectation = "of many systems: occupancy, and no time between launches; of one: nothing",
       .layouts = every_layout,
       .axes = {}},
      {.name = "fast_math",
       .before = "one_launch",
       .question = "What does the hardware's reciprocal square root bring, and what does it cost?",
       .change = "rsqrt.approx.ftz in place of square root and division",
       .source = std::string{thessaly} + ", Instruction fusion",
       .expectation = "one special function a pair instead of two and the code around them; the "
                      "error grows by what its last places are worth",
       .approximate = true,
       .issue_slots = 18,
       .layouts = {"soaoas", "aos", "soa", "aoas", "aosoa32"},
       .axes = {}},
      {.name = "unrolled",
       .before = "fast_math",
       .question = "How far does it pay to write the inner loop out?",
       .change = "the inner loop is unrolled",
       .source = std::string{siegel} + ", IV-A; " + handbook + ", Table 14.2",
       .expectation = "the loop's own instructions go, and shared loads are issued ahead of their "
                      "use",
       .approximate = true,
       .issue_slots = 14.03,
       .layouts = posmass_together,
       .axes = {numbers("unroll", "bodies of a turn of the inner loop; 256 is all of a tile",
                        {"1", "2", "4", "8", "16", "32", "64", "128", "256"},
                        {"1", "2", "4", "8", "16", "32", "64", "128", "256"})}},
      {.name = "invariants",
       .before = "unrolled",
       .question = "What does it bring to take out of the loop by hand what does not change in it?",
       .change = "negated position, softening and pointer are made before the loop",
       .source = std::string{siegel} + ", IV-A",
       .expectation = "nothing: compilers have learned it since",
       .approximate = true,
       .issue_slots = 14.09,
       .layouts = posmass_together,
       .axes = {}},
      {.name = "block_size",
       .before = "invariants",
       .question = "Which size of blocks, and which occupancy with it, is best?",
       .change = "the block, which is the tile as well",
       .source = std::string{siegel} + ", IV-B",
       .expectation = "little, as long as there are warps enough to cover a shared load",
       .approximate = true,
       .issue_slots = 14.09,
       .layouts = posmass_together,
       .axes = {numbers("block_size", "threads of a block, bodies of a tile",
                        {"64", "128", "256", "512", "1024"}, {"64", "128", "256", "512", "1024"})}},
      {.name = "read_only",
       .before = "invariants",
       .question = "Does a tile in shared memory still pay where L1 hands one body to all lanes?",
       .change = "the read-only path through L1 in place of the tile",
       .source = std::string{handbook} + ", 14.2",
       .expectation =
           "a load of L1 takes 32 cycles, one of shared memory 23: more warps are needed",
       .approximate = true,
       .issue_slots = 14.22,
       .layouts = posmass_together,
       .axes = {}},
      {.name = "warp_shuffle",
       .before = "invariants",
       .question = "Can lanes hand bodies to each other instead of through shared memory?",
       .change = "four shuffles a body in place of one shared load",
       .source = std::string{handbook} + ", 14.5",
       .expectation =
           "slower: four instructions in the place of one, by a unit for 32 lanes a cycle",
       .approximate = true,
       .issue_slots = 17.38,
       .layouts = posmass_together,
       .axes = {}},
      {.name = "constant_memory",
       .before = "invariants",
       .question = "Can constant memory take the tile's place?",
       .change = "bodies come from constant memory, 4032 at a time",
       .source = std::string{handbook} + ", 14.4",
       .expectation =
           "two loads of the uniform unit a body; what does not fit its 2 KiB cache waits",
       .sum = Sum::blocks,
       .approximate = true,
       .issue_slots = 15.16,
       .layouts = posmass_together,
       .axes = {}},
      {.name = "registers",
       .before = "invariants",
       .question = "What does it bring that a thread has several bodies in registers?",
       .change = "several bodies a thread; warps share out the others, without barriers",
       .source = "register blocking as in matrix products (Volkov, Demmel 2008)",
       .expectation = "shared loads fall by the bodies of a thread, and independent chains cover "
                      "each other's latency",
       .sum = Sum::blocks,
       .approximate = true,
       .issue_slots = 13.25,
       .layouts = posmass_together,
       .axes = {numbers("per_thread", "bodies of a thread", {"1", "2", "4", "8"}, {"4", "8"}),
                numbers("warps", "of a block, which share out the bodies that pull",
                        {"1", "2", "4", "8"}, {"2", "4"})}},
      {.name = "register_banks",
       .before = "registers",
       .question = "What does it cost that a subtraction finds both operands in one register bank?",
       .change = "the tile holds the mass first: coordinates lie one register further on",
       .source = "banks of Volta's register file: Jia et al. 2018, arXiv:1804.06826, 3.3",
       .expectation = "three cycles of 16 a pair: dispatch stalls go, nothing else changes",
       .sum = Sum::blocks,
       .approximate = true,
       .issue_slots = 13.25,
       .layouts = posmass_together,
       .axes = {numbers("per_thread", "bodies of a thread", {"1", "2", "4", "8"}, {"4", "8"}),
                numbers("warps", "of a block, which share out the bodies that pull",
                        {"1", "2", "4", "8"}, {"4", "8"})}},
      {.name = "pair_once",
       .before = "register_banks",
       .question = "What does it bring to compute each pair once, for both of its bodies?",
       .change = "Newton's third law: partners go round the warp and take their reactions along",
       .source = "no published GPU figure is known; Newton's third law on CPUs: Handbook 14.1",
       .expectation = "17 instructions a pair instead of 26; shuffles and atomic additions on top",
       .sum = Sum::blocks,
       .approximate = true,
       .issue_slots = 8.875,
       .layouts = posmass_together,
       .axes = {numbers("per_thread", "bodies of a thread", {"4", "8", "12", "16"},
                        {"4", "8", "16"})}},
      {.name = "several_gpus",
       .before = "register_banks",
       .question = "How far does it go with several GPUs?",
       .change = "systems, or the bodies of a single one, shared out among GPUs",
       .source = std::string{thessaly} + ", Use of multiple devices",
       .expectation =
           "as many times as there are GPUs, while each still has blocks for all its SMs",
       .sum = Sum::blocks,
       .approximate = true,
       .issue_slots = 0,
       .layouts = posmass_together,
       .axes = {numbers("gpus", "that share the work", {"1", "2", "3", "4", "8"}, {"1", "2", "4"}),
                numbers("per_thread", "bodies of a thread", {"2", "4", "8"}, {"4", "8"})}},
  };
}

std::vector<Rung> all_rungs() {
  std::vector<Rung> rungs = host_rungs();
  for (Rung& rung : cuda_rungs())
    rungs.push_back(std::move(rung));
  if (rungs.size() != rung_names.size()) throw std::logic_error{"a rung has no name"};
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    if (rungs[i].name != rung_names[i]) {
      throw std::logic_error{"rung " + rungs[i].name + " is not where its name is"};
    }
  }
  return rungs;
}

std::optional<std::string> excluded(const Rung& rung, const Params& params, Backend backend) {
  if (backend != rung.backend) return "it is a rung of another backend";
  if (std::ranges::find(rung.layouts, params.at("layout")) == rung.layouts.end()) {
    return "the rung is not built for that layout";
  }
  const std::string& problem = params.at("problem");
  const bool alone = params.at("systems") == "1";
  constexpr long long most_of_many = 32768;
  if (problem != "galaxies") {
    return alone ? std::nullopt : std::optional<std::string>{"the problem is one system"};
  }
  if (alone) return "galaxies are several systems";
  if (std::stoll(params.at("bodies")) > most_of_many) {
    return "a system of so many bodies fills a GPU alone: problem single";
  }
  return std::nullopt;
}

}  // namespace

const std::vector<Rung>& ladder() {
  static const std::vector<Rung> rungs = all_rungs();
  return rungs;
}

const Rung& rung_named(std::string_view name) {
  for (const Rung& rung : ladder()) {
    if (rung.name == name) return rung;
  }
  throw std::out_of_range{fmt::format("there is no rung '{}'", name)};
}

double rms_bound(const Rung& rung, std::uint32_t bodies, bool dominated) {
  constexpr double rounding = 0x1p-24;
  constexpr double of_a_term = 8;
  constexpr double block = 256;
  const auto of_a_sum = [&](double terms) { return dominated ? terms : std::sqrt(terms); };
  const double terms = bodies;
  const double sums =
      rung.sum == Sum::running ? of_a_sum(terms) : of_a_sum(block) + of_a_sum(terms / block);
  return (rung.approximate ? 2 : 1) * rounding * (of_a_term + sums);
}

Gate accuracy_gate(const Rung& rung, std::uint32_t bodies, const Error& error,
                   const std::string& what, bool dominated) {
  const double bound = rms_bound(rung, bodies, dominated);
  const bool right = error.finite && error.relative_rms <= bound &&
                     error.relative_maximum <= maximum_over_rms * bound;
  return {"result", right ? Verdict::passed : Verdict::failed,
          fmt::format("{} against double precision: root mean square {:.2g} (bound {:.2g}), "
                      "largest {:.2g} (bound {:.2g}){}",
                      what, error.relative_rms, bound, error.relative_maximum,
                      maximum_over_rms * bound, error.finite ? "" : ", and some are no numbers")};
}

Benchmark declare_rung(std::size_t index) {
  const Rung& rung = ladder().at(index);
  const bool gpu = rung.backend == Backend::cuda;
  Benchmark benchmark{
      .suite = "nbody",
      .name = rung.name,
      .question = rung.question,
      .axes = {{.name = "problem",
                .meaning = "what is computed, of how many systems",
                .choices = {"galaxies", "single", "gravit"},
                .defaults = {"galaxies", "single"}},
               {.name = "systems",
                .meaning = "independent systems (single, gravit: 1)",
                .minimum = 1,
                .maximum = 4096,
                .defaults = {"1", gpu ? "32" : "4"}},
               {.name = "bodies",
                .meaning = "of each system",
                .minimum = 1,
                .maximum = 1 << 22,
                .defaults = gpu ? std::vector<std::string>{"4096", "65536"}
                                : std::vector<std::string>{"1024"}},
               {.name = "layout",
                .meaning = "how the bodies lie in memory",
                .choices = {"aos", "soa", "aoas", "soaoas", "aosoa32"},
                .defaults = {rung.layouts.front()}}},
      .data_axes = 3,
      .counter_sets =
          gpu ? std::vector<std::string>{"flops", "issue", "occupancy", "shared", "stalls"}
              : std::vector<std::string>{},
      .quantities = {{"interactions_per_second", "N² of each system and step, by each timer"},
                     {"step_time", "of one step of all systems"},
                     {"nominal_flops_per_second",
                      "20 operations an interaction, as the peers count"},
                     {"relative_rms_error", "of the accelerations against double precision"},
                     {"relative_maximum_error",
                      "of the worst body, over the root mean square of all"},
                     {"energy_drift", "galaxies: of all energy, over the steps of a sample"},
                     {"momentum_drift", "galaxies: of all momentum, over the sum of m|v|"},
                     {"issue_limit", "interactions a second if a warp issued in every cycle"}},
      .seconds_per_case = gpu ? 0.2 : 0.3,
      .excludes = [index](const Params& params, Backend backend) {
        return excluded(ladder().at(index), params, backend);
      }};
  for (const Axis& axis : rung.axes)
    benchmark.axes.push_back(axis);
  return benchmark;
}

namespace {

/// Every rung is known to every build, whatever backends it has.
template <std::size_t... index>
bool declare_all(std::index_sequence<index...>) {
  return (detail::enrol(declare<index>, Backend::cuda, nullptr) && ...);
}
[[maybe_unused]] const bool strata_rungs_declared =
    declare_all(std::make_index_sequence<rung_names.size()>{});

}  // namespace

}  // namespace strata::nbody
