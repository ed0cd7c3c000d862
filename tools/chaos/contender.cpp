#include "chaos/contender.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "chaos/checker/checker_history.hpp"
#include "chaos/counter_file.hpp"
#include "chaos/foreign.hpp"
#include "chaos/recorder.hpp"
#include "chaos/terms.hpp"
#include "chaos/unsafe_contender.hpp"
#include "common/system/descriptor.hpp"
#include "common/text/arguments.hpp"
#include "redlock/client.hpp"
#include "redlock/election.hpp"

namespace redlock::chaos {
namespace {

using std::chrono::milliseconds;

/// The loop's thread may report the loss of a lease before this thread has recorded its grant.
class LossNote {
 public:
  LossNote(const Recorder& recorder, std::uint64_t lease) : recorder_(recorder), lease_(lease) {}

  void lost() {
    const std::lock_guard lock(mutex_);
    lost_at_ = boot_now();
    if (granted_) record();
  }
  void granted(std::string_view record_of_grant) {
    const std::lock_guard lock(mutex_);
    recorder_.write(record_of_grant);
    granted_ = true;
    if (lost_at_) record();
  }

 private:
  void record() const { recorder_.write(fmt::format("ended {} {} lost", lease_, *lost_at_)); }

  const Recorder& recorder_;
  const std::uint64_t lease_;
  std::mutex mutex_;
  std::optional<std::int64_t> lost_at_;
  bool granted_ = false;
};

/// 0: none.
std::uint64_t number_of(std::optional<FencingToken> token) {
  return token.value_or(FencingToken()).value();
}

/// A lease in use. Records each answer of the library about the lease.
class Holding {
 public:
  Holding(const Recorder& recorder, std::uint64_t number, Lease lease)
      : recorder_(recorder),
        number_(number),
        lease_(std::move(lease)),
        told_(lease_.valid_until()) {}

  [[nodiscard]] Lease& lease() noexcept { return lease_; }
  [[nodiscard]] std::uint64_t token() const { return number_of(lease_.fencing_token()); }

  [[nodiscard]] bool valid() {
    const std::int64_t asked = boot_now();
    const bool valid = lease_.valid();
    const auto until = lease_.valid_until();
    if (until != told_) {
      recorder_.write(fmt::format("deadline {} {} {}", number_, boot_now(), nanoseconds(until)));
      told_ = until;
    }
    if (valid) record("used", asked);
    return valid;
  }

  /// Records the end. To be called right before the release is sent.
  void ends() const { recorder_.write(fmt::format("ended {} {} released", number_, boot_now())); }

  void record(std::string_view what) const { record(what, boot_now()); }

 private:
  void record(std::string_view what, std::int64_t at) const {
    recorder_.write(fmt::format("{} {} {}", what, number_, at));
  }

  const Recorder& recorder_;
  std::uint64_t number_;
  Lease lease_;
  BootClock::time_point told_;
};

/// Which lock of the family a turn takes.
enum class Kind { alone, several, reader, owner, permit, interval };

class Contender {
 public:
  Contender(const ContenderRequest& request, Client client)
      : request_(request),
        recorder_(request.folder / history_file_name(request.slot, request.generation)),
        dice_(request.seed),
        client_(std::move(client)) {
    for (const std::string& resource : request.resources) {
      counters_.emplace_back(request.folder / counter_file_name(resource));
    }
  }

  void run() {
    while (!healed()) {
      const std::size_t resource = dice_.below(request_.resources.size());
      if (dice_.one_in(40)) break_once(request_.resources[resource]);
      const Kind kind = draw_kind();
      const bool granted =
          dice_.one_in(40) ? lead_once(draw_wait()) : hold_once(resource, kind, draw_wait(kind));
      if (!granted) pause(milliseconds{1}, milliseconds{10});
    }
    // All contenders do this at the same time, and each begins with another resource.
    for (std::size_t i = 0; i < request_.resources.size(); ++i) {
      const std::size_t resource = (i + request_.slot) % request_.resources.size();
      while (!hold_once(resource, Kind::alone, milliseconds{2000})) {
        pause(milliseconds{1}, milliseconds{50});
      }
    }
  }

 private:
  [[nodiscard]] bool healed() const {
    struct stat status {};
    return ::stat((request_.folder / healed_file).c_str(), &status) == 0;
  }

  void pause(milliseconds least, milliseconds most) {
    std::this_thread::sleep_for(dice_.between(least, most));
  }

  Kind draw_kind() {
    const std::size_t dice = dice_.below(40);
    if (dice < 17) return Kind::alone;
    if (dice < 22) return Kind::several;
    if (dice < 29) return Kind::reader;
    if (dice < 35) return Kind::owner;
    return dice < 39 ? Kind::permit : Kind::interval;
  }

  /// Few calls wait for an interval: little more than its end is worth a wait.
  milliseconds draw_wait(Kind kind) {
    return kind == Kind::interval && !dice_.one_in(4) ? milliseconds{0} : draw_wait();
  }

