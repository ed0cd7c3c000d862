#include "quorum-lock/line/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "common/text/nearest.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/line/foreign_options.hpp"
#include "quorum-lock/line/help.hpp"
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
      // One value for each occurrence. CLI11 must not split values at brackets.
      app.add_option(dashed, into.nodes)->allow_extra_args(false);
    } else if (option.value.empty()) {
      app.add_flag_function(dashed, [&into, name, dashed](std::int64_t times) {
        into.set_flag(name, times > 0, dashed);
      });
    } else {
      auto* const added = app.add_option_function<std::string>(
          dashed, [&into, name, dashed](const std::string& text) {
            into.set(name, {text, dashed});
          });
      if (option.value.starts_with('[')) added->expected(0, 1);
    }
  }
}

/// The options that a word can be. The verb's own options come only after the verb.
using KnownOptions = std::vector<std::span<const OptionText>>;

KnownOptions options_of(const VerbText& verb) { return {verb.options, global_options()}; }

const OptionText* find_option(const KnownOptions& known, std::string_view dashed) {
  if (!dashed.starts_with("--")) return nullptr;
  const std::string_view name = dashed.substr(2, dashed.find('=') - 2);
  for (const std::span<const OptionText> options : known) {
    const auto found = std::find_if(options.begin(), options.end(),
                                    [name](const OptionText& each) { return each.name == name; });
    if (found != options.end()) return &*found;
  }
  return nullptr;
}

bool looks_like_option(std::string_view word) { return word.starts_with('-') && word.size() > 1; }

/// The index of the first word, from `at` on, that is neither a known option nor the value of one.
std::size_t skip_options(const std::vector<std::string>& words, std::size_t at,
                         const KnownOptions& known) {
  while (at < words.size()) {
    const std::string& word = words[at];
    const OptionText* option = find_option(known, word);
    if (option == nullptr && word != "--help" && word != "-h" && word != "--version") break;
    const bool value_follows =
        option != nullptr && !option->value.empty() && word.find('=') == std::string::npos;
    at += value_follows ? 2 : 1;
  }
  return std::min(at, words.size());
}

/// ": did you mean --ttl?", or nothing.
std::string meant_option(const KnownOptions& known, std::string_view word) {
  std::vector<std::string> names = {"--help", "--version"};
  for (const std::span<const OptionText> options : known) {
    for (const OptionText& option : options) names.push_back(fmt::format("--{}", option.name));
  }
  const std::string_view name = word.substr(0, word.find('='));
  const auto meant = nearest(our_word_for(name).value_or(name), names);
  return meant ? fmt::format("; did you mean {}?", *meant) : std::string();
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

/// CLI11 uses the same words for both mistakes, with counts that mean nothing to people.
UsageError mismatch(const std::string& line) {
  const std::string option = line.substr(0, line.find(": "));
  return UsageError(line.find("but received") == std::string::npos
                        ? fmt::format("{}: a value must follow", option)
                        : fmt::format("{}: may be given only once", option));
}

enum class Parsed { options, help_request, version_request };

/// Refuses words that CLI11 would misread.
void check_spelling(const std::vector<std::string>& words, const KnownOptions& known) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (!word.starts_with("--") || equals == std::string::npos) continue;
    const std::string name = as_printable(word.substr(0, equals));
    const std::string value = word.substr(equals + 1);
    if (value.empty()) throw UsageError(fmt::format("{}: must not be empty", name));
    const OptionText* option = find_option(known, word);
    if (option != nullptr && option->value.empty() && value != "true" && value != "false") {
      throw UsageError(
          fmt::format("{}: '{}' is not allowed: true or false", name, as_printable(value)));
    }
  }
}

Parsed parse(CLI::App& app, std::vector<std::string> words, const KnownOptions& known) {
  check_spelling(words, known);
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
  const KnownOptions known = {global_options()};
  const std::size_t verb_at = skip_options(words, 0, known);
  Arguments ignored;
  const auto app = make_app();
  add_options(*app, global_options(), ignored);
  const auto end = words.begin() + static_cast<std::ptrdiff_t>(verb_at);
  const Parsed parsed = parse(*app, {words.begin(), end}, known);
  if (parsed == Parsed::help_request) return TextRequest{program_help()};
  if (parsed == Parsed::version_request) return TextRequest{version_text()};
  if (words.empty()) return TextRequest{program_help(), ExitCode::usage};
  if (verb_at == words.size()) {
    throw UsageError(fmt::format("VERB: none given: allowed are {}", verb_list()));
  }
  return verb_at;
}

