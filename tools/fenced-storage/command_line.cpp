#include "fenced-storage/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "common/system/password_file.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "fenced-storage/storage.hpp"

namespace redlock::fenced {
namespace {

constexpr std::string_view help = R"(Usage: fenced-storage --storage URL write KEY VALUE --token N
       fenced-storage --storage URL read KEY
       fenced-storage demo [--nodes URL[,URL...]] [--unfenced]

A storage that refuses stale fencing tokens: an example of a resource behind a lock.

Why the storage must check: a lease ends by time, and its holder can be paused for longer than
that (SIGSTOP, swap, a suspended machine). By then somebody else holds the lock, and the old
holder does not know. A check of the lease right before the write does not help, for the pause can
come between the check and the write. Only the storage sees the writes in their order. Every lease
has a fencing token larger than that of all leases before it; the storage keeps, with each value,
the largest token that it has seen, and refuses a write that comes with a smaller one. Token and
value are compared and written in one step, here by a Redis script.

Verbs:
  write KEY VALUE --token N   writes, unless the storage has seen a larger token for KEY
  read KEY                    prints the value
  demo                        stops a holder by SIGSTOP until its lease is over and somebody else
                              has written, lets it go on, and shows that its late write is refused

Options:
  --storage URL   redis://[user[:password]@]host[:port][/db], unix:///path[?db=n] or host[:port]:
                  a Redis of its own, not one of the lock's nodes; default: $FENCED_STORAGE_URL
  --password-file FILE
                  the storage's password is the first line of FILE. Others on this machine can read
                  the command line of a process: a password in --storage is not secret there
  --token N       the fencing token of the lease that protects the write: $QUORUM_LOCK_FENCING_TOKEN
                  under quorum-lock run --fencing, lease.fencing_token() in C++
  --nodes URLS    demo: the lock's nodes; without it the demonstration starts three of its own
  --unfenced      demo: the storage ignores the tokens, and the late write destroys the newer value
  --help, -h      this text

Exit codes: 0 done; demo: the stale write was refused and the newer value is kept
            1 read: there is no such key; demo: the newer value was lost
            64 wrong usage, 69 unavailable, 76 refused as stale

Examples:
  fenced-storage demo
  fenced-storage demo --unfenced
  fenced-storage --storage redis://127.0.0.1:6379 write report v1 --token 7
  fenced-storage --storage redis://10.0.0.9 --password-file /etc/storage.pw read report
  quorum-lock run report --fencing -- sh -c \
    'fenced-storage --storage redis://10.0.0.9 write report v1 --token "$QUORUM_LOCK_FENCING_TOKEN"'
)";

constexpr const char* url_variable = "FENCED_STORAGE_URL";

struct Given {
  std::string storage{};
  std::string password_file{};
  std::string key{};
  std::string value{};
  std::string token{};
  std::string nodes{};
};

std::uint64_t parse_token(const std::string& text) {
  std::uint64_t token = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), token);
  if (error != std::errc{} || end != text.data() + text.size() || token == 0 ||
      token >= fencing_token_end) {
    throw cli::UsageError(
        fmt::format("--token: '{}' is no fencing token, which is a whole number from 1 to {}{}",
                    cli::as_printable(text), fencing_token_end - 1,
                    text.empty() ? ": was the lock acquired with --fencing?" : ""));
  }
  return token;
}

StorageUrl require_storage(const CLI::App& app, const Given& given) {
  std::string text = given.storage;
  if (app.count("--storage") == 0) {
    const char* variable = std::getenv(url_variable);
    if (variable == nullptr || *variable == '\0') {
      throw cli::UsageError(fmt::format("--storage: must be given, or {}", url_variable));
    }
    text = variable;
  }
  StorageUrl url = parse_storage_url(text);
  if (app.count("--password-file") > 0) {
    if (!url.password.empty()) {
      throw cli::UsageError("--password-file: not together with a password in the URL");
    }
    url.password = cli::read_password_file(given.password_file, "--password-file");
  }
  return url;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t comma = 0; comma != std::string::npos; begin = comma + 1) {
    comma = text.find(',', begin);
    parts.push_back(text.substr(begin, comma - begin));
  }
  return parts;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return cli::as_printable(text);
}

enum class Parsed { options, help_request };

Parsed parse(CLI::App& app, std::vector<std::string> words) {
  for (const std::string& word : words) {
    if (word == "--") break;
    // CLI11 would take the next word for the value.
    if (word.starts_with("--") && word.ends_with('=')) {
      throw cli::UsageError(
          fmt::format("{}: must not be empty", cli::as_printable(word.substr(0, word.size() - 1))));
    }
  }
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
    return Parsed::options;
  } catch (const CLI::CallForHelp&) {
    return Parsed::help_request;
  } catch (const CLI::ParseError& error) {
    throw cli::UsageError(one_line(error.what()));
  }
}

}  // namespace

Request parse_command_line(std::vector<std::string> words) {
  Given given;
  CLI::App app("", "fenced-storage");
  app.set_help_flag("--help,-h");
  app.add_option("--storage", given.storage);
  app.add_option("--password-file", given.password_file);
  app.fallthrough();

  CLI::App& write = *app.add_subcommand("write");
  write.add_option("KEY", given.key)->required();
  write.add_option("VALUE", given.value)->required();
  write.add_option("--token", given.token)->required();
  CLI::App& read = *app.add_subcommand("read");
  read.add_option("KEY", given.key)->required();
  CLI::App& demo = *app.add_subcommand("demo");
  demo.add_option("--nodes", given.nodes);
  demo.add_flag("--unfenced");
  app.require_subcommand(0, 1);

  if (parse(app, std::move(words)) == Parsed::help_request) return TextRequest{std::string(help)};
  if (write.parsed()) {
    return WriteRequest{require_storage(app, given), given.key, given.value,
                        parse_token(given.token)};
  }
  if (read.parsed()) return ReadRequest{require_storage(app, given), given.key};
  if (!demo.parsed()) throw cli::UsageError("VERB: none given: allowed are write, read, demo");
  for (const char* option : {"--storage", "--password-file"}) {
    if (app.count(option) == 0) continue;
    throw cli::UsageError(
        fmt::format("{}: not with demo, which starts a storage of its own", option));
  }
  DemoRequest request;
  if (demo.count("--nodes") > 0) request.nodes = split_at_commas(given.nodes);
  if (demo.count("--unfenced") > 0) request.fencing = DemoRequest::Fencing::ignored;
  return request;
}

}  // namespace redlock::fenced
