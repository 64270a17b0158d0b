// One source compiled for wider vectors, chosen when the program runs.
#pragma once

namespace strata {

/// A function and the vectors that it was compiled for.
template <class Result, class Job>
struct VectorCode {
  Result (*run)(const Job&) = nullptr;
  const char* instructions = "baseline";
};

namespace detail {

template <auto source, class Job>
auto for_any_cpu(const Job& job) {
  return source(job);
}
#if defined(__x86_64__)
template <auto source, class Job>
[[gnu::target("avx2")]] auto for_avx2(const Job& job) {
  return source(job);
}
template <auto source, class Job>
[[gnu::target("avx512f,avx512dq,avx512vl")]] auto for_avx512(const Job& job) {
  return source(job);
}
#endif

template <auto source, class Result, class Job>
VectorCode<Result, Job> widest(Result (* /*source*/)(const Job&)) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return {for_avx512<source, Job>, "avx512"};
  }
  if (__builtin_cpu_supports("avx2")) return {for_avx2<source, Job>, "avx2"};
#endif
  return {for_any_cpu<source, Job>, "baseline"};
}

}  // namespace detail

/// `source`, an always_inline function of one `const Job&`, for the widest vectors of this CPU. No
/// vector type may cross a function that is not inlined into it.
template <auto source>
[[nodiscard]] auto widest() {
  return detail::widest<source>(source);
}

}  // namespace strata
