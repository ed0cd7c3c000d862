#include "redis/values/node_url.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace redlock::redis {
namespace {

struct Good {
  std::string text;
  std::string display;
  std::string user;
  std::string password;
};

TEST(NodeUrl, EveryDocumentedFormIsUnderstoodAndShownWithoutCredentials) {
  const std::vector<Good> urls{
      {"redis://127.0.0.1:7001", "redis://127.0.0.1:7001", "", ""},
      {"redis://localhost", "redis://localhost:6379", "", ""},
      {"redis://localhost/", "redis://localhost:6379", "", ""},
      {"redis://localhost/3", "redis://localhost:6379/3", "", ""},
      {"redis://localhost:1/0", "redis://localhost:1", "", ""},
      {"REDIS://localhost:65535", "redis://localhost:65535", "", ""},
      {"rediss://node-1.example_lan:7001", "rediss://node-1.example_lan:7001", "", ""},
      {"redis://:secret@h", "redis://h:6379", "", "secret"},
      {"redis://alice:secret@h:1/2", "redis://h:1/2", "alice", "secret"},
      {"redis://alice@h", "redis://h:6379", "alice", ""},
      {"redis://alice:@h", "redis://h:6379", "alice", ""},
      {"redis://al%69ce:p%40ss%2Fw%3ard%25@h", "redis://h:6379", "alice", "p@ss/w:rd%"},
      {"redis://a:b:c@h", "redis://h:6379", "a", "b:c"},
      {"redis://[::1]:7001", "redis://[::1]:7001", "", ""},
      {"redis://u:p@[fe80::1]/1", "redis://[fe80::1]:6379/1", "u", "p"},
      {"[2001:db8::7]:7", "redis://[2001:db8::7]:7", "", ""},
      {"localhost", "redis://localhost:6379", "", ""},
      {"10.0.0.1:7002", "redis://10.0.0.1:7002", "", ""},
      {"127.0.0.1:7001/3", "redis://127.0.0.1:7001/3", "", ""},
      {"h/1", "redis://h:6379/1", "", ""},
      {"h/", "redis://h:6379", "", ""},
      {"[::1]:7001/2", "redis://[::1]:7001/2", "", ""},
      {"valkey://alice:secret@h:1/2", "redis://h:1/2", "alice", "secret"},
      {"Valkeys://h", "rediss://h:6379", "", ""},
      {"redis://[fe80::1%eth0]:7001", "redis://[fe80::1%eth0]:7001", "", ""},
      {"redis://[fe80::1%25eth0]:7001/4", "redis://[fe80::1%eth0]:7001/4", "", ""},
      {"[fe80::1%2]", "redis://[fe80::1%2]:6379", "", ""},
      {"unix:///run/redis.sock", "unix:///run/redis.sock", "", ""},
      {"unix:///run/my%20redis.sock?db=5", "unix:///run/my%20redis.sock?db=5", "", ""},
      {"unix:///run/redis.sock?db=0", "unix:///run/redis.sock", "", ""},
      {"redis://u:p@h?prefix=team:", "redis://h:6379", "u", "p"},
      {"rediss://[::1]:7001/2?prefix=team:", "rediss://[::1]:7001/2", "", ""},
      {"unix:///run/redis.sock?db=3&prefix=team:", "unix:///run/redis.sock?db=3", "", ""},
      {"unix:///run/redis.sock?prefix=team:&db=3", "unix:///run/redis.sock?db=3", "", ""},
  };
  for (const Good& url : urls) {
    const Result<NodeUrl> parsed = parse_node_url(url.text);
    ASSERT_TRUE(parsed) << url.text << ": " << parsed.error().message;
    EXPECT_EQ(parsed->display(), url.display) << url.text;
    EXPECT_EQ(parsed->user, url.user) << url.text;
    EXPECT_EQ(parsed->password, url.password) << url.text;
  }
}

TEST(NodeUrl, HasThePrefixOfItsQuery) {
  const auto prefix = [](const char* text) { return parse_node_url(text).value().prefix; };
  EXPECT_EQ(prefix("redis://h:1/2?prefix=team:"), "team:");
  EXPECT_EQ(prefix("unix:///a?db=1&prefix=team:"), "team:");
  EXPECT_EQ(prefix("redis://h?prefix=a%3Ab%3a"), "a:b:");
  EXPECT_EQ(prefix("redis://h?prefix=a=b"), "a=b") << "what a prefix may be, the client says";
  EXPECT_EQ(prefix("redis://h"), "");
}

TEST(NodeUrl, AListInOneStringIsCalledThat) {
  for (const std::string list : {"10.0.0.1,10.0.0.2", "10.0.0.1:1,10.0.0.2:2,10.0.0.3:3",
                                 "redis://10.0.0.1,redis://10.0.0.2"}) {
    const Result<NodeUrl> parsed = parse_node_url(list);
    ASSERT_FALSE(parsed);
    EXPECT_NE(parsed.error().message.find("each node is a string of its own"), std::string::npos)
        << parsed.error().message;
  }
}

TEST(NodeUrl, WhatIsShownIsReadAgainAsTheSameServer) {
  for (const char* text : {"redis://h:1/2", "rediss://[::1]:3", "redis://[fe80::1%eth0]:7001/1",
                           "unix:///a%3Fb%25c%23d?db=9"}) {
    const Result<NodeUrl> first = parse_node_url(text);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->display(), text);
    const Result<NodeUrl> again = parse_node_url(first->display());
    ASSERT_TRUE(again);
    EXPECT_TRUE(same_server(*first, *again));
    EXPECT_EQ(first->path, again->path);
    EXPECT_EQ(first->db, again->db);
    EXPECT_EQ(first->tls, again->tls);
  }
}

