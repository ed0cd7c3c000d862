#include "quorum-lock/supervise/lock_status.hpp"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/session/output.hpp"
#include "common/text/json_line.hpp"
#include "common/text/text.hpp"

namespace redlock::cli {
namespace {

constexpr std::string_view status_option = "status-listen";

}  // namespace

StatusTarget status_target_of(const Arguments& given) {
  StatusTarget target;
  if (const auto listen = given.text(std::string(status_option))) {
    target.listen = parse_listen_address(status_option, *listen);
  }
  return target;
}

LockStatus::LockStatus(StatusTarget target, Subject subject, const Target& lock, Client& client,
                       const MetricsExport& metrics, const Settings& settings)
    : target_(std::move(target)), subject_(std::move(subject)) {
  if (!target_.listen) return;
  HttpListener listener(status_option, *target_.listen);
  if (listener.chose_port()) {
    print_note(settings,
               fmt::format("status: http://{}/", show_listen_address(listener.address())));
  }
  server_.emplace(std::move(listener), [this, &metrics](std::string_view path) {
    return std::optional(path == "/metrics" ? metrics.page() : page());
  });
  // Several resources, and permits, have no single holder.
  if (lock.permits() > 0 || !lock.more_resources().empty()) return;
  watcher_ = std::jthread([this, &client, resource = lock.resource()](const std::stop_token& stop) {
    // If the watch fails, the name is not known.
    static_cast<void>(client.watch(resource, [this](const Inspection& seen) { note(seen); }, stop,
                                   {.poll_interval = std::chrono::seconds(1)}));
  });
}

void LockStatus::hold(const Lease& lease) {
  const std::lock_guard lock(mutex_);
  lease_ = &lease;
  phase_ = Phase::holding;
  if (!target_.name.empty()) watcher_.request_stop();
}

void LockStatus::end() noexcept {
  const std::lock_guard lock(mutex_);
  lease_ = nullptr;
  phase_ = Phase::ended;
  watcher_.request_stop();
}

void LockStatus::note(const Inspection& seen) {
  const std::lock_guard lock(mutex_);
  seen_token_ = seen.holder;
  seen_name_ = seen.holder_name;
}

std::string LockStatus::own_name() const {
  if (!target_.name.empty()) return target_.name;
  return seen_token_ == lease_->token() ? seen_name_ : std::string();
}

HttpPage LockStatus::page() const {
  const std::lock_guard lock(mutex_);
  // A lease that ran out while this process was stopped is over, even if nobody has reported that.
  const bool holds = phase_ == Phase::holding && lease_->valid();
  const std::string_view role = holds                      ? target_.holding
                                : phase_ == Phase::waiting ? target_.waiting
                                                           : "ended";
  nlohmann::ordered_json json{{"resource", as_utf8(subject_.resource)}};
  for (const std::string& resource : subject_.resources) {
    json["resources"].push_back(as_utf8(resource));
  }
  const bool is_permit = holds && lease_->resource() != subject_.resource;
  if (is_permit && subject_.resources.empty()) json["permit"] = as_utf8(lease_->resource());
  json["role"] = role;
  json["holder_name"] = text_or_null(holds ? own_name() : seen_name_);
  if (holds) {
    if (const auto number = lease_->fencing_token()) json["fencing_token"] = number->value();
    json["remaining_ms"] =
        std::chrono::floor<std::chrono::milliseconds>(lease_->remaining()).count();
  }
  return {holds ? "200 OK" : "503 Service Unavailable", "application/json", json_line(json)};
}

}  // namespace redlock::cli
