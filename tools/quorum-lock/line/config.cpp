#include "quorum-lock/line/config.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/text/nearest.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/line/help.hpp"
#include "quorum-lock/line/option_kind.hpp"

namespace redlock::cli {
namespace {

std::string read_text(const std::string& path, const std::string& origin) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  // An empty file fails too, without an error.
  if (!file || (!(content << file.rdbuf()).good() && errno != 0)) {
    throw UsageError(fmt::format("{}: '{}' cannot be read: {}", origin, as_printable(path),
                                 std::strerror(errno)));
  }
  return content.str();
}

toml::table parse_toml(const std::string& path, const std::string& origin) {
  const std::string text = read_text(path, origin);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}:{}: {}", as_printable(path), error.source().begin.line,
                                 as_printable(error.description())));
  }
}

std::optional<std::string> element_text(const toml::node& node) {
  if (auto text = node.value_exact<std::string>()) return text;
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  return std::nullopt;
}

std::optional<std::string> list_text(const toml::node& node) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return element_text(node);
  std::string list;
  for (const toml::node& element : *array) {
    const auto text = element_text(element);
    if (!text) return std::nullopt;
    list += (list.empty() ? "" : ",") + *text;
  }
  return array->empty() ? std::nullopt : std::optional(list);
}

std::optional<std::vector<std::string>> node_urls(const toml::node& node) {
  if (const auto single = node.value_exact<std::string>()) return std::vector{*single};
  const toml::array* array = node.as_array();
  if (array == nullptr || array->empty()) return std::nullopt;
  std::vector<std::string> urls;
  for (const toml::node& element : *array) {
    const auto text = element.value_exact<std::string>();
    if (!text) return std::nullopt;
    urls.push_back(*text);
  }
  return urls;
}

const OptionText* find_option_text(std::span<const OptionText> options, std::string_view name) {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [name](const OptionText& each) { return each.name == name; });
  return found == options.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(std::span<const OptionText> options) {
  std::vector<std::string> names;
  for (const OptionText& option : options) names.emplace_back(option.name);
  return names;
}

std::vector<std::string> verbs_with_table() {
  std::vector<std::string> names;
  for (const VerbText& verb : verbs()) {
    if (may_have_table(verb)) names.emplace_back(verb.name);
  }
  return names;
}

/// "[run], [acquire]": the tables that can contain the key; empty: none.
std::string tables_with(std::string_view name) {
  std::string tables;
  for (const VerbText& verb : verbs()) {
    if (!may_have_table(verb) || find_option_text(own_defaults(verb), name) == nullptr) continue;
    tables += fmt::format("{}[{}]", tables.empty() ? "" : ", ", verb.name);
  }
  return tables;
}

std::string correction(std::string_view name, const std::vector<std::string>& known) {
  const auto meant = nearest(name, known);
  return meant ? fmt::format("; did you mean '{}'?", *meant)
               : fmt::format("; allowed are {}", fmt::join(known, ", "));
}

/// Fills a ConfigFile with one key after the other.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(as_printable(path)) {}

  ConfigFile read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      const std::string name(key.str());
      const std::size_t line = key.source().begin.line;
      const VerbText* verb = find_verb_text(name);
      if (verb != nullptr && may_have_table(*verb)) {
        read_table(*verb, node, line);
      } else {
        read_top_level(name, node, line);
      }
    }
    std::stable_sort(
        file_.mistakes.begin(), file_.mistakes.end(),
        [](const ConfigFile::Mistake& a, const ConfigFile::Mistake& b) { return a.line < b.line; });
    return std::move(file_);
  }

 private:
  void complain(std::size_t line, std::string_view problem) {
    file_.mistakes.push_back({line, fmt::format("{}:{}: {}", path_, line, problem)});
  }

  void read_top_level(const std::string& name, const toml::node& node, std::size_t line) {
    const std::vector<OptionText> known = global_defaults();
    if (const OptionText* option = find_option_text(known, name)) {
      take(*option, name, node, line, Arguments::Layer::top_level, file_.top_level);
    } else if (node.is_table() || node.is_array_of_tables()) {
      complain(line, fmt::format("no verb is named '{}'{}", as_printable(name),
                                 correction(name, verbs_with_table())));
    } else {
      const std::string tables = tables_with(name);
      complain(line, tables.empty() ? fmt::format("unknown key '{}'{}", as_printable(name),
                                                  correction(name, names_of(known)))
                                    : fmt::format("'{}' is allowed only in the table of a verb: {}",
                                                  as_printable(name), tables));
    }
  }

  void read_table(const VerbText& verb, const toml::node& node, std::size_t line) {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      const std::string tables = tables_with(verb.name);
      complain(line, tables.empty()
                         ? fmt::format("'{}' must be a table: [{}]", verb.name, verb.name)
                         : fmt::format("'{}' is allowed only in the table of a verb: {}", verb.name,
                                       tables));
      return;
    }
    const std::vector<OptionText> own = own_defaults(verb);
    std::vector<OptionText> known = own;
    for (const OptionText& option : global_defaults()) known.push_back(option);
    for (const auto& [key, value] : *table) {
      const std::string name(key.str());
      const std::size_t at = key.source().begin.line;
      const std::string subject = fmt::format("[{}] {}", verb.name, as_printable(name));
      if (const OptionText* option = find_option_text(known, name)) {
        take(*option, subject, value, at, Arguments::Layer::verb_table,
             file_.tables[std::string(verb.name)]);
      } else if (find_option_text(verb.options, name) != nullptr) {
        complain(at, subject + " can have no default: it belongs on the command line");
      } else {
        complain(at, fmt::format("unknown key '{}' in [{}]{}", as_printable(name), verb.name,
                                 correction(name, names_of(known))));
      }
    }
  }

  void take(const OptionText& option, const std::string& subject, const toml::node& node,
            std::size_t line, Arguments::Layer layer, Arguments& into) {
    const std::string name(option.name);
    Arguments::Value value{{}, fmt::format("{}:{}: {}", path_, line, subject), layer, line};
    bool taken = false;
    switch (kind_of(option)) {
      case OptionKind::nodes:
        if (const auto urls = node_urls(node)) {
          into.nodes = *urls;
          into.nodes_origin = std::move(value);
          return;
        }
        break;
      case OptionKind::flag:
        if (const auto flag = node.value_exact<bool>()) {
          value.text = *flag ? "true" : "false";
          into.set_flag(name, std::move(value));
          return;
        }
        break;
      case OptionKind::text:
      case OptionKind::duration:
        taken = set(name, node.value_exact<std::string>(), value, into);
        break;
      case OptionKind::number:
        if (const auto number = node.value_exact<std::int64_t>()) {
          taken = set(name, std::to_string(*number), value, into);
        }
        break;
      case OptionKind::list:
        taken = set(name, list_text(node), value, into);
        break;
    }
    if (!taken) complain(line, subject + " must be " + allowed_in_file(option));
  }

  static bool set(const std::string& name, const std::optional<std::string>& text,
                  Arguments::Value& value, Arguments& into) {
    if (!text) return false;
    value.text = *text;
    into.set(name, std::move(value));
    return true;
  }

  const std::string path_;
  ConfigFile file_;
};

}  // namespace

ConfigFile read_config(const std::string& path, const std::string& origin) {
  return Reader(path).read(parse_toml(path, origin));
}

}  // namespace redlock::cli
