// A tree over agents along a Z curve, built and walked in double precision from where they are.
#include "harness/base/in_parallel.hpp"
#include "nbody/neighbours/model/tests.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace strata::neighbours {
namespace {

constexpr std::size_t fanout = 8;  // agents of a leaf, and nodes of a node
constexpr double infinite = std::numeric_limits<double>::infinity();

struct Node {
  std::array<double, 3> low{infinite, infinite, infinite};
  std::array<double, 3> high{-infinite, -infinite, -infinite};
};

class Tree {
 public:
  Tree(const Problem& problem, const Places& places) : places_{places} {
    sort(problem);
    levels_.emplace_back((order_.size() + fanout - 1) / fanout);
    for (std::size_t at = 0; at < order_.size(); ++at) {
      Node& leaf = levels_[0][at / fanout];
      for (std::size_t c = 0; c < 3; ++c) {
        leaf.low[c] = std::min(leaf.low[c], places[c][order_[at]]);
        leaf.high[c] = std::max(leaf.high[c], places[c][order_[at]]);
      }
    }
    while (levels_.back().size() > 1) {
      const std::vector<Node>& below = levels_.back();
      std::vector<Node> above((below.size() + fanout - 1) / fanout);
      for (std::size_t n = 0; n < below.size(); ++n) {
        Node& node = above[n / fanout];
        for (std::size_t c = 0; c < 3; ++c) {
          node.low[c] = std::min(node.low[c], below[n].low[c]);
          node.high[c] = std::max(node.high[c], below[n].high[c]);
        }
      }
      levels_.push_back(std::move(above));
    }
  }
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }

  /// Distance tests of the agent at `at` in a search for the `most` nearest; 0: all.
  [[nodiscard]] std::uint32_t tests(std::size_t at, double reach_squared, std::size_t most) const {
    Search search{.of = order_[at], .reach = reach_squared, .most = most, .nearest = {}};
    std::size_t node = at / fanout;
    test_leaf(search, node);
    for (std::size_t level = 0; level + 1 < levels_.size(); ++level, node /= fanout) {
      const std::size_t first = node / fanout * fanout;
      for (std::size_t n = first; n < std::min(first + fanout, levels_[level].size()); ++n) {
        if (n != node) go_down(search, level, n);
      }
    }
    return search.tests;
  }

 private:
  struct Search {
    std::size_t of;
    double reach;
    std::size_t most;
    std::vector<double> nearest;  ///< squared, ascending
    std::uint32_t tests = 0;

    [[nodiscard]] double limit() const {
      return most > 0 && nearest.size() == most ? nearest.back() : reach;
    }
  };

  /// Ten bits an axis, a power of two long; of equal ones the first number first.
  void sort(const Problem& problem) {
    const double scale = 1024 / std::exp2(std::ceil(std::log2(problem.extent())));
    std::vector<std::uint32_t> code(places_.front().size());
    for (std::size_t i = 0; i < code.size(); ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        const double at = (places_[c][i] - static_cast<double>(problem.low())) * scale;
        const auto cell = static_cast<std::uint32_t>(std::clamp(at, 0.0, 1023.0));
        for (unsigned bit = 0; bit < 10; ++bit)
          code[i] |= (cell >> bit & 1U) << (3 * bit + static_cast<unsigned>(c));
      }
    }
    order_.resize(code.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::stable_sort(order_, {}, [&](std::uint32_t i) { return code[i]; });
  }
  void test_leaf(Search& search, std::size_t leaf) const {
    const std::size_t last = std::min(order_.size(), (leaf + 1) * fanout);
    for (std::size_t at = leaf * fanout; at < last; ++at) {
      ++search.tests;
      if (search.most == 0 || order_[at] == search.of) continue;
      const double squared = squared_distance(places_, search.of, order_[at]);
      if (squared >= search.limit()) continue;
      auto& all = search.nearest;
      all.insert(std::ranges::upper_bound(all, squared), squared);
      if (all.size() > search.most) all.pop_back();
    }
  }
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the tree
  void go_down(Search& search, std::size_t level, std::size_t n) const {
    const Node& node = levels_[level][n];
    double squared = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double at = places_[c][search.of];
      const double off = std::max({node.low[c] - at, at - node.high[c], 0.0});
      squared += off * off;
    }
    if (squared >= search.limit()) return;
    if (level == 0) return test_leaf(search, n);
    const std::size_t last = std::min((n + 1) * fanout, levels_[level - 1].size());
    for (std::size_t child = n * fanout; child < last; ++child)
      go_down(search, level - 1, child);
  }

  const Places& places_;
  std::vector<std::uint32_t> order_;
  std::vector<std::vector<Node>> levels_;  ///< from leaves to the root
};

}  // namespace

Predicted predict_tree(const Problem& problem, std::span<const Places> steps,
                       const Choice& /*choice*/) {
  Predicted sum{.rebuilds = static_cast<std::uint32_t>(steps.size())};
  std::uint64_t made = 0;
  std::uint64_t lanes = 0;
  const std::size_t most = only_nearest(problem.kind) ? nearest_count : 0;
  for (const Places& places : steps) {
    const Tree tree{problem, places};
    std::vector<std::uint32_t> tests(places.front().size());
    in_parallel(
        tests.size(),
        [&](std::size_t first, std::size_t last) {
          for (std::size_t at = first; at < last; ++at)
            tests[at] = tree.tests(at, static_cast<double>(problem.radius_squared), most);
        },
        1024);
    made += std::accumulate(tests.begin(), tests.end(), std::uint64_t{0});
    lanes += lanes_of(tests);
  }
  sum.tests = static_cast<double>(made) / static_cast<double>(steps.size());
  sum.used = static_cast<double>(made) / static_cast<double>(lanes);
  return sum;
}

}  // namespace strata::neighbours
