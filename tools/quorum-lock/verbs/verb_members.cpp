#include <fmt/format.h>

#include <algorithm>
#include <stop_token>
#include <string>

#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"
#include "common/session/settings.hpp"
#include "common/text/duration.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/verbs/deployment_check.hpp"
#include "quorum-lock/verbs/membership.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {
namespace {

enum class Action { show, replace, add, remove };

struct Request {
  Action action = Action::show;
  std::vector<std::string> urls{};
};

Request request_of(const Arguments& given) {
  struct Form {
    std::string_view name;
    Action action;
    std::size_t urls;
    std::string_view operands;
  };
  static constexpr Form forms[] = {{"show", Action::show, 0, "nothing"},
                                   {"replace", Action::replace, 2, "OLD NEW"},
                                   {"add", Action::add, 1, "URL"},
                                   {"remove", Action::remove, 1, "URL"}};
  if (given.words.empty()) return {};
  for (const Form& form : forms) {
    if (form.name != given.words[0]) continue;
    if (given.words.size() != form.urls + 1) {
      throw UsageError(
          fmt::format("members {}: {} must follow, and nothing else", form.name, form.operands));
    }
    return {form.action, {given.words.begin() + 1, given.words.end()}};
  }
  throw UsageError(fmt::format("'{}': allowed are members show, replace, add and remove",
                               as_printable(given.words[0])));
}

Result<admin::Membership> carry_out(const Request& request, const ClientOptions& options,
                                    const admin::ChangeOptions& change) {
  switch (request.action) {
    case Action::show:
      break;
    case Action::replace:
      return admin::replace_member(options, request.urls[0], request.urls[1], change);
    case Action::add:
      return admin::add_member(options, request.urls[0], change);
    case Action::remove:
      return admin::remove_member(options, request.urls[0], change);
  }
  return admin::members(options);
}

}  // namespace

int verb_members(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  const Request request = request_of(given);
  Session session(settings, signals);
  std::stop_source stop;
  SignalWatcher watcher(signals, [&stop](int) { stop.request_stop(); });
  admin::ChangeOptions change;
  change.stop = stop.get_token();
  bool wrote = false;
  change.on_progress = [&](const admin::ChangeProgress& progress) {
    wrote = wrote || progress.kind == admin::ChangeProgress::Kind::writing;
    print_note(settings, progress_text(progress));
  };
  const Result<admin::Membership> membership =
      carry_out(request, client_options(settings, session.nodes()), change);
  const int signal = watcher.finish();
  const bool json = settings.format == Settings::Format::json;
  if (!membership) {
    const Error& error = membership.error();
    print_error(as_printable(error.message));
    if (json && error.code != Errc::invalid_argument &&
        print_result(refused_json(error.message)) != code(ExitCode::done)) {
      return code(ExitCode::failure);
    }
    return signal != 0 ? code_of_signal(signal) : code(exit_code_of(error.code));
  }
  if (request.action != Action::show && !wrote) {
    print_note(settings, "nothing was changed: the members are as they would be afterwards");
  }
  const int printed =
      print_result(json ? membership_json(*membership)
                        : membership_text(Style::of_standard_output(), settings, *membership));
  const auto is_unreachable = [](const admin::MemberReport& node) {
    return node.state == admin::MemberReport::State::unreachable;
  };
  if (!std::all_of(membership->nodes.begin(), membership->nodes.end(), is_unreachable)) {
    return printed;
  }
  print_error(
      fmt::format("unavailable: 0 of {} answered", counted(membership->nodes.size(), "node")));
  return code(ExitCode::unavailable);
}

}  // namespace redlock::cli
