// Rung cpu_pair_once: what does it bring to compute each pair once, for both of its bodies?
//
// Newton's third law: what pulls body i towards j pulls j towards i, each by the other's mass. The
// difference of a pair, its square and the strength are computed once; the second body takes four
// instructions more. That is 18 and a reciprocal square root for two interactions, where rung
// cpu_blocked takes 14 and one for each.
//
// Bodies are copied into tiles of 16, the last filled up with bodies that have no mass. A core
// takes some of them in registers, and goes over all that follow in vectors, with what acts back on
// those in sums beside them, which are in L1. Those of its own tile it only takes the pull of. Each
// core has totals of its own; when all have met, they are added up. Chunks of bodies are dealt out
// there and back, as the first have the most to go over.
#include "harness/case/error.hpp"
#include "harness/model/layout.hpp"
#include "nbody/gravity/host/crew.hpp"
#include "nbody/gravity/host/vector_walk.hpp"
#include "nbody/gravity/host/vectors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace strata::nbody::cpu_pair_once {
namespace {

#if defined(__x86_64__)

constexpr std::size_t tile = 16;
constexpr std::size_t chunk = 128;   // bodies that a core takes; so many reactions a sum has
constexpr std::size_t piece = 1024;  // bodies whose fields and sums, 28 KiB, are in L1 together

/// 5/3 as it is rounded, and the factor that makes up for it: see cpu_blocked.cpp.
constexpr float five_thirds = 5.0F / 3.0F;
constexpr auto scale = static_cast<float>(1 / (static_cast<double>(five_thirds) - 1));

struct Sums {
  float* x;
  float* y;
  float* z;
};
inline Pulling operator+(const Pulling& at, std::size_t i) {
  return {at.x + i, at.y + i, at.z + i, at.mass + i};
}
inline Sums operator+(const Sums& sums, std::size_t i) {
  return {sums.x + i, sums.y + i, sums.z + i};
}

/// The bodies in registers, and where their totals are.
struct Mine {
  Pulling at;
  Sums totals;
};
/// Those that they go over, and what acts back on each; whole tiles.
struct Others {
  Pulling at;
  Sums reactions;
  std::size_t tile_mates;  ///< so many are of the same tile, and come first
  std::size_t count;
};

/// s^(-3/2) ÷ scale
[[STRATA_AVX512, gnu::always_inline]] inline __m512 strength_avx512(__m512 squared) {
  const __m512 about = rsqrt14_avx512(squared);
  const __m512 about_squared = _mm512_mul_ps(about, about);
  const __m512 cube = _mm512_mul_ps(about_squared, about);
  return _mm512_mul_ps(cube, _mm512_fnmadd_ps(squared, about_squared, _mm512_set1_ps(five_thirds)));
}

[[STRATA_AVX512]] void pull_avx512(const Mine& mine, const Others& others,
                                   float softening_squared) {
  struct Held {
    __m512 x, y, z, mass, ax, ay, az;
  };
  std::array<Held, 4> held{};
  const __m512 softening = _mm512_set1_ps(softening_squared);
#pragma GCC unroll 8
  for (std::size_t b = 0; b < held.size(); ++b) {
    Held& h = held[b];
    h.x = _mm512_set1_ps(mine.at.x[b]);
    h.y = _mm512_set1_ps(mine.at.y[b]);
    h.z = _mm512_set1_ps(mine.at.z[b]);
    h.mass = _mm512_set1_ps(mine.at.mass[b]);
    h.ax = h.ay = h.az = _mm512_setzero_ps();
  }
  std::size_t j = 0;
  for (; j < others.tile_mates; j += avx512_lanes) {
#pragma GCC unroll 8
    for (Held& h : held) {
      const __m512 dx = _mm512_sub_ps(_mm512_loadu_ps(others.at.x + j), h.x);
      const __m512 dy = _mm512_sub_ps(_mm512_loadu_ps(others.at.y + j), h.y);
      const __m512 dz = _mm512_sub_ps(_mm512_loadu_ps(others.at.z + j), h.z);
      const __m512 strength = strength_avx512(
          _mm512_fmadd_ps(dx, dx, _mm512_fmadd_ps(dy, dy, _mm512_fmadd_ps(dz, dz, softening))));
      const __m512 upon_me = _mm512_mul_ps(strength, _mm512_loadu_ps(others.at.mass + j));
      h.ax = _mm512_fmadd_ps(upon_me, dx, h.ax);
      h.ay = _mm512_fmadd_ps(upon_me, dy, h.ay);
      h.az = _mm512_fmadd_ps(upon_me, dz, h.az);
    }
  }
  for (; j < others.count; j += avx512_lanes) {
    const __m512 x = _mm512_loadu_ps(others.at.x + j);
    const __m512 y = _mm512_loadu_ps(others.at.y + j);
    const __m512 z = _mm512_loadu_ps(others.at.z + j);
    const __m512 mass = _mm512_loadu_ps(others.at.mass + j);
    __m512 rx = _mm512_loadu_ps(others.reactions.x + j);
    __m512 ry = _mm512_loadu_ps(others.reactions.y + j);
    __m512 rz = _mm512_loadu_ps(others.reactions.z + j);
#pragma GCC unroll 8
    for (Held& h : held) {
      const __m512 dx = _mm512_sub_ps(x, h.x);
      const __m512 dy = _mm512_sub_ps(y, h.y);
      const __m512 dz = _mm512_sub_ps(z, h.z);
      const __m512 strength = strength_avx512(
          _mm512_fmadd_ps(dx, dx, _mm512_fmadd_ps(dy, dy, _mm512_fmadd_ps(dz, dz, softening))));
      const __m512 upon_me = _mm512_mul_ps(strength, mass);
      const __m512 upon_it = _mm512_mul_ps(strength, h.mass);
      h.ax = _mm512_fmadd_ps(upon_me, dx, h.ax);
      h.ay = _mm512_fmadd_ps(upon_me, dy, h.ay);
      h.az = _mm512_fmadd_ps(upon_me, dz, h.az);
      rx = _mm512_fnmadd_ps(upon_it, dx, rx);
      ry = _mm512_fnmadd_ps(upon_it, dy, ry);
      rz = _mm512_fnmadd_ps(upon_it, dz, rz);
    }
    _mm512_storeu_ps(others.reactions.x + j, rx);
    _mm512_storeu_ps(others.reactions.y + j, ry);
    _mm512_storeu_ps(others.reactions.z + j, rz);
  }
#pragma GCC unroll 8
  for (std::size_t b = 0; b < held.size(); ++b) {
    mine.totals.x[b] += sum_avx512(held[b].ax);
    mine.totals.y[b] += sum_avx512(held[b].ay);
    mine.totals.z[b] += sum_avx512(held[b].az);
  }
}

/// The same in half the lanes, and by a reciprocal square root of 12 bits, whose e² is kept.
[[STRATA_AVX2, gnu::always_inline]] inline __m256 strength_avx2(__m256 squared) {
  const __m256 about = _mm256_rsqrt_ps(squared);
  const __m256 about_squared = _mm256_mul_ps(about, about);
  const __m256 cube = _mm256_mul_ps(about_squared, about);
  const __m256 e = _mm256_fnmadd_ps(squared, about_squared, _mm256_set1_ps(1));
  const __m256 slope = _mm256_fmadd_ps(e, _mm256_set1_ps(1.875F), _mm256_set1_ps(1.5F));
  return _mm256_mul_ps(cube, _mm256_fmadd_ps(e, slope, _mm256_set1_ps(1)));
}

[[STRATA_AVX2]] void pull_avx2(const Mine& mine, const Others& others, float softening_squared) {
  struct Held {
    __m256 x, y, z, mass, ax, ay, az;
  };
  std::array<Held, 2> held{};
  const __m256 softening = _mm256_set1_ps(softening_squared);
#pragma GCC unroll 8
  for (std::size_t b = 0; b < held.size(); ++b) {
    Held& h = held[b];
    h.x = _mm256_set1_ps(mine.at.x[b]);
    h.y = _mm256_set1_ps(mine.at.y[b]);
    h.z = _mm256_set1_ps(mine.at.z[b]);
    h.mass = _mm256_set1_ps(mine.at.mass[b]);
    h.ax = h.ay = h.az = _mm256_setzero_ps();
  }
  std::size_t j = 0;
  for (; j < others.tile_mates; j += avx2_lanes) {
#pragma GCC unroll 8
    for (Held& h : held) {
      const __m256 dx = _mm256_sub_ps(_mm256_loadu_ps(others.at.x + j), h.x);
      const __m256 dy = _mm256_sub_ps(_mm256_loadu_ps(others.at.y + j), h.y);
      const __m256 dz = _mm256_sub_ps(_mm256_loadu_ps(others.at.z + j), h.z);
      const __m256 strength = strength_avx2(
          _mm256_fmadd_ps(dx, dx, _mm256_fmadd_ps(dy, dy, _mm256_fmadd_ps(dz, dz, softening))));
      const __m256 upon_me = _mm256_mul_ps(strength, _mm256_loadu_ps(others.at.mass + j));
      h.ax = _mm256_fmadd_ps(upon_me, dx, h.ax);
      h.ay = _mm256_fmadd_ps(upon_me, dy, h.ay);
      h.az = _mm256_fmadd_ps(upon_me, dz, h.az);
    }
  }
  for (; j < others.count; j += avx2_lanes) {
    const __m256 x = _mm256_loadu_ps(others.at.x + j);
    const __m256 y = _mm256_loadu_ps(others.at.y + j);
    const __m256 z = _mm256_loadu_ps(others.at.z + j);
    const __m256 mass = _mm256_loadu_ps(others.at.mass + j);
    __m256 rx = _mm256_loadu_ps(others.reactions.x + j);
    __m256 ry = _mm256_loadu_ps(others.reactions.y + j);
    __m256 rz = _mm256_loadu_ps(others.reactions.z + j);
#pragma GCC unroll 8
    for (Held& h : held) {
      const __m256 dx = _mm256_sub_ps(x, h.x);
      const __m256 dy = _mm256_sub_ps(y, h.y);
      const __m256 dz = _mm256_sub_ps(z, h.z);
      const __m256 strength = strength_avx2(
          _mm256_fmadd_ps(dx, dx, _mm256_fmadd_ps(dy, dy, _mm256_fmadd_ps(dz, dz, softening))));
      const __m256 upon_me = _mm256_mul_ps(strength, mass);
      const __m256 upon_it = _mm256_mul_ps(strength, h.mass);
      h.ax = _mm256_fmadd_ps(upon_me, dx, h.ax);
      h.ay = _mm256_fmadd_ps(upon_me, dy, h.ay);
      h.az = _mm256_fmadd_ps(upon_me, dz, h.az);
      rx = _mm256_fnmadd_ps(upon_it, dx, rx);
      ry = _mm256_fnmadd_ps(upon_it, dy, ry);
      rz = _mm256_fnmadd_ps(upon_it, dz, rz);
    }
    _mm256_storeu_ps(others.reactions.x + j, rx);
    _mm256_storeu_ps(others.reactions.y + j, ry);
    _mm256_storeu_ps(others.reactions.z + j, rz);
  }
#pragma GCC unroll 8
  for (std::size_t b = 0; b < held.size(); ++b) {
    mine.totals.x[b] += sum_avx2(held[b].ax);
    mine.totals.y[b] += sum_avx2(held[b].ay);
    mine.totals.z[b] += sum_avx2(held[b].az);
  }
}

using PullPairs = void (*)(const Mine&, const Others&, float);
struct Code {
  PullPairs pull;
  std::size_t held;  ///< bodies in registers
  float scale;       ///< of all strengths
};

constexpr std::size_t page = 1024;       // numbers in 4 KiB
constexpr std::size_t apart = 9 * tile;  // lines between neighbours among arrays, in numbers

/// Arrays of so many numbers, of which equal places lie nine lines apart within their pages. Where
/// they lay at equal places, a load would wait for the stores to all others that are on their way:
/// a core tells them apart by the last 12 bits of their addresses first.
class Arrays {
 public:
  void make(std::size_t count, std::size_t length, std::size_t first) {
    stride_ = (length + page - 1) / page * page + apart;
    memory_.assign(count * stride_ + (first + 1) * apart + page, 0.0F);
    void* at = memory_.data();
    std::size_t room = memory_.size() * sizeof(float);
    start_ = static_cast<float*>(std::align(page * sizeof(float), sizeof(float), at, room)) +
             first * apart;
  }
  [[nodiscard]] float* operator[](std::size_t which) const { return start_ + which * stride_; }

