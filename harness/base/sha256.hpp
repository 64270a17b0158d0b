// SHA-256 (FIPS 180-4). Our own, because no library that has it is on every machine that builds
// this, and the digest of a small file needs no speed.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace strata {
namespace detail {

inline constexpr std::size_t sha_block = 64;  // bytes, and rounds for each block
using ShaState = std::array<std::uint32_t, 8>;

// The first 32 bits of the fractional parts of the square roots of the first 8 primes, and of the
// cube roots of the first 64 (FIPS 180-4, sections 5.3.3 and 4.2.2).
inline constexpr ShaState sha_initial = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
inline constexpr std::array<std::uint32_t, sha_block> sha_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/// Consumes all complete blocks of `bytes` into the state.
inline void absorb_blocks(ShaState& state, std::string_view& bytes) {
  for (; bytes.size() >= sha_block; bytes.remove_prefix(sha_block)) {
    std::array<std::uint32_t, sha_block> w{};
    for (std::size_t at = 0; at < sha_block; ++at)
      w[at / 4] = w[at / 4] << 8U | static_cast<unsigned char>(bytes[at]);
    for (std::size_t t = 16; t < sha_block; ++t) {
      const auto near = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10U;
      const auto far = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3U;
      w[t] = near + w[t - 7] + far + w[t - 16];
    }
    ShaState now = state;
    for (std::size_t t = 0; t < sha_block; ++t) {
      const auto [a, b, c, d, e, f, g, h] = now;
      const auto mixed_e = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const auto mixed_a = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const auto first = h + mixed_e + ((e & f) ^ (~e & g)) + sha_constants[t] + w[t];
      const auto second = mixed_a + ((a & b) ^ (a & c) ^ (b & c));
      now = {first + second, a, b, c, d + first, e, f, g};
    }
    for (std::size_t i = 0; i < state.size(); ++i)
      state[i] += now[i];
  }
}

}  // namespace detail

/// The digest of `bytes`.
[[nodiscard]] inline std::array<char, 32> sha256(std::string_view bytes) {
  detail::ShaState state = detail::sha_initial;
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  detail::absorb_blocks(state, bytes);
  // A one bit, zeros to fill the block, the length in bits as the last 8 bytes.
  std::string tail{bytes};
  tail.push_back('\x80');
  while (tail.size() % detail::sha_block != detail::sha_block - 8)
    tail.push_back('\0');
  for (unsigned at = 0; at < 8; ++at)
    tail.push_back(static_cast<char>(bits >> (56 - 8 * at) & 0xFFU));
  std::string_view rest{tail};
  detail::absorb_blocks(state, rest);

  std::array<char, 32> digest{};
  for (std::size_t at = 0; at < digest.size(); ++at)
    digest[at] = static_cast<char>(state[at / 4] >> (24 - at % 4 * 8) & 0xFFU);
  return digest;
}

}  // namespace strata