const VerbText& verb_named(const std::string& name) {
  if (const VerbText* verb = find_verb_text(name)) return *verb;
  if (looks_like_option(name)) {
    throw UsageError(fmt::format("{}: not a global option; the options of a verb follow it{}",
                                 as_printable(name.substr(0, name.find('='))),
                                 meant_option({global_options()}, name)));
  }
  auto meant = nearest(name, verb_names());
  if (const auto verb = our_word_for(name)) meant = *verb;
  throw UsageError(fmt::format("VERB: '{}' is not known: {}", as_printable(name),
                               meant ? fmt::format("did you mean {}?", *meant)
                                     : fmt::format("allowed are {}", verb_list())));
}

bool runs_command(const VerbText& verb) { return verb.name == "run" || verb.name == "elect"; }

/// Removes the command of `run` and `elect` from the words, if there is no `--`: the command begins
/// with the second word that is not an option.
std::vector<std::string> take_command(std::vector<std::string>& words, const VerbText& verb) {
  const KnownOptions known = options_of(verb);
  std::size_t operands = 0;
  for (std::size_t at = 0; at < words.size(); ++at) {
    at = skip_options(words, at, known);
    if (at == words.size()) break;
    // A word that looks like an option and is not one of ours is refused later.
    if (looks_like_option(words[at]) || ++operands < 2) continue;
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
    std::vector<std::string> command(begin, words.end());
    words.erase(begin, words.end());
    return command;
  }
  return {};
}

void take_operands(const std::vector<std::string>& rest, const VerbText& verb, Arguments& into) {
  for (const std::string& word : rest) {
    if (looks_like_option(word)) {
      // With two operands, these may be the first words of a command that has a -- of its own.
      const bool behind_command = runs_command(verb) && into.words.size() > 1;
      const auto instead = instead_of(word);
      if (instead && verb.name == "run" && !behind_command) {
        throw UsageError(fmt::format("{}: not an option of run: {}", as_printable(word), *instead));
      }
      // Not its value: it may be a password.
      throw UsageError(fmt::format("{}: not an option of {}{}; see quorum-lock help {}",
                                   as_printable(word.substr(0, word.find('='))), verb.name,
                                   behind_command
                                       ? ": a COMMAND that has a -- needs another one before it"
                                       : meant_option(options_of(verb), word),
                                   verb.name));
    }
    into.words.push_back(word);
  }
}

}  // namespace

std::variant<CommandLine, TextRequest> parse_command_line(const std::vector<std::string>& words) {
  const auto end_of_options = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> head(words.begin(), end_of_options);
  std::vector<std::string> tail(end_of_options == words.end() ? end_of_options : end_of_options + 1,
                                words.end());

  const auto found = find_verb(head);
  if (const auto* request = std::get_if<TextRequest>(&found)) return *request;
  const std::size_t verb_at = std::get<std::size_t>(found);
  CommandLine result;
  result.verb = &verb_named(head[verb_at]);
  head.erase(head.begin() + static_cast<std::ptrdiff_t>(verb_at));
  const bool runs = runs_command(*result.verb);
  result.arguments.has_dashes = end_of_options != words.end();
  if (runs && end_of_options == words.end()) tail = take_command(head, *result.verb);

  const auto app = make_app();
  const KnownOptions known = options_of(*result.verb);
  for (const std::span<const OptionText> options : known) {
    add_options(*app, options, result.arguments);
  }
  app->allow_extras();
  const Parsed parsed = parse(*app, head, known);
  if (parsed == Parsed::help_request) return TextRequest{verb_help(*result.verb)};
  if (parsed == Parsed::version_request) return TextRequest{version_text()};

  take_operands(app->remaining(), *result.verb, result.arguments);
  auto& behind = runs ? result.arguments.command : result.arguments.words;
  behind.insert(behind.end(), tail.begin(), tail.end());
  if (result.verb->name == "help") return TextRequest{help_about(result.arguments.words)};
  return result;
}

}  // namespace redlock::cli
