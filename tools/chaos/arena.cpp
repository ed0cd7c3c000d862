#include "chaos/arena.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include "chaos/terms.hpp"
#include "common/servers/loopback_server.hpp"
#include "common/system/child_process.hpp"
#include "common/system/platform.hpp"
#include "redlock/deployment.hpp"

namespace redlock::chaos {
namespace {

std::string url_of(std::uint16_t port) { return fmt::format("redis://127.0.0.1:{}", port); }

struct LinkFault {
  FaultForm form;
  LinkMode mode;
};
constexpr LinkFault link_faults[] = {
    {FaultForm::link_held, LinkMode::hold},
    {FaultForm::replies_held, LinkMode::hold_replies},
    {FaultForm::replies_lost, LinkMode::lose_replies},
    {FaultForm::link_refused, LinkMode::refuse},
    {FaultForm::link_delayed, LinkMode::delay},
    {FaultForm::replies_trickle, LinkMode::trickle_replies},
    {FaultForm::replies_cut, LinkMode::cut_replies},
    {FaultForm::requests_cut, LinkMode::cut_requests},
    {FaultForm::replies_in_pieces, LinkMode::split_replies},
    {FaultForm::replies_torn, LinkMode::tear_replies},
    {FaultForm::name_leads_away, LinkMode::pass},
};

/// The mode that the fault gives a link; none: the fault is not about links.
std::optional<LinkMode> mode_of(FaultForm form) noexcept {
  for (const LinkFault& fault : link_faults) {
    if (fault.form == form) return fault.mode;
  }
  return std::nullopt;
}

/// The commands that break a node, and those that repair it. Empty commands are not sent.
struct ToldFault {
  FaultForm form;
  std::array<std::string_view, 2> to_break;
  std::array<std::string_view, 2> to_mend;
};
constexpr ToldFault told_faults[] = {
    {FaultForm::clients_killed, {"CLIENT KILL TYPE normal"}, {}},
    {FaultForm::replicas_cut, {"CLIENT KILL TYPE replica"}, {}},
    {FaultForm::scripts_flushed, {"SCRIPT FLUSH"}, {}},
    {FaultForm::node_flushed, {"FLUSHALL"}, {}},
    {FaultForm::memory_full, {"CONFIG SET maxmemory 1"}, {"CONFIG SET maxmemory 0"}},
    {FaultForm::node_evicts,
     {"CONFIG SET maxmemory-policy volatile-ttl", "CONFIG SET maxmemory 1"},
     {"CONFIG SET maxmemory 0", "CONFIG SET maxmemory-policy noeviction"}},
};

void tell(const FaultServer& server, const std::array<std::string_view, 2>& commands) {
  for (const std::string_view command : commands) {
    if (!command.empty()) server.command(command);
  }
}

bool is_of_service(FaultForm form) noexcept {
  return form == FaultForm::failover_ordered || form == FaultForm::primary_cut_off ||
         form == FaultForm::replica_exchanged || form == FaultForm::primary_taken_over ||
         form == FaultForm::slot_moved;
}

const ToldFault* told_fault(FaultForm form) noexcept {
  const auto* const found =
      std::find_if(std::begin(told_faults), std::end(told_faults),
                   [form](const ToldFault& fault) { return fault.form == form; });
  return found == std::end(told_faults) ? nullptr : found;
}

}  // namespace

Arena::Arena(const ArenaRequest& request, const cli::Signals& signals)
    : request_(request),
      signals_(signals),
      ports_(request.ports),
      clock_bases_(request.nodes),
      contenders_(request.contenders) {
  const ServiceKind* const service = request.service;
  const std::size_t servers = service == nullptr ? request.nodes : service->in_all(request.nodes);
  for (std::size_t node = 0; node < servers; ++node) {
    servers_.push_back(std::make_unique<FaultServer>(
        request.servers / fmt::format("node-{}", node), request.clocks, ports_, signals,
        service == nullptr ? FaultServer::Program::server : service->program));
  }
  if (request.strangers) {
    stranger_ = std::make_unique<FaultServer>(request.servers / "stranger", request.clocks, ports_,
                                              signals);
  }
  std::vector<std::vector<std::size_t>> links(contenders_.size());
  std::vector<std::vector<std::uint16_t>> link_ports(contenders_.size());
  for (const auto& server : servers_) {
    for (std::size_t slot = 0; slot < contenders_.size(); ++slot) {
      links[slot].push_back(proxy_.size());
      link_ports[slot].push_back(proxy_.add(server->port(), ports_.take_for_listener()));
    }
  }
  if (service != nullptr) {
    service_ = service->start({request.servers, servers_, proxy_, ports_, signals});
  }
  for (std::size_t slot = 0; slot < contenders_.size(); ++slot) {
    std::vector<std::string>& urls = contenders_[slot].urls;
    if (service_) {
      urls.push_back(service_->add_contender(links[slot], link_ports[slot]));
    } else {
      for (const std::uint16_t port : link_ports[slot]) urls.push_back(url_of(port));
    }
  }
  open_deployment();
}

Arena::~Arena() {
  if (operator_pid_ > 0) cli::kill_and_reap(operator_pid_);
  for (Contender& contender : contenders_) end(contender);
}

std::vector<std::string> Arena::node_urls() const {
  if (service_) return {service_->url()};
  std::vector<std::string> urls;
  for (const auto& server : servers_) urls.push_back(url_of(server->port()));
  return urls;
}

ClientOptions Arena::options() const {
  return contender_options(node_urls(),
                           request_.service == nullptr ? "" : request_.service->prefix);
}

void Arena::open_deployment() const {
  const auto opened = admin::bootstrap(options());
  if (!opened) throw std::runtime_error("chaos: " + opened.error().message);
}

void Arena::start_contenders() {
  for (std::size_t slot = 0; slot < contenders_.size(); ++slot) start_contender(slot);
}

void Arena::start_contender(std::size_t slot) {
  Contender& contender = contenders_[slot];
  ContenderRequest contender_request;
  contender_request.folder = request_.histories;
  contender_request.slot = slot;
  contender_request.generation = contender.generation++;
  contender_request.seed = request_.seed * 1'000'003 + slot * 1009 + contender_request.generation;
  contender_request.resources = request_.resources;
  contender_request.nodes = contender.urls;
  if (request_.service != nullptr) contender_request.prefix = request_.service->prefix;
  contender_request.unsafe = request_.unsafe;
  if (slot + 1 == contenders_.size()) contender_request.foreign = request_.foreign;
  cli::ChildRequest request;
  request.program = cli::platform::own_program();
  request.arguments = words_of(contender_request);
  request.arguments.insert(request.arguments.begin(), "quorum-lock");
  request.environment = cli::environment_of_helper();
  request.streams = cli::ChildRequest::Streams::none;
  const auto started = cli::ChildProcess::start(request, signals_.for_children());
  if (const int* error = std::get_if<int>(&started)) {
    throw std::runtime_error(
        fmt::format("chaos: a contender cannot be started: {}", std::strerror(*error)));
  }
  contender.pid = std::get<cli::ChildProcess>(started).pid();
  contender.state = Contender::State::running;
}

void Arena::end(Contender& contender) noexcept {
  if (contender.pid > 0) {
    // The whole group, because a foreign contender may have children.
    static_cast<void>(::kill(-contender.pid, SIGKILL));
    cli::kill_and_reap(contender.pid);
  }
  contender.pid = -1;
}

Fault Arena::aimed(Fault fault) const {
  if (service_ && fault.part) fault.node = service_->server_of(*fault.part, *fault.node);
  return fault;
}

void Arena::begin(const Fault& fault) {
  // A fault without a duration is never healed, so it is noted here.
  if (fault.begin == fault.end) needs_operator_ = needs_operator_ || fault.needs_operator;
  if (fault.form == FaultForm::machine_busy) {
    load_.emplace(signals_);
  } else if (const auto mode = mode_of(fault.form)) {
    const bool away = fault.form == FaultForm::name_leads_away;
    set_links(fault, {*mode, fault.amount, away ? stranger_->port() : std::uint16_t{0}});
  } else if (service_ && is_of_service(fault.form)) {
    service_->begin(fault);
  } else if (fault.node) {
    break_node(fault, *servers_[*fault.node]);
  } else {
    break_contenders(fault);
  }
}

void Arena::heal(const Fault& fault) {
  needs_operator_ = needs_operator_ || fault.needs_operator;
  if (fault.form == FaultForm::machine_busy) {
    load_.reset();
  } else if (mode_of(fault.form)) {
    set_links(fault, {});
    if (fault.form == FaultForm::name_leads_away) {
      // The server is blank again for its next use.
      stranger_->kill(FaultServer::Data::forgotten);
      stranger_->start();
    }
  } else if (service_ && is_of_service(fault.form)) {
    service_->heal(fault);
  } else if (fault.node) {
    mend_node(fault, *servers_[*fault.node]);
  } else {
    mend_contenders(fault);
  }
}

void Arena::set_links(const Fault& fault, LinkRule rule) {
  for (std::size_t slot = 0; slot < contenders_.size(); ++slot) {
    if ((fault.contenders >> slot & 1U) == 0) continue;
    proxy_.set(*fault.node * contenders_.size() + slot, rule);
  }
}

void Arena::break_node(const Fault& fault, FaultServer& server) {
  if (const ToldFault* told = told_fault(fault.form)) return tell(server, told->to_break);
  switch (fault.form) {
    case FaultForm::node_killed_empty:
      return server.kill(FaultServer::Data::forgotten);
    case FaultForm::node_killed_with_data:
      return server.kill(FaultServer::Data::kept);
    case FaultForm::node_restarted:
      return server.shut_down(FaultServer::Data::kept);
    case FaultForm::node_restarted_empty:
      return server.shut_down(FaultServer::Data::forgotten);
    case FaultForm::node_stopped:
      return server.stop();
    case FaultForm::clients_paused:
      return server.command(fmt::format("CLIENT PAUSE {} ALL", (fault.end - fault.begin).count()));
    case FaultForm::node_demoted:
      return server.command(fmt::format("REPLICAOF 127.0.0.1 {}", other_port(*fault.node)));
    case FaultForm::clock_leaps:
      return server.move_clock(clock_bases_[*fault.node] + fault.amount);
    case FaultForm::clock_set_back:
      // The clock never goes forward again: a new client could not notice so small a leap.
      clock_bases_[*fault.node] = std::min(clock_bases_[*fault.node], -fault.amount);
      return server.move_clock(clock_bases_[*fault.node]);
    default:
      return;
  }
}

void Arena::mend_node(const Fault& fault, FaultServer& server) {
  if (const ToldFault* told = told_fault(fault.form)) return tell(server, told->to_mend);
  switch (fault.form) {
    case FaultForm::node_killed_empty:
    case FaultForm::node_killed_with_data:
    case FaultForm::node_restarted:
    case FaultForm::node_restarted_empty:
      return server.start();
    case FaultForm::node_stopped:
      return server.go_on();
    case FaultForm::node_demoted:
      return server.command("REPLICAOF NO ONE");
    case FaultForm::clock_leaps:
      return server.move_clock(clock_bases_[*fault.node]);
    default:
      return;
  }
}

std::uint16_t Arena::other_port(std::size_t node) const {
  // A single node becomes a replica of itself: it only refuses to write for a while.
  return servers_[(node + 1) % servers_.size()]->port();
}

void Arena::call_operator() {
  constexpr auto pace = std::chrono::milliseconds{300};
  if (operator_pid_ > 0) {
    int status = 0;
    if (::waitpid(operator_pid_, &status, WNOHANG) != operator_pid_) return;
    operator_pid_ = -1;
    const bool opened = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (opened) needs_operator_ = false;
    // Contenders know the nodes by the names of their proxies. A node that is a member by such a
    // name, in a deployment that no longer exists, keeps the others out. Its operator has to delete
    // the marker.
    operator_failures_ = opened ? 0 : operator_failures_ + 1;
    if (operator_failures_ > 0 && operator_failures_ % 10 == 0 &&
        count_members().value_or(servers_.size()) <= servers_.size() / 2) {
      for (const auto& server : servers_) server->command("DEL redlock:node:marker");
    }
  }
  const auto now = std::chrono::steady_clock::now();
  if (!needs_operator_ || now < operator_called_ + pace) return;
  operator_called_ = now;
  cli::ChildRequest request;
  request.program = cli::platform::own_program();
  request.arguments = {"quorum-lock",  "bootstrap", "--quiet",
                       "--after-loss", "--max-ttl", fmt::format("{}ms", max_ttl.count())};
  request.environment = cli::environment_of_helper(
      {fmt::format("QUORUM_LOCK_NODES={}", fmt::join(node_urls(), ","))});
  request.streams = cli::ChildRequest::Streams::none;
  const auto started = cli::ChildProcess::start(request, signals_.for_children());
  if (const auto* child = std::get_if<cli::ChildProcess>(&started)) operator_pid_ = child->pid();
}

std::optional<std::size_t> Arena::count_members() const {
  const auto checked = admin::check(options());
  if (!checked) return std::nullopt;
  return static_cast<std::size_t>(std::count_if(
      checked->nodes.begin(), checked->nodes.end(),
      [](const auto& node) { return node.membership == admin::MemberReport::State::member; }));
}

bool Arena::is_closed_for_clients() const {
  const std::optional<std::size_t> members = count_members();
  return members && *members > 0 && *members <= node_urls().size() / 2;
}

void Arena::look_at_markers() {
  const auto now = std::chrono::steady_clock::now();
  if (needs_operator_ || now < looked_ + std::chrono::seconds{1}) return;
  looked_ = now;
  const bool closed = is_closed_for_clients();
  needs_operator_ = closed && was_closed_;
  was_closed_ = closed && !needs_operator_;
}

void Arena::break_contenders(const Fault& fault) {
  for (std::size_t slot = 0; slot < contenders_.size(); ++slot) {
    Contender& contender = contenders_[slot];
    const bool is_met = (fault.contenders >> slot & 1U) != 0;
    if (!is_met || contender.state != Contender::State::running) continue;
    if (fault.form == FaultForm::contender_killed) {
      end(contender);
      contender.state = Contender::State::killed;
    } else {
      static_cast<void>(::kill(-contender.pid, SIGSTOP));
    }
  }
}

void Arena::mend_contenders(const Fault& fault) {
  for (std::size_t slot = 0; slot < contenders_.size(); ++slot) {
    if ((fault.contenders >> slot & 1U) == 0) continue;
    if (fault.form == FaultForm::contender_killed) {
      start_contender(slot);
    } else if (contenders_[slot].state == Contender::State::running) {
      static_cast<void>(::kill(-contenders_[slot].pid, SIGCONT));
    }
  }
}

void Arena::look_after(const Recorder& recorder) {
  for (const auto& server : servers_) server->look_after();
  if (stranger_) stranger_->look_after();
  if (service_) service_->look_after(recorder);
  call_operator();
  for (std::size_t slot = 0; slot < contenders_.size(); ++slot) {
    Contender& contender = contenders_[slot];
    int status = 0;
    if (contender.state != Contender::State::running ||
        ::waitpid(contender.pid, &status, WNOHANG) != contender.pid) {
      continue;
    }
    contender.pid = -1;
    contender.state = Contender::State::done;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    recorder.write(fmt::format("died {} {} {}", slot, boot_now(),
                               WIFEXITED(status) ? fmt::format("exit-{}", WEXITSTATUS(status))
                                                 : fmt::format("signal-{}", WTERMSIG(status))));
    start_contender(slot);
  }
}

bool Arena::all_done() const noexcept {
  return std::all_of(contenders_.begin(), contenders_.end(), [](const Contender& contender) {
    return contender.state == Contender::State::done;
  });
}

}  // namespace redlock::chaos
