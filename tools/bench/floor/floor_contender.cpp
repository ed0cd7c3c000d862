#include "bench/floor/floor_contender.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <initializer_list>
#include <random>
#include <stdexcept>
#include <utility>
#include <variant>

#include "common/system/platform.hpp"

namespace redlock::bench {
namespace {

constexpr std::uint64_t no_step = 0;

std::string encode(std::initializer_list<std::string_view> words) {
  std::string command = fmt::format("*{}\r\n", words.size());
  for (const std::string_view word : words) {
    command += fmt::format("${}\r\n{}\r\n", word.size(), word);
  }
  return command;
}

FloorLinks links_to(const CycleSettings& settings) {
  auto opened = open_floor_links(settings);
  if (auto* problem = std::get_if<std::string>(&opened)) throw std::runtime_error(*problem);
  return std::get<FloorLinks>(std::move(opened));
}

std::string random_token() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device(),
                     device());
}

void send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = cli::platform::send_quietly(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw std::runtime_error("the floor lost a node");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string_view receive(int fd, std::array<char, 4096>& buffer) {
  const ssize_t count = ::recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return {};
  if (count <= 0) throw std::runtime_error("the floor lost a node");
  return {buffer.data(), static_cast<std::size_t>(count)};
}

}  // namespace

FloorContender::FloorContender(const std::vector<Endpoint>& nodes, const Place& place) {
  CycleSettings settings;
  settings.nodes = nodes;
  settings.max_cycles = 1;
  quorum_ = settings.quorum();
  FloorLinks commands = links_to(settings);
  FloorLinks channels = links_to(settings);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    // A floor that lacks a node cannot be compared with a client that has all nodes.
    if (!commands.sockets[i].valid() || !channels.sockets[i].valid()) {
      throw std::runtime_error("the floor cannot reach all nodes");
    }
    nodes_.push_back({std::move(commands.sockets[i]), std::move(channels.sockets[i])});
  }
  const std::string token = random_token();
  set_ = encode({"SET", place.resource, token, "NX", "PX", std::to_string(settings.ttl.count())});
  release_ = encode({"EVALSHA", commands.script_sha, "1", place.resource, token});
  release_and_publish_ = release_ + encode({"PUBLISH", place.next_channel, "1"});
  if (!place.channel.empty()) subscribe(place.channel);
}

void FloorContender::subscribe(const std::string& channel) {
  const std::string command = encode({"SUBSCRIBE", channel});
  std::string answer =
      fmt::format("*3\r\n$9\r\nsubscribe\r\n${}\r\n{}\r\n:1\r\n", channel.size(), channel);
  for (const Node& node : nodes_) send_all(node.channel.get(), command);
  for (const Node& node : nodes_) {
    if (::recv(node.channel.get(), answer.data(), answer.size(), MSG_WAITALL) !=
        static_cast<ssize_t>(answer.size())) {
      throw std::runtime_error("the floor cannot subscribe");
    }
  }
  message_size_ = encode({"message", channel, "1"}).size();
}

std::size_t FloorContender::nodes_that_woke() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(nodes_.begin(), nodes_.end(), [this](const Node& node) {
        return message_size_ != 0 && node.heard >= turn_ * message_size_;
      }));
}

void FloorContender::acquire(Entry entry) {
  if (entry == Entry::waiting) ++turn_;
  std::size_t woken = 0;
  for (;;) {
    while (entry == Entry::waiting && nodes_that_woke() <= woken) take_part();
    // If it was woken again during the attempt, it tries again: the last node's message comes after
    // all deletions.
    woken = nodes_that_woke();
    if (attempt()) return;
    begin_step(release_, 0);
  }
}

bool FloorContender::release(Next next) {
  const bool hands_over = next == Next::waits;
  begin_step(hands_over ? release_and_publish_ : release_, hands_over ? 1 : 0);
  return end_step();
}

bool FloorContender::attempt() {
  begin_step(set_, 0);
  return end_step();
}

void FloorContender::begin_step(const std::string& bytes, std::size_t unimportant) {
  ++step_;
  good_ = bad_ = 0;
  for (Node& node : nodes_) {
    send_all(node.commands.get(), bytes);
    node.sent.push_back(step_);
    node.sent.insert(node.sent.end(), unimportant, no_step);
  }
}

bool FloorContender::end_step() {
  while (good_ < quorum_ && bad_ <= nodes_.size() - quorum_) take_part();
  return good_ >= quorum_;
}

void FloorContender::take_part() {
  std::array<pollfd, 2 * 64> watched{};  // as many nodes as open_floor_links allows
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    watched[2 * i] = {nodes_[i].commands.get(), POLLIN, 0};
    watched[2 * i + 1] = {nodes_[i].channel.get(), POLLIN, 0};
  }
  const int ready = ::poll(watched.data(), static_cast<nfds_t>(2 * nodes_.size()), -1);
  if (ready < 0 && errno != EINTR) throw std::runtime_error("the floor cannot wait");
  std::array<char, 4096> buffer;
  for (std::size_t i = 0; ready > 0 && i < nodes_.size(); ++i) {
    if (watched[2 * i].revents != 0) read_answers(nodes_[i]);
    if (watched[2 * i + 1].revents != 0) {
      nodes_[i].heard += receive(nodes_[i].channel.get(), buffer).size();
    }
  }
}

void FloorContender::read_answers(Node& node) {
  std::array<char, 4096> buffer;
  node.input += receive(node.commands.get(), buffer);
  std::size_t begin = 0;
  // Every answer to these commands is one line.
  for (std::size_t end = 0; (end = node.input.find("\r\n", begin)) != std::string::npos;) {
    const std::string_view line = std::string_view(node.input).substr(begin, end - begin);
    begin = end + 2;
    if (node.sent.empty()) throw std::runtime_error("the floor was sent what it did not ask for");
    const std::uint64_t step = node.sent.front();
    node.sent.pop_front();
    if (step != step_) continue;
    if (line == "+OK" || line == ":1") {
      ++good_;
    } else {
      ++bad_;
    }
  }
  node.input.erase(0, begin);
}

}  // namespace redlock::bench
