// A table of SQLite that refuses a late writer: each row keeps the largest fencing token that has
// written it. The program stops a holder between the check of its lease and its write, and shows
// what becomes of that write: first with the comparison of the tokens, then without.
// tools/docs/pages/fencing.md has the SQL for PostgreSQL, and for transactions.

#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

namespace {

enum class Tokens { compared, ignored };

class Reports {
 public:
  /// A file, which the processes share by its name.
  Reports(const std::string& file, Tokens tokens) : tokens_(tokens) {
    sqlite3* raw = nullptr;
    if (sqlite3_open(file.c_str(), &raw) == SQLITE_OK) database_.reset(raw);
    const char* const table =
        "CREATE TABLE IF NOT EXISTS report"
        " (name TEXT PRIMARY KEY, body TEXT NOT NULL, fence INTEGER NOT NULL)";
    ready_ = database_ && sqlite3_busy_timeout(raw, 10'000) == SQLITE_OK &&
             sqlite3_exec(raw, table, nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  [[nodiscard]] bool ready() const { return ready_; }

  /// Compares and writes in one statement. False: a newer holder has written.
  bool write(const std::string& name, const std::string& body, redlock::FencingToken token) {
    std::string upsert =
        "INSERT INTO report VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE"
        " SET body = excluded.body, fence = excluded.fence";
    if (tokens_ == Tokens::compared) upsert += " WHERE report.fence <= excluded.fence";
    const Statement statement = prepare(upsert);
    if (!statement) return false;
    sqlite3_bind_text(statement.get(), 1, name.c_str(), -1, SQLITE_STATIC);
    sqlite3_bind_text(statement.get(), 2, body.c_str(), -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement.get(), 3, static_cast<sqlite3_int64>(token.value()));  // < 2^53
    const int changes = sqlite3_total_changes(database_.get());
    return sqlite3_step(statement.get()) == SQLITE_DONE &&
           sqlite3_total_changes(database_.get()) > changes;
  }

  [[nodiscard]] std::string read(const std::string& name) {
    const Statement statement = prepare("SELECT body FROM report WHERE name = ?1");
    if (!statement) return {};
    sqlite3_bind_text(statement.get(), 1, name.c_str(), -1, SQLITE_STATIC);
    if (sqlite3_step(statement.get()) != SQLITE_ROW) return {};
    return reinterpret_cast<const char*>(sqlite3_column_text(statement.get(), 0));
  }

 private:
  using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

  Statement prepare(const std::string& sql) {
    sqlite3_stmt* raw = nullptr;
    sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &raw, nullptr);
    return {raw, sqlite3_finalize};
  }

  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> database_{nullptr, sqlite3_close};
  Tokens tokens_;
  bool ready_ = false;
};

struct Scene {
  redlock::ClientOptions options{};
  std::string file{};
  Tokens tokens = Tokens::compared;
};

const std::string from_holder = "from B";
const std::string too_late = "from A, too late";

/// The holder that is stopped. Returns 0 if it has written, and 1 if the table refused.
int be_stopped(const Scene& scene) {
  auto client = redlock::Client::create(scene.options);
  Reports reports(scene.file, scene.tokens);
  if (!client || !reports.ready()) return 2;
  auto lease = client->try_acquire_for("report/july", 30s, {.ttl = 2s, .fencing = true});
  if (!lease || !lease->fencing_token()) return 3;
  const redlock::FencingToken token = lease->fencing_token().value();
  if (!lease->valid()) return 4;
  std::cout << "A holds the lock, with token " << token << ", and is stopped" << std::endl;
  // Nothing can prevent a pause here, between the check and the write.
  std::raise(SIGSTOP);
  return reports.write("july", too_late, token) ? 0 : 1;
}

/// The holder after it, which lets A go on when it has written.
int take_over(const Scene& scene, pid_t stopped) {
  auto client = redlock::Client::create(scene.options);
  Reports reports(scene.file, scene.tokens);
  if (!client || !reports.ready()) return 5;
  auto lease = client->try_acquire_for("report/july", 30s, {.ttl = 10s, .fencing = true});
  if (!lease || !lease->fencing_token()) return 6;
  const redlock::FencingToken token = lease->fencing_token().value();
  if (!reports.write("july", from_holder, token)) return 7;
  std::cout << "B holds the lock, with token " << token << ", and has written" << std::endl;

  int status = 0;
  if (kill(stopped, SIGCONT) != 0 || waitpid(stopped, &status, 0) != stopped) return 8;
  if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) return 9;
  const bool refused = WEXITSTATUS(status) == 1;
  std::cout << "A goes on and writes: it is " << (refused ? "refused" : "not refused")
            << "\nthe report is " << reports.read("july") << std::endl;
  if (refused != (scene.tokens == Tokens::compared)) return 10;
  if (reports.read("july") != (refused ? from_holder : too_late)) return 11;
  return reports.write("july", "again by B", token) ? 0 : 12;  // an equal token is allowed
}

int play(const Scene& scene) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    // A stopped process must not outlive the program. And no destructor may run here: it would end
    // what the parent has started.
    const bool bound = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
    std::_Exit(bound ? be_stopped(scene) : 13);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, WUNTRACED) != child) return 14;
  if (!WIFSTOPPED(status)) return WEXITSTATUS(status);
  return take_over(scene, child);
}

}  // namespace

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  Scene scene;
  scene.options.nodes = nodes.urls();
  const auto file = std::filesystem::temp_directory_path() / ("reports" + std::to_string(getpid()));
  scene.file = file;

  int result = 0;
  for (const Tokens tokens : {Tokens::compared, Tokens::ignored}) {
    scene.tokens = tokens;
    std::cout << (tokens == Tokens::compared ? "tokens are compared:" : "\ntokens are ignored:")
              << std::endl;
    std::filesystem::remove(file);
    result = play(scene);
    if (result != 0) break;
  }
  std::filesystem::remove(file);
  if (result != 0) std::cerr << "step " << result << " of this program failed\n";
  return result;
}