TEST(NodeUrl, EveryMalformedUrlIsRefusedInOneLineThatNamesIt) {
  const std::vector<std::string> urls{
      "",
      "redis://",
      "redis:///1",
      "redis://:7001",
      "redis://h:",
      "redis://h:0",
      "redis://h:65536",
      "redis://h:+1",
      "redis://h:1x",
      "redis://h:99999999999999999999",
      "redis://h/x",
      "redis://h/-1",
      "redis://h/2147483648",
      "redis://h/1/",
      "redis://h/1 ",
      "redis://h/1?x=1",
      "redis://h?server_name=a",
      "rediss://h?server_name=",
      "rediss://h?server_name=a b",
      "rediss://h?server_name=a&x=1",
      "rediss://h?server_name=a/1",
      "rediss://h?",
      "unix:///a?server_name=a",
      "redis://h#f",
      "redis://h h",
      "redis://h:1:2",
      "redis://::1",
      "redis://[::1",
      "redis://[::1]7001",
      "redis://[127.0.0.1]:1",
      "redis://[nonsense]:1",
      "redis://[]",
      "redis://a%zz:b@h",
      "redis://a%4",
      "redis://a%4@h",
      "redis://a@b@h",
      "redis://h\r\nQUIT",
      std::string("redis://h\0x", 11),
      "http://h",
      "://h",
      "redis:/h",
      "h/x",
      "h/1/2",
      "/1",
      "h:x/1",
      "u@h/1",
      "h/1?x=1",
      "valkey://",
      "valkeyss://h",
      "valke://h",
      "redis://[fe80::1%25]:1x",
      "u@h",
      "h:x",
      ":1",
      "unix://run/redis.sock",
      "unix://",
      "unix:///",
      "unix:///run/",
      "unix:///a%0ab",
      "unix:///a%00b",
      "unix:///a%2",
      "unix:///a?db=",
      "unix:///a?db=x",
      "unix:///a?db=1&x=2",
      "unix:///a?timeout=1",
      "unix:///a#b",
      "redis://" + std::string(254, 'h'),
      "redis://h?prefix",
      "redis://h?prefix=",
      "redis://h?prefix=%4",
      "redis://h?prefix=a:&prefix=a:",
      "redis://h?prefix=a:&db=1",
      "redis://h?prefix=a:#b",
      "redis://h?",
      "unix:///a?",
      "h?prefix=a:",
  };
  for (const std::string& url : urls) {
    const Result<NodeUrl> parsed = parse_node_url(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().code, Errc::invalid_argument);
    const std::string& message = parsed.error().message;
    EXPECT_TRUE(message.starts_with("node '")) << message;
    for (const char c : message) EXPECT_GE(static_cast<unsigned char>(c), 0x20U) << message;
  }
}

TEST(NodeUrl, NoErrorShowsWhatMayBeAPassword) {
  const std::vector<std::string> urls{
      "redis://alice:hunter2@h:x",
      "redis://:hunter2@",
      "redis://:hunter2@h/x",
      "redis://alice:hun@ter2hunter2@h",
      "redis://alice:hun/hunter2@h",
      "redis://alice:hun?hunter2@h",
      "redis://alice:hun#hunter2@h",
      "redis://h#hunter2",
      "redis://h/1?prefix=a:#hunter2",
      "redis://alice:hunter2%@h",
      "redis://alice:hunter2",
      "alice:hunter2",
      "alice:hunter2@h",
      "redis:alice:hunter2@h",
      "http://alice:hunter2@h",
      "unix:///a?password=hunter2",
      "redis://h?password=hunter2",
      "redis://alice:hunter2\n@h",
      "redis://:hunter2",
      "rediss//:hunter2@h",
      "unix://alice:hunter2@/run/s?db=x",
      "redis://alice:hunter2@[::1",
      "redis://h?prefix=a:&password=hunter2",
      "redis://alice:hun?prefix=hunter2@h",
  };
  for (const std::string& url : urls) {
    const Result<NodeUrl> parsed = parse_node_url(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().message.find("hunter2"), std::string::npos) << parsed.error().message;
  }
}