  /// Some calls only ask, some wait for a moment, and some wait until they are served.
  milliseconds draw_wait() {
    if (dice_.one_in(6)) return milliseconds{0};
    return dice_.one_in(3) ? milliseconds{4000} : dice_.between(milliseconds{1}, milliseconds{300});
  }

  Target draw_target(Kind kind, std::size_t resource) {
    const std::string& name = request_.resources[resource];
    switch (kind) {
      case Kind::alone:
        return name;
      case Kind::interval:
        return redlock::interval(interval_resource, interval);
      case Kind::several:
        return all_of({name, request_.resources[(resource + 1) % request_.resources.size()]});
      case Kind::reader:
        return shared(name);
      case Kind::owner:
        return owned(name, dice_.one_in(2) ? "x" : "y");
      case Kind::permit:
        return permit(name, permits);
    }
    return name;
  }

  /// The group that may share it; empty: none.
  static std::string group_of(const Target& target) {
    if (target.kind() == Target::Kind::shared) return "readers";
    return target.kind() == Target::Kind::owned ? "owner-" + target.owner() : std::string();
  }

  bool hold_once(std::size_t resource, Kind kind, milliseconds wait) {
    const std::uint64_t number = ++leases_;
    const auto note = std::make_shared<LossNote>(recorder_, number);
    AcquireOptions options;
    const milliseconds ttl = dice_.between(shortest_ttl, longest_ttl);
    options.ttl = ttl;
    const bool can_be_fenced =
        kind == Kind::alone || kind == Kind::several || kind == Kind::interval;
    options.fencing = can_be_fenced && !dice_.one_in(4);
    const Target target = draw_target(kind, resource);
    const std::string group = group_of(target);
    options.renew = dice_.one_in(2);
    std::string asked_for = target.resource();
    for (const std::string& other : target.more_resources()) asked_for += "," + other;
    if (target.permits() > 0) asked_for += "#";
    options.on_lost = [note](const Error&) { note->lost(); };

    const std::int64_t asked = boot_now();
    auto lease = client_.try_acquire_for(target, wait, std::move(options));
    const std::int64_t answered = boot_now();
    if (!lease) {
      failed(asked_for, asked, answered, lease.error());
      return false;
    }
    // Two records at once: a lease without its token could not be told from one that is not broken.
    note->granted(fmt::format(
        "granted {} {} {} {} {} {} {}{}{}\ntoken {} {}", number, fmt::join(lease->resources(), ","),
        asked, answered, nanoseconds(lease->valid_until()), std::chrono::nanoseconds(ttl).count(),
        number_of(lease->fencing_token()), group.empty() ? "" : " ", group, number,
        lease->token().view()));
    Holding holding(recorder_, number, std::move(*lease));
    use(holding, kind == Kind::interval ? nullptr : &counters_[resource], ttl);
    part_with(holding);
    return true;
  }

  /// As an operator: breaks one of the locks on the resource, with a delay or without. Without one,
  /// only a lease of ours, whose history says that it was broken.
  void break_once(const std::string& resource) {
    std::vector<Token> tokens;
    // Most leases last for a few milliseconds.
    for (int look = 0; look < 20 && tokens.empty(); ++look) {
      const auto seen = client_.inspect(resource);
      if (!seen) return;
      for (const NodeInspection& node : seen->nodes) {
        tokens.insert(tokens.end(), node.tokens.begin(), node.tokens.end());
        if (node.holder) tokens.push_back(*node.holder);
      }
      std::erase_if(tokens, [](const Token& token) { return token.client_id().empty(); });
    }
    if (tokens.empty()) return;
    const Token token = tokens[dice_.below(tokens.size())];
    // The end of a delay would be the end of what the history promises.
    const bool delays = token.is_delay() || !dice_.one_in(4);
    const milliseconds longest =
        dice_.one_in(2) ? max_ttl : dice_.between(milliseconds{1}, max_ttl);
    const milliseconds delay = delays ? longest : milliseconds{0};
    recorder_.write(fmt::format("breaking {} {} {} {}", resource, boot_now(),
                                std::chrono::nanoseconds(delay).count(), token.view()));
    if (client_.break_lock(resource, token, {.delay = delay})) {
      recorder_.write(fmt::format("broken {}", boot_now()));
    }
  }

  bool lead_once(milliseconds wait) {
    ElectionOptions options;
    options.candidate = fmt::format("{}.{}", request_.slot, request_.generation);
    const milliseconds ttl = dice_.between(shortest_ttl, longest_ttl);
    options.ttl = ttl;
    Election election(client_, election_resource, options);
    const std::uint64_t number = ++leases_;
    const std::int64_t asked = boot_now();
    auto leadership = election.try_campaign_for(wait);
    const std::int64_t answered = boot_now();
    if (!leadership) {
      failed(election_resource, asked, answered, leadership.error());
      return false;
    }
    const Lease& lease = leadership->lease();
    recorder_.write(fmt::format("granted {} {} {} {} {} {} {}", number, election_resource, asked,
                                answered, nanoseconds(lease.valid_until()),
                                std::chrono::nanoseconds(ttl).count(), leadership->term().value()));
    const std::stop_callback lost(leadership->lost(), [this, number] {
      recorder_.write(fmt::format("ended {} {} lost", number, boot_now()));
    });
    for (std::int64_t i = dice_.between(1, 6); i > 0 && leadership->valid(); --i) {
      pause(milliseconds{0}, milliseconds{6});
    }
    if (!leadership->valid()) return true;
    recorder_.write(fmt::format("ended {} {} released", number, boot_now()));
    if (dice_.one_in(2)) static_cast<void>(leadership->resign());
    return true;
  }

