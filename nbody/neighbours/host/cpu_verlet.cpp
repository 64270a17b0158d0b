#include "nbody/neighbours/host/vector_search.hpp"

#include <cmath>

namespace strata::neighbours::cpu_verlet {
namespace {

#if defined(__x86_64__)
[[STRATA_AVX2]] inline void gather(Eight& to, const float* from, const std::uint32_t* at) {
  to = _mm256_i32gather_ps(from, eight_numbers(at), sizeof(float));
}
[[STRATA_AVX512]] inline void gather(Sixteen& to, const float* from, const std::uint32_t* at) {
  to = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), 0xFFFF, _mm512_loadu_si512(at), from,
                                sizeof(float));
}
#endif

/// Tests the candidates at the positions of a list.
template <class Collector>
struct TestList {
  template <unsigned lanes>
  [[STRATA_INLINE]] static void run(const Candidates& all, std::span<const std::uint32_t> list,
                                    const Vector<float>& me, Collector& collector, Work& work) {
    using V = Floats<lanes>;
    std::size_t n = 0;
    for (; n + lanes <= list.size(); n += lanes) {
      V dx;
      V dy;
      V dz;
      gather(dx, all.x, list.data() + n);
      gather(dy, all.y, list.data() + n);
      gather(dz, all.z, list.data() + n);
      dx -= me.x;
      dy -= me.y;
      dz -= me.z;
      const V squared = dx * dx + (dy * dy + dz * dz);
      for (std::uint32_t found = lanes_below(squared, collector.limit()); found != 0;
           found &= found - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(found));
        if (!(squared[lane] < collector.limit())) continue;  // which may have become less
        collector.take(all.ids[list[n + lane]], squared[lane], {dx[lane], dy[lane], dz[lane]});
      }
    }
    for (; n < list.size(); ++n)
      (void)test_run(all, list[n], list[n] + 1, me, collector);
    work.tests += list.size();
    work.lanes += list.size();
  }
};

/// Writes the positions of the agents within reach and skin of an agent.
template <class Collector>
struct MakeList {
  template <unsigned lanes>
  [[STRATA_INLINE]] static void run(const PackedCells& packed, const std::uint32_t* ordered,
                                    std::size_t at, Collector& collector, Work& work) {
    Candidates all = packed.candidates();
    all.ids = ordered;
    VectorRows::search<lanes>(packed, all, at, collector, work);
  }
};

class Search {
 public:
  Search(const Problem& problem, const Choice& choice, Vectors have)
      : reach_{std::sqrt(static_cast<double>(problem.radius_squared)) + choice.skin},
        // A little less, so that no rounding keeps a list too long.
        most_moved_{static_cast<float>(choice.skin / 2 * choice.skin / 2 * 0.9999)},
        packed_{cells_of(problem.low(), problem.extent(), reach_, choice.cells), problem.agents},
        built_(3, std::vector<float>(problem.agents)),
        ordered_(problem.agents + padding),
        test_list_{have},
        make_list_{kernel_for<MakeList<Listing>, const PackedCells&, const std::uint32_t*,
                              std::size_t, Listing&, Work&>(have)} {
    std::iota(ordered_.begin(), ordered_.end(), 0U);
  }

  void step(const Step& step, const ThreadRank& thread) {
    if (thread.rank == 0) {
      is_old_ = step.first;
      if (step.first) lists_ = ListPools{packed_.agents(), thread.size};
    }
    thread.wait_for_all();
    if (!step.first && has_moved(step, thread)) is_old_ = true;
    thread.wait_for_all();
    if (is_old_) {
      rebuild(step, thread);
    } else {
      packed_.follow(step, thread);
    }
    if (thread.rank == 0) pieces_.begin();
    thread.wait_for_all();
    with_collector(step, thread, [&](auto& collector) {
      const Candidates all = packed_.candidates();
      Work work;
      pieces_.take(packed_.agents(), [&](std::size_t from, std::size_t to) {
        for (std::size_t at = from; at < to; ++at) {
          collector.begin(packed_.id(at));
          test_list_(all, lists_.of(at), packed_.place(at), collector, work);
          collector.end();
        }
      });
      add(step, thread, work);
    });
  }

 private:
  static void add(const Step& step, const ThreadRank& thread, const Work& work) {
    step.work[thread.rank].tests += work.tests;
    step.work[thread.rank].lanes += work.lanes;
  }
  /// Whether one of this thread's agents has moved by half the skin.
  [[nodiscard]] bool has_moved(const Step& step, const ThreadRank& thread) const {
    const auto [first, last] = thread.share(packed_.agents());
    for (std::size_t i = first; i < last; ++i) {
      const Vector<float> off =
          place_of(step, i) - Vector<float>{built_[0][i], built_[1][i], built_[2][i]};
      if (dot(off, off) > most_moved_) return true;
    }
    return false;
  }
  void rebuild(const Step& step, const ThreadRank& thread) {
    const HostPhase building = step.building(thread.rank);
    packed_.build(step, thread);
    const auto [first, last] = thread.share(packed_.agents());
    for (std::size_t c = 0; c < built_.size(); ++c)
      std::copy_n(step.from->parts[c].data() + first, last - first, built_[c].data() + first);
    if (thread.rank == 0) {
      pieces_.begin();
      ++step.work[0].rebuilds;
    }
    thread.wait_for_all();
    lists_.clear(thread.rank);
    Listing listing{lists_, thread.rank, static_cast<float>(reach_ * reach_)};
    Work work;
    pieces_.take(packed_.agents(), [&](std::size_t from, std::size_t to) {
      for (std::size_t at = from; at < to; ++at) {
        listing.begin(static_cast<std::uint32_t>(at));
        make_list_(packed_, ordered_.data(), at, listing, work);
        listing.end();
      }
    });
    add(step, thread, work);
    thread.wait_for_all();
  }

  double reach_;
  float most_moved_;  ///< squared
  PackedCells packed_;
  std::vector<std::vector<float>> built_;  ///< where agents were when the lists were made
  std::vector<std::uint32_t> ordered_;     ///< 0, 1, 2, …
  ListPools lists_;                        ///< of agents and neighbours by position
  ForEachCollector<TestList, const Candidates&, std::span<const std::uint32_t>,
                   const Vector<float>&>
      test_list_;
  void (*make_list_)(const PackedCells&, const std::uint32_t*, std::size_t, Listing&, Work&);
  std::atomic<bool> is_old_ = true;
  Pieces pieces_;
};

HostKernel make(const Problem& problem, const Choice& choice, Vectors have) {
  return on_all_cores(std::make_shared<Search>(problem, choice, have), to_string(have));
}

STRATA_RUNG("neighbours_cpu_verlet", make);

}  // namespace
}  // namespace strata::neighbours::cpu_verlet
