// The table of `strata access`: for each kernel, or for each of its launches, the accesses that
// waste most.
#include "harness/access/command/access_output.hpp"
#include "harness/base/error.hpp"
#include "harness/base/regular_file.hpp"
#include "harness/base/text.hpp"
#include "harness/record/measurements_csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace strata::access {
namespace {

using ptx::Space;

constexpr std::size_t page = 98;  // columns of text
constexpr std::size_t most_rows = 10;

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

/// Width of a text in characters, not bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

/// Bytes of the first `characters` of a text.
std::size_t bytes_of_first(std::string_view text, std::size_t characters) {
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at) {
    if (begins_character(text[at]) && ++seen > characters) break;
  }
  return at;
}

/// The text, or its beginning and "…" if it is wider than `columns`.
std::string cut(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns) return std::string{text};
  return std::string{text.substr(0, bytes_of_first(text, columns - 1))} + "…";
}

std::string padded(std::string_view text, std::size_t columns, bool to_right = false) {
  const std::string shown = cut(text, columns);
  const std::string fill(columns - width_of(shown), ' ');
  return to_right ? fill + shown : shown + fill;
}

/// `text` wrapped to lines of the page's width, each indented; a longer word is split.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::string line;
  const auto end_line = [&] {
    if (!line.empty()) out += std::string(indent, ' ') + line + '\n';
    line.clear();
  };
  for (std::string_view word : split(text, ' ')) {
    if (!line.empty() && width_of(line) + 1 + width_of(word) > page - indent) end_line();
    while (width_of(word) > page - indent) {
      const std::size_t end = bytes_of_first(word, page - indent);
      line = word.substr(0, end);
      word.remove_prefix(end);
      end_line();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  end_line();
  return out;
}

std::string counted(std::size_t count, std::string_view what, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? what : several);
}

std::string file_name(std::string_view path) {
  return one_line(std::filesystem::path{path}.filename().string());
}

/// Bytes moved per sector, or per wavefront of shared memory.
std::uint64_t bytes_per_unit(Space space) {
  constexpr std::uint64_t bytes_of_wavefront = 128;
  return space == Space::shared ? bytes_of_wavefront : sector_bytes;
}

