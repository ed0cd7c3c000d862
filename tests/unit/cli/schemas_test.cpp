// The JSON schemas list every name that the library and the verbs can give. The output of verbs is
// validated by tests/documentation/schemas_test, which cannot see names that they did not print.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "bench/bench_modes.hpp"
#include "chaos/schedule.hpp"
#include "common/session/json.hpp"
#include "redlock/deployment.hpp"
#include "redlock/error.hpp"
#include "redlock/inspection.hpp"
#include "redlock/listing.hpp"
#include "redlock/report.hpp"
#include "support/programs.hpp"
#include "support/temp_dir.hpp"

namespace redlock::cli {
namespace {

using Json = nlohmann::json;
using Names = std::set<std::string>;
using Pointer = Json::json_pointer;

Json schema(const std::string& name) {
  return Json::parse(test::read_file(test::pages_folder() + "/schemas/" + name + ".json"));
}

Names listed(const std::string& name, const std::string& where) {
  return schema(name).at(Pointer(where)).get<Names>();
}

/// A value that no enumerator has is "unknown" or empty.
template <typename Enumeration>
Names names_of() {
  Names names;
  for (int value = 0; value < 64; ++value) {
    const std::string_view name = to_string(static_cast<Enumeration>(value));
    if (!name.empty() && name != "unknown") names.emplace(name);
  }
  return names;
}

TEST(CliSchemas, ListEveryNameOfTheLibrary) {
  EXPECT_EQ(listed("common", "/$defs/vote/properties/vote/enum"), names_of<Vote>());
  Names kinds = names_of<LockKind>();
  kinds.insert("semaphore");
  EXPECT_EQ(listed("common", "/$defs/kind/enum"), kinds);
  EXPECT_EQ(listed("common", "/$defs/state/enum"), names_of<Inspection::State>());
  EXPECT_EQ(listed("common", "/$defs/membership/enum"), names_of<admin::MemberReport::State>());
  EXPECT_EQ(listed("list", "/properties/locks/items/properties/state/enum"),
            names_of<admin::ListedLock::State>());
  EXPECT_EQ(listed("doctor", "/properties/problems/items/properties/id/enum"),
            names_of<admin::Finding::Kind>());
  EXPECT_EQ(listed("log", "/properties/vote/enum"), names_of<Vote>());
}

TEST(CliSchemas, ListEveryOutcome) {
  Names outcomes;
  for (int value = 0; value < 64; ++value) {
    if (const auto outcome = outcome_of(static_cast<Errc>(value))) outcomes.emplace(*outcome);
  }
  EXPECT_EQ(listed("common", "/$defs/refused/properties/outcome/enum"), outcomes);
  EXPECT_EQ(listed("release", "/oneOf/1/properties/outcome/enum"), outcomes);
}

TEST(CliSchemas, ListEveryFaultAndEveryModeOfBench) {
  const Json faults = schema("chaos").at(Pointer("/properties/faults/required"));
  Names kinds;
  for (const chaos::FaultKind kind : chaos::all_fault_kinds) kinds.emplace(to_string(kind));
  EXPECT_EQ(faults.get<Names>(), kinds);
  const std::string page = test::read_file(test::pages_folder() + "/CLI.md");
  kinds.merge(listed("chaos", "/properties/violations/items/properties/kind/enum"));
  for (const std::string& kind : kinds) {
    EXPECT_NE(page.find("\n| `" + kind + "` | "), std::string::npos) << "CLI.md lacks " << kind;
  }
  const Json bench = schema("bench");
  Names described;
  for (const Json& form : bench.at("oneOf")) {
    if (form.contains("properties")) described.insert(form.at(Pointer("/properties/mode/const")));
  }
  Names modes;
  for (const BenchMode& mode : bench_modes()) modes.emplace(mode.name);
  EXPECT_EQ(described, modes);
}

}  // namespace
}  // namespace redlock::cli
