#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "chaos/page_embedded.hpp"
#include "chaos/report/report.hpp"
#include "common/text/json_line.hpp"
#include "common/text/text.hpp"

namespace redlock::chaos {
namespace {

using PageJson = nlohmann::ordered_json;

/// "0, 2", "all", or empty.
std::string contenders_of(const FaultRecord& fault, std::size_t contenders) {
  const std::uint64_t everybody = (std::uint64_t{1} << contenders) - 1;
  if (fault.contenders == everybody && contenders > 1) return "all";
  std::string text;
  for (std::size_t slot = 0; slot < contenders; ++slot) {
    if ((fault.contenders >> slot & 1U) == 0) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", slot);
  }
  return text;
}

class PageData {
 public:
  explicit PageData(const History& history) : history_(history) {}

  /// The records that the page draws.
  [[nodiscard]] PageJson timeline() const {
    BootTime last = history_.finished.value_or(history_.begin + history_.duration);
    for (const LeaseRecord& lease : history_.leases) last = std::max(last, lease.end());
    PageJson json{{"contenders", history_.contenders}, {"end_us", us(last) + 100'000}};
    json["healed_us"] = history_.healed ? PageJson(us(*history_.healed)) : PageJson();
    json["command"] = cli::as_utf8(repeat_command(history_));
    // Each permit that a contender held has a lane of its own.
    std::set<std::string> resources(history_.resources.begin(), history_.resources.end());
    json["leases"] = PageJson::array();
    for (const LeaseRecord& lease : history_.leases) {
      if (permit_of(lease.resource)) resources.insert(lease.resource);
      if (lease.end() > lease.granted) json["leases"].push_back(entry_of(lease));
    }
    json["resources"] = resources;
    json["faults"] = PageJson::array();
    for (const FaultRecord& fault : history_.faults) json["faults"].push_back(entry_of(fault));
    std::stable_sort(
        json["faults"].begin(), json["faults"].end(),
        [](const PageJson& a, const PageJson& b) { return a.at("from_us") < b.at("from_us"); });
    return json;
  }

 private:
  [[nodiscard]] std::int64_t us(BootTime at) const { return (at - history_.begin) / 1000; }

  [[nodiscard]] PageJson entry_of(const LeaseRecord& lease) const {
    PageJson resources = lease.also;
    resources.push_back(lease.resource);
    return {{"contender", lease.contender},
            {"name", lease.name},
            {"resources", std::move(resources)},
            {"group", lease.group},
            {"token", lease.token},
            {"asked_us", us(lease.asked)},
            {"granted_us", us(lease.granted)},
            {"until_us", us(lease.end())},
            {"end", lease.lost    ? "lost"
                    : lease.ended ? "released"
                                  : "ran out"}};
  }

  [[nodiscard]] PageJson entry_of(const FaultRecord& fault) const {
    return {{"kind", fault.kind},
            {"what", fault.what},
            {"node", fault.node < 0 ? PageJson() : PageJson(fault.node)},
            {"contenders", contenders_of(fault, history_.contenders)},
            {"from_us", us(fault.begin)},
            {"until_us", us(fault.end)}};
  }

  const History& history_;
};

}  // namespace

std::string html_report(const History& history, const Judgement& judgement, Ending ending) {
  PageJson run = report_object(history, judgement, ending);
  run["timeline"] = PageData(history).timeline();
  run["timeline"]["refused_writes"] = judgement.refusals;
  constexpr std::string_view place = "@RUN@";
  std::string page(page_text);
  const std::size_t at = page.find(place);
  page.erase(at, place.size());
  std::string data = cli::json_line(run);
  // Nothing in the data may end its element of the page.
  for (std::size_t i = 0; (i = data.find('<', i)) != std::string::npos;) {
    data.replace(i, 1, "\\u003c");
  }
  page.insert(at, data);
  return page;
}

}  // namespace redlock::chaos
