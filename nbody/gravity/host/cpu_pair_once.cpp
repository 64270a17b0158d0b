// Newton's third law: the forces of bodies i and j on each other are equal and opposite. The
// difference of a pair, its square and the strength are computed once; the second body takes four
// more instructions. That is 18 and a reciprocal square root for two interactions, where rung
// cpu_blocked takes 14 and one for each.
//
// Bodies are copied into tiles of 16, the last filled up with massless bodies. A core holds some
// bodies in registers, processes all bodies that follow them in vectors, and accumulates the
// reactions in L1; within their own tile it computes each pair from both sides. Each core has its
// own totals, which are added up after a barrier. Chunks are assigned to cores in alternating
// order, because the first ones have the most bodies after them.
#include "nbody/gravity/host/vectors.hpp"

#include <memory>

namespace strata::nbody::cpu_pair_once {
namespace {

constexpr std::size_t tile = 16;
/// Bodies that a core takes at a time, and terms in a sum of reactions.
constexpr std::size_t chunk = 128;
constexpr std::size_t piece = 1024;  // bodies whose fields and sums (28 KiB) stay in L1 together

struct Sums {
  float* x;
  float* y;
  float* z;
};
inline Sums operator+(const Sums& sums, std::size_t i) {
  return {sums.x + i, sums.y + i, sums.z + i};
}

/// Some bodies, and whole tiles of others that they interact with.
struct Meeting {
  Sources mine;  ///< in registers
  Sums totals;   ///< of the bodies in registers
  Sources others;
  Sums reactions;          ///< on each of the others
  std::size_t tile_mates;  ///< number of the others in the same tile; they come first
  std::size_t count;       ///< number of the others
};

/// Number of bodies held in registers.
constexpr std::size_t held_bodies(unsigned lanes) {
  return lanes == avx512_lanes ? 4 : 2;
}

struct AddPairs {
  template <unsigned lanes>
  [[STRATA_INLINE]] static void run(const Meeting& of, float softening_squared) {
    using V = Floats<lanes>;
    struct Held {
      V x, y, z, mass, ax, ay, az;
    };
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): all of it is filled next
    std::array<Held, held_bodies(lanes)> held;
#pragma GCC unroll 8
    for (std::size_t b = 0; b < held.size(); ++b) {
      held[b] = {.x = V{} + of.mine.x[b],
                 .y = V{} + of.mine.y[b],
                 .z = V{} + of.mine.z[b],
                 .mass = V{} + of.mine.mass[b],
                 .ax = V{},
                 .ay = V{},
                 .az = V{}};
    }
    const auto go_over = [&]<bool react>(std::size_t j) __attribute__((always_inline)) {
      const V x = load<lanes>(of.others.x + j);
      const V y = load<lanes>(of.others.y + j);
      const V z = load<lanes>(of.others.z + j);
      const V mass = load<lanes>(of.others.mass + j);
      V rx = load<lanes>(of.reactions.x + j);
      V ry = load<lanes>(of.reactions.y + j);
      V rz = load<lanes>(of.reactions.z + j);
#pragma GCC unroll 8
      for (Held& h : held) {
        const V dx = x - h.x;
        const V dy = y - h.y;
        const V dz = z - h.z;
        const V strength = inverse_cube<lanes>(dx * dx + (dy * dy + (dz * dz + softening_squared)));
        const V upon_me = strength * mass;
        h.ax += upon_me * dx;
        h.ay += upon_me * dy;
        h.az += upon_me * dz;
        if constexpr (react) {
          const V upon_it = strength * h.mass;
          rx -= upon_it * dx;
          ry -= upon_it * dy;
          rz -= upon_it * dz;
        }
      }
      if constexpr (react) {
        store<lanes>(of.reactions.x + j, rx);
        store<lanes>(of.reactions.y + j, ry);
        store<lanes>(of.reactions.z + j, rz);
      }
    };
    std::size_t j = 0;
    for (; j < of.tile_mates; j += lanes)
      go_over.template operator()<false>(j);
    for (; j < of.count; j += lanes)
      go_over.template operator()<true>(j);
#pragma GCC unroll 8
    for (std::size_t b = 0; b < held.size(); ++b) {
      of.totals.x[b] += sum<lanes>(held[b].ax);
      of.totals.y[b] += sum<lanes>(held[b].ay);
      of.totals.z[b] += sum<lanes>(held[b].az);
    }
  }
};

struct Code {
  void (*add_pairs)(const Meeting&, float);
  std::size_t held;  ///< bodies in registers
  float scale;       ///< factor of all strengths
};

constexpr std::size_t page = 1024;       // numbers in 4 KiB
constexpr std::size_t apart = 9 * tile;  // nine cache lines between adjacent arrays, in numbers

/// Arrays in which equal indices are nine cache lines apart within their pages (4K aliasing). With
/// equal offsets, a load would wait for pending stores to the other arrays, because a core first
/// compares only the last 12 bits of addresses.
class Arrays {
 public:
  Arrays(std::size_t count, std::size_t length, std::size_t first)
      : stride_{(length + page - 1) / page * page + apart},
        memory_(count * stride_ + (first + 1) * apart + page) {
    void* at = memory_.data();
    std::size_t space = memory_.size() * sizeof(float);
    start_ = static_cast<float*>(std::align(page * sizeof(float), sizeof(float), at, space)) +
             first * apart;
  }
  [[nodiscard]] float* operator[](std::size_t which) const { return start_ + which * stride_; }

