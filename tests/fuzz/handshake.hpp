#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/resp.hpp"

namespace redlock::fuzz {

/// The commands in what a client has sent.
[[nodiscard]] inline std::vector<test::Command> commands_in(std::string_view sent) {
  test::RespParser parser;
  parser.feed(sent);
  std::vector<test::Command> commands;
  while (const auto command = parser.next()) {
    test::Command words;
    for (const test::Reply& word : command->elements) words.push_back(word.string);
    commands.push_back(std::move(words));
  }
  return commands;
}

/// A healthy server's answer to a command of the handshake; INFO is given.
[[nodiscard]] inline std::string handshake_answer(const test::Command& command,
                                                  std::string_view info) {
  namespace resp = test::resp;
  const std::string& word = command.at(0);
  if (word == "INFO") return resp::bulk(info);
  if (word == "CLIENT" && command.at(1) == "ID") return resp::integer(7);
  if (word == "GET") return resp::bulk("marker");
  if (word == "CONFIG") return resp::array({resp::bulk("appendfsync"), resp::bulk("always")});
  if (word == "SCRIPT") return resp::bulk("0123456789012345678901234567890123456789");
  if (word == "EVAL" || word == "EVALSHA") {
    return resp::array({resp::bulk("marker"), resp::integer(0), resp::bulk("")});
  }
  return resp::status("OK");
}

}  // namespace redlock::fuzz
