#include "quorum-lock/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "quorum-lock/help.hpp"
#include "quorum-lock/text.hpp"
#include "quorum-lock/usage_error.hpp"
#include "redlock/version.hpp"

namespace redlock::cli {
namespace {

// CLI11's own subcommands are not used: with fallthrough they would take a resource that happens to
// be called "run" for a verb. Each verb is a flat App with the global options in it.
void add_options(CLI::App& app, std::span<const OptionText> options, Arguments& into) {
  for (const OptionText& option : options) {
    const std::string name(option.name);
    const std::string dashed = "--" + name;
    if (name == "nodes") {
      // One value an occurrence, and none of CLI11's own splitting at brackets.
      app.add_option(dashed, into.nodes)->allow_extra_args(false);
    } else if (option.value.empty()) {
      app.add_flag_callback(dashed, [&into, name] { into.raise(name); });
    } else {
      app.add_option_function<std::string>(dashed, [&into, name, dashed](const std::string& text) {
        into.set(name, {text, dashed});
      });
    }
  }
}

std::unique_ptr<CLI::App> make_app() {
  auto app = std::make_unique<CLI::App>("", "quorum-lock");
  app->set_help_flag("--help,-h");
  app->set_version_flag("--version", fmt::format("quorum-lock {}", version));
  return app;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (text.ends_with(' ')) text.pop_back();
  return as_printable(text);
}

/// CLI11 words both cases alike, and the counts in them mean nothing to people.
UsageError mismatch(const std::string& line) {
  const std::string option = line.substr(0, line.find(": "));
  return UsageError(line.find("but received") == std::string::npos
                        ? fmt::format("{}: a value must follow", option)
                        : fmt::format("{}: may be given only once", option));
}

enum class Parsed { options, help_request, version_request };

Parsed parse(CLI::App& app, std::vector<std::string> words) {
  for (const std::string& word : words) {
    // CLI11 would take the next word for the value.
    if (word.starts_with("--") && word.ends_with('=')) {
      throw UsageError(
          fmt::format("{}: must not be empty", as_printable(word.substr(0, word.size() - 1))));
    }
  }
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
    return Parsed::options;
  } catch (const CLI::CallForHelp&) {
    return Parsed::help_request;
  } catch (const CLI::CallForVersion&) {
    return Parsed::version_request;
  } catch (const CLI::ArgumentMismatch& error) {
    throw mismatch(one_line(error.what()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(one_line(error.what()));
  }
}

std::string version_text() { return fmt::format("quorum-lock {}\n", version); }

/// The index of the verb: the first word that is neither a global option nor the value of one.
std::variant<std::size_t, TextRequest> find_verb(const std::vector<std::string>& words) {
  Arguments ignored;
  const auto app = make_app();
  add_options(*app, global_options(), ignored);
  app->prefix_command();
  const Parsed parsed = parse(*app, words);
  if (parsed == Parsed::help_request) return TextRequest{program_help()};
  if (parsed == Parsed::version_request) return TextRequest{version_text()};
  const std::vector<std::string> rest = app->remaining();
  if (rest.empty()) throw UsageError(fmt::format("VERB: none given: allowed are {}", verb_list()));
  return words.size() - rest.size();
}

const VerbText& verb_named(const std::string& name) {
  for (const VerbText& verb : verbs()) {
    if (verb.name == name) return verb;
  }
  if (name.starts_with('-') && name.size() > 1) {
    throw UsageError(fmt::format("{}: not a global option; the options of a verb follow it",
                                 as_printable(name)));
  }
  throw UsageError(
      fmt::format("VERB: '{}' is not known: allowed are {}", as_printable(name), verb_list()));
}

void refuse_later_options(const VerbText& verb, const Arguments& given) {
  for (const OptionText& option : verb.later) {
    const std::string name(option.name);
    if (given.flag(name) || given.find(name) != nullptr) {
      throw UsageError(fmt::format("--{}: not available in this version", name));
    }
  }
}

}  // namespace

std::variant<CommandLine, TextRequest> parse_command_line(const std::vector<std::string>& words) {
  const auto end_of_options = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> head(words.begin(), end_of_options);
  const std::vector<std::string> tail(
      end_of_options == words.end() ? end_of_options : end_of_options + 1, words.end());

  const auto found = find_verb(head);
  if (const auto* request = std::get_if<TextRequest>(&found)) return *request;
  const std::size_t verb_at = std::get<std::size_t>(found);
  CommandLine result;
  result.verb = &verb_named(head[verb_at]);
  head.erase(head.begin() + static_cast<std::ptrdiff_t>(verb_at));

  const auto app = make_app();
  add_options(*app, result.verb->options, result.arguments);
  add_options(*app, result.verb->later, result.arguments);
  add_options(*app, global_options(), result.arguments);
  app->allow_extras();
  const Parsed parsed = parse(*app, head);
  if (parsed == Parsed::help_request) return TextRequest{verb_help(*result.verb)};
  if (parsed == Parsed::version_request) return TextRequest{version_text()};
  refuse_later_options(*result.verb, result.arguments);

  for (const std::string& word : app->remaining()) {
    if (word.starts_with('-') && word.size() > 1) {
      throw UsageError(fmt::format("{}: not an option of {}; see quorum-lock {} --help",
                                   as_printable(word), result.verb->name, result.verb->name));
    }
    result.arguments.words.push_back(word);
  }
  const bool runs = result.verb->name == "run" || result.verb->name == "elect";
  auto& behind = runs ? result.arguments.command : result.arguments.words;
  behind.insert(behind.end(), tail.begin(), tail.end());
  return result;
}

}  // namespace redlock::cli
