#include "nbody/neighbours/ladder.hpp"

#include "harness/case/choices.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace strata::neighbours {
namespace {

std::optional<std::string> excluded(const Rung& rung, const Params& params, Backend backend) {
  if (backend != rung.backend) return "the rung belongs to another backend";
  const bool sphere = params.at("problem") == to_string(Kind::boids);
  const bool fits = params.at("world") == "fit";
  if (sphere && fits) return "the world of boids needs a radius";
  if (sphere && params.at("spread") == to_string(Spread::jittered)) {
    return "boids on a jittered grid would have ties";
  }
  if (!sphere && !fits) return "the world has density 1";
  if (!sphere && params.contains("shown") && params.at("shown") == "yes") {
    return "only boids can be shown";
  }
  if (rung.most > 0 && number_of<double>(params, "agents") > rung.most) {
    return "a case with so many agents would exceed its time limit";
  }
  return std::nullopt;
}

[[maybe_unused]] const bool is_enrolled =
    enrol_ladder("neighbours", [](Benchmark& benchmark, const Rung& rung) {
      benchmark.excludes = [rung](const Params& params, Backend backend) {
        return excluded(rung, params, backend);
      };
    });

template <class Function>
using Named = std::map<std::string_view, Function>;

}  // namespace

PredictedTests tests_of(const Rung& rung) {
  static const Named<PredictedTests> all{{"", nullptr},
                                         {"all_pairs", predict_all_pairs},
                                         {"boxes", predict_boxes},
                                         {"cells", predict_cells},
                                         {"columns", predict_columns},
                                         {"curve_cells", predict_curve_cells},
                                         {"early_stop", predict_early_stop},
                                         {"half_stencil", predict_half_stencil},
                                         {"lists", predict_lists},
                                         {"packed_cells", predict_packed_cells},
                                         {"rows", predict_rows},
                                         {"slabs", predict_slabs},
                                         {"split_slabs", predict_split_slabs},
                                         {"tree", predict_tree}};
  return all.at(rung.tests);
}

PredictedTraffic traffic_of(const Rung& rung) {
  static const Named<PredictedTraffic> all{{"", nullptr},
                                           {"copying", predict_copying},
                                           {"counting_sort", predict_counting_sort},
                                           {"half_stencil", predict_half_stencil},
                                           {"host_boxes", predict_host_boxes},
                                           {"host_grid", predict_host_grid},
                                           {"kept_order", predict_kept_order},
                                           {"lazy", predict_lazy},
                                           {"persistent", predict_persistent},
                                           {"scan_grid", predict_scan_grid},
                                           {"tree", predict_tree},
                                           {"verlet", predict_verlet}};
  return all.at(rung.traffic);
}

PredictedBuild build_of(const Rung& rung) {
  static const Named<PredictedBuild> all{{"", nullptr},
                                         {"kept_order", predict_kept_order},
                                         {"looking_at_all", predict_looking_at_all},
                                         {"sorted_agents", predict_sorted_agents},
                                         {"sorted_by_table", predict_sorted_by_table},
                                         {"sorted_ids", predict_sorted_ids}};
  return all.at(rung.build);
}

Choice choice_of(const Session& session) {
  const Params& params = session.params();
  Choice choice;
  if (params.contains("cells")) choice.cells = static_cast<std::uint32_t>(session.whole("cells"));
  if (params.contains("skin")) choice.skin = std::stod(session.param("skin"));
  if (params.contains("curve")) choice.curve = enum_from<Curve>(session.param("curve")).value();
  choice.shown = params.contains("shown") && session.param("shown") == "yes";
  if (params.contains("steps")) choice.steps = static_cast<std::size_t>(session.whole("steps"));
  return choice;
}

}  // namespace strata::neighbours
