#include "chaos/checker/checker_history.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <ios>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace redlock::chaos {
namespace {

/// Reads a line word by word. A word that is missing, or is not the number that it should be, makes
/// the record unreadable.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string text() {
    const std::size_t blank = rest_.find(' ');
    std::string word(rest_.substr(0, blank));
    rest_.remove_prefix(blank == std::string_view::npos ? rest_.size() : blank + 1);
    if (word.empty()) sound_ = false;
    return word;
  }

  template <typename Number>
  Number number() {
    const std::string word = text();
    Number value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) sound_ = false;
    return value;
  }

  BootTime instant() { return number<BootTime>(); }

  /// The next word, which is a list separated by commas.
  std::vector<std::string> texts() {
    std::vector<std::string> all;
    std::istringstream stream(text());
    for (std::string one; std::getline(stream, one, ',');) all.push_back(one);
    if (all.empty()) sound_ = false;
    return all;
  }

  std::string rest() {
    if (rest_.empty()) sound_ = false;
    return std::string(std::exchange(rest_, {}));
  }

  [[nodiscard]] bool more() const noexcept { return !rest_.empty(); }

  [[nodiscard]] bool sound_to_the_end() const noexcept { return sound_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool sound_ = true;
};

/// Reads the records of one file, in which each lease has a number.
class FileReader {
 public:
  FileReader(History& history, std::string name, std::size_t contender)
      : history_(history), name_(std::move(name)), contender_(contender) {}

  /// Returns false if the line is not a record, or contradicts earlier records.
  bool take(std::string_view line) {
    Words words(line);
    const std::string kind = words.text();
    if (kind == "granted") return granted(words);
    if (kind == "token") return token(words);
    if (kind == "failed") return failed(words);
    if (kind == "breaking") return breaking(words);
    if (kind == "broken") return broken(words);
    if (kind == "run") return run(words);
    if (kind == "fault") return fault(words);
    if (kind == "service") return service(words);
    if (kind == "failover") return failover(words);
    if (kind == "unsafe") return unsafe(words);
    if (kind == "permits") return permits(words);
    if (kind == "interval") return interval(words);
    if (kind == "foreign") return foreign(words);
    if (kind == "healed") return instant(words, history_.healed);
    if (kind == "finished") return instant(words, history_.finished);
    if (kind == "died") return died(words);
    return of_lease(kind, words);
  }

 private:
  bool granted(Words& words) {
    LeaseRecord lease;
    const auto number = words.number<std::uint64_t>();
    lease.contender = contender_;
    lease.name = name_ + "#" + std::to_string(number);
    lease.also = words.texts();
    lease.asked = words.instant();
    lease.granted = words.instant();
    lease.deadline = lease.best_deadline = words.instant();
    lease.ttl = words.instant();
    lease.token = words.number<std::uint64_t>();
    if (words.more()) lease.group = words.text();
    lease.deadlines.emplace_back(lease.granted, lease.deadline);
    if (!words.sound_to_the_end() || leases_.contains(number)) return false;
    lease.resource = lease.also.front();
    lease.also.erase(lease.also.begin());
    leases_[number] = history_.leases.size();
    history_.leases.push_back(std::move(lease));
    return true;
  }

  bool token(Words& words) {
    const auto found = leases_.find(words.number<std::uint64_t>());
    std::string stored = words.rest();
    if (!words.sound_to_the_end() || found == leases_.end()) return false;
    history_.leases[found->second].stored = std::move(stored);
    return true;
  }

  bool breaking(Words& words) {
    BreakRecord record;
    record.resource = words.text();
    record.begin = words.instant();
    record.delay = words.instant();
    record.token = words.rest();
    if (!words.sound_to_the_end()) return false;
    breaking_ = history_.breaks.size();
    history_.breaks.push_back(std::move(record));
    return true;
  }

  bool broken(Words& words) {
    const BootTime at = words.instant();
    if (!words.sound_to_the_end() || !breaking_) return false;
    history_.breaks[*breaking_].done = at;
    breaking_.reset();
    return true;
  }

  bool of_lease(const std::string& kind, Words& words) {
    const auto found = leases_.find(words.number<std::uint64_t>());
    const BootTime at = words.instant();
    if (found == leases_.end()) return false;
    LeaseRecord& lease = history_.leases[found->second];
    if (kind == "deadline") {
      const BootTime deadline = words.instant();
      if (!words.sound_to_the_end()) return false;
      lease.deadline = deadline;
      lease.best_deadline = std::max(lease.best_deadline, deadline);
      lease.deadlines.emplace_back(at, deadline);
      return true;
    }
    if (kind == "ended") {
      const std::string how = words.text();
      if (!words.sound_to_the_end() || (how != "released" && how != "lost")) return false;
      if (how == "lost") lease.lost = at;
      lease.ended = lease.ended ? std::min(*lease.ended, at) : at;
      return true;
    }
    if (!words.sound_to_the_end()) return false;
    if (kind == "used") {
      lease.used.push_back(at);
    } else if (kind == "trying") {
      ++lease.tried;
    } else if (kind == "wrote") {
      ++lease.wrote;
    } else if (kind == "refused") {
      ++lease.refused;
    } else if (kind == "overtaken") {
      lease.overtaken.push_back(at);
    } else {
      return false;
    }
    return true;
  }

  bool failed(Words& words) {
    FailureRecord failure;
    failure.contender = contender_;
    failure.resource = words.text();
    failure.asked = words.instant();
    failure.at = words.instant();
    failure.why = words.text();
    if (!words.sound_to_the_end()) return false;
    history_.failures.push_back(std::move(failure));
    return true;
  }