TEST(NodeUrl, AMessageNamesTheUrlAndTheReason) {
  EXPECT_EQ(parse_node_url("redis://u:pw@h:99999").error().message,
            "node 'redis://***@h:99999': the port is not a number from 1 to 65535");
  EXPECT_EQ(parse_node_url("unix:///a?db=x").error().message,
            "node 'unix:///a?db=x': the database is not a number from 0 on");
  EXPECT_EQ(
      parse_node_url("redis://h?prefix=a:&db=1").error().message,
      "node 'redis://h?prefix=a:&db=1': the only queries understood are ?prefix=TEXT, ?servers=N "
      "and, of rediss://, ?server_name=NAME ('?' in a password is written %3F)");
  EXPECT_EQ(parse_node_url("redis://u:p?w@h").error().message,
            "node 'redis://***@h': a '?' in a password is written %3F");
  EXPECT_EQ(parse_node_url("h\x1b[2J").error().message,
            "node 'h\\x1b[2J': it has control characters");
}

TEST(NodeUrl, MayNameTheCertificateOfItsServer) {
  const auto url = parse_node_url("rediss://:pw@10.0.0.1:6380/2?server_name=redis-1.example");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->server_name, "redis-1.example");
  EXPECT_EQ(url->password, "pw");
  EXPECT_EQ(url->db, 2);
  EXPECT_EQ(url->display(), "rediss://10.0.0.1:6380/2") << "it is the same node";
  EXPECT_EQ(parse_node_url("rediss://h?server_name=::1").value().server_name, "::1");
  EXPECT_EQ(parse_node_url("redis://h?server_name=a").error().message,
            "node 'redis://h?server_name=a': server_name is for rediss://, which has certificates");
  EXPECT_EQ(parse_node_url("rediss://h?sni=a").error().message,
            "node 'rediss://h?***=***': the only queries understood are ?prefix=TEXT, ?servers=N "
            "and, of rediss://, "
            "?server_name=NAME ('?' in a password is written %3F)");
  const auto both = parse_node_url("rediss://h?prefix=team:&server_name=a");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->prefix, "team:");
  EXPECT_EQ(both->server_name, "a");
}

TEST(NodeUrl, MaySayHowManyServersTheNodeIs) {
  EXPECT_EQ(parse_node_url("redis://h").value().servers, 1);
  const auto url = parse_node_url("redis://u:p@h:1/2?servers=3&prefix=a:");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->servers, 3);
  EXPECT_EQ(url->display(), "redis://h:1/2?servers=3") << "all clients are to agree";
  EXPECT_EQ(parse_node_url("unix:///a?db=1&servers=5").value().display(),
            "unix:///a?db=1&servers=5");
  EXPECT_EQ(parse_node_url("unix:///a?servers=5").value().display(), "unix:///a?servers=5");
  EXPECT_EQ(
      parse_node_url("redis://h?servers=1").error().message,
      "node 'redis://h?servers=1': servers, of a primary and its replicas, is a number from 2 "
      "to 9");
}

