#include "harness/access/control_flow.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Kernel;
using ptx::Operand;
using Graph = std::vector<std::vector<std::uint32_t>>;

/// Whether the instruction ends the threads that run it.
bool is_end(const Instruction& one) {
  return one.opcode == "ret" || one.opcode == "exit" || one.opcode == "trap";
}

bool is_branch(const Instruction& one) {
  return one.opcode == "bra" || one.opcode == "brx";
}

/// The possible targets of a branch: positions of labels.
std::vector<std::uint32_t> targets_of(const Kernel& kernel, const Instruction& branch) {
  std::vector<std::uint32_t> targets;
  const auto add = [&](const Operand& operand) {
    if (operand.kind == Operand::Kind::label) {
      targets.push_back(kernel.labels[operand.index].instruction);
    }
  };
  if (branch.opcode == "bra" && !branch.operands.empty()) add(branch.operands.front());
  if (branch.opcode == "brx" && branch.operands.size() > 1 &&
      branch.operands[1].kind == Operand::Kind::vector) {
    std::ranges::for_each(branch.operands[1].items, add);
  }
  return targets;
}

/// Splits the instructions into blocks: at labels that are branch targets, and after branches.
void cut(const Kernel& kernel, ControlFlow& flow) {
  const std::size_t count = kernel.instructions.size();
  std::vector<bool> begins(count + 1, false);
  begins[0] = true;
  for (std::uint32_t at = 0; at < count; ++at) {
    const Instruction& one = kernel.instructions[at];
    if (is_branch(one) || is_end(one)) begins[at + 1] = true;
    if (!is_branch(one)) continue;
    for (const std::uint32_t target : targets_of(kernel, one))
      begins[target] = true;
  }
  flow.block_of.resize(count);
  for (std::uint32_t at = 0; at < count || at == 0; ++at) {
    if (begins[at]) flow.blocks.push_back({.begin = at, .end = at});
    if (count == 0) break;
    flow.blocks.back().end = at + 1;
    flow.block_of[at] = static_cast<std::uint32_t>(flow.blocks.size() - 1);
  }
}