 private:
  std::size_t stride_;
  std::vector<float> memory_;  // start_ stays valid when it is moved; it is never copied
  float* start_;
};

/// Data shared by the cores: the system's bodies in tiles, each core's totals, and its reactions on
/// the current piece.
struct Workspace {
  std::size_t padded;
  Arrays fields;
  std::vector<Arrays> reactions;
  std::vector<std::vector<float>> all_totals;

  Workspace(std::size_t bodies, std::size_t cores)
      : padded{(bodies + tile - 1) / tile * tile},
        fields{4, padded, 0},
        all_totals(cores, std::vector<float>(3 * padded)) {
    while (reactions.size() < cores)
      reactions.emplace_back(3, 2 * piece, 4);
  }
  [[nodiscard]] Sums totals(std::size_t rank) {
    float* const first = all_totals[rank].data();
    return {first, first + padded, first + 2 * padded};
  }
};

/// Computes all pairs whose first body is in this chunk.
void compute_chunk(const Code& code, Workspace& workspace, std::size_t rank, std::size_t begin,
                   float softening_squared) {
  const Arrays& fields = workspace.fields;
  const Sources all{fields[0], fields[1], fields[2], fields[3]};
  const Arrays& reactions = workspace.reactions[rank];
  const Sums totals = workspace.totals(rank);
  const std::size_t end = std::min(begin + chunk, workspace.padded);
  for (std::size_t start = begin; start < workspace.padded; start += piece) {
    const std::size_t count = std::min(piece, workspace.padded - start);
    const Sums sums = Sums{reactions[0], reactions[1], reactions[2]} + start % page;
    for (float* const sum : {sums.x, sums.y, sums.z})
      std::fill_n(sum, count, 0.0F);
    for (std::size_t i = begin; i < end; i += code.held) {
      const std::size_t own = i / tile * tile;
      const std::size_t from = std::max(start, own);
      code.add_pairs({.mine = all + i,
                      .totals = totals + i,
                      .others = all + from,
                      .reactions = sums + (from - start),
                      .tile_mates = own < start ? 0 : tile,
                      .count = start + count - from},
                     softening_squared);
    }
    for (std::size_t j = 0; j < count; ++j) {
      totals.x[start + j] += sums.x[j];
      totals.y[start + j] += sums.y[j];
      totals.z[start + j] += sums.z[j];
    }
  }
}

/// Computes a system with all cores of `thread`'s team.
void compute_system(const Step& step, std::size_t system, const ThreadRank& thread,
                    const Code& code, Workspace& workspace) {
  const Sources from = sources_of(step, system);
  const std::size_t padded = workspace.padded;
  const std::size_t first = padded * thread.rank / thread.size;
  const std::size_t last = padded * (thread.rank + 1) / thread.size;
  const std::size_t last_body = std::clamp<std::size_t>(step.bodies, first, last);
  const std::array<const float*, 4> fields{from.x, from.y, from.z, from.mass};
  for (std::size_t f = 0; f < fields.size(); ++f) {
    float* const field = workspace.fields[f];
    std::copy(fields[f] + first, fields[f] + last_body, field + first);
    std::fill(field + last_body, field + last, 0.0F);
  }
  std::ranges::fill(workspace.all_totals[thread.rank], 0.0F);
  thread.wait_for_all();

  const std::size_t chunks = (padded + chunk - 1) / chunk;
  for (std::size_t c = 0; c < chunks; ++c) {
    const std::size_t turn = c % thread.size;
    const bool there = c / thread.size % 2 == 0;
    if ((there ? turn : thread.size - 1 - turn) != thread.rank) continue;
    compute_chunk(code, workspace, thread.rank, c * chunk, step.softening_squared);
  }
  thread.wait_for_all();

  for (std::size_t i = first; i < last_body; ++i) {
    std::array<float, 3> sum{};
    for (const std::vector<float>& totals : workspace.all_totals) {
      for (std::size_t c = 0; c < sum.size(); ++c)
        sum[c] += totals[c * padded + i];
    }
    finish<Soa>(step, system + i, code.scale * sum[0], code.scale * sum[1], code.scale * sum[2]);
  }
  thread.wait_for_all();
}

HostKernel make(Vectors have) {
  const unsigned lanes = have == Vectors::avx512 ? avx512_lanes : avx2_lanes;
  const Code code{.add_pairs = kernel_for<AddPairs, const Meeting&, float>(have),
                  .held = held_bodies(lanes),
                  .scale = inverse_cube_scale(lanes)};
  const auto run = [code](std::span<const Step> steps, ThreadTeam& team) {
    if (steps.empty()) return;
    // With at least as many systems as cores, each core has its own; otherwise all cores share one
    // system after the other.
    const bool separate = steps.front().systems >= team.size();
    std::vector<Workspace> workspaces;
    while (workspaces.size() < (separate ? team.size() : 1))
      workspaces.emplace_back(steps.front().bodies, separate ? 1 : team.size());
    run_on_all_cores(steps, team, [&](const Step& step, const ThreadRank& together) {
      const std::size_t first = separate ? together.rank : 0;
      for (std::size_t s = first; s < step.systems; s += workspaces.size())
        compute_system(step, s * step.bodies, separate ? ThreadRank{} : together, code,
                       workspaces[first]);
    });
  };
  return {.run = run, .instructions = std::string{to_string(have)}};
}

STRATA_RUNG("cpu_pair_once", make);

}  // namespace
}  // namespace strata::nbody::cpu_pair_once
