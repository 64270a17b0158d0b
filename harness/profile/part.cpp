#include "harness/profile/part.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <stdexcept>

namespace strata::profile {
namespace {

constexpr std::string_view header = "strata-profile 1";

/// Words of a line, each after a tab; the last one may be any text without control characters.
class Line {
 public:
  explicit Line(std::string_view kind) : text_{kind} {}
  Line& word(std::string_view text) {
    text_ += '\t';
    for (const char c : text)
      text_ += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    return *this;
  }
  Line& number(std::uint64_t value) { return word(std::to_string(value)); }
  Line& shape(const KernelShape& shape) {
    for (const auto& sizes : {shape.grid, shape.block}) {
      for (const unsigned size : sizes)
        number(size);
    }
    return *this;
  }
  Line& numbers(const std::vector<std::uint64_t>& values) {
    std::string list;
    for (const std::uint64_t value : values)
      list += (list.empty() ? "" : ",") + std::to_string(value);
    return word(list);
  }
  Line& durations(const Durations& times) {
    number(times.count()).number(times.total()).number(times.least()).number(times.most());
    std::vector<std::uint64_t> durations;
    std::vector<std::uint64_t> ordinals;
    for (const auto& [duration, ordinal] : times.samples()) {
      durations.push_back(duration);
      ordinals.push_back(ordinal);
    }
    return numbers(durations).numbers(ordinals);
  }
  [[nodiscard]] std::string end() const { return text_ + '\n'; }

 private:
  std::string text_;
};

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

struct Malformed {};

/// Reads the words of a line in their order.
class Words {
 public:
  explicit Words(std::string_view line) : words_{parts_of(line, '\t')} {}
  [[nodiscard]] std::string_view kind() const { return words_.front(); }
  std::string word() {
    if (next_ >= words_.size()) throw Malformed{};
    return std::string{words_[next_++]};
  }
  template <class Number = std::uint64_t>
  Number number() {
    return number_in<Number>(word());
  }
  template <class Number = std::uint64_t>
  std::vector<Number> numbers() {
    std::vector<Number> values;
    const std::string list = word();
    for (const auto one : parts_of(list, ','))
      if (!list.empty()) values.push_back(number_in<Number>(one));
    return values;
  }
  KernelShape shape() {
    KernelShape made;
    for (auto* sizes : {&made.grid, &made.block}) {
      for (unsigned& size : *sizes)
        size = number<unsigned>();
    }
    return made;
  }

 private:
  template <class Number>
  static Number number_in(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) throw Malformed{};
    return value;
  }

  std::vector<std::string_view> words_;
  std::size_t next_ = 1;
};

std::string exact(double value) {
  constexpr std::size_t enough = 32;
  std::array<char, enough> text{};
  (void)std::snprintf(text.data(), text.size(), "%.17g", value);  // NOLINT: fmt is not linked here
  return text.data();
}

/// Calls `read` with each complete line; one that it cannot read is left out.
template <class Read>
void each_line(std::string_view text, Read read) {
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;
       text.remove_prefix(end + 1)) {
    Words words{text.substr(0, end)};
    try {
      read(words);
    } catch (const Malformed&) {
      continue;
    }
  }
}

}  // namespace

void Durations::add(std::uint64_t duration, std::uint64_t ordinal) {
  least_ = count_ == 0 ? duration : std::min(least_, duration);
  most_ = std::max(most_, duration);
  total_ += duration;
  ++count_;
  if (samples_.size() < most_samples) return samples_.push_back({duration, ordinal});
  // Vitter's algorithm R: each launch is as likely to remain as any other.
  const auto place = std::uniform_int_distribution<std::uint64_t>{0, count_ - 1}(random_);
  if (place < samples_.size()) samples_[place] = {duration, ordinal};
}

void BusyTime::add(std::uint64_t begin, std::uint64_t end) {
  // Records of several streams arrive out of order by less than this.
  constexpr std::size_t held_back = 1U << 15U;
  pending_.emplace_back(begin, end);
  if (pending_.size() >= 2 * held_back) merge(held_back);
}

void BusyTime::merge(std::size_t kept) {
  std::ranges::sort(pending_);
  const std::size_t done = pending_.size() - std::min(kept, pending_.size());
  for (std::size_t i = 0; i < done; ++i) {
    const auto [begin, end] = pending_[i];
    if (first_ == 0) first_ = until_ = begin;
    if (begin > until_) {
      ++gaps_;
      longest_gap_ = std::max(longest_gap_, begin - until_);
    }
    busy_ += end - std::min(end, std::max(begin, until_));
    until_ = std::max(until_, end);
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(done));
}

void Part::add_kernel(unsigned device, const KernelShape& shape, std::uint64_t begin,
                      std::uint64_t end, bool in_graph, const Launches& facts) {
  busy[device].add(begin, end);
  auto& of_device = kernels[device];
  auto found = of_device.find(shape);
  if (found == of_device.end()) {
    if (of_device.size() >= most_shapes) return others[device].add(end - begin);
    found = of_device.emplace(shape, facts).first;
  }
  Launches& all = found->second;
  all.in_graphs += in_graph ? 1 : 0;
  all.times.add(end - begin, in_graph ? 0 : all.times.count() + 1 - all.in_graphs);
}

void Part::add_copy(unsigned device, const std::string& kind, std::uint64_t begin,
                    std::uint64_t end, std::uint64_t bytes) {
  busy[device].add(begin, end);
  Copies& all = copies[device][kind];
  all.times.add(end - begin);
  all.bytes += bytes;
}

void Part::note(const std::string& line) {
  if (std::ranges::find(notes, line) == notes.end()) notes.push_back(line);
}

