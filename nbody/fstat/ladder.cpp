#include "nbody/fstat/ladder.hpp"

#include "harness/case/choices.hpp"

#include <optional>

namespace strata::fstat {
namespace {

constexpr std::string_view suite = "fstat";
constexpr std::string_view order{STRATA_RUNGS};  // of CMakeLists.txt: ",fstat_serial,…,"
constexpr Problem of_seed;

std::optional<std::string> excluded(const Rung& rung, const Params& params, Backend backend) {
  if (backend != rung.backend) return "it is a rung of another backend";
  constexpr double about_so_many_signals = 90;
  double terms = about_so_many_signals;
  for (const char* axis : {"sky", "cells", "stacks", "frequencies"})
    terms *= number_of<double>(params, axis);
  const double usual = backend == Backend::cuda ? 1e9 : 1e8;
  if (terms > (rung.most_terms > 0 ? rung.most_terms : usual))
    return "a case of so many terms would not end in time";
  return std::nullopt;
}

}  // namespace

Choice choice_of(const Session& session) {
  Choice choice;
  if (session.params().contains("group")) {
    choice.group = static_cast<std::uint32_t>(session.whole("group"));
  }
  return choice;
}

Axis group_axis() {
  return listed_axis("group", "bins that share a reciprocal", {"1", "2", "4", "8", "16"}, {"2"});
}

const std::vector<Rung>& ladder() {
  return rungs_in_order<Rung>(order);
}

const Rung& rung_named(std::string_view name) {
  return rung_of(ladder(), name);
}

Benchmark declare_rung(const Rung& rung) {
  Benchmark benchmark{
      .suite = std::string{suite},
      .name = rung.name,
      .question = rung.question,
      .axes = {number_axis("sky", "points of the sky, of the seed's 45", 1, of_seed.sky, {"1"}),
               number_axis("cells", "of each, of the seed's 9", 1, of_seed.cells, {"9"}),
               number_axis("stacks", "of the record, of the seed's 84", 1, of_seed.stacks, {"2"}),
               number_axis("frequencies", "of each, of the seed's 161", 1, of_seed.frequencies,
                           {"161"})},
      .data_axes = 4,
      .quantities = {{"terms_per_second", "signals × templates, by each timer"},
                     {"seconds_per_sft",
                      "of a term, of a core or of the GPU: LALSuite's tau0_coreLD"},
                     {"core_seconds_per_sft",
                      "of a term on one core of a GPU's host, as fstat_serial has it"},
                     {"terms", "of all sky points: counted as computed, and modelled"},
                     {"idle_threads", "launched without a term: counted, and modelled"},
                     {"allocations", "of device memory, likewise"},
                     {"copies", "between host and GPU, likewise"},
                     {"copied_bytes", "of them"},
                     {"launches", "of kernels and fills, likewise"},
                     {"issue_limit", "terms a second, if warps issued them in every cycle"},
                     {"fa_error", "root mean square error of Fa ÷ that of Fa itself"},
                     {"fb_error", "of Fb"},
                     {"two_f_error", "of 2F"},
                     {"phase_allocate", "of all sky points: memory (traced, as are all phases)"},
                     {"phase_build", "packing of pieces by the host"},
                     {"phase_copy_in", "to the GPU"},
                     {"phase_sum", "of signals, and 2F"},
                     {"phase_copy_out", "to the host"},
                     {"phase_idle", "what nothing covers"},
                     {"copies_in", "of `copies`, those to the GPU, as they were recorded"},
                     {"copied_in_bytes", "of them"}},
      .seconds_per_case = 0.6,
      .excludes = [rung](const Params& params, Backend backend) {
        return excluded(rung, params, backend);
      }};
  benchmark.axes.insert(benchmark.axes.end(), rung.axes.begin(), rung.axes.end());
  return benchmark;
}

bool add_to_ladder(const Rung& rung, Benchmark (*declare)(), Body body) {
  return strata::detail::add_rung(suite, order, rung, declare, body);
}

}  // namespace strata::fstat
