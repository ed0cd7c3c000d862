// The dashboard and the alert rules for operators.

#include <gtest/gtest.h>

#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "redlock/metrics.hpp"
#include "support/process.hpp"
#include "support/programs.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

std::string monitoring_file(const std::string& name) {
  return pages_folder() + "/monitoring/" + name;
}

/// The names that begin with redlock_, without what a histogram's samples add.
std::set<std::string> metrics_named_in(std::string_view text) {
  std::set<std::string> names;
  for (std::size_t at = 0; (at = text.find("redlock_", at)) != std::string_view::npos;) {
    std::size_t end = at;
    while (end < text.size() && (std::isalnum(text[end]) != 0 || text[end] == '_')) ++end;
    std::string name(text.substr(at, end - at));
    for (const std::string_view suffix : {"_bucket", "_sum", "_count"}) {
      if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    }
    names.insert(name);
    at = end;
  }
  return names;
}

std::set<std::string> all_metrics() { return metrics_named_in(to_prometheus(Metrics{})); }

TEST(Monitoring, TheDashboardIsJsonAndShowsEveryMetric) {
  const std::string text = read_file(monitoring_file("grafana.json"));
  const auto dashboard = nlohmann::json::parse(text, nullptr, false);
  ASSERT_TRUE(dashboard.is_object());
  std::set<std::string> shown;
  std::set<int> ids;
  for (const auto& panel : dashboard.at("panels")) {
    EXPECT_TRUE(ids.insert(panel.at("id").get<int>()).second) << panel.at("title");
    for (const auto& target : panel.value("targets", nlohmann::json::array())) {
      shown.merge(metrics_named_in(target.at("expr").get<std::string>()));
    }
  }
  EXPECT_EQ(shown, all_metrics());
}

TEST(Monitoring, TheAlertRulesAreAboutMetricsThatThereAre) {
  const std::set<std::string> metrics = all_metrics();
  const std::set<std::string> named = metrics_named_in(read_file(monitoring_file("alerts.yml")));
  EXPECT_FALSE(named.empty());
  for (const std::string& name : named) EXPECT_TRUE(metrics.contains(name)) << name;
}

TEST(Monitoring, TheAlertRulesAreAcceptedByPromtool) {
  if (run_process({"sh", "-c", "command -v promtool"}).exit_code != 0) {
    GTEST_SKIP() << "promtool is not installed: tools/install-packages full";
  }
  const ProcessResult checked =
      run_process({"promtool", "check", "rules", monitoring_file("alerts.yml")});
  EXPECT_EQ(checked.exit_code, 0) << checked.errors << checked.output;
}

}  // namespace
}  // namespace redlock::test
