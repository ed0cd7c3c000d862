#include "quorum-lock/supervise/metrics_export.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

#include "common/session/output.hpp"
#include "common/system/written_file.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "redlock/metrics.hpp"

namespace redlock::cli {
namespace {

constexpr auto file_period = std::chrono::seconds(5);
constexpr std::string_view listen_option = "metrics-listen";

}  // namespace

MetricsTargets metrics_targets_of(const Arguments& given) {
  MetricsTargets targets;
  targets.file = given.text("metrics-file");
  if (targets.file) require_writable("metrics-file", *targets.file);
  if (const auto listen = given.text(std::string(listen_option))) {
    targets.listen = parse_listen_address(listen_option, *listen);
  }
  targets.required = given.flag("metrics-required");
  return targets;
}

MetricsExport::MetricsExport(MetricsTargets targets, std::string_view resource,
                             const Client& client, const Settings& settings)
    : targets_(std::move(targets)), resource_(as_utf8(resource)), client_(client) {
  if (targets_.listen) listen(*targets_.listen, settings);
  if (targets_.file) {
    file_writer_ = std::jthread([this](const std::stop_token& stop) { keep_file(stop); });
  }
}

MetricsExport::~MetricsExport() {
  if (!file_writer_.joinable()) return;
  file_writer_.request_stop();
  file_writer_.join();
  write_file();
}

void MetricsExport::listen(const ListenAddress& address, const Settings& settings) try {
  HttpListener listener(listen_option, address);
  if (listener.chose_port()) {
    print_note(settings,
               fmt::format("metrics: http://{}/metrics", show_listen_address(listener.address())));
  }
  server_.emplace(std::move(listener), [this](std::string_view path) {
    return path == "/metrics" ? std::optional(page()) : std::nullopt;
  });
} catch (const UsageError& error) {
  if (targets_.required) throw;
  print_warning(error.what());
}

HttpPage MetricsExport::page() const {
  const Result<Metrics> metrics = client_.metrics();
  return {"200 OK", "text/plain; version=0.0.4; charset=utf-8",
          metrics ? to_prometheus(*metrics, {{"resource", resource_}}) : std::string()};
}

void MetricsExport::write_file() {
  const int error = replace_file(*targets_.file, page().body);
  if (error != 0 && !file_failed_) {
    print_warning(fmt::format("--metrics-file: '{}' cannot be written: {}",
                              as_printable(*targets_.file), std::strerror(error)));
  }
  file_failed_ = error != 0;
}

void MetricsExport::keep_file(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  do {
    write_file();
  } while (!stopped_.wait_for(lock, stop, file_period, [&stop] { return stop.stop_requested(); }));
}

}  // namespace redlock::cli
