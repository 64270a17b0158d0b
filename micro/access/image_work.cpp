#include "micro/access/image_work.hpp"

#include "harness/cpu/footprints.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/record/device_facts.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace strata::image_work {
namespace {

std::optional<std::string> excluded(const Params& params, Backend backend) {
  const Form form = forms.of(params.at("form"));
  const bool of_cpu = form == Form::scalar || form == Form::vectors || form == Form::all_cores;
  if (of_cpu != (backend == Backend::host)) {
    return of_cpu ? "a CPU variant" : "a GPU variant";
  }
  return std::nullopt;
}

}  // namespace

Benchmark declared(const std::string& name, const std::string& question, bool rotates) {
  Benchmark benchmark{
      .suite = "micro",
      .name = name,
      .question = question,
      .axes = {sizes.axis("size", "1920 × 1080 as in the paper, or more than four times L2")},
      .data_axes = 1,
      .counter_sets = {"flops", "issue", "shared"},
      .quantities = {{"kernel_time", "duration of one image in a series"},
                     {"useful_bandwidth", "bytes of the image and of its result over that time"},
                     {"core_clock", "clock of the core between the images"},
                     {"l1_load_requests_per_launch", "counted and modelled"},
                     {"l1_load_sectors_per_launch", "counted and modelled"},
                     {"l1_store_sectors_per_launch", "counted and modelled"}},
      .seconds_per_case = 0.5,
      .excludes = excluded};
  if (rotates) {
    std::vector<std::string> degrees;
    degrees.reserve(angles.size());
    for (const Angle& angle : angles)
      degrees.push_back(std::to_string(angle.degrees));
    benchmark.axes.push_back(listed_axis("angle", "rotation angle in degrees", degrees));
  }
  benchmark.axes.push_back(forms.axis(
      "form",
      "of the kernel: as in the paper before its tool, after its tool, by hand (the same kernel), "
      "as strata access optimize makes it, and as written today; on a CPU one core, one core with "
      "vectors, and all cores",
      {"original", "seed_tool", "mended", "best", "scalar", "vectors", "all_cores"}));
  return benchmark;
}

Image image_of(const Params& params, std::uint64_t cache) {
  constexpr std::uint64_t caches = 4;
  return sizes.of(params.at("size")) ? square_beyond(caches * cache) : seed_image;
}

launch_series::Series series_of(const Image& image) {
  constexpr std::uint64_t moved = std::uint64_t{1} << 28U;  // by the shorter series
  const auto times = static_cast<std::uint32_t>(moved / (2 * image.bytes()) + 1);
  return {.few = times, .many = 3 * times};
}

Experiment describe(const Image& image, const LaunchTraffic& traffic) {
  Experiment experiment =
      launch_series::on_gpu(2.0 * static_cast<double>(image.bytes()), series_of(image));
  experiment.checked = "every pixel against the host's";
  experiment.counts = launch_series::count_launch(traffic, "coalescing_model");
  return experiment;
}

std::vector<std::uint8_t> pixels_of(const Image& image) {
  std::vector<std::uint8_t> bytes(image.bytes());
  in_parallel(bytes.size() / sizeof(std::uint32_t), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const std::uint32_t word = hashed_word(static_cast<std::uint32_t>(i));
      std::memcpy(&bytes[i * sizeof word], &word, sizeof word);
    }
  });
  return bytes;
}

void measure_on_cpu(Session& session, const std::function<void(const Rows&)>& work,
                    const std::string& instructions, const Check& check) {
  auto cpus = allowed_cpus();
  const CpuFacts cpu = cpu_facts(session.device().identity().facts);
  const Image image = image_of(session.params(), cpus.size() * need(cpu.l2_bytes, "l2_bytes"));
  require_quarter_of_memory(cpu, 2 * image.bytes(), "the image and its result");
  if (session.param("form") != forms.name_of(Form::all_cores)) cpus.resize(1);
  HostMachine machine{cpus};
  // The image that all forms read.
  const auto& from = session.cache().keep<std::vector<std::uint8_t>>(
      "image " + session.param("size"), [&] { return pixels_of(image); });
  std::vector<std::uint8_t> to(image.bytes());

  Experiment experiment = launch_series::on_cpu(2.0 * static_cast<double>(image.bytes()));
  Slope slope{.lengths = {.brief = {.rounds = 1, .work = 1}, .full = {.rounds = 3, .work = 3}}};
  slope.prepare = [&](const Call&) { std::ranges::fill(to, poison); };
  slope.launch = machine.on_every_core([&](std::size_t rank, const Call& call) {
    const auto row = [&](std::size_t share) {
      return static_cast<std::uint32_t>(image.height * share / machine.cores());
    };
    const Rows rows{.from = from.data(),
                    .to = to.data(),
                    .image = image,
                    .first = row(rank),
                    .last = row(rank + 1)};
    for (std::uint32_t pass = 0; pass < call.length.rounds; ++pass) {
      work(rows);
      asm volatile("" : : : "memory");  // the compiler can drop no pass
    }
    return std::uint64_t{0};
  });
  slope.verify = [&](const Call&, std::span<const Stamp>, Tally& tally) {
    check(image, from, to, tally);
  };
  slope.size = launch_series::pairs_by_trial(experiment, slope.lengths);
  experiment.slopes = {slope};
  experiment.checked = "every pixel against the reference";
  experiment.facts = [&](const Experiment&) {
    return Facts{{"footprint_bytes", static_cast<std::int64_t>(2 * image.bytes())},
                 {"width", static_cast<std::int64_t>(image.width)},
                 {"height", static_cast<std::int64_t>(image.height)},
                 {"instructions", instructions}};
  };
  measure(session, machine, experiment);
}

}  // namespace strata::image_work
