#include "harness/access/reconvergence.hpp"

#include <algorithm>
#include <utility>

namespace strata::access {
namespace {

using Graph = std::vector<std::vector<std::uint32_t>>;

class Finder {
 public:
  Finder(const ptx::Kernel& kernel, const ControlFlow& flow) : kernel_{kernel}, flow_{flow} {}

  Meetings find() {
    Meetings found{.all = flow_.meeting,
                   .staying = flow_.meeting,
                   .leaving = std::vector<std::uint32_t>(flow_.blocks.size(), no_index)};
    const std::uint32_t end = last_end();
    if (end == no_index) return found;
    Graph edges = without_ends(end);
    found.all = met(edges, flow_.meeting);
    find_leaving(found.leaving);
    for (std::uint32_t at = 0; at < flow_.exit(); ++at)
      std::erase(edges[at], found.leaving[at]);
    found.staying = met(edges, found.all);
    return found;
  }

 private:
  /// Removes the branches that end lanes; if a loop then has no exit, keeps the branches that end
  /// it.
  [[nodiscard]] Graph without_ends(std::uint32_t end) const {
    const std::uint32_t exit = flow_.exit();
    Graph edges(flow_.blocks.size() + 1);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> taken;
    for (std::uint32_t at = 0; at < exit; ++at) {
      const auto& successors = flow_.blocks[at].successors;
      for (const std::uint32_t to : successors) {
        if (successors.size() > 1 && only_ends(to)) {
          taken.emplace_back(at, to);
        } else {
          edges[at].push_back(to);
        }
      }
    }
    edges[end].push_back(exit);
    const auto before = reaching(edges, exit);
    for (const auto& [at, to] : taken) {
      if (!before[at] && ends_loop(at)) edges[at].push_back(to);
    }
    return edges;
  }

  /// Edges that leave a loop that also has exits at its header or its latches.
  void find_leaving(std::vector<std::uint32_t>& leaving) const {
    const auto leaves = [&](std::uint32_t at, std::uint32_t to) {
      return !only_ends(to) && !flow_.is_in(flow_.loop_of[at], to);
    };
    std::vector<bool> ends(flow_.loops.size());
    for (std::uint32_t at = 0; at < flow_.exit(); ++at) {
      if (!ends_loop(at)) continue;
      for (const std::uint32_t to : flow_.blocks[at].successors) {
        if (!flow_.is_in(flow_.loop_of[at], to)) ends[flow_.loop_of[at]] = true;
      }
    }
    for (std::uint32_t at = 0; at < flow_.exit(); ++at) {
      const std::uint32_t loop = flow_.loop_of[at];
      const auto& successors = flow_.blocks[at].successors;
      if (loop == no_index || !ends[loop] || ends_loop(at) || successors.size() != 2) continue;
      const bool first = leaves(at, successors[0]);
      if (first != leaves(at, successors[1])) leaving[at] = successors[first ? 0 : 1];
    }
  }

  /// Post-dominators along these edges, whose last vertex is the exit; if it is unreachable, those
  /// of `otherwise`.
  [[nodiscard]] std::vector<std::uint32_t> met(const Graph& edges,
                                               const std::vector<std::uint32_t>& otherwise) const {
    Graph back(edges.size());
    for (std::uint32_t at = 0; at < edges.size(); ++at) {
      for (const std::uint32_t to : edges[at])
        back[to].push_back(at);
    }
    auto found = immediate_dominators(back, flow_.exit());
    found.pop_back();
    for (std::size_t at = 0; at < found.size(); ++at) {
      if (found[at] == no_index) found[at] = otherwise[at];
    }
    return found;
  }

  [[nodiscard]] const ptx::Instruction* last_of(std::uint32_t block) const {
    const BasicBlock& one = flow_.blocks[block];
    return one.end == one.begin ? nullptr : &kernel_.instructions[one.end - 1];
  }

  [[nodiscard]] static bool ends(const ptx::Instruction* one) {
    return one != nullptr && one->guard == no_index &&
           (one->opcode == "ret" || one->opcode == "exit");
  }

  [[nodiscard]] bool only_ends(std::uint32_t block) const {
    const BasicBlock& one = flow_.blocks[block];
    return one.end - one.begin == 1 && ends(last_of(block));
  }

  /// The last block that ends its lanes, in the order of the text.
  [[nodiscard]] std::uint32_t last_end() const {
    for (std::uint32_t block = flow_.exit(); block-- > 0;) {
      const bool runs_out = flow_.blocks[block].ends_threads &&
                            flow_.blocks[block].end == kernel_.instructions.size();
      if (ends(last_of(block)) || runs_out) return block;
    }
    return no_index;
  }

  [[nodiscard]] bool ends_loop(std::uint32_t block) const {
    const std::uint32_t loop = flow_.loop_of[block];
    if (loop == no_index) return false;
    const auto& latches = flow_.loops[loop].latches;
    return flow_.loops[loop].header == block || std::ranges::count(latches, block) > 0;
  }

  static std::vector<bool> reaching(const Graph& edges, std::uint32_t exit) {
    Graph back(edges.size());
    for (std::uint32_t at = 0; at < edges.size(); ++at) {
      for (const std::uint32_t to : edges[at])
        back[to].push_back(at);
    }
    std::vector<bool> seen(edges.size());
    std::vector<std::uint32_t> open{exit};
    seen[exit] = true;
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      for (const std::uint32_t from : back[at]) {
        if (seen[from]) continue;
        seen[from] = true;
        open.push_back(from);
      }
    }
    return seen;
  }

  const ptx::Kernel& kernel_;
  const ControlFlow& flow_;
};

}  // namespace

Meetings meetings(const ptx::Kernel& kernel, const ControlFlow& flow) {
  return Finder{kernel, flow}.find();
}

}  // namespace strata::access
