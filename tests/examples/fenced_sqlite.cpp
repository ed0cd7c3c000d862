// A table of SQLite that refuses a late writer: each row keeps the largest fencing token that has
// written it. tools/docs/pages/fencing.md has the SQL for PostgreSQL, and for transactions.

#include <sqlite3.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

namespace {

class Reports {
 public:
  /// In memory; a file is shared by its name.
  Reports() {
    sqlite3* raw = nullptr;
    if (sqlite3_open(":memory:", &raw) == SQLITE_OK) database_.reset(raw);
    const char* const table =
        "CREATE TABLE report (name TEXT PRIMARY KEY, body TEXT NOT NULL, fence INTEGER NOT NULL)";
    ready_ = database_ && sqlite3_exec(raw, table, nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  [[nodiscard]] bool ready() const { return ready_; }

  /// Compares and writes in one statement. False: a newer holder has written.
  bool write(const std::string& name, const std::string& body, redlock::FencingToken token) {
    static constexpr const char* upsert =
        "INSERT INTO report VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE"
        " SET body = excluded.body, fence = excluded.fence WHERE report.fence <= excluded.fence";
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(database_.get(), upsert, -1, &raw, nullptr) != SQLITE_OK) return false;
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(raw,
                                                                               sqlite3_finalize);
    sqlite3_bind_text(raw, 1, name.c_str(), -1, SQLITE_STATIC);
    sqlite3_bind_text(raw, 2, body.c_str(), -1, SQLITE_STATIC);
    sqlite3_bind_int64(raw, 3, static_cast<sqlite3_int64>(token.value()));  // below 2^53
    const int changes = sqlite3_total_changes(database_.get());
    return sqlite3_step(raw) == SQLITE_DONE && sqlite3_total_changes(database_.get()) > changes;
  }

 private:
  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> database_{nullptr, sqlite3_close};
  bool ready_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  auto client = redlock::Client::create(options);
  Reports reports;
  if (!client || !reports.ready()) return 1;

  const redlock::AcquireOptions fenced{.ttl = 5s, .fencing = true};
  auto early = client->try_acquire_for("report/july", 10s, fenced);
  if (!early || !early->fencing_token()) return 2;
  const redlock::FencingToken early_token = early->fencing_token().value();
  // Its machine is paused now, past the end of the lease. The release stands for that end.
  if (!early->release()) return 3;

  auto late = client->try_acquire_for("report/july", 10s, fenced);
  if (!late || !late->fencing_token()) return 4;
  if (!reports.write("july", "by the holder", late->fencing_token().value())) return 5;

  // The machine goes on, and does not know that its lease is over.
  if (reports.write("july", "too late", early_token)) return 6;
  std::cout << "token " << early_token << " was refused after " << late->fencing_token().value()
            << '\n';
  return reports.write("july", "again by the holder", late->fencing_token().value()) ? 0 : 7;
}
