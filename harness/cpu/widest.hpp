// One source compiled for wider vectors, selected at run time.
#pragma once

namespace strata {

/// A function and the vectors for which it was compiled.
template <class Result, class Job>
struct VectorCode {
  Result (*run)(const Job&) = nullptr;
  const char* instructions = "baseline";
};

namespace detail {

template <class Number, unsigned lanes>
struct Lanes {
  using type [[gnu::vector_size(lanes * sizeof(Number))]] = Number;
};

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
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] auto for_avx512(const Job& job) {
  return source(job);
}
#endif

template <auto wide, auto middle, auto narrow, class Result, class Job>
VectorCode<Result, Job> widest(Result (* /*source*/)(const Job&)) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return {for_avx512<wide, Job>, "avx512"};
  }
  if (__builtin_cpu_supports("avx2")) return {for_avx2<middle, Job>, "avx2"};
#endif
  return {for_any_cpu<narrow, Job>, "baseline"};
}

}  // namespace detail

/// A vector of that many numbers.
template <class Number, unsigned lanes>
using VectorOf = typename detail::Lanes<Number, lanes>::type;

/// An always_inline function of one `const Job&`, for the widest vectors of this CPU: `wide` for 64
/// bytes, `middle` for 32, otherwise `narrow`. Vector types may only be passed to functions that
/// are inlined into it.
template <auto wide, auto middle = wide, auto narrow = middle>
[[nodiscard]] auto widest() {
  return detail::widest<wide, middle, narrow>(wide);
}

}  // namespace strata
