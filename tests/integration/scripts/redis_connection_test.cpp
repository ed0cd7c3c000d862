// One connection to a real server.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "redis/batches/encoder.hpp"
#include "redis/connection/connection.hpp"
#include "redis/scripts_embedded.hpp"
#include "support/encoding.hpp"
#include "support/redis_connection.hpp"
#include "support/redis_server.hpp"

namespace redlock::redis {
namespace {

using core::NodeDown;
using core::Reply;
using core::ScriptForm;
using core::Verb;

class RealConnection : public testing::Test {
 protected:
  static constexpr const char* password = "correct-horse";

  static void SetUpTestSuite() {
    test::RedisServerOptions options;
    options.password = password;
    server_ = std::make_unique<test::RedisServer>(std::move(options));
  }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override { server_->command({"FLUSHALL"}); }

  void connect(ConnectionTarget target) {
    connection_ = std::make_unique<Connection>(loop_.get(), target, owner_);
    connection_->open();
    ASSERT_TRUE(run_until(loop_, [&] { return owner_.ready || owner_.downs > 0; }));
  }
  static ConnectionTarget target() {
    ConnectionTarget target = tcp_target(server_->port());
    target.password = password;
    return target;
  }
  const Recorder::Answered& ask(Verb verb, const std::string& token,
                                ScriptForm form = ScriptForm::digest,
                                std::int64_t connection_id = 0) {
    Encoder encoder;
    connection_->send(
        test::encode(encoder, verb, form, connection_->dialect(), "r", Token::parse(token).value(),
                     std::chrono::seconds(60), connection_id),
        core::Stamp(verb));
    connection_->flush();
    const std::size_t count = owner_.answers.size() + 1;
    EXPECT_TRUE(
        run_until(loop_, [&] { return owner_.answers.size() == count || owner_.downs > 0; }));
    EXPECT_EQ(owner_.answers.size(), count) << owner_.why;
    if (owner_.answers.empty()) owner_.answers.emplace_back();
    return owner_.answers.back();
  }