 private:
  std::size_t stride_ = 0;
  std::vector<float> memory_;
  float* start_ = nullptr;
};

/// What the cores have in common: the system's bodies in tiles, each core's totals, and what acts
/// back in the piece that it is at.
class Room {
 public:
  void make(std::size_t bodies, std::size_t cores) {
    padded_ = (bodies + tile - 1) / tile * tile;
    fields_.make(4, padded_, 0);
    reactions_.resize(cores);
    for (auto& one : reactions_)
      one.make(3, 2 * piece, 4);
    totals_.resize(cores);
    for (auto& one : totals_)
      one.resize(3 * padded_);
  }
  [[nodiscard]] std::size_t padded() const { return padded_; }
  [[nodiscard]] float* field(std::size_t f) const { return fields_[f]; }
  [[nodiscard]] Pulling all() const { return {fields_[0], fields_[1], fields_[2], fields_[3]}; }
  [[nodiscard]] Sums reactions(std::size_t rank) const {
    const Arrays& mine = reactions_[rank];
    return {mine[0], mine[1], mine[2]};
  }
  [[nodiscard]] Sums totals(std::size_t rank) {
    float* const first = totals_[rank].data();
    return {first, first + padded_, first + 2 * padded_};
  }

 private:
  std::size_t padded_ = 0;
  Arrays fields_;
  std::vector<Arrays> reactions_;
  std::vector<std::vector<float>> totals_;
};

/// All pairs of which the first body is in this chunk.
void climb_chunk(const Code& code, Room& room, std::size_t rank, std::size_t begin,
                 float softening_squared) {
  const Pulling all = room.all();
  const Sums totals = room.totals(rank);
  const std::size_t end = std::min(begin + chunk, room.padded());
  for (std::size_t start = begin; start < room.padded(); start += piece) {
    const std::size_t count = std::min(piece, room.padded() - start);
    const Sums sums = room.reactions(rank) + start % page;
    for (float* const sum : {sums.x, sums.y, sums.z})
      std::fill_n(sum, count, 0.0F);
    for (std::size_t i = begin; i < end; i += code.held) {
      const std::size_t own = i / tile * tile;
      const std::size_t from = std::max(start, own);
      code.pull({all + i, totals + i},
                {.at = all + from,
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

/// The bodies that fall to this place, of all that are padded.
Stretch share_of(std::size_t padded, const Place& place) {
  return {.first = padded * place.rank / place.size,
          .last = padded * (place.rank + 1) / place.size};
}

/// A system, by all cores that are at this place.
void climb_system(const HostStep& step, std::size_t system, const Place& place, const Code& code,
                  Room& room) {
  const Pulling from = pulling(step, system);
  const Stretch mine = share_of(room.padded(), place);
  const std::array<const float*, 4> fields{from.x, from.y, from.z, from.mass};
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (std::size_t i = mine.first; i < mine.last; ++i)
      room.field(f)[i] = i < step.bodies ? fields[f][i] : 0.0F;
  }
  const Sums totals = room.totals(place.rank);
  std::fill_n(totals.x, 3 * room.padded(), 0.0F);
  place.meet();

  const std::size_t chunks = (room.padded() + chunk - 1) / chunk;
  for (std::size_t c = 0; c < chunks; ++c) {
    const std::size_t round = c / place.size;
    const std::size_t turn = c % place.size;
    if ((round % 2 == 0 ? turn : place.size - 1 - turn) != place.rank) continue;
    climb_chunk(code, room, place.rank, c * chunk, step.softening_squared);
  }
  place.meet();

  for (std::size_t i = mine.first; i < std::min<std::size_t>(mine.last, step.bodies); ++i) {
    std::array<float, 3> sum{};
    for (std::size_t rank = 0; rank < place.size; ++rank) {
      const Sums part = room.totals(rank);
      sum[0] += part.x[i];
      sum[1] += part.y[i];
      sum[2] += part.z[i];
    }
    finish<Soa>(step, system + i, code.scale * sum[0], code.scale * sum[1], code.scale * sum[2]);
  }
  place.meet();
}

void climb_all(std::span<const HostStep> steps, ThreadTeam& team, const Code& code) {
  if (steps.empty()) return;
  const HostStep& like = steps.front();
  // As many systems as cores: each its own. Fewer: all cores on one after the other.
  const bool separate = like.systems >= team.size();
  std::vector<Room> rooms(separate ? team.size() : 1);
  for (Room& room : rooms)
    room.make(like.bodies, separate ? 1 : team.size());
  Meeting meeting{team.size()};
  on_every_core(team, [&](std::size_t rank) {
    const Place together{.rank = rank, .size = team.size(), .meeting = &meeting};
    const Place place = separate ? Place{} : together;
    Room& room = rooms[separate ? rank : 0];
    const std::size_t first = separate ? rank : 0;
    const std::size_t next = separate ? team.size() : 1;
    for (const HostStep& step : steps) {
      for (std::size_t s = first; s < step.systems; s += next)
        climb_system(step, s * step.bodies, place, code, room);
      together.meet();
    }
  });
}

HostClimber make(Vectors have) {
  if (have == Vectors::none) throw Skipped{"the CPU has no fused multiply-adds on vectors"};
  const Code code = have == Vectors::avx512 ? Code{pull_avx512, 4, scale} : Code{pull_avx2, 2, 1};
  return {.climb = [code](std::span<const HostStep> steps,
                          ThreadTeam& team) { climb_all(steps, team, code); },
          .instructions = std::string{to_string(have)}};
}

#else

HostClimber make(Vectors /*have*/) {
  throw Skipped{"the instructions are written for x86-64"};
}

#endif

STRATA_HOST_RUNG("cpu_pair_once", make);

}  // namespace
}  // namespace strata::nbody::cpu_pair_once