TEST(NodeUrl, MayNameTheSentinelsOfAService) {
  const auto url = parse_node_url(
      "Redis+Sentinel://u:p@b:1;a;[::1]:3/mymaster/"
      "2?servers=3&sentinel_user=s&sentinel_password=%40");
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_EQ(url->display(), "redis+sentinel://[::1]:3;a:26379;b:1/mymaster/2?servers=3")
      << "in one order, and without what is secret";
  EXPECT_EQ(url->service, "mymaster");
  EXPECT_EQ(url->user, "u");
  EXPECT_EQ(url->password, "p");
  EXPECT_EQ(url->sentinel_user, "s");
  EXPECT_EQ(url->sentinel_password, "@");
  EXPECT_FALSE(url->tls);
  EXPECT_EQ(parse_node_url(url->display()).value().display(), url->display());
  EXPECT_TRUE(parse_node_url("rediss+sentinel://a/m?servers=3").value().tls);
  EXPECT_EQ(parse_node_url("redis+sentinel://a/m").error().message,
            "node 'redis+sentinel://a/m': it needs ?servers=N, how many servers a primary and its "
            "replicas are");
  EXPECT_EQ(
      parse_node_url("redis+sentinel://a?servers=3").error().message,
      "node 'redis+sentinel://a?servers=3': after the sentinels comes the name that they have "
      "for the service: …/mymaster (quote the URL: a shell ends a command at ';')");
  EXPECT_EQ(
      parse_node_url("redis+sentinel://a/m?servers=3&sentinel_password=x&x=1").error().message,
      "node 'redis+sentinel://a/m?servers=3&sentinel_password=***&***=***': the only queries "
      "understood are ?servers=N, ?prefix=TEXT, ?sentinel_user=NAME and "
      "?sentinel_password=TEXT");
  EXPECT_FALSE(parse_node_url("redis+sentinel://a;;b/m?servers=3"));
  EXPECT_EQ(
      parse_node_url("redis+sentinel://a:1;b:2/m").error().message,
      "node 'redis+sentinel://a:1;b:2/m': it needs ?servers=N, how many servers a primary and "
      "its replicas are");
  EXPECT_FALSE(parse_node_url("unix+sentinel://a/m?servers=3"));
  EXPECT_TRUE(same_server(parse_node_url("redis+sentinel://a;b/m?servers=3").value(),
                          parse_node_url("redis+sentinel://b;c/m?servers=3").value()));
  EXPECT_FALSE(same_server(parse_node_url("redis+sentinel://a;b/m?servers=3").value(),
                           parse_node_url("redis+sentinel://a;b/n?servers=3").value()));
}

TEST(NodeUrl, IsOneNodeAndNoList) {
  for (const char* list : {"redis://a,redis://b", "unix:///a,unix:///b", "a,b"}) {
    EXPECT_EQ(parse_node_url(list).error().message,
              "node '" + std::string(list) + "': it has a comma: each node is a string of its own");
  }
}

TEST(NodeUrl, MayNameServersOfACluster) {
  const auto url = parse_node_url("Redis+Cluster://u:p@b:1;a;[::1]:3/?servers=3&prefix={t}:");
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_EQ(url->display(), "redis+cluster://[::1]:3;a:6379;b:1/?servers=3");
  EXPECT_EQ(url->prefix, "{t}:");
  EXPECT_EQ(url->user, "u");
  EXPECT_EQ(parse_node_url(url->display()).value().display(), url->display());
  EXPECT_TRUE(parse_node_url("valkeys+cluster://a?servers=3").value().tls);
  const auto why = [](const char* text) { return parse_node_url(text).error().message; };
  EXPECT_EQ(why("redis+cluster://a"),
            "node 'redis+cluster://a': it needs ?servers=N, how many servers a primary and its "
            "replicas are");
  EXPECT_EQ(why("redis+cluster://a/0?servers=3"),
            "node 'redis+cluster://a/0?servers=3': a cluster has neither databases nor a name: "
            "nothing but the query follows '/'");
  EXPECT_EQ(why("redis+cluster://a/?servers=3&sentinel_user=u"),
            "node 'redis+cluster://a/?servers=3&sentinel_user=u': the only queries understood are "
            "?servers=N, ?prefix={TAG}: and, of rediss+cluster://, ?server_name=NAME");
  EXPECT_EQ(why("redis+x://a/?servers=3"),
            "node 'redis+x://a/?servers=3': the scheme is not one of redis, rediss, valkey, "
            "valkeys, unix, and, of services, redis+sentinel and redis+cluster");
  EXPECT_TRUE(same_server(parse_node_url("redis+cluster://a;b?servers=3").value(),
                          parse_node_url("redis+cluster://b;c?servers=3").value()));
  EXPECT_FALSE(same_server(parse_node_url("redis+cluster://a?servers=3").value(),
                           parse_node_url("redis+cluster://b?servers=3").value()));
}

TEST(NodeUrl, ServersAreTheSameWhateverTheDatabaseTheUserAndTheCaseOfTheHost) {
  const auto url = [](const char* text) { return parse_node_url(text).value(); };
  EXPECT_TRUE(same_server(url("redis://Host:1/2"), url("redis://u:p@hOST:1")));
  EXPECT_TRUE(same_server(url("redis://h"), url("h:6379")));
  EXPECT_TRUE(same_server(url("unix:///a?db=1"), url("unix:///a")));
  EXPECT_FALSE(same_server(url("unix:///a"), url("unix:///A")));
  EXPECT_FALSE(same_server(url("redis://h:1"), url("redis://h:2")));
  EXPECT_FALSE(same_server(url("redis://h:1"), url("redis://i:1")));
  EXPECT_FALSE(same_server(url("redis://h:1"), url("unix:///h")));
}

}  // namespace
}  // namespace redlock::redis
