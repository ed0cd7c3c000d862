// Arbitrary bytes from a server at every state of a connection: the library's own connection, on a
// stream without a socket.
//
// First line: the kind of client, in letters.
//   U P D G T   a user, a password, a database, the restart guard, which trusts durable nodes
//   H O         the handshake is answered well before the bytes come; by a server of an older
//   version
//   + - ~       the owner closes in the first answer; destroys the connection there; when it is
//   ready 0 … 9       how the bytes are cut into pieces s t n …     what is asked as soon as the
//   connection is ready: see letter_of() ;           what follows is asked when everything before
//   is answered
// Then the bytes that the server sends. At their end it hangs up.

#include "redis/connection/connection.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "fuzz/answering.hpp"
#include "fuzz/fake_stream.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/handshake.hpp"
#include "redis/batches/encoder.hpp"
#include "redis/values/visible.hpp"
#include "support/encoding.hpp"

namespace redlock::fuzz {
namespace {

constexpr std::string_view password = "Pa55w0rd";
constexpr std::size_t longest_message = 2 * redis::message_bytes;

redis::ConnectionTarget target_of(std::string_view letters) {
  const auto has = [letters](char c) { return letters.find(c) != std::string_view::npos; };
  redis::ConnectionTarget target;
  if (has('U')) target.user = "user";
  if (has('P')) target.password = password;
  if (has('D')) target.db = 3;
  if (has('G')) {
    target.guard =
        redis::RestartGuard{std::chrono::seconds(30), std::chrono::seconds(31), has('T'), "a", "i"};
  }
  return target;
}

class Client final : private redis::ConnectionOwner {
 public:
  explicit Client(std::string_view letters) : letters_(letters), to_ask_(letters) {
    redis::ConnectionOwner& owner = *this;
    connection_ = std::make_unique<redis::Connection>(nullptr, target_of(letters), owner);
    connection_->open();
  }

  [[nodiscard]] bool ready() const { return connection_ && connection_->ready(); }
  [[nodiscard]] bool was_told_the_end() const { return down_; }
  [[nodiscard]] bool left() const { return left_; }

  void check() const {
    if (!connection_ || connection_->state() == redis::Connection::State::closed) return;
    REDLOCK_ASSERT(!down_ && !left_);
    REDLOCK_ASSERT(connection_->unanswered() == asked_.size());
    REDLOCK_ASSERT(connection_->unsent() == 0);
  }

 private:
  [[nodiscard]] bool has(char c) const { return letters_.find(c) != std::string_view::npos; }

  void ask() {
    while (!to_ask_.empty()) {
      const char letter = to_ask_.front();
      to_ask_.remove_prefix(1);
      if (letter == ';') break;
      if (const auto verb = verb_of(letter)) ask(*verb);
    }
    connection_->flush();
  }

  void ask(core::Verb verb) {
    const core::Stamp stamp(verb, {}, ++round_);
    connection_->send(
        test::encode(encoder_, verb, core::ScriptForm::digest, connection_->dialect(), "resource",
                     Token::parse("me").value(), std::chrono::seconds(1), 5),
        stamp);
    asked_.push_back(stamp);
  }

  void on_ready(const redis::ServerIdentity& identity) noexcept override {
    REDLOCK_ASSERT(!ready_ && !down_ && !left_);
    ready_ = true;
    REDLOCK_ASSERT(!identity.run_id.empty() && !identity.version.empty());
    REDLOCK_ASSERT(identity.connection_id > 0);
    REDLOCK_ASSERT(identity.quarantine >= core::Duration::zero());
    REDLOCK_ASSERT(identity.quarantine <= 2 * core::Duration(limits::longest_max_ttl));
    for (const std::string* text :
         {&identity.run_id, &identity.version, &identity.ineligible, &identity.quarantine_why}) {
      REDLOCK_ASSERT(harmless(*text) && text->size() < longest_message);
    }
    if (has('~')) return leave();
    ask();
  }

  void on_changed(core::Tracked /*kind*/, std::string_view /*key*/) noexcept override {}
  void on_answer(const core::Stamp& stamp, const core::Answer& answer) noexcept override {
    REDLOCK_ASSERT(ready_ && !down_ && !left_);
    REDLOCK_ASSERT(!asked_.empty() && asked_.front() == stamp);
    asked_.pop_front();
    check_meaning(stamp.verb, answer);
    go_on();
  }

  void on_plain_yeses(std::span<const core::PlainYes> plain_yeses,
                      std::string_view /*marker*/) noexcept override {
    REDLOCK_ASSERT(ready_ && !down_ && !left_ && !plain_yeses.empty());
    for (const core::PlainYes& plain_yes : plain_yeses) {
      REDLOCK_ASSERT(!asked_.empty() && asked_.front() == plain_yes.stamp);
      asked_.pop_front();
    }
    go_on();
  }

  /// What it does with an answer may end the connection.
  void go_on() {
    if (has('-')) return leave();
    if (has('+')) {
      left_ = true;
      return connection_->close(uv::CloseMode::graceful);
    }
    if (asked_.empty()) ask();
  }

  void on_down(core::NodeDown::Cause /*cause*/, std::string_view why,
               redis::ProtocolError /*protocol_error*/) noexcept override {
    REDLOCK_ASSERT(!down_ && !left_);
    down_ = true;
    REDLOCK_ASSERT(!why.empty() && why.size() < longest_message && harmless(why));
    if (has('P')) REDLOCK_ASSERT(why.find(password) == std::string_view::npos);
    if (has('-')) connection_.reset();
  }

  void leave() {
    left_ = true;
    connection_.reset();
  }

  std::string_view letters_;
  std::string_view to_ask_;
  redis::Encoder encoder_;
  std::deque<core::Stamp> asked_;
  std::uint16_t round_ = 0;
  bool ready_ = false;
  bool down_ = false;
  bool left_ = false;
  std::unique_ptr<redis::Connection> connection_;
};

void shake_hands(const std::shared_ptr<Peer>& peer, const Client& client,
                 std::string_view version) {
  const std::string info = "redis_version:" + std::string(version) +
                           "\r\nrun_id:0123456789\r\nrole:master\r\naof_enabled:1\r\n";
  while (!client.ready() && !peer->closed() && !peer->received.empty()) {
    std::string answers;
    for (const test::Command& command : commands_in(std::exchange(peer->received, {}))) {
      answers += handshake_answer(command, info);
    }
    send(peer, answers);
  }
  REDLOCK_ASSERT(client.ready() || client.left());
}

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace redlock::fuzz;
  Input input(data, size);
  const std::string_view letters = input.line();
  const auto has = [letters](char c) { return letters.find(c) != std::string_view::npos; };
  Client client(letters);
  const std::shared_ptr<Peer> peer = newest_peer();
  accept(peer);
  if (has('H')) shake_hands(peer, client, has('O') ? "6.2.1" : "7.0.15");
  const std::size_t digit = letters.find_first_of("0123456789");
  Pieces pieces(input.rest(),
                digit == letters.npos ? 0 : static_cast<std::uint8_t>(letters[digit]));
  while (!pieces.empty() && !peer->closed()) {
    send(peer, pieces.next());
    client.check();
  }
  hang_up(peer);
  REDLOCK_ASSERT(client.was_told_the_end() || client.left());
  return 0;
}
