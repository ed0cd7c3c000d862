#include "common/session/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>

#include "common/session/holder_text.hpp"
#include "common/text/duration.hpp"
#include "common/text/log.hpp"
#include "common/text/text.hpp"

namespace redlock::cli {
namespace {

using Colour = Style::Colour;

std::size_t count_granted(const Round& round) {
  return static_cast<std::size_t>(
      std::count_if(round.nodes.begin(), round.nodes.end(),
                    [](const NodeVote& node) { return node.vote == Vote::granted; }));
}

Colour colour_of(Vote vote) {
  switch (vote) {
    case Vote::granted:
      return Colour::good;
    case Vote::refused:
    case Vote::excluded:
      return Colour::warning;
    case Vote::timeout:
    case Vote::unreachable:
    case Vote::error:
      return Colour::bad;
    case Vote::pending:
      return Colour::faint;
  }
  return Colour::plain;
}

Colour colour_of(Inspection::State state) {
  switch (state) {
    case Inspection::State::free:
      return Colour::good;
    case Inspection::State::held:
      return Colour::warning;
    case Inspection::State::split:
    case Inspection::State::indeterminate:
      return Colour::bad;
  }
  return Colour::plain;
}

std::string holder_text(const Holder& holder) {
  switch (holder.kind) {
    case Holder::Kind::exclusive:
      return "holder " + as_printable(holder.token.value_or(Token()).view());
    case Holder::Kind::shared:
      return "held by readers";
    case Holder::Kind::owned:
      return "held by owner " + as_printable(holder.owner);
    case Holder::Kind::interval:
      return "its interval is not over";
    case Holder::Kind::reserved:
      return "reserved for the client that is next";
    case Holder::Kind::other:
      return "a key that is not a lock";
    case Holder::Kind::writer:
      return "somebody waits";
  }
  return {};
}

std::string vote_line(const Style& style, const NodeVote& node) {
  std::string line = fmt::format("  {}  {}", as_printable(node.url),
                                 style.paint(colour_of(node.vote), to_string(node.vote)));
  const auto out = std::back_inserter(line);
  if (node.holder) fmt::format_to(out, "  {}", holder_text(*node.holder));
  if (node.remaining) fmt::format_to(out, "  {} left", format_duration(*node.remaining));
  if (!node.message.empty()) fmt::format_to(out, "  {}", as_printable(node.message));
  if (node.round_trip) {
    line += style.paint(Colour::faint, fmt::format("  ({})", format_duration(*node.round_trip)));
  }
  line += '\n';
  return line;
}

/// The longest remaining time on the nodes that store the verdict's holder.
std::string remaining_text(const Inspection& inspection) {
  std::optional<std::chrono::nanoseconds> longest;
  for (const NodeInspection& node : inspection.nodes) {
    if (!is_leading(inspection, node)) continue;
    if (!node.remaining) return ", without expiry";
    longest = std::max(longest.value_or(*node.remaining), *node.remaining);
  }
  return longest ? fmt::format(", {} left", format_duration(*longest)) : std::string();
}

/// The holder in words; `Seen` is an inspection or that of one node.
template <typename Seen>
std::string who_holds(const Seen& seen, std::uint32_t holds) {
  const std::string count = holds == 0 ? std::string() : ", " + counted(holds, "hold");
  const std::string no_more = no_more_text(delay_next_to_holds(seen));
  switch (seen.kind) {
    case LockKind::none:
      return {};
    case LockKind::exclusive: {
      const std::string delay = delay_text(seen.holder);
      return delay.empty() ? as_printable(seen.holder.value_or(Token()).view())
                           : "nobody, " + delay;
    }
    case LockKind::shared:
      return holds == 0 ? "nobody, but somebody waits" : counted(holds, "reader") + no_more;
    case LockKind::owned:
      return fmt::format("owner {}{}{}", as_printable(seen.owner), count, no_more);
    case LockKind::interval:
      return "nobody, until its interval is over";
    case LockKind::reserved:
      return "nobody, reserved for the client that is next";
    case LockKind::other:
      return "a key that is not a lock";
  }
  return {};
}

std::string node_line(const Style& style, const NodeInspection& node) {
  std::string line = fmt::format("  {}  ", as_printable(node.url));
  if (!node.error.empty()) {
    line += style.paint(Colour::bad, as_printable(node.error));
  } else if (node.kind == LockKind::none) {
    line += style.paint(Colour::faint, "free");
  } else if (node.kind == LockKind::reserved) {
    line += style.paint(Colour::faint, "reserved for " + who_text(node.next));
  } else {
    line += fmt::format("{}  {}", who_holds(node, node.holds),
                        node.remaining ? format_duration(*node.remaining) + " left"
                                       : std::string("without expiry"));
  }
  if (node.fencing_token) line += fmt::format("  fencing {}", node.fencing_token->value());
  if (node.quarantine.count() > 0) {
    line += fmt::format("  quarantined for {}", format_duration(node.quarantine));
  }
  line += '\n';
  return line;
}

/// For a lock that several hold: the tokens, each with the number of nodes that have it.
std::string holds_text(const Inspection& inspection) {
  std::map<std::string_view, std::size_t> nodes_with;
  std::map<std::string_view, std::string_view> names;
  for (const NodeInspection& node : inspection.nodes) {
    for (const Token& token : node.tokens) ++nodes_with[token.view()];
    for (std::size_t i = 0; i < node.names.size(); ++i) {
      if (!node.names[i].empty()) names[node.tokens[i].view()] = node.names[i];
    }
  }
  std::string text;
  for (const auto& [token, count] : nodes_with) {
    const auto name = names.find(token);
    text += fmt::format("  token {}  (on {} of {}){}{}\n", as_printable(token), count,
                        counted(inspection.nodes.size(), "node"), name == names.end() ? "" : "  ",
                        name == names.end() ? std::string() : as_printable(name->second));
  }
  const std::size_t holds = most_holds(inspection);
  if (holds > nodes_with.size() && !nodes_with.empty()) {
    text += fmt::format("  and {} more\n", holds - nodes_with.size());
  }
  return text;
}

/// With the permit, by which `release` and `extend` find it at once.
std::string name_text(const Subject& subject) {
  std::string text = as_printable(subject.resource);
  if (!subject.permit.empty()) text += "  permit " + as_printable(subject.permit);
  return text;
}

}  // namespace

Style Style::of_standard_output() {
  const char* no_colour = std::getenv("NO_COLOR");
  const bool wanted = no_colour == nullptr || *no_colour == '\0';
  return Style(wanted && ::isatty(STDOUT_FILENO) == 1);
}

std::string Style::paint(Colour colour, std::string_view text) const {
  if (!coloured_) return std::string(text);
  std::string_view code;
  switch (colour) {
    case Colour::plain:
      return std::string(text);
    case Colour::good:
      code = "32";
      break;
    case Colour::warning:
      code = "33";
      break;
    case Colour::bad:
      code = "31";
      break;
    case Colour::faint:
      code = "2";
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

bool print(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

void print_error(std::string_view line) { write_log({LogLine::Level::error, line, {}, {}, {}}); }

void print_warning(std::string_view line) {
  write_log({LogLine::Level::warning, line, {}, {}, {}});
}

void print_note(const Settings& settings, std::string_view line) {
  if (settings.detail != Settings::Detail::quiet)
    write_log({LogLine::Level::info, line, {}, {}, {}});
}

void print_on_standard_error(std::string_view text) {
  if (log_form() == LogForm::text) {
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
    return;
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    write_log({LogLine::Level::info, text.substr(0, end), {}, {}, {}});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string acquired_text(const Style& style, const Settings& settings, const Subject& subject,
                          const Target& target, const Lease& lease) {
  // Raw: a script passes on the token itself.
  if (settings.detail == Settings::Detail::quiet) return lease.token().str() + "\n";
  const std::string number =
      lease.fencing_token() ? to_string(*lease.fencing_token()) : std::string();
  const Round round = lease.round();
  std::string text = fmt::format(
      "{} {}  token {}{}{}  valid for {}{}  ({} of {} granted)\n",
      style.paint(Style::Colour::good, "acquired"), name_text(subject),
      as_printable(lease.token().view()), number.empty() ? "" : "  fencing token ", number,
      format_duration(round.remaining),
      target.interval().count() > 0
          ? fmt::format("  nobody else for {} (interval)", format_duration(target.interval()))
          : std::string(),
      count_granted(round), round.nodes.size());
  if (settings.detail == Settings::Detail::verbose) text += votes_text(style, round);
  return text;
}

std::string round_text(const Style& style, const Settings& settings, std::string_view outcome,
                       const Subject& subject, const Round& round) {
  if (settings.detail == Settings::Detail::quiet) return {};
  std::string text =
      fmt::format("{} {}", style.paint(Style::Colour::good, outcome), name_text(subject));
  if (round.remaining.count() > 0) {
    fmt::format_to(std::back_inserter(text), "  valid for {}", format_duration(round.remaining));
  }
  fmt::format_to(std::back_inserter(text), "  ({} of {})", count_granted(round),
                 counted(round.nodes.size(), "node"));
  if (round.holds_left) {
    fmt::format_to(std::back_inserter(text), "  {} left", *round.holds_left);
  }
  text += '\n';
  if (settings.detail == Settings::Detail::verbose) text += votes_text(style, round);
  return text;
}

std::string sighting_text(const Style& style, std::string_view resource,
                          const Inspection& inspection) {
  std::string text =
      fmt::format("{}  {}", as_printable(resource),
                  style.paint(colour_of(inspection.state), to_string(inspection.state)));
  if (inspection.kind != LockKind::none) {
    text += " by " + who_holds(inspection, most_holds(inspection));
  }
  return text + '\n';
}

std::string inspection_text(const Style& style, std::string_view resource,
                            const Inspection& inspection) {
  const auto count = std::count_if(
      inspection.nodes.begin(), inspection.nodes.end(), [&inspection](const NodeInspection& node) {
        return inspection.kind != LockKind::none && is_leading(inspection, node);
      });
  std::string text =
      fmt::format("{}  {}", as_printable(resource),
                  style.paint(colour_of(inspection.state), to_string(inspection.state)));
  if (inspection.kind == LockKind::reserved && inspection.state == Inspection::State::free) {
    text += ", reserved for the client that is next";
  } else if (inspection.kind != LockKind::none) {
    // Without a holder, the one on most nodes is shown.
    fmt::format_to(std::back_inserter(text), "{}{}{}  (on {} of {}, quorum {})",
                   inspection.state == Inspection::State::held ? " by " : ", most of all ",
                   who_holds(inspection, most_holds(inspection)), remaining_text(inspection), count,
                   counted(inspection.nodes.size(), "node"), inspection.quorum);
  }
  text += '\n' + people_text(inspection);
  for (const NodeInspection& node : inspection.nodes) text += node_line(style, node);
  return text + holds_text(inspection);
}

std::string semaphore_text(const Style& style, std::string_view resource,
                           const std::vector<PermitInspection>& permits, std::size_t waiters) {
  const std::size_t taken = count_taken(permits);
  const bool full = taken == permits.size();
  std::string text = fmt::format(
      "{}  {}  {} of {} taken{}{}\n", as_printable(resource),
      style.paint(full ? Style::Colour::warning : Style::Colour::good, full ? "full" : "free"),
      taken, counted(permits.size(), "permit"), waiters == 0 ? "" : ", ",
      waiters == 0 ? "" : waiters_text(waiters));
  for (const PermitInspection& permit : permits) {
    text += inspection_text(style, permit.name, permit.inspection);
  }
  return text;
}

std::string votes_text(const Style& style, const Round& round) {
  std::string text;
  for (const NodeVote& node : round.nodes) text += vote_line(style, node);
  return text;
}

}  // namespace redlock::cli