/// Connects the blocks.
void join(const Kernel& kernel, ControlFlow& flow) {
  const auto count = static_cast<std::uint32_t>(kernel.instructions.size());
  for (std::uint32_t at = 0; at < flow.blocks.size(); ++at) {
    BasicBlock& block = flow.blocks[at];
    const auto lead_to = [&](std::uint32_t instruction) {
      if (instruction == count) {
        block.ends_threads = true;
      } else {
        block.successors.push_back(flow.block_of[instruction]);
      }
    };
    const Instruction* last = block.end == 0 ? nullptr : &kernel.instructions[block.end - 1];
    const bool goes_on =
        last == nullptr || last->guard != ptx::no_index || !(is_end(*last) || is_branch(*last));
    if (goes_on) lead_to(block.end);
    if (last != nullptr && is_end(*last)) block.ends_threads = true;
    if (last != nullptr && is_branch(*last)) {
      std::ranges::for_each(targets_of(kernel, *last), lead_to);
    }
    // Removes duplicates and keeps the order.
    auto& all = block.successors;
    const std::size_t first = goes_on && !all.empty() && all.front() == at + 1 ? 1 : 0;
    std::sort(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
    all.erase(std::unique(all.begin() + static_cast<std::ptrdiff_t>(first), all.end()), all.end());
    if (first == 1) all.erase(std::remove(all.begin() + 1, all.end(), at + 1), all.end());
  }
  for (std::uint32_t at = 0; at < flow.blocks.size(); ++at) {
    for (const std::uint32_t to : flow.blocks[at].successors)
      flow.blocks[to].predecessors.push_back(at);
  }
}

struct Walk {
  std::vector<std::uint32_t> preorder;
  std::vector<std::uint32_t> postorder;
  std::vector<std::uint32_t> parent;
};

/// Depth first, without recursion, because a hostile text may have a million blocks in a row.
Walk walk(std::span<const std::vector<std::uint32_t>> successors, std::uint32_t root) {
  Walk result{.preorder = {root},
              .postorder = {},
              .parent = std::vector<std::uint32_t>(successors.size(), no_index)};
  std::vector<bool> seen(successors.size(), false);
  seen[root] = true;
  std::vector<std::pair<std::uint32_t, std::size_t>> open{{root, 0}};
  while (!open.empty()) {
    auto& [at, next] = open.back();
    if (next == successors[at].size()) {
      result.postorder.push_back(at);
      open.pop_back();
      continue;
    }
    const std::uint32_t to = successors[at][next++];
    if (seen[to]) continue;
    seen[to] = true;
    result.parent[to] = at;
    result.preorder.push_back(to);
    open.emplace_back(to, 0);
  }
  return result;
}

Graph reversed(std::span<const std::vector<std::uint32_t>> successors) {
  Graph result(successors.size());
  for (std::uint32_t at = 0; at < successors.size(); ++at) {
    for (const std::uint32_t to : successors[at])
      result[to].push_back(at);
  }
  return result;
}

/// A forest that finds the vertex with the least semidominator on the path up from another vertex.
class Forest {
 public:
  explicit Forest(std::size_t size) : above_(size, no_index), label_(size) {
    std::iota(label_.begin(), label_.end(), 0U);
  }
  void link(std::uint32_t parent, std::uint32_t child) { above_[child] = parent; }
  /// `key`: semidominators, numbered by a walk.
  std::uint32_t least(std::uint32_t vertex, const std::vector<std::uint32_t>& key) {
    if (above_[vertex] == no_index) return vertex;
    std::vector<std::uint32_t>& way = way_;
    for (std::uint32_t up = vertex; above_[above_[up]] != no_index; up = above_[up])
      way.push_back(up);
    for (; !way.empty(); way.pop_back()) {
      const std::uint32_t one = way.back();
      const std::uint32_t up = above_[one];
      if (key[label_[up]] < key[label_[one]]) label_[one] = label_[up];
      above_[one] = above_[up];
    }
    return label_[vertex];
  }

 private:
  std::vector<std::uint32_t> above_;
  std::vector<std::uint32_t> label_;
  std::vector<std::uint32_t> way_;
};

/// Post-dominators along `edges`, whose last vertex is the exit.
std::vector<std::uint32_t> post_dominators(const Graph& edges) {
  const auto exit = static_cast<std::uint32_t>(edges.size() - 1);
  auto result = immediate_dominators(reversed(edges), exit);
  result.pop_back();
  return result;
}

void find_meetings(const Kernel& kernel, ControlFlow& flow) {
  const std::uint32_t exit = flow.exit();
  Graph all(flow.blocks.size() + 1);
  Graph going_on(flow.blocks.size() + 1);
  for (std::uint32_t at = 0; at < flow.blocks.size(); ++at) {
    const BasicBlock& block = flow.blocks[at];
    all[at] = going_on[at] = block.successors;
    if (!block.ends_threads) continue;
    all[at].push_back(exit);
    const Instruction* last = block.end == 0 ? nullptr : &kernel.instructions[block.end - 1];
    const bool goes_on = !block.successors.empty();
    const bool is_taken_away = last != nullptr && is_end(*last) &&
                               (last->guard == ptx::no_index ? last->opcode == "trap" : goes_on);
    if (!is_taken_away) going_on[at].push_back(exit);
  }
  flow.post_dominator = post_dominators(all);
  flow.meeting = post_dominators(going_on);
}

/// Records when a traversal of the dominator tree enters and leaves each block.
void number_tree(ControlFlow& flow) {
  Graph children(flow.blocks.size());
  for (const std::uint32_t at : flow.order) {
    if (flow.dominator[at] != no_index) children[flow.dominator[at]].push_back(at);
  }
  const Walk tree = walk(children, 0);
  flow.entered.assign(flow.blocks.size(), no_index);
  flow.left.assign(flow.blocks.size(), 0);
  for (std::uint32_t number = 0; number < tree.preorder.size(); ++number)
    flow.entered[tree.preorder[number]] = number;
  for (const std::uint32_t at : tree.postorder) {
    flow.left[at] = std::max(flow.left[at], flow.entered[at]);
    if (const std::uint32_t up = tree.parent[at]; up != no_index) {
      flow.left[up] = std::max(flow.left[up], flow.left[at]);
    }
  }
}

/// Finds natural loops, inner ones first: a block that is already in a loop represents its
/// outermost loop so far.
class Loops {
 public:
  explicit Loops(ControlFlow& flow) : flow_{flow} {}

  void find() {
    flow_.loop_of.assign(flow_.blocks.size(), no_index);
    std::vector<std::uint32_t> place(flow_.blocks.size(), no_index);
    for (std::uint32_t number = 0; number < flow_.order.size(); ++number)
      place[flow_.order[number]] = number;
    for (std::size_t left = flow_.order.size(); left > 0; --left) {
      const std::uint32_t header = flow_.order[left - 1];
      std::vector<std::uint32_t> latches;
      for (const std::uint32_t from : flow_.blocks[header].predecessors) {
        if (place[from] == no_index || place[from] < place[header]) continue;
        // A back edge to a block that does not dominate its source enters a cycle at a second
        // place.
        if (flow_.dominates(header, from))
          latches.push_back(from);
        else
          flow_.reducible = false;
      }
      if (!latches.empty()) fill(header, std::move(latches));
    }
    put_outer_loops_first();
  }

 private:
  void fill(std::uint32_t header, std::vector<std::uint32_t> latches) {
    const auto loop = static_cast<std::uint32_t>(flow_.loops.size());
    std::vector<std::uint32_t> open = latches;
    flow_.loops.push_back({.header = header, .latches = std::move(latches)});
    outermost_.push_back(loop);
    while (!open.empty()) {
      std::uint32_t block = open.back();
      open.pop_back();
      if (flow_.dominator[block] == no_index && block != 0) continue;  // unreachable
      if (flow_.loop_of[block] == no_index) {
        flow_.loop_of[block] = loop;
      } else {
        const std::uint32_t inner = outermost(flow_.loop_of[block]);
        if (inner == loop) continue;
        flow_.loops[inner].parent = outermost_[inner] = loop;
        block = flow_.loops[inner].header;
      }
      if (block == header) continue;
      for (const std::uint32_t from : flow_.blocks[block].predecessors)
        open.push_back(from);
    }
  }

  std::uint32_t outermost(std::uint32_t loop) {
    std::uint32_t last = loop;
    while (outermost_[last] != last)
      last = outermost_[last];
    while (outermost_[loop] != last)
      loop = std::exchange(outermost_[loop], last);
    return last;
  }

  void put_outer_loops_first() {
    std::ranges::reverse(flow_.loops);
    const auto moved = [&](std::uint32_t& loop) {
      if (loop != no_index) loop = static_cast<std::uint32_t>(flow_.loops.size() - 1 - loop);
    };
    std::ranges::for_each(flow_.loop_of, moved);
    for (auto& loop : flow_.loops) {
      moved(loop.parent);
      if (loop.parent != no_index) loop.depth = flow_.loops[loop.parent].depth + 1;
    }
  }

  ControlFlow& flow_;
  std::vector<std::uint32_t> outermost_;
};

}  // namespace

