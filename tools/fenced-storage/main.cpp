#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/text/usage_error.hpp"
#include "fenced-storage/command_line.hpp"
#include "fenced-storage/demo.hpp"
#include "fenced-storage/holder.hpp"
#include "fenced-storage/storage.hpp"

namespace redlock::fenced {
namespace {

using cli::code;
using cli::ExitCode;

int complain(std::string_view line, ExitCode exit_code) {
  // A failure to write to standard error cannot be reported.
  static_cast<void>(std::fputs(fmt::format("fenced-storage: {}\n", line).c_str(), stderr));
  return code(exit_code);
}

int say(const std::string& text) {
  return cli::print(text) ? code(ExitCode::done)
                          : complain("standard output cannot be written", ExitCode::failure);
}

int serve(const TextRequest& request) { return say(request.text); }

int serve(const WriteRequest& request) {
  Storage storage(request.storage);
  if (const auto newer = storage.write(request.key, request.value, request.token)) {
    static_cast<void>(std::fputs((refusal(request.token, *newer) + '\n').c_str(), stderr));
    return code(ExitCode::not_holder);
  }
  return say(fmt::format("written with fencing token {}\n", request.token));
}

int serve(const ReadRequest& request) {
  const auto record = Storage(request.storage).read(request.key);
  if (!record) return complain("there is no such key", ExitCode::failure);
  return say(record->value + '\n');
}

int serve(const DemoRequest& request) {
  try {
    return run_demo(request);
  } catch (const DemoFailure& failure) {
    return complain(failure.what(), failure.exit_code());
  }
}

int run(int argc, char** argv) noexcept {
  try {
    // A storage that closes the connection must cost an error message, not the process.
    if (std::signal(SIGPIPE, SIG_IGN) == SIG_ERR) {
      return complain("SIGPIPE cannot be ignored", ExitCode::failure);
    }
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    return std::visit([](const auto& request) { return serve(request); },
                      parse_command_line(words));
  } catch (const cli::UsageError& error) {
    return complain(error.what(), ExitCode::usage);
  } catch (const std::exception& error) {
    return complain(error.what(), ExitCode::unavailable);
  }
}

}  // namespace
}  // namespace redlock::fenced

int main(int argc, char** argv) { return redlock::fenced::run(argc, argv); }