/// "1.50 MB".
std::string bytes_text(double bytes) {
  constexpr double step = 1000;
  static constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= step && unit + 1 < units.size()) {
    bytes /= step;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

/// Fits into a column of ten characters.
std::string number_text(std::uint64_t number) {
  constexpr std::uint64_t most = 999'999'999;
  return number <= most ? std::to_string(number)
                        : fmt::format("{:.3e}", static_cast<double>(number));
}

/// Lines of the sources that are on this machine.
class Sources {
 public:
  /// The text of a line without indentation; empty if the file cannot be read. A relative name may
  /// also be relative to the folder of the input.
  std::string line(const Place& place, const std::filesystem::path& input) {
    const auto [known, is_new] = files_.try_emplace(place.file);
    for (const auto& folder : {std::filesystem::path{}, input.parent_path()}) {
      if (!is_new || !known->second.empty()) break;
      constexpr std::size_t most_bytes = 16U << 20U;
      try {
        known->second = read_regular(folder / place.file, O_RDONLY, "a source file", most_bytes);
      } catch (const UsageError&) {
        // The kernel was compiled elsewhere.
      }
    }
    const auto lines = split(known->second, '\n');
    if (place.line == 0 || place.line > lines.size()) return {};
    std::string_view text = lines[place.line - 1];
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return one_line(text.substr(0, text.find_last_not_of(" \t\r") + 1));
  }

 private:
  std::map<std::string, std::string> files_;
};

/// A line of a table: an access, with the copies of it that a compiler made of one place.
struct Entry {
  const ReportRow* row = nullptr;  ///< the first copy
  std::size_t copies = 0;
  Space space = Space::generic;
  std::uint64_t requests = 0;
  Span moved;
  std::uint64_t ideal = 0;
  bool has_numbers = false;
  bool is_exact = true;
  std::uint64_t low = 0;  ///< of Access::range
  std::uint64_t high = 0;
  /// By opcode of the machine code, for accesses that ptxas merges.
  std::map<std::string, MachineTraffic> machine = {};
  std::set<std::string> notes = {};

  /// Bytes moved beyond the ideal ones, at least.
  [[nodiscard]] std::uint64_t wasted() const {
    return moved.least > ideal ? (moved.least - ideal) * bytes_per_unit(space) : 0;
  }
};

class Entries {
 public:
  /// The entry of a row's place, instruction and space.
  Entry& at(const ReportRow& one, Space space) {
    const auto is_same = [&](const Entry& entry) {
      return entry.space == space && entry.row->row.places == one.row.places &&
             entry.row->row.opcode == one.row.opcode &&
             (!one.row.places.empty() || entry.row->row.ptx_line == one.row.ptx_line);
    };
    auto found = std::ranges::find_if(entries_, is_same);
    if (found == entries_.end()) {
      entries_.push_back({.row = &one, .space = space});
      found = entries_.end() - 1;
    }
    ++found->copies;
    return *found;
  }

  /// The most wasteful first; of equal ones those that are not exact.
  std::vector<Entry> ranked() && {
    std::ranges::stable_sort(entries_, [](const Entry& a, const Entry& b) {
      return std::pair{a.wasted(), !a.is_exact} > std::pair{b.wasted(), !b.is_exact};
    });
    return std::move(entries_);
  }

 private:
  std::vector<Entry> entries_;
};

/// "inlined.cu:35 ← 40": where the access is written, and the user's line that it was inlined into.
/// The line numbers are always whole.
std::string source_text(const Row& row, std::size_t columns) {
  if (row.places.empty()) return fmt::format("PTX:{}", row.ptx_line);
  std::string lines = fmt::format(":{}", row.places.front().line);
  if (row.places.size() > 1) lines += fmt::format(" ← {}", row.places.back().line);
  return cut(file_name(row.places.front().file), columns - width_of(lines)) + lines;
}

std::string span_text(const Span& span) {
  return span.least == span.most ? number_text(span.least)
                                 : fmt::format("{}–{}", span.least, span.most);
}

class Table {
 public:
  Table(const Report& report, const TableOptions& options) : report_{report}, options_{options} {}

  std::string print() && {
    std::map<std::string_view, std::size_t> verdicts;
    std::size_t rows = 0;
    std::size_t over = 0;
    for (const auto& kernel : report_.kernels) {
      if (!kernel.rows.empty()) print_kernel(kernel);
      for (const auto& one : kernel.rows) {
        ++verdicts[access::name_of(one.row.proof.verdict)];
        ++rows;
        const auto moved = one.moved_over_ideal();
        over += moved && *moved > report_.most ? 1 : 0;
      }
    }
    std::string counts;
    for (const auto& [verdict, count] : verdicts)
      counts += fmt::format(", {} {}", count, verdict);
    out_ += wrapped(fmt::format("{}, {}{}; {} over {} times what they need.",
                                counted(report_.kernels.size(), "kernel", "kernels"),
                                counted(rows, "access", "accesses"), counts,
                                counted(over, "moves", "move"), shortest(report_.most)),
                    0);
    out_ += wrapped(
        "moved: 32-byte sectors, or wavefronts of shared memory; of one request of a full warp "
        "unless a launch is named. needed: what the same bytes need when contiguous. wasted: moved "
        "beyond that, in bytes.",
        0);
    if (!report_.no_machine_code.empty()) {
      out_ +=
          wrapped(fmt::format("The numbers are those of the PTX, and ptxas may merge accesses: {}.",
                              one_line(report_.no_machine_code)),
                  0);
    }
    return std::move(out_);
  }

 private:
  void print_kernel(const KernelReport& kernel) {
    input_ = kernel.input;
    out_ += wrapped(kernel.name, 0);
    out_ += wrapped(one_line(fmt::format("of {}, {}", kernel.input, kernel.target)), 4);
    if (kernel.launches.empty()) {
      out_ += '\n';
      print_entries(proofs_of(kernel), true);
    }
    for (std::size_t l = 0; l < kernel.launches.size(); ++l) {
      for (std::size_t g = 0; g < report_.generations.size(); ++g)
        print_launch(kernel, l, g);
    }
    if (options_.shows_proof) print_premises(kernel);
    out_ += '\n';
  }

  void print_launch(const KernelReport& kernel, std::size_t l, std::size_t g) {
    const ReportedLaunch& launch = kernel.launches[l];
    const auto entries = accesses_of(kernel, l, g);
    std::string text =
        fmt::format("{}: {} of {} threads", file_name(launch.file),
                    counted(launch.grid.count(), "block", "blocks"), extent_text(launch.block));
    if (report_.generations.size() > 1)
      text += fmt::format(", rules of {}", info_of(report_.generations[g]).name);
    std::map<Space, Entry> sums;
    for (const Entry& one : entries) {
      Entry& sum = sums[one.space];
      sum.space = one.space;
      sum.moved.least += one.moved.least;
      sum.ideal += one.ideal;
    }
    for (const auto& [space, sum] : sums) {
      if (sum.ideal == 0) continue;
      text += fmt::format("; {} {} of {} memory moved, {} needed", sum.moved.least, unit_of(space),
                          access::name_of(space), sum.ideal);
    }
    const auto doubtful = std::ranges::count(entries, false, &Entry::is_exact);
    if (launch.is_sampled()) {
      text +=
          fmt::format("; estimated from {} of {} blocks", launch.blocks_run, launch.grid.count());
    } else {
      text +=
          doubtful == 0 ? "; exact" : fmt::format("; {} of {} not exact", doubtful, entries.size());
    }
    out_ += '\n' + wrapped(text, 0);
    print_counts(kernel, l);
    print_entries(entries, false);
  }

  static std::string extent_text(const Extent& of) {
    if (of.z > 1) return fmt::format("{}×{}×{}", of.x, of.y, of.z);
    return of.y > 1 ? fmt::format("{}×{}", of.x, of.y) : std::to_string(of.x);
  }

  /// What a device counted in a launch.
  void print_counts(const KernelReport& kernel, std::size_t l) {
    std::size_t counts = 0;
    std::size_t equal = 0;
    std::set<std::string> optimised;
    for (const auto& row : kernel.rows) {
      for (const auto& exact : row.exact) {
        if (exact.launch != l) continue;
        const Space space = exact.access.space;
        if (exact.counted) ++counts;
        if (exact.is_as_predicted(newest_of(report_))) ++equal;
        if (kernel.launches[l].optimised) {
          optimised.insert(fmt::format("{} {} of {} memory",
                                       moved_in(space, *kernel.launches[l].optimised),
                                       unit_of(space), access::name_of(space)));
        }
      }
    }
    if (counts > 0)
      out_ += wrapped(fmt::format("Counted on a device: {} of {} as predicted", equal, counts), 0);
    if (!optimised.empty())
      out_ +=
          wrapped(fmt::format("Counted as ptxas optimises it: {}", fmt::join(optimised, ", ")), 0);
  }

  /// Of one request for any launch.
  static std::vector<Entry> proofs_of(const KernelReport& kernel) {
    Entries entries;
    for (const auto& one : kernel.rows) {
      const AccessProof& proof = one.row.proof;
      Entry& entry = entries.at(one, proof.space);
      entry.is_exact = proof.parts.has_value();
      if (proof.parts) {
        entry.moved = entry.has_numbers ? Span{std::min(entry.moved.least, proof.parts->least),
                                               std::max(entry.moved.most, proof.parts->most)}
                                        : *proof.parts;
        entry.ideal = proof.ideal;
        entry.has_numbers = true;
      }
      const bool is_open = proof.verdict == Verdict::unknown || proof.verdict == Verdict::depends;
      if (!proof.remedy.empty()) {
        entry.notes.insert(proof.remedy);
      } else if (is_open && !proof.reason.empty()) {
        entry.notes.insert(proof.reason);
      }
      if (proof.usual) {
        entry.notes.insert(
            fmt::format("usually {}, where {}", access::name_of(*proof.usual), proof.usual_where));
      }
    }
    return std::move(entries).ranked();
  }

  /// Of a launch, by the rules of the generation at index `g`.
  std::vector<Entry> accesses_of(const KernelReport& kernel, std::size_t l, std::size_t g) const {
    Entries entries;
    for (const auto& one : kernel.rows) {
      for (const auto& exact : one.exact) {
        if (exact.launch == l) add(entries.at(one, exact.access.space), exact, g);
      }
    }
    auto ranked = std::move(entries).ranked();
    for (Entry& entry : ranked) {
      const std::string& remedy = entry.row->row.proof.remedy;
      if (entry.wasted() > 0 && !remedy.empty()) entry.notes.insert(remedy);
      if (entry.low != entry.high) {
        entry.notes.insert(fmt::format(
            "{} to {} {}, {}", entry.low, entry.high, unit_of(entry.space),
            kernel.launches[l].is_sampled() ? "with 95 % confidence" : "by two random contents"));
      }
      for (const auto& [opcode, sum] : entry.machine) {
        entry.notes.insert(fmt::format("machine code, merged to {}: {} requests, {} {}", opcode,
                                       sum.requests, sum.moved, unit_of(entry.space)));
      }
    }
    return ranked;
  }

  void add(Entry& entry, const ExactTraffic& exact, std::size_t g) const {
    const Access& access = exact.access;
    const bool is_shared = access.space == Space::shared;
    entry.has_numbers = true;
    if (is_shared || g < access.traffic.size()) {
      const std::uint64_t moved = is_shared ? access.wavefronts : access.traffic[g].sectors;
      entry.requests += is_shared ? access.warps : access.traffic[g].requests;
      entry.moved.least += moved;
      entry.moved.most += moved;
      entry.ideal += is_shared ? access.ideal_wavefronts : access.ideal_sectors;
    } else {
      entry.requests += access.warps;
    }
    if (exact.machine) {
      MachineTraffic& sum = entry.machine[exact.machine->opcode];
      sum.requests += exact.machine->requests;
      sum.moved += exact.machine->moved;
    }
    if (!access.is_exact()) {
      entry.is_exact = false;
      entry.low += access.range.least;
      entry.high += access.range.most;
      if (access.doubt != Doubt::sampled) entry.notes.insert("not exact: " + doubt_text(exact));
    } else {
      entry.low += access.moved();
      entry.high += access.moved();
    }
    if (access.unknown > 0) {
      entry.notes.insert(
          fmt::format("without {} executions that random contents lead outside of all buffers",
                      access.unknown));
    }
    if (access.outside > 0) {
      entry.notes.insert(fmt::format("{} lane accesses outside the buffers, the first at {:#x}",
                                     access.outside, access.first_outside));
    }
    if (exact.counted && !exact.is_as_predicted(newest_of(report_))) {
      entry.notes.insert(fmt::format("counted on a device: {} requests, {} {}: differs",
                                     exact.counted->executed, *exact.moved(),
                                     unit_of(access.space)));
    }
    if (!exact.not_counted.empty()) entry.notes.insert("not counted: " + exact.not_counted);
    if (options_.shows_proof && !exact.not_covered.empty()) {
      entry.notes.insert("the proof does not cover this launch: " + exact.not_covered);
    }
  }

  void print_entries(const std::vector<Entry>& entries, bool are_proofs) {
    print_columns({"line", "access", "lane", are_proofs ? "verdict" : "requests", "moved", "needed",
                   "÷", "wasted"});
    const std::size_t shown =
        options_.shows_all ? entries.size() : std::min(entries.size(), most_rows);
    for (std::size_t i = 0; i < shown; ++i)
      print_entry(entries[i], are_proofs);
    std::uint64_t rest = 0;
    for (std::size_t i = shown; i < entries.size(); ++i)
      rest += entries[i].wasted();
    if (shown < entries.size()) {
      out_ += fmt::format("… and {} more, which waste {}; --all shows them\n",
                          entries.size() - shown, bytes_text(static_cast<double>(rest)));
    }
  }

  static constexpr std::array<std::size_t, 8> widths{26, 20, 5, 12, 10, 10, 7, 8};

  void print_columns(const std::array<std::string, 8>& cells) {
    std::string line = padded(cells[0], widths[0]) + ' ' + padded(cells[1], widths[1] - 1);
    for (std::size_t c = 2; c < cells.size(); ++c)
      line += ' ' + padded(cells[c], widths[c] - 1, true);
    line.erase(line.find_last_not_of(' ') + 1);
    out_ += line + '\n';
  }

  void print_entry(const Entry& entry, bool is_proof) {
    const Row& row = entry.row->row;
    const std::string times = entry.copies > 1 ? fmt::format(" ×{}", entry.copies) : "";
    std::array<std::string, 8> cells{source_text(row, widths[0]),
                                     cut(row.opcode, widths[1] - 1 - width_of(times)) + times,
                                     row.proof.width == 0 ? "" : std::to_string(row.proof.width)};
    cells[3] =
        is_proof ? std::string{access::name_of(row.proof.verdict)} : number_text(entry.requests);
    if (entry.has_numbers) {
      cells[4] = span_text(entry.moved);
      cells[5] = number_text(entry.ideal);
      if (entry.ideal > 0) {
        cells[6] = fmt::format(
            "{:.2f}", static_cast<double>(entry.moved.least) / static_cast<double>(entry.ideal));
      }
      cells[7] = bytes_text(static_cast<double>(entry.wasted()));
    }
    print_columns(cells);
    if (!row.places.empty()) {
      // Of code inlined from another file, such as a header of CUDA, the user's line.
      const bool is_own = row.places.front().file == row.places.back().file;
      const Place& shown = is_own ? row.places.front() : row.places.back();
      const auto text = sources_.line(shown, input_);
      if (!text.empty()) out_ += "    " + cut(text, page - 4) + '\n';
    }
    for (const auto& note : entry.notes)
      out_ += wrapped(one_line(note), 4);
    if (options_.shows_proof) print_proof(row.proof);
  }

  void print_proof(const AccessProof& proof) {
    std::string text = fmt::format("for any launch: {}", access::name_of(proof.verdict));
    if (proof.parts)
      text +=
          fmt::format(", {} of {} {}", span_text(*proof.parts), proof.ideal, unit_of(proof.space));
    if (!proof.reason.empty()) text += fmt::format("; {}", proof.reason);
    if (proof.verdict != Verdict::unmodelled && !proof.steps.empty())
      text += "; a step adds " + steps_text(proof);
    if (!proof.depends_on.empty()) text += "; depends on " + joined(proof.depends_on);
    out_ += wrapped(one_line(text), 4);
  }

  /// The premises of a kernel's proofs, each once.
  void print_premises(const KernelReport& kernel) {
    std::vector<std::string> assumed;
    std::vector<std::string> conditions;
    const auto add = [](std::vector<std::string>& to, const std::vector<std::string>& from) {
      for (const auto& one : from) {
        if (std::ranges::count(to, one) == 0) to.push_back(one);
      }
    };
    for (const auto& one : kernel.rows) {
      if (!one.row.proof.parts) continue;
      add(assumed, one.row.proof.assumptions);
      add(conditions, one.row.proof.conditions);
    }
    if (!assumed.empty())
      out_ += wrapped(fmt::format("Proofs assume: {}", fmt::join(assumed, "; ")), 0);
    if (!conditions.empty())
      out_ += wrapped(fmt::format("They hold while: {}", fmt::join(conditions, "; ")), 0);
  }

  const Report& report_;
  const TableOptions& options_;
  std::string input_;  ///< of the kernel that is printed
  Sources sources_;
  std::string out_;
};

}  // namespace

std::string table_of(const Report& report, const TableOptions& options) {
  return Table{report, options}.print();
}

}  // namespace strata::access
