// A job queue in SQLite that any number of processes serve. One of them schedules, all of them
// work, and at most three jobs run at once. Kill or stop any process: the others go on.
//
//   job_service NAME PORT DATABASE NODE…
//
// POST /jobs/ID submits a job, GET /health and GET /metrics are for operators. The page
// tools/docs/pages/service.md explains this program, and tests/service/run injects faults into it.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

namespace {

constexpr std::size_t permits = 3;        // jobs that run at once, in all processes
constexpr auto step = 20ms;               // of a job; a worker checks its lease after each
constexpr int steps = 8;                  // of each job
constexpr std::int64_t patience = 5'000;  // ms until a job that was taken is offered again
constexpr auto ttl = 2s;                  // a scheduler or worker that dies is replaced within it

std::string name;  // of this process, set once before all threads

/// Milliseconds of the clock that all processes of this machine share.
std::int64_t now_ms() {
  return std::chrono::ceil<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// One line of JSON for each event. A line is one write, so that a killed process leaves whole
/// ones.
void log(std::string_view event, std::uint64_t number, std::string_view job = "") {
  const std::int64_t at = std::chrono::steady_clock::now().time_since_epoch() / 1us;
  std::printf(R"({"at":%lld,"instance":"%s","pid":%d,"event":"%.*s","number":%llu,"job":"%.*s"})"
              "\n",
              static_cast<long long>(at), name.c_str(), static_cast<int>(getpid()),
              static_cast<int>(event.size()), event.data(), static_cast<unsigned long long>(number),
              static_cast<int>(job.size()), job.data());
}

enum class Written { yes, nothing, failed };

/// A connection to the database, for one thread. Every member is one transaction.
class Database {
 public:
  explicit Database(const std::string& path) {
    sqlite3* raw = nullptr;
    if (sqlite3_open(path.c_str(), &raw) == SQLITE_OK) connection_.reset(raw);
    if (!connection_) return;
    sqlite3_busy_timeout(raw, 15'000);  // a stopped process may be in a transaction
    ready_ =
        run("PRAGMA journal_mode = WAL") &&
        run("CREATE TABLE IF NOT EXISTS jobs (id TEXT PRIMARY KEY, state TEXT NOT NULL,"
            " attempt INTEGER NOT NULL, since INTEGER NOT NULL);"
            "CREATE TABLE IF NOT EXISTS fence (one INTEGER PRIMARY KEY, term INTEGER NOT NULL);"
            "CREATE TABLE IF NOT EXISTS schedule (number INTEGER PRIMARY KEY AUTOINCREMENT,"
            " term INTEGER NOT NULL, instance TEXT NOT NULL, job TEXT, attempt INTEGER);"
            "CREATE TABLE IF NOT EXISTS effects (job TEXT NOT NULL, attempt INTEGER NOT NULL,"
            " instance TEXT NOT NULL, at INTEGER NOT NULL)");
  }
  [[nodiscard]] bool ready() const { return ready_; }

  /// Submitting a job again changes nothing.
  Written submit(std::string_view id) {
    return transaction([&] {
      return write("INSERT INTO jobs VALUES (?1, 'new', 0, 0) ON CONFLICT DO NOTHING", {id});
    });
  }

  /// The scheduler's write: offers new jobs, and those of silent workers, under the next attempt's
  /// number. `nothing`: a later term has written, and nothing is changed.
  Written schedule(redlock::FencingToken term) {
    const std::string number = to_string(term);
    const std::string earliest = std::to_string(now_ms() - patience);
    // After a restart of the machine its clock begins anew, and a job may seem to begin in future.
    const std::string latest = std::to_string(now_ms() + patience);
    return transaction([&] {
      const Written fenced = write(
          "INSERT INTO fence VALUES (1, CAST(?1 AS INTEGER)) ON CONFLICT (one) DO UPDATE"
          " SET term = excluded.term WHERE fence.term <= excluded.term",
          {number});
      if (fenced != Written::yes) return fenced;
      const bool all =
          write(
              "INSERT INTO schedule (term, instance, job, attempt)"
              " SELECT CAST(?1 AS INTEGER), ?2, id, attempt + 1 FROM jobs"
              " WHERE state = 'new' OR (state = 'running' AND since NOT BETWEEN"
              " CAST(?3 AS INTEGER) AND CAST(?4 AS INTEGER))",
              {number, name, earliest, latest}) != Written::failed &&
          write(
              "UPDATE jobs SET state = 'ready', attempt = attempt + 1 WHERE state = 'new'"
              " OR (state = 'running' AND since NOT BETWEEN"
              " CAST(?1 AS INTEGER) AND CAST(?2 AS INTEGER))",
              {earliest, latest}) != Written::failed;
      return all ? Written::yes : Written::failed;
    });
  }

  struct Job {
    std::string id;
    std::string attempt;
  };
  /// Takes a job that the scheduler offers, if there is one.
  std::optional<Job> take() {
    Job job;
    const Written taken = transaction([&] {
      return write(
          "UPDATE jobs SET state = 'running', since = CAST(?1 AS INTEGER) WHERE id ="
          " (SELECT id FROM jobs WHERE state = 'ready' LIMIT 1) RETURNING id, attempt",
          {std::to_string(now_ms())}, &job);
    });
    if (taken != Written::yes || job.id.empty()) return std::nullopt;
    return job;
  }

  /// The effect of a job, unless the scheduler has given the job to somebody else since.
  Written finish(const Job& job) {
    return transaction([&] {
      const Written done = write(
          "UPDATE jobs SET state = 'done' WHERE id = ?1 AND state = 'running'"
          " AND attempt = CAST(?2 AS INTEGER)",
          {job.id, job.attempt});
      if (done != Written::yes) return done;
      return write("INSERT INTO effects VALUES (?1, CAST(?2 AS INTEGER), ?3, CAST(?4 AS INTEGER))",
                   {job.id, job.attempt, name, std::to_string(now_ms())});
    });
  }

 private:
  bool run(const char* sql) {
    return sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK;
  }

  /// Commits what `body` wrote if it says yes, and else nothing.
  template <typename Body>
  Written transaction(const Body& body) {
    if (!run("BEGIN IMMEDIATE")) return Written::failed;
    Written result = body();
    if (result == Written::yes && !run("COMMIT")) result = Written::failed;
    if (result != Written::yes) run("ROLLBACK");
    return result;
  }

  Written write(const char* sql, const std::vector<std::string_view>& values, Job* row = nullptr) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(connection_.get(), sql, -1, &raw, nullptr) != SQLITE_OK) {
      return Written::failed;
    }
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(raw,
                                                                               sqlite3_finalize);
    int position = 0;
    for (const std::string_view value : values) {
      sqlite3_bind_text(raw, ++position, value.data(), static_cast<int>(value.size()),
                        SQLITE_TRANSIENT);
    }
    const int before = sqlite3_total_changes(connection_.get());
    int code = sqlite3_step(raw);
    for (; code == SQLITE_ROW; code = sqlite3_step(raw)) {
      if (row == nullptr) continue;
      const auto text = [&](int column) {
        return std::string(reinterpret_cast<const char*>(sqlite3_column_text(raw, column)));
      };
      *row = {text(0), text(1)};
    }
    if (code != SQLITE_DONE) return Written::failed;
    return sqlite3_total_changes(connection_.get()) > before ? Written::yes : Written::nothing;
  }

  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> connection_{nullptr, sqlite3_close};
  bool ready_ = false;
};

std::atomic<std::uint64_t> leading{0};  // the term of this process, or 0
std::atomic<std::uint64_t> finished{0};
std::atomic<std::uint64_t> refused{0};

/// Campaigns, and schedules while it leads.
void schedule(redlock::Client& client, const std::string& path, const std::stop_token& stop) {
  Database database(path);
  redlock::ElectionOptions me;
  me.candidate = name;
  me.ttl = ttl;
  redlock::Election election(client, "scheduler", me);
  while (!stop.stop_requested()) {
    auto leadership = election.campaign(stop);
    if (!leadership) {
      if (leadership.error().code != redlock::Errc::cancelled) {
        std::cerr << leadership.error().message << '\n';
      }
      return;
    }
    leading = leadership->term().value();
    log("leads", leading);
    do {
      // Does not check the deadline first: a process can stop between the check and the write. The
      // fence in the database refuses the write of a scheduler that was replaced.
      if (database.schedule(leadership->term()) == Written::nothing) {
        ++refused;
        log("refused", leading);
        break;
      }
      std::this_thread::sleep_for(50ms);
    } while (!stop.stop_requested());
    log("led", leading);
    leading = 0;
    static_cast<void>(leadership->resign());
  }
}

/// Runs one job at a time, each under a permit.
void work(redlock::Client& client, const std::string& path, const std::stop_token& stop) {
  Database database(path);
  while (!stop.stop_requested()) {
    auto permit = client.try_acquire_for(redlock::permit("jobs", permits), 1s, {.ttl = ttl}, stop);
    if (!permit) continue;
    const auto job = database.take();
    if (!job) {
      static_cast<void>(permit->release());
      std::this_thread::sleep_for(100ms);
      continue;
    }
    const std::string run = job->id + "/" + job->attempt;
    bool held = true;
    for (int i = 0; held && i < steps; ++i) {
      // The instant is read before the lease is checked: the permit was held then.
      const auto at = std::chrono::steady_clock::now().time_since_epoch() / 1us;
      held = permit->valid();
      if (!held) break;
      log(i == 0 ? "begins" : "works", static_cast<std::uint64_t>(at), run);
      std::this_thread::sleep_for(step);
    }
    // Here, too, the database decides, by the number of the attempt.
    const Written written = database.finish(*job);
    if (written == Written::yes) ++finished;
    if (written == Written::nothing) ++refused;
    log(written == Written::yes       ? "finished"
        : written == Written::nothing ? "late"
                                      : "unwritten",
        0, run);
    static_cast<void>(permit->release());
  }
}

/// Names are written into the log as they are.
bool is_job_id(std::string_view id) {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !id.empty() && id.size() <= 64 && id.find_first_not_of(allowed) == id.npos;
}

std::string answer(redlock::Client& client, Database& database, std::string_view request) {
  std::string status = "200 OK";
  std::string body;
  const auto metrics = client.metrics();
  constexpr std::string_view post = "POST /jobs/";
  if (request.starts_with(post)) {
    const std::string_view id =
        request.substr(post.size(), request.find(' ', post.size()) - post.size());
    const Written written = is_job_id(id) ? database.submit(id) : Written::nothing;
    if (written == Written::failed) status = "503 Service Unavailable";
    if (!is_job_id(id)) status = "400 Bad Request";
    body = written == Written::failed ? "busy\n" : is_job_id(id) ? "submitted\n" : "bad name\n";
  } else if (request.starts_with("GET /health ") && metrics) {
    std::size_t voters = 0;
    for (const auto& node : metrics->nodes) voters += node.may_vote ? 1 : 0;
    if (voters < metrics->quorum) status = "503 Service Unavailable";
    body = R"({"instance":")" + name + R"(","term":)" + std::to_string(leading) + R"(,"voters":)" +
           std::to_string(voters) + "}\n";
  } else if (request.starts_with("GET /metrics ") && metrics) {
    body = redlock::to_prometheus(*metrics, {{"instance", name}});
    body += "jobs_finished_total " + std::to_string(finished) + "\njobs_refused_writes_total " +
            std::to_string(refused) + "\n";
  } else {
    status = "404 Not Found";
  }
  return "HTTP/1.0 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

/// Answers one request at a time. A client that is silent is left after a second.
void serve(redlock::Client& client, const std::string& path, int listener) {
  Database database(path);
  for (;;) {
    const int peer = accept(listener, nullptr, nullptr);
    if (peer < 0) continue;
    const timeval limit{.tv_sec = 1, .tv_usec = 0};
    setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    char bytes[2048];
    const ssize_t size = recv(peer, bytes, sizeof bytes, 0);
    if (size > 0) {
      const std::string text = answer(client, database, {bytes, static_cast<std::size_t>(size)});
      static_cast<void>(send(peer, text.data(), text.size(), MSG_NOSIGNAL));
    }
    close(peer);
  }
}

int listen_on(long port) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool bound =
      bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  return bound && listen(listener, 64) == 0 ? listener : -1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::cerr << "usage: job_service NAME PORT DATABASE NODE...\n";
    return 64;
  }
  setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  name = argv[1];
  const std::string path = argv[3];
  // Before all threads, which inherit this.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  const int listener = listen_on(std::strtol(argv[2], nullptr, 10));
  if (listener < 0 || !Database(path).ready()) {
    std::cerr << "cannot use port " << argv[2] << " or database " << path << '\n';
    return 1;
  }
  redlock::ClientOptions options;
  options.name = name;
  options.nodes.assign(argv + 4, argv + argc);
  auto client = redlock::Client::create(options);
  if (!client) {
    std::cerr << client.error().message << '\n';
    return 1;
  }
  std::vector<std::jthread> threads;
  threads.emplace_back([&](const std::stop_token& stop) { schedule(*client, path, stop); });
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&](const std::stop_token& stop) { work(*client, path, stop); });
  }
  std::thread(serve, std::ref(*client), path, listener).detach();
  log("starts", 0);
  int signal = 0;
  sigwait(&signals, &signal);
  for (auto& thread : threads) thread.request_stop();
  threads.clear();
  log("ends", 0);
  std::fflush(stdout);
  std::_Exit(0);  // the thread that serves has no end, and the leases are released
}
