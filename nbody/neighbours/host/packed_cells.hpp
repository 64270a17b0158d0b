// Agents in cell order: the agents of a cell are contiguous, and so are adjacent cells along x. All
// threads build it. Host only.
#pragma once

#include "nbody/neighbours/host/collect.hpp"
#include "nbody/neighbours/model/cells.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace strata::neighbours {

class PackedCells {
 public:
  /// `flat`: columns, that is cells as high as the world.
  PackedCells(const Cells& cells, std::uint32_t agents, bool flat = false)
      : cells_{cells},
        flat_{flat},
        keys_(agents),
        starts_(std::size_t{cells.count} * cells.count * (flat ? 1 : cells.count) + 1),
        ids_(agents + padding),
        x_(agents + padding),
        y_(agents + padding),
        z_(agents + padding) {}

  [[nodiscard]] const Cells& cells() const { return cells_; }
  [[nodiscard]] std::uint32_t agents() const { return static_cast<std::uint32_t>(keys_.size()); }
  /// All agents, in order.
  [[nodiscard]] Candidates candidates() const {
    return {.x = x_.data(), .y = y_.data(), .z = z_.data(), .ids = ids_.data()};
  }
  [[nodiscard]] std::uint32_t id(std::size_t at) const { return ids_[at]; }
  [[nodiscard]] Vector<float> place(std::size_t at) const { return {x_[at], y_[at], z_[at]}; }
  /// The agents of the cells from `first` to `last`: begin and end.
  [[nodiscard]] std::pair<std::size_t, std::size_t> run(std::uint32_t first,
                                                        std::uint32_t last) const {
    return {starts_[first], starts_[last + 1]};
  }

  /// Called by all threads at once; returns when all are done. Agents of a cell stay in the order
  /// of their ids.
  void build(const Step& step, const ThreadRank& thread) {
    const auto [first, last] = thread.share(agents());
    for (std::size_t i = first; i < last; ++i)
      keys_[i] = key(place_of(step, i));
    if (thread.rank == 0) before_.assign(thread.size + 1, 0);
    thread.wait_for_all();

    // Each thread has a part of the cells, and scans all keys for its own.
    const auto [low, high] = thread.share(starts_.size() - 1);
    std::fill(starts_.begin() + static_cast<std::ptrdiff_t>(low),
              starts_.begin() + static_cast<std::ptrdiff_t>(high), 0U);
    std::uint32_t mine = 0;
    for (const std::uint32_t k : keys_) {
      if (k < low || k >= high) continue;
      ++starts_[k];
      ++mine;
    }
    before_[thread.rank + 1] = mine;
    thread.wait_for_all();

    std::uint32_t at = std::accumulate(
        before_.begin(), before_.begin() + static_cast<std::ptrdiff_t>(thread.rank) + 1, 0U);
    for (std::size_t cell = low; cell < high; ++cell)
      at += std::exchange(starts_[cell], at);
    if (thread.rank + 1 == thread.size) starts_.back() = at;
    // The begin of each cell advances while it is filled, and is restored afterwards.
    for (std::uint32_t i = 0; i < agents(); ++i) {
      const std::uint32_t k = keys_[i];
      if (k >= low && k < high) put(starts_[k]++, i, step);
    }
    for (std::size_t cell = high; cell-- > low + 1;)
      starts_[cell] = starts_[cell - 1];
    if (low < high) {
      starts_[low] = std::accumulate(
          before_.begin(), before_.begin() + static_cast<std::ptrdiff_t>(thread.rank) + 1, 0U);
    }
    thread.wait_for_all();
  }

  /// Sorts the agents of each column by z; called by all threads at once.
  void sort_columns(const Step& step, const ThreadRank& thread) {
    const auto [low, high] = thread.share(starts_.size() - 1);
    for (std::size_t cell = low; cell < high; ++cell) {
      const auto begin = ids_.begin() + starts_[cell];
      const auto end = ids_.begin() + starts_[cell + 1];
      const float* const z = step.part(Part::pz);
      std::sort(begin, end, [z](std::uint32_t a, std::uint32_t b) {
        return z[a] < z[b] || (z[a] == z[b] && a < b);
      });
      for (std::uint32_t at = starts_[cell]; at < starts_[cell + 1]; ++at)
        put(at, ids_[at], step);
    }
    thread.wait_for_all();
  }

  /// The same agents at their current positions; called by all threads at once.
  void follow(const Step& step, const ThreadRank& thread) {
    const auto [first, last] = thread.share(agents());
    for (std::size_t at = first; at < last; ++at)
      put(at, ids_[at], step);
    thread.wait_for_all();
  }

 private:
  [[nodiscard]] std::uint32_t key(const Vector<float>& at) const {
    return flat_ ? cells_.row(cells_.of(at.y), 0) + cells_.of(at.x) : cells_.of(at);
  }
  void put(std::size_t at, std::uint32_t i, const Step& step) {
    ids_[at] = i;
    x_[at] = step.part(Part::px)[i];
    y_[at] = step.part(Part::py)[i];
    z_[at] = step.part(Part::pz)[i];
  }

  Cells cells_;
  bool flat_;
  std::vector<std::uint32_t> keys_;    ///< the cell of each agent
  std::vector<std::uint32_t> starts_;  ///< where each cell begins; one more at the end
  std::vector<std::uint32_t> before_;  ///< agents of the cells of each thread, one further
  std::vector<std::uint32_t> ids_;
  std::vector<float> x_;
  std::vector<float> y_;
  std::vector<float> z_;
};

/// A rung that builds packed cells in each step and searches agent by agent, in that order:
/// find(packed, at, collector, work) finds the neighbours of the agent at position `at`.
template <class Find>
class PackedSearch {
 public:
  PackedSearch(const Problem& problem, const Cells& cells, Find find, bool flat = false)
      : packed_{cells, problem.agents, flat}, find_{find}, flat_{flat} {}

  void step(const Step& step, const ThreadRank& thread) {
    {
      const HostPhase building = step.building(thread.rank);
      packed_.build(step, thread);
      if (flat_) packed_.sort_columns(step, thread);
    }
    if (thread.rank == 0) {
      pieces_.begin();
      ++step.work[0].rebuilds;
    }
    thread.wait_for_all();
    with_collector(step, thread, [&](auto& collector) {
      Work work;
      pieces_.take(packed_.agents(), [&](std::size_t from, std::size_t to) {
        for (std::size_t at = from; at < to; ++at) {
          collector.begin(packed_.id(at));
          find_(packed_, at, collector, work);
          collector.end();
        }
      });
      step.work[thread.rank].tests += work.tests;
      step.work[thread.rank].lanes += work.lanes;
    });
  }

 private:
  PackedCells packed_;
  Find find_;
  bool flat_;
  Pieces pieces_;
};

}  // namespace strata::neighbours
