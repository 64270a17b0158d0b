#include "nbody/neighbours/problem/search.hpp"

#include "harness/base/in_parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace strata::neighbours {
namespace {

/// Agents sorted by boxes as long as the reach: neighbours are in boxes side by side, three of
/// which, along x, follow each other.
class Boxes {
 public:
  Boxes(const Places& places, double radius) : places_{places}, radius_{radius} {
    for (std::size_t c = 0; c < places.size(); ++c)
      low_[c] = places[c].empty() ? 0 : *std::ranges::min_element(places[c]);
    const std::size_t count = places.front().size();
    keys_.resize(count);
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0U);
    std::vector<std::uint64_t> key(count);
    for (std::size_t i = 0; i < count; ++i)
      key[i] = key_of(box(i));
    std::ranges::stable_sort(order_, {}, [&](std::uint32_t i) { return key[i]; });
    std::ranges::transform(order_, keys_.begin(), [&](std::uint32_t i) { return key[i]; });
  }

  /// Calls visit(j) for every agent in the boxes of agent i and around it, i included.
  template <class Visit>
  void for_near(std::size_t i, const Visit& visit) const {
    const auto [x, y, z] = box(i);
    for (std::uint64_t near_z = z == 0 ? 0 : z - 1; near_z <= z + 1; ++near_z) {
      for (std::uint64_t near_y = y == 0 ? 0 : y - 1; near_y <= y + 1; ++near_y) {
        const std::uint64_t from = key_of({x == 0 ? 0 : x - 1, near_y, near_z});
        const std::uint64_t to = key_of({x + 1, near_y, near_z});
        auto at = static_cast<std::size_t>(std::ranges::lower_bound(keys_, from) - keys_.begin());
        for (; at < keys_.size() && keys_[at] <= to; ++at)
          visit(order_[at]);
      }
    }
  }

 private:
  using Box = std::array<std::uint64_t, 3>;
  /// 20 bits a dimension hold a million reaches, and keep z + 1 apart from the next y.
  static std::uint64_t key_of(const Box& box) { return (box[2] << 42U) | (box[1] << 21U) | box[0]; }
  [[nodiscard]] Box box(std::size_t i) const {
    constexpr double most = (1U << 20U) - 2;
    Box box{};
    for (std::size_t c = 0; c < box.size(); ++c) {
      box[c] = static_cast<std::uint64_t>(
          std::min(std::floor((places_[c][i] - low_[c]) / radius_), most));
    }
    return box;
  }

  const Places& places_;
  double radius_;
  std::array<double, 3> low_{};
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> order_;
};

/// Squared distance and number: the nearest come first.
using Neighbour = std::pair<double, std::uint32_t>;

}  // namespace

Places places_of(const Agents& agents) {
  Places places;
  for (std::size_t c = 0; c < places.size(); ++c)
    places[c].assign(agents.parts[c].begin(), agents.parts[c].end());
  return places;
}

double squared_distance(const Places& places, std::size_t i, std::size_t j) {
  double sum = 0;
  for (const std::vector<double>& along : places)
    sum += (along[j] - along[i]) * (along[j] - along[i]);
  return sum;
}

Found search(const Places& places, double radius_squared, bool nearest) {
  const std::size_t count = places.front().size();
  const Boxes boxes{places, std::sqrt(radius_squared)};
  std::vector<std::vector<std::uint32_t>> all(count);
  std::vector<char> tied(count);
  const auto search_some = [&](std::size_t first, std::size_t last) {
    std::vector<Neighbour> near;
    for (std::size_t i = first; i < last; ++i) {
      near.clear();
      boxes.for_near(i, [&](std::uint32_t j) {
        const double squared = squared_distance(places, i, j);
        if (j != i && squared < radius_squared) near.emplace_back(squared, j);
      });
      if (nearest && near.size() > nearest_count) {
        std::ranges::partial_sort(near, near.begin() + nearest_count + 1);
        tied[i] = near[nearest_count - 1].first == near[nearest_count].first ? 1 : 0;
        near.resize(nearest_count);
      }
      all[i].reserve(near.size());
      for (const auto& [squared, id] : near)
        all[i].push_back(id);
      std::ranges::sort(all[i]);
    }
  };
  in_parallel(count, search_some, 1024);
  Found found;
  for (std::size_t i = 0; i < count; ++i) {
    found.lists.ids.insert(found.lists.ids.end(), all[i].begin(), all[i].end());
    found.lists.first.push_back(found.lists.ids.size());
    if (tied[i] != 0) found.tied.push_back(static_cast<std::uint32_t>(i));
  }
  return found;
}

std::size_t agents_with_wrong_neighbours(
    const Places& places, double radius_squared, bool nearest, const Lists& right,
    const std::function<std::span<const std::uint32_t>(std::size_t)>& found, double slack) {
  const std::size_t count = right.size();
  std::atomic<std::size_t> wrong = 0;
  const auto compare_some = [&](std::size_t first, std::size_t last) {
    std::vector<std::uint32_t> ids;
    std::vector<std::uint32_t> different;
    for (std::size_t i = first; i < last; ++i) {
      const auto given = found(i);
      ids.assign(given.begin(), given.end());
      std::ranges::sort(ids);
      const auto wanted = right.of(i);
      if (std::ranges::equal(ids, wanted)) continue;
      different.clear();
      std::ranges::set_symmetric_difference(ids, wanted, std::back_inserter(different));
      // The limit that decides: the reach, or where more are within it the farthest that counts.
      double limit = radius_squared;
      if (nearest && wanted.size() == nearest_count) {
        limit = 0;
        for (const std::uint32_t j : wanted)
          limit = std::max(limit, squared_distance(places, i, j));
      }
      const bool undecided = std::ranges::all_of(different, [&](std::uint32_t j) {
        if (j >= count || j == i) return false;
        return std::abs(squared_distance(places, i, j) - limit) <= slack * limit;
      });
      // Twice the same one is a fault that no rounding makes.
      const bool twice = std::ranges::adjacent_find(ids) != ids.end();
      if (twice || slack == 0 || !undecided) ++wrong;
    }
  };
  in_parallel(count, compare_some, 1024);
  return wrong;
}

}  // namespace strata::neighbours