  void failed(std::string_view resource, std::int64_t asked, std::int64_t answered,
              const Error& error) {
    recorder_.write(
        fmt::format("failed {} {} {} {}", resource, asked, answered, to_string(error.code)));
  }

  void use(Holding& holding, CounterFile* counter, milliseconds ttl) {
    const std::int64_t updates = dice_.between(1, 3);
    for (std::int64_t i = 0; i < updates && holding.valid(); ++i) {
      // Without a number, the counter could not recognise a late writer.
      const bool fenced = holding.token() != 0 && counter != nullptr;
      if (fenced && !update(holding, *counter)) return;
      if (dice_.one_in(5)) static_cast<void>(holding.lease().extend(ttl));
      pause(milliseconds{0}, milliseconds{2});
    }
    // A few leases are kept until they end, or for a while if they are renewed.
    if (!dice_.one_in(150)) return;
    const std::int64_t enough = boot_now() + 1'000'000 * ttl.count();
    while (holding.valid() && boot_now() < enough) pause(milliseconds{5}, milliseconds{20});
  }

  /// Adds one to the counter, and returns whether the lease can make another update.
  bool update(Holding& holding, CounterFile& counter) {
    const auto value = counter.read(holding.token());
    if (!value) return overtaken(holding);
    pause(milliseconds{0}, milliseconds{2});
    if (!holding.valid()) return false;
    holding.record("trying");
    // Leaves time in which this process can be stopped between the check and the write, when only
    // the token helps.
    if (dice_.one_in(6)) pause(milliseconds{1}, milliseconds{8});
    if (counter.write(*value, *value + 1, holding.token()) == CounterFile::Written::refused) {
      holding.record("refused");
      return overtaken(holding);
    }
    holding.record("wrote");
    return true;
  }

  /// A newer lease has used the counter. If this one is still valid, exclusion was violated:
  /// records the violation.
  static bool overtaken(Holding& holding) {
    if (holding.valid()) holding.record("overtaken");
    return false;
  }

  void part_with(Holding& holding) {
    if (!holding.valid()) return;
    holding.ends();
    if (dice_.one_in(300)) {
      static_cast<void>(holding.lease().detach());
    } else if (!dice_.one_in(4)) {
      static_cast<void>(holding.lease().release());
    }
  }

  const ContenderRequest& request_;
  Recorder recorder_;
  Dice dice_;
  std::vector<CounterFile> counters_{};
  std::uint64_t leases_ = 0;
  // Last: the loop's thread records losses until it is gone.
  Client client_;
};

ContenderRequest parse(const std::vector<std::string>& words) {
  if (words.size() < 8) throw std::invalid_argument("a contender has eight arguments");
  ContenderRequest request;
  request.folder = words[0];
  request.slot = std::stoul(words[1]);
  request.generation = std::stoul(words[2]);
  request.seed = std::stoull(words[3]);
  request.resources = cli::split_list(words[4]);
  request.nodes = cli::split_list(words[5]);
  request.prefix = words[6];
  request.unsafe = words[7];
  request.foreign.assign(words.begin() + 8, words.end());
  return request;
}

/// The library's messages before an abort go to the log; standard error belongs to the run.
void redirect_errors(const ContenderRequest& request) {
  const auto log =
      request.folder / fmt::format("contender-{}.{}.log", request.slot, request.generation);
  const cli::Descriptor file(::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid() || ::dup2(file.get(), STDERR_FILENO) < 0) {
    throw std::system_error(errno, std::generic_category(), log.string());
  }
}

}  // namespace

std::vector<std::string> words_of(const ContenderRequest& request) {
  std::vector<std::string> words{contender_verb,
                                 request.folder.string(),
                                 std::to_string(request.slot),
                                 std::to_string(request.generation),
                                 std::to_string(request.seed),
                                 fmt::format("{}", fmt::join(request.resources, ",")),
                                 fmt::format("{}", fmt::join(request.nodes, ",")),
                                 request.prefix,
                                 request.unsafe};
  words.insert(words.end(), request.foreign.begin(), request.foreign.end());
  return words;
}

int run_contender(const std::vector<std::string>& words) {
  const ContenderRequest request = parse(words);
  redirect_errors(request);
  if (!request.foreign.empty()) return become_foreign(request);
  if (const UnsafeLock* lock = find_unsafe_lock(request.unsafe)) {
    return run_unsafe_contender(request, *lock);
  }
  auto client = Client::create(contender_options(request.nodes, request.prefix));
  if (!client) {
    fmt::print(stderr, "{}\n", client.error().message);
    return 1;
  }
  Contender(request, std::move(*client)).run();
  return 0;
}

}  // namespace redlock::chaos
