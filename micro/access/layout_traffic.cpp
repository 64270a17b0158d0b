// How many bytes does each generation of GPU move for each layout?
//
// Nothing is measured: the numbers follow from the addresses of one warp that reads 32 particles,
// under the rules that harness/model/coalescing.hpp cites. They are part of a run so that its
// figures can show them next to what the hardware did.
#include "harness/base/error.hpp"
#include "harness/measure/session.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/model/lanes.hpp"
#include "harness/model/layout.hpp"
#include "micro/access/layout_read.hpp"

#include <string>
#include <vector>

namespace strata::layout_traffic {
namespace {

Benchmark declare() {
  std::vector<std::string> names;
  for (const GenerationInfo& info : generations())
    names.emplace_back(info.name);
  const Benchmark read = layout_read::declare();
  return {
      .suite = "micro",
      .name = "layout_traffic",
      .question = "How many bytes does each GPU generation move for each layout?",
      .axes = {listed_axis("generation",
                           "compute capabilities that share their rules for global memory", names),
               *read.axis("layout"), *read.axis("fields")},
      .quantities = {{"requests_per_read", "memory requests of the pipeline to read 32 particles"},
                     {"transactions_per_read", "memory transactions of any size"},
                     {"sectors_per_read", "32-byte sectors, each once per request"},
                     {"lines_per_read", "128-byte lines, each once per request"},
                     {"repeated_sectors_per_read",
                      "sectors that an earlier load of the same read touched"},
                     {"bytes_moved_per_read", "bytes moved by the transactions"},
                     {"bytes_used_per_read", "bytes of the wanted fields"},
                     {"moved_over_used", "bytes moved ÷ bytes used"}},
      .seconds_per_case = 0.0001,
      .excludes = {}};
}

void run(Session& session) {
  if (session.counters() != nullptr) throw Skipped{"a model: nothing to count"};
  const Generation generation = generation_from(session.param("generation")).value();
  SequenceTraffic traffic;
  (void)with_layout(session.param("layout"), session.param("fields"), [&]<class L, class Fields>() {
    traffic = warp_read_traffic<L, Fields>(generation);
  });
  const Traffic& total = traffic.total;
  const auto add = [&](const char* quantity, const char* unit, auto value) {
    session.add(Measurement{.quantity = quantity,
                            .unit = unit,
                            .provenance = Provenance::modelled,
                            .method = "coalescing_model",
                            .samples = {static_cast<double>(value)}});
  };
  add("requests_per_read", "request", total.requests);
  add("transactions_per_read", "transaction", total.transactions);
  add("sectors_per_read", "sector", total.sectors);
  add("lines_per_read", "line", total.lines);
  add("repeated_sectors_per_read", "sector", traffic.repeated_sectors);
  add("bytes_moved_per_read", "B", total.bytes_moved);
  add("bytes_used_per_read", "B", total.bytes_used);
  add("moved_over_used", "1", total.moved_over_used());
}

STRATA_BENCHMARK(declare, cuda, run);
STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::layout_traffic
