#include "harness/run/worker_channel.hpp"

#include <array>
#include <cerrno>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace strata {

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
    if (count == 0) return job_from_json(text);
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
        // Said at once: a line that never ends must not be waited for.
        pending_ += piece.substr(0, limit_ - pending_.size());
        batch.lines.push_back({.text = std::exchange(pending_, {}), .too_long = true});
        overflowed_ = true;
      }
      if (!overflowed_) pending_ += piece;
      if (newline == std::string_view::npos) break;
      if (!overflowed_) batch.lines.push_back({.text = std::exchange(pending_, {})});
      overflowed_ = false;  // what was left of the long line is dropped
      text.remove_prefix(newline + 1);
    }
  }
  return batch;
}

}  // namespace strata
