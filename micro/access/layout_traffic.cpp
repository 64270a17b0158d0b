// How many bytes would each generation of GPU move for each layout?
//
// Nothing is measured: the numbers are arithmetic on the addresses of one warp that reads 32
// particles, under the rules that harness/model/coalescing.hpp cites. They stand in a run so that
// its figures can set what the hardware did beside what each generation would have done.
#include "harness/case/benchmark.hpp"
#include "harness/case/error.hpp"
#include "harness/measure/session.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/model/layout.hpp"
#include "harness/model/warp_reads.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace strata::layout_traffic {
namespace {

std::vector<std::string> generation_names() {
  std::vector<std::string> names;
  for (const auto& info : generations())
    names.emplace_back(info.name);
  return names;
}

Benchmark declare() {
  return {.suite = "micro",
          .name = "layout_traffic",
          .question = "How many bytes would each generation of GPU move for each layout?",
          .axes = {{.name = "generation",
                    .meaning = "compute capabilities that share their rules for global memory",
                    .choices = generation_names(),
                    .defaults = generation_names()},
                   {.name = "layout",
                    .meaning = "how the seven floats of a particle lie in memory",
                    .choices = names_of<Layouts>(),
                    .defaults = names_of<Layouts>()},
                   {.name = "fields",
                    .meaning = "all seven fields, or position and mass",
                    .choices = names_of<FieldSets>(),
                    .defaults = names_of<FieldSets>()}},
          .quantities = {{"requests_per_read",
                          "what the memory pipeline takes one by one, to read 32 particles"},
                         {"transactions_per_read", "with memory, of whatever size"},
                         {"sectors_per_read", "of 32 bytes, each once in each request"},
                         {"lines_per_read", "of 128 bytes, each once in each request"},
                         {"repeated_sectors_per_read",
                          "of the sectors: touched by an earlier load of the same read"},
                         {"bytes_moved_per_read", "by the transactions"},
                         {"bytes_used_per_read", "of the wanted fields"},
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
  const auto add = [&](const char* quantity, const char* unit, double value) {
    session.add(Measurement{.quantity = quantity,
                            .unit = unit,
                            .provenance = Provenance::modelled,
                            .method = "coalescing_model",
                            .samples = {value}});
  };
  const auto add_count = [&](const char* quantity, const char* unit, std::uint64_t count) {
    add(quantity, unit, static_cast<double>(count));
  };
  const Traffic& total = traffic.total;
  add_count("requests_per_read", "request", total.requests);
  add_count("transactions_per_read", "transaction", total.transactions);
  add_count("sectors_per_read", "sector", total.sectors);
  add_count("lines_per_read", "line", total.lines);
  add_count("repeated_sectors_per_read", "sector", traffic.repeated_sectors);
  add_count("bytes_moved_per_read", "B", total.bytes_moved);
  add_count("bytes_used_per_read", "B", total.bytes_used);
  add("moved_over_used", "1", total.moved_over_used());
}

STRATA_BENCHMARK(declare, cuda, run);
STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::layout_traffic
