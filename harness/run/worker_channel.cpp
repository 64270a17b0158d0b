#include "harness/run/worker_channel.hpp"

#include "harness/record/record_json.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <iostream>
#include <iterator>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace strata {

// Not in a namespace of their own: JsonFields finds them by their argument.

static void fields(JsonFields& json, DeviceMessage& message) {
  json.field("backend", message.backend);
  json.field("identity", message.identity);
  json.optional("conditions", message.conditions);
  json.optional("timer", message.timer);
  json.field("host", message.host);
  json.field("counters", message.counters);
}

static void fields(JsonFields& json, RefusedMessage& message) {
  json.field("reason", message.reason);
  json.field("mend", message.mend);
  json.field("bad_selection", message.bad_selection);
}

static void fields(JsonFields& json, BeginMessage& message) {
  json.field("case", message.id);
}

static void fields(JsonFields& json, CaseMessage& message) {
  json.field("fatal", message.fatal);
  try {
    json.field("record", message.record);
  } catch (const FormatError& error) {
    if (json.reading()) throw;
    // The case must not be lost because one of its numbers is invalid.
    const CaseRecord& record = message.record;
    CaseRecord failed{.which = record.which,
                      .phase = record.phase,
                      .reason = fmt::format("cannot be recorded: {}", error.what()),
                      .started = record.started,
                      .seconds = std::isfinite(record.seconds) ? record.seconds : 0};
    json.field("record", failed);
  }
}

static void fields(JsonFields& json, EndMessage& message) {
  json.optional("conditions", message.conditions);
}

/// Resets it to an empty message of this kind. False if there is no such kind.
template <class... Message>
static bool become(std::variant<Message...>& message, std::string_view kind) {
  return ((kind == Message::kind && (message = Message{}, true)) || ...);
}

void fields(JsonFields& json, WorkerJob& job) {
  json.field("plan", job.plan);
  json.field("note", job.note);
  json.field("cases", job.cases);
  if (json.reading() && !json.has("steps")) return;
  JsonFields steps = json.object("steps");
  for (const std::string& id : steps.keys())  // none when writing
    job.steps[id];
  for (auto& [id, seconds] : job.steps)
    steps.field(id, seconds);
}

void fields(JsonFields& json, WorkerMessage& message) {
  std::string kind =
      std::visit([](const auto& content) { return std::string{content.kind}; }, message);
  json.field("kind", kind);
  if (json.reading() && !become(message, kind)) json.refuse("kind", "that of a worker's message");
  std::visit([&](auto& content) { fields(json, content); }, message);
}

WorkerJob read_job() {
  return from_json<WorkerJob>(std::string{std::istreambuf_iterator<char>{std::cin}, {}});
}

void send(const WorkerMessage& message) {
  const std::string line = to_json(message) + "\n";
  if (write_some(worker_channel_fd, line) == line.size()) return;
  throw std::system_error{errno, std::generic_category(), "answering the parent"};
}

Available read_available(int fd) {
  constexpr std::size_t most = std::size_t{4} << 20;
  constexpr std::size_t step = 65536;
  Available result;
  while (result.text.size() < most) {
    const std::size_t before = result.text.size();
    result.text.resize(before + step);
    const auto count = ::read(fd, result.text.data() + before, step);
    result.text.resize(before + (count > 0 ? static_cast<std::size_t>(count) : 0));
    if (count < 0 && errno == EINTR) continue;
    result.closed = count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
    if (count <= 0) break;
  }
  return result;
}

LineReader::Batch LineReader::read(int fd) {
  const Available available = read_available(fd);
  Batch batch{.lines = {}, .bytes = available.text.size(), .closed = available.closed};
  std::string_view text{available.text};
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::string_view piece = text.substr(0, newline);
    if (!overflowed_ && pending_.size() + piece.size() > limit_) {
      // Reported at once: the line may never end.
      pending_ += piece.substr(0, limit_ - pending_.size());
      batch.lines.push_back({.text = std::exchange(pending_, {}), .too_long = true});
      overflowed_ = true;
    }
    if (!overflowed_) pending_ += piece;
    if (newline == std::string_view::npos) break;
    if (!overflowed_) batch.lines.push_back({.text = std::exchange(pending_, {})});
    overflowed_ = false;  // the rest of the long line was dropped
    text.remove_prefix(newline + 1);
  }
  return batch;
}

}  // namespace strata
