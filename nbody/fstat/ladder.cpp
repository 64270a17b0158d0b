#include "nbody/fstat/ladder.hpp"

#include "harness/case/choices.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace strata::fstat {
namespace {

std::optional<std::string> excluded(const Rung& rung, const Params& params, Backend backend) {
  if (backend != rung.backend) return "it is a rung of another backend";
  constexpr double about_so_many_signals = 90;
  double terms = about_so_many_signals;
  for (const char* axis : {"sky", "cells", "stacks", "frequencies"})
    terms *= number_of<double>(params, axis);
  const double usual = backend == Backend::cuda ? 1e9 : 1e8;
  if (terms > (rung.most > 0 ? rung.most : usual))
    return "a case of so many terms would not end in time";
  return std::nullopt;
}

[[maybe_unused]] const bool is_enrolled =
    enrol_ladder("fstat", [](Benchmark& benchmark, const Rung& rung) {
      benchmark.excludes = [rung](const Params& params, Backend backend) {
        return excluded(rung, params, backend);
      };
    });

}  // namespace

Choice choice_of(const Session& session) {
  if (!session.params().contains("group")) return {};
  return {.group = static_cast<std::uint32_t>(session.whole("group"))};
}

PredictedCosts costs_of(const Rung& rung) {
  static const std::map<std::string_view, PredictedCosts> all{{"", nullptr},
                                                              {"all_stacks", predict_all_stacks},
                                                              {"gathered", predict_gathered},
                                                              {"kept_memory", predict_kept_memory},
                                                              {"lanes", predict_lanes},
                                                              {"library", predict_library},
                                                              {"one_launch", predict_one_launch},
                                                              {"packed", predict_packed},
                                                              {"per_call", predict_per_call},
                                                              {"polynomial", predict_polynomial},
                                                              {"resident", predict_resident},
                                                              {"warp_sum", predict_warp_sum}};
  return all.at(rung.costs);
}

}  // namespace strata::fstat