std::string part_text(Part& part) {
  std::string text{header};
  text += '\n';
  const auto add = [&](const Line& line) { text += line.end(); };
  add(Line{"process"}
          .number(static_cast<std::uint64_t>(part.process))
          .number(part.begun)
          .word(part.program));
  for (const auto& [device, facts] : part.devices)
    add(Line{"device"}.number(device).word(facts.uuid).word(facts.capability).word(facts.name));
  for (const auto& [device, shapes] : part.kernels) {
    for (const auto& [shape, launches] : shapes) {
      add(Line{"kernel"}
              .number(device)
              .shape(shape)
              .number(launches.in_graphs)
              .number(launches.registers)
              .number(launches.static_shared)
              .number(launches.dynamic_shared)
              .durations(launches.times)
              .word(shape.kernel));
    }
  }
  for (const auto& [device, times] : part.others)
    add(Line{"others"}.number(device).durations(times));
  for (const auto& [device, kinds] : part.copies) {
    for (const auto& [kind, all] : kinds)
      add(Line{"copies"}.number(device).word(kind).number(all.bytes).durations(all.times));
  }
  for (auto& [device, times] : part.busy) {
    times.settle();
    add(Line{"busy"}
            .number(device)
            .number(times.first())
            .number(times.last())
            .number(times.busy())
            .number(times.gaps())
            .number(times.longest_gap()));
  }
  for (const auto& metric : part.metrics)
    add(Line{"metric"}.word(metric));
  for (const auto& one : part.counted) {
    std::string values;
    for (const double value : one.values)
      values += (values.empty() ? "" : ",") + exact(value);
    add(Line{"counted"}
            .number(one.device)
            .shape(one.shape)
            .number(one.ordinal)
            .word(values)
            .word(one.shape.kernel));
  }
  for (const auto& note : part.notes)
    add(Line{"note"}.word(note));
  if (part.refusal != 0) {
    add(Line{"refused"}.number(static_cast<std::uint64_t>(part.refusal)).word(part.refused_call));
  }
  if (part.is_whole) text += "end\n";
  return text;
}

/// Fills what has no other writer.
struct PartReader {
  static Durations durations(Words& words) {
    Durations times;
    times.count_ = words.number();
    times.total_ = words.number();
    times.least_ = words.number();
    times.most_ = words.number();
    const auto durations = words.numbers();
    const auto ordinals = words.numbers();
    if (times.count_ == 0 || durations.empty() || ordinals.size() != durations.size()) {
      throw Malformed{};
    }
    for (std::size_t i = 0; i < durations.size(); ++i)
      times.samples_.push_back({durations[i], ordinals[i]});
    return times;
  }
  static BusyTime busy(Words& words) {
    BusyTime times;
    times.first_ = words.number();
    times.until_ = words.number();
    times.busy_ = words.number();
    times.gaps_ = words.number();
    times.longest_gap_ = words.number();
    return times;
  }
};

Part read_part(std::string_view text) {
  if (!text.starts_with(header)) throw std::runtime_error{"no part of a profile"};
  Part part;
  each_line(text, [&](Words& words) {
    const auto kind = words.kind();
    if (kind == "process") {
      part.process = words.number<long>();
      part.begun = words.number();
      part.program = words.word();
    } else if (kind == "device") {
      const auto device = words.number<unsigned>();
      DeviceFacts facts;
      facts.uuid = words.word();
      facts.capability = words.word();
      facts.name = words.word();
      part.devices[device] = std::move(facts);
    } else if (kind == "kernel") {
      const auto device = words.number<unsigned>();
      KernelShape shape = words.shape();
      Launches launches;
      launches.in_graphs = words.number();
      launches.registers = words.number<unsigned>();
      launches.static_shared = words.number();
      launches.dynamic_shared = words.number();
      launches.times = PartReader::durations(words);
      shape.kernel = words.word();
      part.kernels[device][std::move(shape)] = std::move(launches);
    } else if (kind == "others") {
      const auto device = words.number<unsigned>();
      part.others[device] = PartReader::durations(words);
    } else if (kind == "copies") {
      const auto device = words.number<unsigned>();
      const std::string of = words.word();
      Copies all;
      all.bytes = words.number();
      all.times = PartReader::durations(words);
      part.copies[device][of] = std::move(all);
    } else if (kind == "busy") {
      const auto device = words.number<unsigned>();
      part.busy[device] = PartReader::busy(words);
    } else if (kind == "metric") {
      part.metrics.push_back(words.word());
    } else if (kind == "counted") {
      CountedLaunch one;
      one.device = words.number<unsigned>();
      one.shape = words.shape();
      one.ordinal = words.number();
      one.values = words.numbers<double>();
      one.shape.kernel = words.word();
      if (one.values.size() == part.metrics.size()) part.counted.push_back(std::move(one));
    } else if (kind == "note") {
      part.notes.push_back(words.word());
    } else if (kind == "refused") {
      part.refusal = words.number<int>();
      part.refused_call = words.word();
    } else if (kind == "end") {
      part.is_whole = true;
    }
  });
  return part;
}

std::string selection_text(const Selection& selection) {
  std::string text;
  for (const auto& metric : selection.metrics)
    text += Line{"metric"}.word(metric).end();
  for (const auto& [shape, ordinals] : selection.launches)
    text += Line{"kernel"}.shape(shape).numbers(ordinals).word(shape.kernel).end();
  return text;
}

Selection read_selection(std::string_view text) {
  Selection selection;
  each_line(text, [&](Words& words) {
    if (words.kind() == "metric") selection.metrics.push_back(words.word());
    if (words.kind() != "kernel") return;
    KernelShape shape = words.shape();
    auto ordinals = words.numbers();
    shape.kernel = words.word();
    selection.launches[std::move(shape)] = std::move(ordinals);
  });
  return selection;
}

}  // namespace strata::profile
