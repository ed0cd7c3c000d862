#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The records of a chaos run, read from its folder. Shares no code with the library that it
/// judges: only the standard library is included here and in checker.cpp.
///
/// A history is a text file; a line is a record, its words are separated by one blank, instants are
/// nanoseconds of one machine-wide clock (CLOCK_BOOTTIME):
///
///   granted  LEASE RESOURCES ASKED GRANTED DEADLINE TTL TOKEN [GROUP]
///                                   the library said yes at GRANTED; RESOURCES separated by
///                                   commas, "a#1" a permit of a semaphore; GROUP who may hold it
///                                   at the same time, nobody if it is absent
///   token    LEASE TOKEN            what the nodes store for it; it can be broken by this token
///   deadline LEASE AT DEADLINE      another deadline, first seen at AT
///   used     LEASE AT               asked at AT, it said that the lease is valid
///   trying   LEASE AT               a guarded update is about to be written
///   wrote    LEASE AT               the counter file took it
///   refused  LEASE AT               the counter file did not: it has a larger token
///   overtaken LEASE AT              it has, although the lease is valid before and after
///   ended    LEASE AT HOW           released (about to be) or lost (the library said so)
///   failed   RESOURCES ASKED AT WHY an acquire that was not granted; "a#" some permit of a
///   semaphore
///   breaking RESOURCE AT DELAY TOKEN  an operator is about to break the lock of the token
///   broken   AT                     that break succeeded: nobody gets the resource in the DELAY
///
/// And of the run, in run.history:
///
///   run SEED NODES CONTENDERS RESOURCES BEGIN DURATION KINDS
///   fault KIND WHAT NODE CONTENDERS BEGIN END    NODE -1: none; CONTENDERS a set of bits
///   service KIND SERVERS MAX_TTL    the one node is a replicated service
///   failover FROM TO AT             it has another primary; its managers say so at AT
///   unsafe LOCK                     all contenders took this lock, which is not ours
///   permits K                       the permits of a semaphore
///   interval RESOURCE DURATION      it is granted at most once within this
///   foreign SLOT COMMAND            this contender is not ours; its command to the end of the line
///   healed AT
///   died CONTENDER AT HOW           a contender that ended by itself and should not have
///   finished AT
namespace redlock::chaos {

/// Nanoseconds since the machine was started.
using BootTime = std::int64_t;

struct LeaseRecord {
  /// The slot in the run; a killed contender and its successor share one.
  std::size_t contender = 0;
  std::string name{};  ///< the file and the number in it, for people
  std::string resource{};
  std::vector<std::string> also{};  ///< more of them, held all or none
  std::string group{};              ///< the group that may hold it at the same time; empty: nobody
  BootTime asked = 0;
  BootTime granted = 0;
  BootTime deadline = 0;       ///< the last one reported
  BootTime best_deadline = 0;  ///< the latest one reported
  BootTime ttl = 0;
  std::uint64_t token = 0;  ///< the fencing token; 0: none, as of what several may hold
  std::string stored{};     ///< the token on the nodes; empty: not known
  std::optional<BootTime> ended{};
  std::optional<BootTime> lost{};  ///< set as well as `ended` when the library said so
  std::vector<BootTime> used{};
  std::vector<BootTime> overtaken{};
  std::vector<std::pair<BootTime, BootTime>> deadlines{};  ///< seen at, deadline; the first one too
  std::uint64_t tried = 0;
  std::uint64_t wrote = 0;
  std::uint64_t refused = 0;

  /// When it is over for certain: without a recorded end, because the holder died, at its deadline.
  [[nodiscard]] BootTime end() const noexcept {
    return ended && *ended < deadline ? *ended : deadline;
  }
};

struct FailureRecord {
  std::size_t contender = 0;
  std::string resource{};
  BootTime asked = 0;
  BootTime at = 0;
  std::string why{};
};

/// A lock that an operator broke, or tried to break: some nodes may have done it.
struct BreakRecord {
  std::string token{};
  std::string resource{};
  BootTime begin = 0;
  BootTime delay = 0;
  std::optional<BootTime> done{};  ///< when a quorum of nodes had said that it keeps others out

  /// From when on nothing keeps others out, by clocks that may be fast.
  [[nodiscard]] BootTime end() const noexcept {
    constexpr BootTime drift_constant = 2'000'000;
    return begin + std::max<BootTime>(0, delay - delay / 100 - drift_constant);
  }
};

struct FaultRecord {
  std::string kind{};
  std::string what{};
  int node = -1;
  std::uint64_t contenders = 0;
  BootTime begin = 0;
  BootTime end = 0;
};

/// The node is a service of several servers.
struct ServiceRecord {
  std::string kind{};
  std::size_t servers = 0;
  BootTime max_ttl = 0;
};

struct FailoverRecord {
  std::size_t from = 0;
  std::size_t to = 0;
  BootTime at = 0;
};

struct DeathRecord {
  std::size_t contender = 0;
  BootTime at = 0;
  std::string how{};
};

struct ForeignRecord {
  std::size_t contender = 0;
  std::string command{};
};

struct History {
  std::uint64_t seed = 0;
  std::size_t nodes = 0;
  std::size_t contenders = 0;
  std::vector<std::string> resources{};
  BootTime begin = 0;
  BootTime duration = 0;                        ///< requested length of the run
  std::string kinds{};                          ///< requested kinds of faults
  std::size_t permits = 0;                      ///< the number of permits of a semaphore
  std::map<std::string, BootTime> intervals{};  ///< resources that are granted once within this
  std::optional<ForeignRecord> foreign{};
  std::optional<ServiceRecord> service{};
  std::string unsafe{};  ///< a lock that is not ours; empty: none
  std::vector<FailoverRecord> failovers{};
  std::optional<BootTime> healed{};
  std::optional<BootTime> finished{};
  std::vector<LeaseRecord> leases{};
  std::vector<FailureRecord> failures{};
  std::vector<BreakRecord> breaks{};
  std::vector<FaultRecord> faults{};
  std::vector<DeathRecord> deaths{};
  std::map<std::string, std::uint64_t> counters{};  ///< the values of the counter files in the end
  std::vector<std::string> unreadable{};            ///< "FILE:LINE: text"
};

/// The number of the permit; none: not a permit of a semaphore.
[[nodiscard]] std::optional<std::size_t> permit_of(std::string_view resource);

/// The name of a resource's counter file within the folder.
[[nodiscard]] std::string counter_file_name(std::string_view resource);

/// The name of a contender's history within the folder. A contender that was killed is followed by
/// one of the next generation.
[[nodiscard]] std::string history_file_name(std::size_t slot, std::size_t generation);

/// Reads every *.history and counter file of the folder. A last line without its line end was being
/// written when its process was killed, and counts as not there. Throws std::runtime_error when the
/// folder or run.history cannot be read.
[[nodiscard]] History read_history(const std::filesystem::path& folder);

}  // namespace redlock::chaos