std::vector<std::uint32_t> immediate_dominators(
    std::span<const std::vector<std::uint32_t>> successors, std::uint32_t root) {
  // Lengauer and Tarjan 1979, with path compression: at most m log n for any graph.
  const Walk way = walk(successors, root);
  const Graph predecessors = reversed(successors);
  std::vector<std::uint32_t> number(successors.size(), no_index);
  for (std::uint32_t n = 0; n < way.preorder.size(); ++n)
    number[way.preorder[n]] = n;
  std::vector<std::uint32_t> semi = number;
  std::vector<std::uint32_t> dominator(successors.size(), no_index);
  Graph waiting(successors.size());
  Forest forest{successors.size()};
  for (std::size_t n = way.preorder.size() - 1; n > 0; --n) {
    const std::uint32_t vertex = way.preorder[n];
    for (const std::uint32_t from : predecessors[vertex]) {
      if (number[from] == no_index) continue;
      semi[vertex] = std::min(semi[vertex], semi[forest.least(from, semi)]);
    }
    waiting[way.preorder[semi[vertex]]].push_back(vertex);
    const std::uint32_t parent = way.parent[vertex];
    forest.link(parent, vertex);
    for (const std::uint32_t one : std::exchange(waiting[parent], {})) {
      const std::uint32_t least = forest.least(one, semi);
      dominator[one] = semi[least] < semi[one] ? least : parent;
    }
  }
  for (std::size_t n = 1; n < way.preorder.size(); ++n) {
    const std::uint32_t vertex = way.preorder[n];
    if (dominator[vertex] != way.preorder[semi[vertex]]) {
      dominator[vertex] = dominator[dominator[vertex]];
    }
  }
  return dominator;
}

bool ControlFlow::dominates(std::uint32_t a, std::uint32_t b) const {
  if (entered[a] == no_index || entered[b] == no_index) return false;
  return entered[a] <= entered[b] && entered[b] <= left[a];
}

bool ControlFlow::is_in(std::uint32_t loop, std::uint32_t block) const {
  std::uint32_t at = loop_of[block];
  while (at != no_index && at != loop)
    at = loops[at].parent;
  return at == loop;
}

ControlFlow control_flow(const Kernel& kernel) {
  ControlFlow flow;
  cut(kernel, flow);
  join(kernel, flow);
  Graph successors(flow.blocks.size());
  for (std::uint32_t at = 0; at < flow.blocks.size(); ++at)
    successors[at] = flow.blocks[at].successors;
  flow.order = walk(successors, 0).postorder;
  std::ranges::reverse(flow.order);
  flow.dominator = immediate_dominators(successors, 0);
  number_tree(flow);
  find_meetings(kernel, flow);
  Loops{flow}.find();
  return flow;
}

}  // namespace strata::access
