#include "common/servers/http_message.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "common/text/usage_error.hpp"

namespace redlock::cli {
namespace {

std::string answer_to(const std::string& request) {
  return answer_http(request, [](std::string_view path) {
    return path == "/metrics"
               ? std::optional(HttpPage{"200 OK", "text/plain", "redlock_quorum 2\n"})
               : std::nullopt;
  });
}

TEST(HttpMessage, AListenAddressIsAHostAndAPort) {
  const ListenAddress v4 = parse_listen_address("metrics-listen", "127.0.0.1:9464");
  EXPECT_EQ(v4.host, "127.0.0.1");
  EXPECT_EQ(v4.port, "9464");
  const ListenAddress v6 = parse_listen_address("metrics-listen", "[::1]:0");
  EXPECT_EQ(v6.host, "::1");
  EXPECT_EQ(v6.port, "0");
  EXPECT_EQ(show_listen_address(v4), "127.0.0.1:9464");
  EXPECT_EQ(show_listen_address(v6), "[::1]:0");
}

TEST(HttpMessage, AnythingElseIsRefusedInOneLine) {
  for (const char* text :
       {"", "9464", ":9464", "localhost", "localhost:", "localhost:x", "::1:9464",
        "localhost:65536", "localhost:-1", "localhost:94 64", "[]:1", "a\nb:x"}) {
    try {
      static_cast<void>(parse_listen_address("status-listen", text));
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      const std::string line = error.what();
      EXPECT_TRUE(line.starts_with("--status-listen: '")) << line;
      EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    }
  }
}

TEST(HttpMessage, ARequestIsCompleteWithItsEmptyLine) {
  EXPECT_FALSE(is_complete_http_request("GET /metrics HTTP/1.1\r\nHost: a\r\n"));
  EXPECT_TRUE(is_complete_http_request("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_TRUE(is_complete_http_request(std::string(longest_http_request + 1, 'a')));
}

TEST(HttpMessage, ThePageHasItsLengthAndType) {
  const std::string answer = answer_to("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_NE(answer.find("Content-Type: text/plain\r\n"), std::string::npos);
  EXPECT_NE(answer.find("Content-Length: 17\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("\r\n\r\nredlock_quorum 2\n"));
  EXPECT_EQ(answer_to("GET /metrics?x=1 HTTP/1.0\r\n\r\n"), answer);
  EXPECT_EQ(answer_to("HEAD /metrics HTTP/1.1\r\n\r\n") + "redlock_quorum 2\n", answer);
}

TEST(HttpMessage, OtherRequestsAreRefused) {
  const auto status = [](const std::string& request) { return answer_to(request).substr(9, 3); };
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), "404");
  EXPECT_EQ(status("GET /metricsx HTTP/1.1\r\n\r\n"), "404");
  EXPECT_EQ(status("POST /metrics HTTP/1.1\r\n\r\n"), "405");
  for (const char* line : {"GET", "GET /metrics", "GET /metrics nothing", "", " ", "  ", "\r\n"}) {
    EXPECT_EQ(status(std::string(line) + "\r\n\r\n"), "400") << line;
  }
  EXPECT_EQ(status(std::string(longest_http_request + 1, 'a')), "431");
}

}  // namespace
}  // namespace redlock::cli
