// A file of an observation, with or without its sums. Version 3 of the files that
// harness/case/dataset_file.hpp describes.
//
// All numbers are little-endian, floats are IEEE 754. The header has 128 bytes:
//
//   byte  type  what
//      0  8 × char  "STRATANB"
//      8  u32   0x01020304: the order of the bytes
//     12  u32   version of this format: 3
//     16  u32   sky points
//     20  u32   cells
//     24  u32   stacks
//     28  u32   frequencies
//     32  u32   detectors
//     36  u32   signals of all groups together; a group is a detector in a stack
//     40  u32   number of the spectra's first bin
//     44  u32   bins of a spectrum
//     48  32 bytes  SHA-256 of the whole file, these 32 bytes taken as 0
//     80  u64   seed that it was generated from
//     88  f64   first frequency, Hz
//     96  f64   step of frequency, Hz
//    104  f64   step of spin-down from cell to cell, Hz/s
//    112  f64   length of a spectrum's stretch of time, s
//    120  u32   complex numbers of all spectra
//    124  u32   1 where results follow, else 0
//
// Then, as u32, the first signal of each group and one more; of each signal where its spectrum
// begins; as pairs of f32 the spectra; from each sky point and of each signal, as pairs of f64, ΔT
// and Ṫ; likewise, as pairs of f32, a and b. Where results follow: of each sky point, cell, stack
// and frequency, as f64, Fa and Fb (re im re im), then of each 2F. Nothing follows. Host only.
#pragma once

#include "harness/case/dataset_file.hpp"
#include "nbody/fstat/problem/observation.hpp"
#include "nbody/fstat/reference/sums.hpp"

#include <filesystem>
#include <optional>

namespace strata::fstat {

struct ObservationData {
  Observation seen;
  std::optional<Reference> results;
  bool operator==(const ObservationData&) const = default;
};

/// Writes the file as write_sealed does. Throws UsageError for an observation that check() refuses.
void write_observation(const std::filesystem::path& file, const ObservationData& data,
                       Existing existing);

/// Throws UsageError, in one line, for a file that is not as above, and for an observation that
/// check() refuses.
[[nodiscard]] ObservationData read_observation(const std::filesystem::path& file);

}  // namespace strata::fstat
