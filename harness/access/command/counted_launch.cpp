#include "harness/access/command/counted_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace strata::access {
namespace {

CountedAccess counts_of(const InstructionCounts& one) {
  const auto count = [&](std::string_view metric) {
    const auto found = one.counts.find(std::string{metric});
    return found == one.counts.end() ? std::uint64_t{0} : found->second;
  };
  return {.executed = count(sass::executed),
          .sectors = count(sass::sectors),
          .tags = count(sass::tags),
          .wavefronts = count(sass::wavefronts),
          .local_sectors = count(sass::local_sectors)};
}

/// Calls `take` with each machine instruction that moved something, and the kernel instruction from
/// which it was compiled.
template <class Take>
void each_access(const CodeCounts& code, const Take& take) {
  for (const auto& one : code.counts) {
    const CountedAccess counted = counts_of(one);
    const bool moved =
        counted.sectors + counted.tags + counted.wavefronts + counted.local_sectors > 0;
    const auto place = code.marked.place_of(one.line);
    if (moved && place && place->kernel == code.kernel) take(place->instruction, counted);
  }
}

/// Registers that ptxas spills to local memory are not accesses of an instruction of another space.
bool is_spill(const ptx::Instruction& instruction, const CountedAccess& counted) {
  const bool is_local_only = counted.sectors + counted.tags + counted.wavefronts == 0;
  const ptx::Space space = instruction.space();
  return is_local_only && space != ptx::Space::local && space != ptx::Space::generic;
}

/// Returns what no execution of a plain load or store can have moved: the bytes of a lane, aligned
/// to their number, are in one sector, and take at most one wavefront per word. Empty if everything
/// is possible.
std::string impossible(const ptx::Instruction& instruction, const CountedAccess& counted) {
  if (instruction.opcode != "ld" && instruction.opcode != "st") return {};
  constexpr std::uint64_t lanes = 32;
  constexpr unsigned word = 4;
  const std::uint64_t width =
      std::uint64_t{instruction.vector_width()} * ptx::bytes_of(instruction.type());
  const auto over = [&](std::uint64_t moved, std::uint64_t most_of_one, const char* unit) {
    if (moved <= counted.executed * most_of_one) return std::string{};
    return fmt::format(
        "inconsistent counts: {} {} in {} executions, each of which moves at most {}", moved, unit,
        counted.executed, most_of_one);
  };
  std::string sectors = over(counted.sectors, lanes, "sectors");
  if (!sectors.empty()) return sectors;
  return over(counted.wavefronts, lanes * std::max<std::uint64_t>(1, width / word), "wavefronts");
}

}  // namespace

CountedAccess CountedLaunch::of(std::uint32_t instruction) const {
  const auto found = accesses.find(instruction);
  return found == accesses.end() ? CountedAccess{} : found->second;
}

CountedAccess& CountedAccess::operator+=(const CountedAccess& other) {
  executed += other.executed;
  sectors += other.sectors;
  tags += other.tags;
  wavefronts += other.wavefronts;
  local_sectors += other.local_sectors;
  return *this;
}

std::uint64_t warps_begun(std::span<const InstructionCounts> counts) {
  const auto first = std::ranges::find(counts, std::uint64_t{0}, &InstructionCounts::pc);
  return first == counts.end() ? 0 : counts_of(*first).executed;
}

bool is_anything_counted(std::span<const InstructionCounts> counts) {
  return std::ranges::any_of(counts, [](const InstructionCounts& one) {
    return std::ranges::any_of(one.counts, [](const auto& count) { return count.second > 0; });
  });
}

CountedAccess sum_of(const CodeCounts& code) {
  CountedAccess sum;
  each_access(code, [&](std::uint32_t /*instruction*/, const CountedAccess& one) { sum += one; });
  return sum;
}

void count_accesses(const CodeCounts& code, const ptx::Kernel& kernel,
                    std::span<const std::uint32_t> lines, CountedLaunch& launch) {
  std::map<std::uint32_t, int> times;
  each_access(code, [&](std::uint32_t instruction, const CountedAccess& one) {
    if (is_spill(kernel.instructions[instruction], one)) return;
    launch.accesses[instruction] += one;
    ++times[instruction];
  });
  for (const auto& [instruction, number] : times) {
    if (number == 1) continue;
    launch.accesses.erase(instruction);
    launch.not_counted[instruction] =
        fmt::format("ptxas turned it into {} accesses, possibly a loop", number);
  }
  std::erase_if(launch.accesses, [&](const auto& one) {
    const std::string why = impossible(kernel.instructions[one.first], one.second);
    if (!why.empty()) launch.not_counted[one.first] = why;
    return !why.empty();
  });
  const std::set<std::uint32_t> present{lines.begin(), lines.end()};
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    if (kernel.instructions[i].opcode == "call") {
      launch.accesses.erase(i);
      launch.not_counted[i] = "its accesses are those of a function";
    } else if (!present.contains(code.marked.first_marks[code.kernel] + i)) {
      launch.not_counted[i] = "ptxas removed it as unreachable or unused";
    }
  }
}

std::optional<std::uint64_t> predicted_in(const Access& access, std::size_t generation) {
  if (!access.is_exact()) return std::nullopt;
  if (access.space == ptx::Space::shared) return access.wavefronts;
  if (generation >= access.traffic.size()) return std::nullopt;
  return access.traffic[generation].sectors;
}

std::uint64_t moved_in(ptx::Space space, const CountedAccess& counted) {
  if (space == ptx::Space::shared) return counted.wavefronts;
  return space == ptx::Space::local ? counted.local_sectors : counted.sectors;
}

bool differs(const Evaluation& evaluation, const CountedLaunch& counted, std::size_t generation) {
  return std::ranges::any_of(evaluation.accesses, [&](const Access& access) {
    const auto predicted = predicted_in(access, generation);
    if (!predicted || counted.not_counted.contains(access.instruction)) return false;
    return *predicted != moved_in(access.space, counted.of(access.instruction));
  });
}

void keep_what_repeats(CountedLaunch& counted, const CountedLaunch& again) {
  if (!again.failure.empty()) return;
  const auto numbers = [](const CountedAccess& one) {
    return std::array{one.executed, one.sectors, one.wavefronts, one.local_sectors};
  };
  std::erase_if(counted.accesses, [&](const auto& one) {
    const CountedAccess other = again.of(one.first);
    if (numbers(one.second) == numbers(other)) return false;
    const auto in_words = [](const CountedAccess& access) {
      return fmt::format("{} sectors and {} wavefronts in {} executions",
                         access.sectors + access.local_sectors, access.wavefronts, access.executed);
    };
    counted.not_counted[one.first] =
        fmt::format("two launches differ: {}, then {}", in_words(one.second), in_words(other));
    return true;
  });
}

}  // namespace strata::access