  bool run(Words& words) {
    const auto seed = words.number<std::uint64_t>();
    const auto nodes = words.number<std::size_t>();
    const auto contenders = words.number<std::size_t>();
    std::vector<std::string> resources = words.texts();
    const BootTime begin = words.instant();
    const BootTime duration = words.instant();
    std::string kinds = words.text();
    if (!words.sound_to_the_end()) return false;
    history_.duration = duration;
    history_.kinds = std::move(kinds);
    history_.seed = seed;
    history_.nodes = nodes;
    history_.contenders = contenders;
    history_.begin = begin;
    history_.resources = std::move(resources);
    return true;
  }

  bool fault(Words& words) {
    FaultRecord fault;
    fault.kind = words.text();
    fault.what = words.text();
    fault.node = words.number<int>();
    fault.contenders = words.number<std::uint64_t>();
    fault.begin = words.instant();
    fault.end = words.instant();
    if (!words.sound_to_the_end()) return false;
    history_.faults.push_back(std::move(fault));
    return true;
  }

  bool died(Words& words) {
    DeathRecord death;
    death.contender = words.number<std::size_t>();
    death.at = words.instant();
    death.how = words.text();
    if (!words.sound_to_the_end()) return false;
    history_.deaths.push_back(std::move(death));
    return true;
  }

  bool service(Words& words) {
    ServiceRecord record;
    record.kind = words.text();
    record.servers = words.number<std::size_t>();
    record.max_ttl = words.instant();
    if (!words.sound_to_the_end()) return false;
    history_.service = std::move(record);
    return true;
  }

  bool failover(Words& words) {
    FailoverRecord record;
    record.from = words.number<std::size_t>();
    record.to = words.number<std::size_t>();
    record.at = words.instant();
    if (!words.sound_to_the_end()) return false;
    history_.failovers.push_back(record);
    return true;
  }

  bool unsafe(Words& words) {
    history_.unsafe = words.text();
    return words.sound_to_the_end();
  }

  bool permits(Words& words) {
    const auto permits = words.number<std::size_t>();
    if (!words.sound_to_the_end()) return false;
    history_.permits = permits;
    return true;
  }

  bool interval(Words& words) {
    std::string resource = words.text();
    const BootTime duration = words.instant();
    if (!words.sound_to_the_end()) return false;
    history_.intervals[std::move(resource)] = duration;
    return true;
  }

  bool foreign(Words& words) {
    ForeignRecord record;
    record.contender = words.number<std::size_t>();
    record.command = words.rest();
    if (!words.sound_to_the_end()) return false;
    history_.foreign = std::move(record);
    return true;
  }

  static bool instant(Words& words, std::optional<BootTime>& into) {
    const BootTime at = words.instant();
    if (!words.sound_to_the_end()) return false;
    into = at;
    return true;
  }

  History& history_;
  std::string name_;
  std::size_t contender_;
  std::map<std::uint64_t, std::size_t> leases_{};
  std::optional<std::size_t> breaking_{};  ///< the break of this file that is under way
};

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("'" + path.string() + "' cannot be read");
  try {
    return {std::istreambuf_iterator<char>(file), {}};
  } catch (const std::ios_base::failure&) {  // it opened: a folder, or a disk that fails
    throw std::runtime_error("'" + path.string() + "' cannot be read to its end");
  }
}

/// "contender-3.1" is the second one in slot 3.
std::size_t contender_of(const std::string& name) {
  const std::size_t dash = name.find('-');
  std::size_t number = 0;
  if (dash == std::string::npos) return number;
  std::from_chars(name.data() + dash + 1, name.data() + name.size(), number);
  return number;
}

void read_file(const std::filesystem::path& path, History& history) {
  const std::string content = content_of(path);
  const std::string name = path.stem().string();
  FileReader reader(history, name, contender_of(name));
  std::string_view rest = content;
  for (std::size_t number = 1;; ++number) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return;
    const std::string_view line = rest.substr(0, end);
    if (!reader.take(line)) {
      history.unreadable.push_back(name + ":" + std::to_string(number) + ": " + std::string(line));
    }
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<std::size_t> permit_of(std::string_view resource) {
  const std::size_t mark = resource.rfind('#');
  if (mark == std::string_view::npos) return std::nullopt;
  std::size_t permit = 0;
  std::from_chars(resource.data() + mark + 1, resource.data() + resource.size(), permit);
  return permit;
}

std::string counter_file_name(std::string_view resource) {
  std::string name(resource);
  std::replace(name.begin(), name.end(), '/', '-');
  return name + ".counter";
}

std::string history_file_name(std::size_t slot, std::size_t generation) {
  return "contender-" + std::to_string(slot) + "." + std::to_string(generation) + ".history";
}

History read_history(const std::filesystem::path& folder) {
  if (!std::filesystem::is_regular_file(folder / "run.history")) {
    throw std::runtime_error("'" + folder.string() + "' holds no run.history");
  }
  History history;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".history") files.push_back(entry.path());
  }
  // Sorted, so that a folder gives the same report on every machine.
  std::sort(files.begin(), files.end());
  for (const auto& file : files) read_file(file, history);
  for (const std::string& resource : history.resources) {
    const auto path = folder / counter_file_name(resource);
    if (!std::filesystem::exists(path)) continue;
    const std::string content = content_of(path);
    history.counters[resource] = Words(content).number<std::uint64_t>();
  }
  return history;
}

}  // namespace redlock::chaos
