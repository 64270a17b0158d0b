#include "harness/base/error.hpp"
#include "nbody/gravity/problem/dataset_file.hpp"
#include "nbody/gravity/reference/gravity.hpp"
#include "tests/host/dataset_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace strata::nbody {
namespace {

using std::filesystem::path;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t header_bytes = 80;

class DatasetFile : public DatasetFiles {
 protected:
  static Dataset dataset(Kind kind = Kind::galaxies, std::uint32_t systems = 2,
                         std::uint32_t bodies = 3) {
    return {.bodies = generate({.kind = kind, .systems = systems, .bodies = bodies, .seed = 7}),
            .seed = 7,
            .steps = 5};
  }
  [[nodiscard]] path with_word(std::size_t at, std::uint32_t word) const {
    write_dataset(good_, dataset(Kind::single), Existing::replace);
    return DatasetFiles::with_word(at, word);
  }
  static std::string refusal(const path& file) { return refusal_of(read_dataset, file); }
};

TEST_F(DatasetFile, GivesBackWhatWasWritten) {
  for (const Kind kind : {Kind::galaxies, Kind::single, Kind::gravit}) {
    Dataset written = dataset(kind, kind == Kind::galaxies ? 3 : 1, 129);
    written.softening_squared = 0.25F;
    written.time_step = 0.125F;
    write_dataset(good_, written, Existing::replace);
    EXPECT_EQ(read_dataset(good_), written);
  }
}

TEST_F(DatasetFile, LeavesOutTheMassOnlyWhereAllAreOne) {
  write_dataset(good_, dataset(Kind::galaxies), Existing::keep);
  EXPECT_EQ(std::filesystem::file_size(good_), header_bytes + std::size_t{6} * 6 * sizeof(float));
  write_dataset(good_, dataset(Kind::single), Existing::replace);
  EXPECT_EQ(std::filesystem::file_size(good_), header_bytes + std::size_t{6} * 7 * sizeof(float));
  Dataset heavy = dataset(Kind::galaxies);
  heavy.bodies.at(Field::mass, 4) = 1e6F;
  write_dataset(good_, heavy, Existing::replace);
  EXPECT_EQ(read_dataset(good_), heavy);
}

// The words of the description, by hand: another program must be able to write such a file.
TEST_F(DatasetFile, HasTheBytesThatItsDescriptionSays) {
  Dataset one{.bodies = empty_bodies(1, 1), .seed = 0x1122334455667788, .steps = 3};
  one.bodies.at(Field::px, 0) = 1;
  one.bodies.at(Field::mass, 0) = -2;
  one.softening_squared = 0.5F;
  one.time_step = 0.25F;
  write_dataset(good_, one, Existing::keep);
  using namespace std::string_view_literals;
  const std::string bytes = bytes_of(good_);
  EXPECT_EQ(bytes.substr(0, dataset_digest_at),
            "STRATANB\x04\x03\x02\x01\x01\0\0\0\x01\0\0\0\x01\0\0\0\x07\0\0\0\x03\0\0\0"
            "\0\0\0\x3f\0\0\x80\x3e\x88\x77\x66\x55\x44\x33\x22\x11"sv);
  EXPECT_EQ(bytes.substr(header_bytes),
            "\0\0\x80\x3f\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xc0"sv);
  std::string signed_again = bytes;
  sign(signed_again);
  EXPECT_EQ(signed_again, bytes);
}

TEST_F(DatasetFile, IsRefusedWhereItIsDamaged) {
  for (const Kind kind : {Kind::galaxies, Kind::single}) {
    write_dataset(good_, dataset(kind), Existing::replace);
    expect_refused_where_damaged(read_dataset, header_bytes);
  }
}

TEST_F(DatasetFile, IsRefusedWhenMostOfItIsAHole) {
  write_dataset(good_, dataset(Kind::single), Existing::keep);
  const path file = file_of(bytes_of(good_));
  std::filesystem::resize_file(file, std::uintmax_t{1} << 40);
  EXPECT_THAT(refusal(file), AllOf(HasSubstr("has 1099511627776 bytes"), HasSubstr("extra bytes")));
  // As long as its header requires: 2^17 systems of 3 bodies of 7 floats.
  std::filesystem::resize_file(with_word(16, 1U << 17U),
                               header_bytes + (std::uintmax_t{3 * 7 * sizeof(float)} << 17));
  EXPECT_THAT(refusal(file), HasSubstr("checksum"));
}

TEST_F(DatasetFile, SaysWhatIsWrongEvenWhenTheChecksumIsRight) {
  EXPECT_THAT(refusal(file_of("not bodies at all, but as long as a header is, and then some more "
                              "so that nothing else is wrong with it")),
              HasSubstr("begins with 'not bodi'"));
  EXPECT_THAT(refusal(with_word(8, 0x04030201)), HasSubstr("big-endian"));
  EXPECT_THAT(refusal(with_word(8, 0x01020305)), HasSubstr("byte order is 0x01020305"));
  EXPECT_THAT(refusal(with_word(12, 2)),
              AllOf(HasSubstr("version 2"), HasSubstr("strata neighbours")));
  EXPECT_THAT(refusal(with_word(12, 3)), AllOf(HasSubstr("version 3"), HasSubstr("strata fstat")));
  EXPECT_THAT(refusal(with_word(12, 4)), AllOf(HasSubstr("version 4"), HasSubstr("newer")));
  EXPECT_THAT(refusal(with_word(12, 0)), AllOf(HasSubstr("version 0"), Not(HasSubstr("newer"))));
  EXPECT_THAT(refusal(with_word(16, 0)), HasSubstr("0 × 3 bodies"));
  EXPECT_THAT(refusal(with_word(20, 0)), HasSubstr("2 × 0 bodies"));
  // Nothing of such a size is made before it is refused.
  EXPECT_THAT(refusal(with_word(16, 0xFFFFFFFF)), HasSubstr("4294967295 × 3 bodies"));
  EXPECT_THAT(refusal(with_word(16, 3)), HasSubstr("truncated"));
  EXPECT_THAT(refusal(with_word(16, 1)), HasSubstr("extra bytes"));
  EXPECT_THAT(refusal(with_word(24, 5)), HasSubstr("bodies of 5 floats"));
  EXPECT_THAT(refusal(with_word(24, 8)), HasSubstr("bodies of 8 floats"));
  EXPECT_THAT(refusal(with_word(32, std::bit_cast<std::uint32_t>(0.0F))),
              HasSubstr("squared softening is 0"));
  EXPECT_THAT(refusal(with_word(36, std::bit_cast<std::uint32_t>(-1.0F))),
              HasSubstr("time step is -1"));
}

TEST_F(DatasetFile, HoldsNothingThatIsNotFinite) {
  const std::size_t fourth =
      header_bytes + std::size_t{4} * 7 * sizeof(float);  // body 1 of system 1
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
  constexpr auto infinite = std::numeric_limits<float>::infinity();
  EXPECT_THAT(refusal(with_word(fourth, std::bit_cast<std::uint32_t>(nan))),
              HasSubstr("px of body 1 of system 1 is nan"));
  EXPECT_THAT(refusal(with_word(fourth + 24, std::bit_cast<std::uint32_t>(-infinite))),
              HasSubstr("mass of body 1 of system 1 is -inf"));
  Dataset escaped = dataset();
  escaped.bodies.at(Field::vz, 2) = infinite;
  EXPECT_THROW(write_dataset(folder_.path() / "new", escaped, Existing::keep), UsageError);
  EXPECT_FALSE(exists(folder_.path() / "new"));
}

TEST_F(DatasetFile, IsNoFolderAndNoFileThatIsNotThere) {
  EXPECT_THAT(refusal(folder_.path()), HasSubstr("cannot be read (Is a directory)"));
  EXPECT_THAT(refusal(folder_.path() / "none"), HasSubstr("cannot be read (No such file"));
}

TEST_F(DatasetFile, ReplacesNothingUnlessAsked) {
  write_dataset(good_, dataset(), Existing::keep);
  const Dataset other = dataset(Kind::single);
  EXPECT_THROW(write_dataset(good_, other, Existing::keep), UsageError);
  EXPECT_THROW(check_target(good_, Existing::keep), UsageError);
  EXPECT_EQ(read_dataset(good_), dataset());
  write_dataset(good_, other, Existing::replace);
  EXPECT_EQ(read_dataset(good_), other);
  // Nor a folder, a device or a link, even if requested.
  std::filesystem::create_symlink(good_, folder_.path() / "link");
  for (const path& file : {folder_.path(), path{"/dev/null"}, folder_.path() / "link"})
    EXPECT_THROW(write_dataset(file, other, Existing::replace), UsageError);
}

TEST_F(DatasetFile, LeavesNoHalfOfItselfBehind) {
  EXPECT_THROW(write_dataset(folder_.path() / "none" / "x", dataset(), Existing::keep),
               std::runtime_error);
  write_dataset(good_, dataset(), Existing::keep);
  const auto entries = std::filesystem::directory_iterator{folder_.path()};
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST_F(DatasetFile, HasBodiesOfItsSystemsAndNoOthers) {
  Dataset broken = dataset();
  broken.bodies.fields[2].pop_back();
  EXPECT_THROW(write_dataset(good_, broken, Existing::keep), std::invalid_argument);
  broken.bodies = empty_bodies(0, 4);
  EXPECT_THROW(write_dataset(good_, broken, Existing::keep), std::invalid_argument);
  EXPECT_FALSE(exists(good_));
}

// --- moved ---

/// Body i after one step, by the reference's pull.
std::vector<float> stepped(const Dataset& dataset, std::size_t i) {
  const Pull pull = reference_pull(dataset.bodies, i);
  const double step{dataset.time_step};
  std::vector<float> numbers(field_count, dataset.bodies.at(Field::mass, i));
  for (std::size_t c = 0; c < 3; ++c) {
    const double v = double{dataset.bodies.fields[3 + c][i]} + step * pull.acceleration[c];
    numbers[3 + c] = static_cast<float>(v);
    numbers[c] = static_cast<float>(double{dataset.bodies.fields[c][i]} + step * v);
  }
  return numbers;
}

TEST(Moved, TakesAStepAsTheReferencePulls) {
  const Dataset before{.bodies = generate({.kind = Kind::single, .systems = 2, .bodies = 67}),
                       .steps = 1};
  const Dataset after = moved(before, 1);
  EXPECT_EQ(after.steps, 2);
  for (std::size_t i = 0; i < before.bodies.total(); ++i) {
    const std::vector<float> expected = stepped(before, i);
    for (std::size_t f = 0; f < field_count; ++f)
      EXPECT_FLOAT_EQ(after.bodies.fields[f][i], expected[f]) << "field " << f << ", body " << i;
  }
}

// Two of mass 1 at distance 2 about their middle, softening 1: a circle where v² = 1 / 5^1.5 × 2.
TEST(Moved, KeepsTwoBodiesOnTheirCircle) {
  Dataset pair{.bodies = empty_bodies(1, 2), .softening_squared = 1, .time_step = 1e-3F};
  const double speed = std::sqrt(2 / std::pow(5.0, 1.5));
  pair.bodies.fields[0] = {-1, 1};
  pair.bodies.fields[4] = {static_cast<float>(-speed), static_cast<float>(speed)};
  pair.bodies.fields[6] = {1, 1};
  constexpr double pi = 3.141592653589793;
  const auto quarter = static_cast<std::uint32_t>(std::lround(pi / 2 / speed / 1e-3));
  const Dataset turned = moved(pair, quarter);
  EXPECT_NEAR(turned.bodies.at(Field::px, 1), 0, 1e-3);
  EXPECT_NEAR(turned.bodies.at(Field::py, 1), 1, 1e-3);
  EXPECT_NEAR(turned.bodies.at(Field::vx, 1), -speed, 1e-3);
  EXPECT_FLOAT_EQ(turned.bodies.at(Field::px, 0), -turned.bodies.at(Field::px, 1));
}

TEST(Moved, LeavesABodyAloneOnItsWay) {
  const Dataset alone{.bodies = generate({.kind = Kind::single, .systems = 3, .bodies = 1}),
                      .time_step = 1e-4F};
  const Dataset after = moved(alone, 1000);
  for (std::size_t i = 0; i < 3; ++i) {
    const float speed = alone.bodies.at(Field::vx, i);
    EXPECT_EQ(after.bodies.at(Field::vx, i), speed);
    EXPECT_NEAR(after.bodies.at(Field::px, i), alone.bodies.at(Field::px, i) + 0.1F * speed, 1e-6);
  }
}

TEST(Moved, RefusesMoreStepsThanAFileCanSay) {
  const Dataset far{.bodies = empty_bodies(1, 1),
                    .steps = std::numeric_limits<std::uint32_t>::max()};
  EXPECT_EQ(moved(far, 0), far);
  EXPECT_THROW((void)moved(far, 1), std::overflow_error);
}

}  // namespace
}  // namespace strata::nbody
