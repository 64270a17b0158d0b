#include "harness/run/worker_channel.hpp"

#include "harness/record/record_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace strata {

// Not in a namespace of their own: JsonFields finds them by their argument.

static void fields(JsonFields& json, CountersAnswer& answer) {
  if (json.reading() ? json.has("plan") : answer.plan.has_value()) {
    if (!answer.plan) answer.plan.emplace();
    return json.field("plan", *answer.plan);
  }
  json.field("reason", answer.reason);
  json.field("mend", answer.mend);
  json.field("bad_selection", answer.bad_selection);
}

static void fields(JsonFields& json, DeviceMessage& message) {
  json.field("backend", message.backend);
  json.field("identity", message.identity);
  json.optional("conditions", message.conditions);
  json.optional("timer", message.timer);
  json.field("host", message.host);
  json.optional("libraries", message.libraries);
  if (json.reading() && json.has("counters")) message.counters.emplace();
  if (message.counters) json.field("counters", *message.counters);
}

static void fields(JsonFields& json, RefusedMessage& message) {
  json.field("reason", message.reason);
}

static void fields(JsonFields& json, CountersRefusedMessage& message) {
  json.field("reason", message.reason);
  json.field("mend", message.mend);
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
    // The case must not be lost with the number that it cannot have.
    const CaseRecord& told = message.record;
    CaseRecord failed{.which = told.which,
                      .phase = told.phase,
                      .reason = fmt::format("cannot be recorded: {}", error.what()),
                      .started = told.started,
                      .seconds = std::isfinite(told.seconds) ? told.seconds : 0};
    json.field("record", failed);
  }
}

static void fields(JsonFields& json, EndMessage& message) {
  json.optional("conditions", message.conditions);
}

namespace {

/// The `kind` of each message, in the order of WorkerMessage.
constexpr auto message_kinds = std::to_array<std::string_view>(
    {"device", "refused", "counters_refused", "begin", "case", "end"});
static_assert(message_kinds.size() == std::variant_size_v<WorkerMessage>);

template <std::size_t... I>
WorkerMessage message_of_kind(std::size_t kind, std::index_sequence<I...> /*all*/) {
  WorkerMessage message;
  ((kind == I ? static_cast<void>(message.emplace<I>()) : void()), ...);
  return message;
}

}  // namespace

void fields(JsonFields& json, WorkerJob& job) {
  json.field("plan", job.plan);
  json.field("note", job.note);
  json.field("cases", job.cases);
}

void fields(JsonFields& json, WorkerMessage& message) {
  std::string kind{message_kinds.at(message.index())};
  json.field("kind", kind);
  if (json.reading()) {
    const auto found = std::ranges::find(message_kinds, kind);
    if (found == message_kinds.end()) json.refuse("kind", "that of a worker's message");
    message = message_of_kind(static_cast<std::size_t>(found - message_kinds.begin()),
                              std::make_index_sequence<message_kinds.size()>{});
  }
  std::visit([&](auto& told) { fields(json, told); }, message);
}

WorkerJob read_job(int fd) {
  constexpr std::size_t step = 65536;
  std::string text;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + step);
    const auto count = ::read(fd, text.data() + before, step);
    text.resize(before + (count > 0 ? static_cast<std::size_t>(count) : 0));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::system_error{errno, std::generic_category(), "reading the job"};
    if (count == 0) return from_json<WorkerJob>(text);
  }
}

void send(const WorkerMessage& message, int fd) {
  const std::string line = to_json(message) + "\n";
  std::string_view rest{line};
  while (!rest.empty()) {
    const auto count = ::write(fd, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw std::system_error{errno, std::generic_category(), "answering the parent"};
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

LineReader::Batch LineReader::read(int fd) {
  constexpr std::size_t turn = std::size_t{4} << 20;
  constexpr std::size_t step = 65536;
  Batch batch;
  std::array<char, step> buffer{};
  while (batch.bytes < turn) {
    const auto count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (count <= 0) {
      batch.closed = true;
      break;
    }
    batch.bytes += static_cast<std::size_t>(count);
    std::string_view text{buffer.data(), static_cast<std::size_t>(count)};
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
  }
  return batch;
}

}  // namespace strata
