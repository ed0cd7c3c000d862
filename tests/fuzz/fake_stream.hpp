#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "uv/stream.hpp"

namespace redlock::fuzz {

/// The server's end of a uv::Stream. Targets that are linked with fake_stream.cpp have streams
/// without sockets: its owner is the library's own code, unchanged.
struct Peer {
  uv_loop_t* loop = nullptr;
  uv::StreamListener* listener = nullptr;  ///< null once the stream was closed
  std::string outbox{};
  std::string received{};  ///< what was flushed
  bool opened = false;
  bool connected = false;

  [[nodiscard]] bool closed() const noexcept { return listener == nullptr; }
};

/// Of the stream that was made last.
[[nodiscard]] std::shared_ptr<Peer> newest_peer();

/// The actions of the server. They have no effect on a closed stream.
void accept(const std::shared_ptr<Peer>& peer);
void send(const std::shared_ptr<Peer>& peer, std::string_view bytes);
void hang_up(const std::shared_ptr<Peer>& peer);

}  // namespace redlock::fuzz
