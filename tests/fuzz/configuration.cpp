// The input of a user: the command line, the environment and the configuration file of quorum-lock,
// and the options of a client. Sections are separated by a line "--":
//   words of the command line, one a line; QUORUM_LOCK_NODES; QUORUM_LOCK_RESTART_GUARD; the TOML
//   file; options of a client as lines "name number", or "node URL".

#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/session/settings.hpp"
#include "common/text/duration.hpp"
#include "common/text/usage_error.hpp"
#include "core/engine/engine.hpp"
#include "fuzz/fuzz.hpp"
#include "quorum-lock/line/command_line.hpp"
#include "quorum-lock/line/config_report.hpp"
#include "quorum-lock/line/layers.hpp"
#include "redlock/limits.hpp"
#include "runtime/configuration.hpp"
#include "simulation/random.hpp"

namespace redlock::fuzz {
namespace {

/// A file that lives in memory only, with a name that can be opened.
class File {
 public:
  explicit File(std::string_view content) : descriptor_(memfd_create("configuration", 0)) {
    REDLOCK_ASSERT(descriptor_ >= 0);
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      REDLOCK_ASSERT(written > 0);
      content.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  ~File() { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void set_variable(const char* name, std::string_view value) {
  REDLOCK_ASSERT(::setenv(name, std::string(value.substr(0, value.find('\0'))).c_str(), 1) == 0);
}

/// All that a configuration that was not refused has to be good for.
void check_configuration(ClientOptions options) {
  // Reading the system's certificates takes longer than everything else together.
  for (const std::string& node : options.nodes) {
    if (node.size() > 6 && (node[5] == 's' || node[5] == 'S')) return;
  }
  const std::size_t nodes = options.nodes.size();
  const auto configuration = runtime::configure(std::move(options));
  if (!configuration) {
    REDLOCK_ASSERT(configuration.error().code == Errc::invalid_argument);
    REDLOCK_ASSERT(harmless(configuration.error().message));
    REDLOCK_ASSERT(!configuration.error().message.empty());
    return;
  }
  const core::Settings& settings = configuration->settings;
  REDLOCK_ASSERT(configuration->targets.size() == nodes && settings.nodes.size() == nodes);
  REDLOCK_ASSERT(settings.quarantine > settings.max_ttl);
  REDLOCK_ASSERT(settings.shortest_limit <= settings.longest_limit);
  simulation::SeededRandomness randomness(1);
  std::vector<core::Command> commands;
  core::Engine engine(settings, randomness);
  engine.step(core::Instant(std::chrono::seconds(1)), core::TimePassed{}, commands);
  REDLOCK_ASSERT(!commands.empty());
}

void check_settings(const cli::Settings& settings) {
  REDLOCK_ASSERT(settings.nodes.size() <= limits::nodes);
  REDLOCK_ASSERT(!settings.local || (*settings.local >= 1 && *settings.local <= limits::nodes));
  REDLOCK_ASSERT(settings.client.max_ttl >= limits::shortest_ttl);
  REDLOCK_ASSERT(settings.client.max_ttl <= limits::longest_max_ttl);
  REDLOCK_ASSERT(settings.client.node.longest_timeout.count() > 0);
  const std::size_t nodes = settings.local.value_or(settings.nodes.size());
  REDLOCK_ASSERT(!settings.client.quorum ||
                 *settings.client.quorum <= std::max<std::size_t>(nodes, 1));
  if (!settings.nodes.empty()) check_configuration(client_options(settings, settings.nodes));
}

/// Files that an input names would be this machine's.
void without_files(cli::Arguments& arguments, const std::string& existing) {
  for (const char* name : {"password-file", "cacert", "cert", "key"}) {
    if (arguments.find(name) != nullptr) arguments.set(name, {existing, "--file"});
  }
}

void resolve(const std::vector<std::string>& words, std::string_view toml) {
  try {
    auto parsed = cli::parse_command_line(words);
    if (const auto* text = std::get_if<cli::TextRequest>(&parsed)) {
      REDLOCK_ASSERT(!text->text.empty());
      return;
    }
    auto& [verb, arguments] = std::get<cli::CommandLine>(parsed);
    REDLOCK_ASSERT(verb != nullptr);
    // A file of this machine may be endless, or wait for somebody to write.
    for (const char* folder : {"/dev", "/proc", "/sys"}) {
      if (toml.find(folder) != std::string_view::npos) return;
    }
    const File file(toml);
    without_files(arguments, file.path());
    arguments.set("config", {file.path(), "--config"});
    // Reading the system's certificates takes longer than everything else together.
    if (toml.find("s://") == std::string_view::npos) {
      REDLOCK_ASSERT(!cli::config_json(cli::check_config(arguments)).empty());
    }
    cli::fill_in(arguments, std::string(verb->name));
    const auto settings = cli::resolve_settings(arguments, cli::NodesNeeded::optional);
    check_settings(settings);
    static_cast<void>(cli::ttl_of(arguments, settings));
    static_cast<void>(cli::orphan_ttl_of(arguments, settings));
    static_cast<void>(cli::resource_of(arguments));
    static_cast<void>(cli::token_of(arguments));
  } catch (const cli::UsageError& error) {
    REDLOCK_ASSERT(*error.what() != '\0');
    REDLOCK_ASSERT(harmless(error.what()));
  }
}

/// The last one counts; a word that is no number counts as absent.
void take_option(std::string_view line, ClientOptions& options) {
  const std::size_t space = line.find(' ');
  const std::string_view name = line.substr(0, space);
  const std::string_view value =
      space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
  if (name == "node") return options.nodes.emplace_back(value), void();
  if (name == "user") return options.user = value, void();
  if (name == "prefix") return options.prefix = value, void();
  if (name == "password") return options.password = value, void();
  std::int64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  const std::chrono::nanoseconds time(number);
  if (name == "quorum") options.quorum = static_cast<std::size_t>(number);
  if (name == "shortest") options.node.shortest_timeout = time;
  if (name == "longest") options.node.longest_timeout = time;
  if (name == "connect") options.node.connect_timeout = time;
  if (name == "max_ttl") options.max_ttl = time;
  if (name == "restart") options.guards.restart = number != 0;
  if (name == "quarantine") options.guards.quarantine = time;
  if (name == "durable") options.guards.trust_durable = number != 0;
  if (name == "clock") options.guards.clock = number != 0;
  if (name == "clock_bound") options.guards.clock_bound = time;
  if (name == "ca_file") options.tls.ca_file = value;
}

ClientOptions read_options(Input input) {
  ClientOptions options;
  while (!input.empty()) take_option(input.line(), options);
  return options;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    // Arguments of a program end at a zero byte.
    const std::string_view line = text.substr(0, end);
    lines.emplace_back(line.substr(0, line.find('\0')));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace redlock::fuzz;
  Input input(data, size);
  const std::vector<std::string> words = lines_of(input.until("\n--\n"));
  set_variable("QUORUM_LOCK_NODES", input.until("\n--\n"));
  set_variable("QUORUM_LOCK_RESTART_GUARD", input.until("\n--\n"));
  resolve(words, input.until("\n--\n"));
  if (!input.empty()) check_configuration(read_options(input));
  return 0;
}