  static std::unique_ptr<test::RedisServer> server_;
  uv::Loop loop_;
  Recorder owner_;
  std::unique_ptr<Connection> connection_;
};

std::unique_ptr<test::RedisServer> RealConnection::server_;

TEST_F(RealConnection, LearnsWhoItIsConnectedTo) {
  connect(target());
  ASSERT_TRUE(owner_.ready) << owner_.why;
  const std::string info = server_->command({"INFO", "server"}).string;
  EXPECT_NE(info.find("run_id:" + owner_.ready->run_id), std::string::npos);
  EXPECT_NE(info.find("redis_version:" + owner_.ready->version), std::string::npos);
  const std::string clients = server_->command({"CLIENT", "LIST"}).string;
  EXPECT_NE(clients.find("id=" + std::to_string(owner_.ready->connection_id) + " "),
            std::string::npos);
  EXPECT_NE(clients.find("name=redlock"), std::string::npos);
}

TEST_F(RealConnection, ALockLivesThroughAllItsVerbs) {
  connect(target());
  ASSERT_TRUE(owner_.ready) << owner_.why;
  EXPECT_EQ(ask(Verb::inspect, "me", ScriptForm::text).reply, Reply::gone);
  EXPECT_EQ(ask(Verb::set, "me").reply, Reply::granted);
  EXPECT_EQ(server_->get("r"), "me");
  EXPECT_EQ(ask(Verb::set, "other").reply, Reply::taken);
  const auto& refused = ask(Verb::set_and_ttl, "other");
  EXPECT_EQ(refused.reply, Reply::taken);
  EXPECT_EQ(refused.text, connection_->dialect() == Dialect::with_get ? "me" : "");
  ASSERT_TRUE(refused.remaining);
  EXPECT_GT(*refused.remaining, std::chrono::seconds(1));
  EXPECT_EQ(ask(Verb::extend, "me", ScriptForm::text).reply, Reply::extended);
  EXPECT_EQ(ask(Verb::extend, "other").reply, Reply::taken);
  const auto& found = ask(Verb::inspect, "other");
  EXPECT_EQ(found.reply, Reply::found);
  EXPECT_EQ(found.text, "me");
  EXPECT_EQ(ask(Verb::release, "other").reply, Reply::taken);
  EXPECT_EQ(ask(Verb::release, "me").reply, Reply::released);
  EXPECT_EQ(ask(Verb::release, "me").reply, Reply::gone);
  EXPECT_EQ(ask(Verb::extend, "me").reply, Reply::gone);
  EXPECT_EQ(ask(Verb::extend_or_set, "me").reply, Reply::repaired);
  EXPECT_EQ(server_->get("r"), "me");
}

TEST_F(RealConnection, AfterAScriptFlushTheTextIsAccepted) {
  connect(target());
  ASSERT_TRUE(owner_.ready) << owner_.why;
  server_->command({"SCRIPT", "FLUSH"});
  EXPECT_EQ(ask(Verb::release, "me").reply, Reply::script_missing);
  EXPECT_EQ(ask(Verb::release, "me", ScriptForm::text).reply, Reply::gone);
  EXPECT_EQ(ask(Verb::release, "me").reply, Reply::gone);
}

TEST_F(RealConnection, AKeyOfAnotherTypeIsTakenAndNoError) {
  connect(target());
  ASSERT_TRUE(owner_.ready) << owner_.why;
  server_->command({"LPUSH", "r", "x"});
  EXPECT_EQ(ask(Verb::set, "me").reply, Reply::taken);
  EXPECT_EQ(ask(Verb::set_and_ttl, "me").reply, Reply::taken);
  EXPECT_EQ(ask(Verb::inspect, "me", ScriptForm::text).reply, Reply::found);
  EXPECT_EQ(ask(Verb::release, "me").reply, Reply::taken);
}

TEST_F(RealConnection, AServerOutOfMemorySaysSoWordForWord) {
  connect(target());
  ASSERT_TRUE(owner_.ready) << owner_.why;
  server_->command({"CONFIG", "SET", "maxmemory", "1"});
  const auto set = ask(Verb::set, "me");
  const auto repair = ask(Verb::extend_or_set, "me", ScriptForm::text);
  server_->command({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(set.reply, Reply::error);
  EXPECT_TRUE(set.text.starts_with("OOM command not allowed")) << set.text;
  EXPECT_EQ(repair.reply, Reply::error);
  // Redis 6.0 puts the line of the script before the error.
  const bool bare = server_->is_since(7);
  EXPECT_TRUE(bare ? repair.text.starts_with("OOM ")
                   : repair.text.find("-OOM ") != std::string::npos)
      << repair.text;
  EXPECT_EQ(server_->get("r"), std::nullopt);
}

TEST_F(RealConnection, ANewConnectionKillsTheOldOne) {
  Recorder old_owner;
  Connection old(loop_.get(), target(), old_owner);
  old.open();
  ASSERT_TRUE(run_until(loop_, [&] { return old_owner.ready || old_owner.downs > 0; }));
  ASSERT_TRUE(old_owner.ready) << old_owner.why;
  const std::int64_t old_id = old_owner.ready->connection_id;
  connect(target());
  ASSERT_TRUE(owner_.ready) << owner_.why;
  EXPECT_EQ(ask(Verb::kill_old, "me", ScriptForm::digest, old_id).reply, Reply::done);
  ASSERT_TRUE(run_until(loop_, [&] { return old_owner.downs > 0; }));
  EXPECT_EQ(old.state(), Connection::State::closed);
  EXPECT_EQ(ask(Verb::kill_old, "me", ScriptForm::digest, old_id).reply, Reply::done);
}

TEST_F(RealConnection, AWrongPasswordIsAnErrorThatNamesItNot) {
  ConnectionTarget wrong = target();
  wrong.password = "wrong-horse";
  connect(wrong);
  EXPECT_EQ(owner_.cause, NodeDown::Cause::error);
  EXPECT_EQ(owner_.protocol_error, ProtocolError::none);
  EXPECT_TRUE(owner_.why.starts_with("AUTH: WRONGPASS ")) << owner_.why;
  EXPECT_EQ(owner_.why.find("horse"), std::string::npos);
}

TEST_F(RealConnection, NoPasswordWhereOneIsAskedForIsAnError) {
  connect(tcp_target(server_->port()));
  EXPECT_EQ(owner_.cause, NodeDown::Cause::error);
  EXPECT_EQ(owner_.why, "CLIENT ID: NOAUTH Authentication required.");
}

TEST_F(RealConnection, AnAclUserSpeaksForItself) {
  server_->command({"ACL", "SETUSER", "locker", "on", ">pw", "~*", "+@all"});
  ConnectionTarget named = target();
  named.user = "locker";
  named.password = "pw";
  connect(named);
  ASSERT_TRUE(owner_.ready) << owner_.why;
  EXPECT_EQ(ask(Verb::set, "me").reply, Reply::granted);
  EXPECT_NE(server_->command({"CLIENT", "LIST"}).string.find("user=locker"), std::string::npos);
}

TEST_F(RealConnection, KeepsToItsDatabase) {
  ConnectionTarget second = target();
  second.db = 2;
  connect(second);
  ASSERT_TRUE(owner_.ready) << owner_.why;
  EXPECT_EQ(ask(Verb::set, "me").reply, Reply::granted);
  EXPECT_EQ(server_->get("r"), std::nullopt);
}

TEST_F(RealConnection, ADatabaseThatDoesNotExistIsAnError) {
  ConnectionTarget absent = target();
  absent.db = 4711;
  connect(absent);
  EXPECT_EQ(owner_.why, "SELECT: ERR DB index is out of range");
}

TEST_F(RealConnection, WorksOverAUnixSocket) {
  ConnectionTarget local = unix_target(server_->unix_path());
  local.password = password;
  connect(local);
  ASSERT_TRUE(owner_.ready) << owner_.why;
  EXPECT_EQ(ask(Verb::set_and_ttl, "me").reply, Reply::granted);
  EXPECT_EQ(ask(Verb::release, "me").reply, Reply::released);
}

TEST_F(RealConnection, AServerThatIsKilledIsUnreachable) {
  test::RedisServer victim;
  connect(tcp_target(victim.port()));
  ASSERT_TRUE(owner_.ready) << owner_.why;
  victim.kill();
  ASSERT_TRUE(run_until(loop_, [&] { return owner_.downs > 0; }));
  EXPECT_EQ(owner_.cause, NodeDown::Cause::unreachable);
}

}  // namespace
}  // namespace redlock::redis
