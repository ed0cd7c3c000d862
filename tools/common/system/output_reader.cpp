#include "common/system/output_reader.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace redlock::cli {

OutputReader::OutputReader(std::function<void()> on_gone)
    : on_gone_(std::move(on_gone)), thread_([this] { wait(); }) {}

OutputReader::~OutputReader() {
  end_.notify();
  thread_.join();
}

void OutputReader::wait() const {
  // poll() reports the error of a pipe without a reader although no event is requested.
  std::array<pollfd, 2> both{{{STDOUT_FILENO, 0, 0}, {end_.fd(), POLLIN, 0}}};
  while (::poll(both.data(), both.size(), -1) < 0) {
    if (errno != EINTR) return;
  }
  if ((both[1].revents & POLLIN) == 0) on_gone_();
}

}  // namespace redlock::cli
