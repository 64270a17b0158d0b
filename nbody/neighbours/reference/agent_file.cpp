#include "nbody/neighbours/reference/agent_file.hpp"

#include "harness/base/text.hpp"
#include "nbody/neighbours/reference/motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace strata::neighbours {
namespace {

/// The first bytes of a file, in its layout.
struct Header {
  DatasetStart start{.version = 2};
  std::uint32_t kind = 0;
  std::uint32_t agents = 0;
  std::uint32_t steps = 0;
  std::uint32_t spread = 0;
  float world = 0;
  float radius_squared = 0;
  std::uint64_t seed = 0;
  DatasetDigest digest{};
  std::uint32_t has_neighbours = 0;
  std::uint32_t nothing = 0;
  std::uint64_t neighbours = 0;

  [[nodiscard]] std::uint64_t bytes() const;
};
constexpr std::size_t header_bytes = 96;
static_assert(sizeof(Header) == header_bytes && offsetof(Header, digest) == dataset_digest_at);
constexpr std::size_t element_bytes = 4;

std::uint64_t Header::bytes() const {
  const std::uint64_t lists = has_neighbours != 0 ? agents + neighbours : 0;
  return header_bytes + (std::uint64_t{agents} * part_count + lists) * element_bytes;
}

constexpr DatasetKind kind_of_file{.version = 2,
                                   .what = "a file of agents",
                                   .generator = "strata neighbours generate",
                                   .header_bytes = header_bytes};

std::string encoded(const AgentData& data) {
  Header header{.kind = static_cast<std::uint32_t>(data.problem.kind),
                .agents = data.problem.agents,
                .steps = data.steps,
                .spread = static_cast<std::uint32_t>(data.problem.spread),
                .world = data.problem.world,
                .radius_squared = data.problem.radius_squared,
                .seed = data.problem.seed};
  if (data.neighbours) {
    header.has_neighbours = 1;
    header.neighbours = data.neighbours->ids.size();
  }
  std::string bytes(header.bytes(), '\0');
  std::memcpy(bytes.data(), &header, header_bytes);
  char* at = bytes.data() + header_bytes;
  const auto put = [&at](const auto& number) {
    static_assert(sizeof number == element_bytes);
    std::memcpy(at, &number, element_bytes);
    at += element_bytes;
  };
  for (std::size_t i = 0; i < data.agents.size(); ++i) {
    for (const auto& part : data.agents.parts)
      put(part[i]);
  }
  if (!data.neighbours) return bytes;
  for (std::size_t i = 0; i < data.agents.size(); ++i)
    put(static_cast<std::uint32_t>(data.neighbours->of(i).size()));
  for (const std::uint32_t id : data.neighbours->ids)
    put(id);
  return bytes;
}

/// Of a file of `size` bytes that begins with `start`; refuses one that does not agree with it.
Header header_of(std::string_view start, std::uint64_t size, std::string_view name) {
  Header header;
  std::memcpy(&header, start.data(), header_bytes);
  const auto require = [name](bool holds, const std::string& found, const std::string& expected,
                              std::string_view fix = make_dataset_again) {
    require_of_dataset(holds, name, found, expected, fix);
  };
  const auto kinds = words_of(Kind{}).size();
  require(header.kind < kinds, fmt::format("has problem {}", header.kind),
          fmt::format("0 to {}", kinds - 1));
  const auto spreads = words_of(Spread{}).size();
  require(header.spread < spreads, fmt::format("has spread {}", header.spread),
          fmt::format("0 to {}", spreads - 1));
  require(header.agents > 0 && header.agents <= most_agents,
          fmt::format("has {} agents", header.agents), fmt::format("1 to {}", most_agents));
  require(header.has_neighbours <= 1 && header.nothing == 0 &&
              (header.has_neighbours == 1 || header.neighbours == 0) &&
              header.neighbours <= std::uint64_t{header.agents} * header.agents,
          fmt::format("has the words {}, {}, {} on its neighbours", header.has_neighbours,
                      header.nothing, header.neighbours),
          "1, 0 and their number, or 0, 0, 0");
  const std::uint64_t wanted = header.bytes();
  require(
      size == wanted, fmt::format("has {} bytes", size),
      fmt::format("{} for {} agents and {} neighbours", wanted, header.agents, header.neighbours),
      size < wanted ? "it is truncated: copy it again, or generate it again"
                    : "it has extra bytes: copy it again, or generate it again");
  return header;
}

/// The lists at `at`; refuses malformed ones.
Lists lists_at(const char* at, const Header& header, std::string_view name) {
  const auto next = [&at] {
    std::uint32_t number = 0;
    std::memcpy(&number, at, element_bytes);
    at += element_bytes;
    return number;
  };
  Lists lists;
  for (std::uint32_t i = 0; i < header.agents; ++i)
    lists.first.push_back(lists.first.back() + next());
  require_of_dataset(lists.first.back() == header.neighbours, name,
                     fmt::format("its lists have {} neighbours", lists.first.back()),
                     fmt::format("{}, as in its header", header.neighbours), make_dataset_again);
  lists.ids.resize(header.neighbours);
  std::ranges::generate(lists.ids, next);
  for (std::uint32_t i = 0; i < header.agents; ++i) {
    const auto list = lists.of(i);
    const bool right =
        std::ranges::adjacent_find(list, std::ranges::greater_equal{}) == list.end() &&
        (list.empty() || list.back() < header.agents) && std::ranges::find(list, i) == list.end();
    require_of_dataset(right, name, fmt::format("the neighbours of agent {} are not sorted", i),
                       "ids of other agents, ascending", make_dataset_again);
  }
  return lists;
}

AgentData decoded(std::string_view file, const Header& header, std::string_view name) {
  AgentData data{.problem = {.kind = static_cast<Kind>(header.kind),
                             .spread = static_cast<Spread>(header.spread),
                             .agents = header.agents,
                             .world = header.world,
                             .radius_squared = header.radius_squared,
                             .seed = header.seed},
                 .agents = Agents{header.agents},
                 .steps = header.steps,
                 .neighbours = std::nullopt};
  const char* at = file.data() + header_bytes;
  for (std::size_t i = 0; i < header.agents; ++i) {
    for (auto& part : data.agents.parts) {
      std::memcpy(&part[i], at, element_bytes);
      at += element_bytes;
    }
  }
  if (header.has_neighbours != 0) data.neighbours = lists_at(at, header, name);
  return data;
}

}  // namespace

void write_agents(const std::filesystem::path& file, const AgentData& data, Existing existing) {
  check(file.string(), data.problem, data.agents);
  check_target(file, existing);
  write_sealed(file, encoded(data), existing);
}

AgentData read_agents(const std::filesystem::path& file) {
  const std::string name = file.string();
  Header header;
  AgentData data;
  read_sealed(
      file, kind_of_file,
      [&](std::string_view start, std::uint64_t size) { header = header_of(start, size, name); },
      [&](std::string_view bytes) { data = decoded(bytes, header, name); });
  check(name, data.problem, data.agents);
  return data;
}

AgentData moved(AgentData data, std::uint32_t steps) {
  if (steps > std::numeric_limits<std::uint32_t>::max() - data.steps) {
    refuse({"--steps"}, "so many steps do not fit the header of a file",
           fmt::format("at most {}", std::numeric_limits<std::uint32_t>::max() - data.steps),
           "use fewer steps");
  }
  if (steps == 0) return data;
  std::vector<Agent<double>> agents = in_double(data.agents);
  for (std::uint32_t step = 0; step < steps && data.problem.moves(); ++step) {
    const Lists neighbours =
        search(places_of(agents), static_cast<double>(data.problem.radius_squared),
               only_nearest(data.problem.kind))
            .lists;
    agents = motion_of(data.problem, agents, neighbours).after;
  }
  data.agents = in_single(agents);
  data.steps += steps;
  data.neighbours.reset();
  return data;
}

AgentData with_neighbours(AgentData data) {
  data.neighbours = search(places_of(data.agents), static_cast<double>(data.problem.radius_squared),
                           only_nearest(data.problem.kind))
                        .lists;
  return data;
}

}  // namespace strata::neighbours
