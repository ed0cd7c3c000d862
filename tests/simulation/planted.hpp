#pragma once

#include <array>
#include <cstdint>
#include <ostream>

#include "simulation/scenario.hpp"

namespace redlock::simulation {

/// A deliberate fault, and the report that the checker must make within `budget` seeds. Invariants
/// are numbered as in ARCHITECTURE.md.
struct Planted {
  Mutant mutant;
  const char* name;
  const char* finding;  ///< a part of the checker's report
  std::uint64_t budget;
  bool patient = false;  ///< takes long to find: CI runs it, but not every check does

  friend void PrintTo(const Planted& fault, std::ostream* out) { *out << fault.name; }
};

/// Two more break an assertion of the core instead: see PlantedFaultDeathTest.
inline constexpr std::array planted{
    Planted{Mutant::drop_release_behind_set, "drop_release_behind_set", "invariant 4", 1000},
    Planted{Mutant::validity_from_last_reply, "validity_from_last_reply", "invariant 1", 1000},
    Planted{Mutant::no_drift_margin, "no_drift_margin", "invariant 1", 3000},
    Planted{Mutant::ignore_kill, "ignore_kill", "invariant 4", 1000},
    Planted{Mutant::fast_server_clocks, "fast_server_clocks", "invariant 1", 1000},
    Planted{Mutant::forget_at_once, "forget_at_once", "invariant 1", 1000},
    Planted{Mutant::release_without_compare, "release_without_compare", "invariant 1", 1000},
    Planted{Mutant::set_without_nx, "set_without_nx", "invariant 1", 1000},
    Planted{Mutant::grant_a_refusal, "grant_a_refusal", "invariant 1", 1000},
    Planted{Mutant::sleepy_driver, "sleepy_driver", "invariant 6", 5000},
    Planted{Mutant::forget_answer, "forget_answer", "invariant 7", 5000},
    Planted{Mutant::maximum_of_counters, "maximum_of_counters", "invariant 2", 1000},
    Planted{Mutant::unconditional_write_back, "unconditional_write_back", "invariant 2", 3000},
    Planted{Mutant::count_unseen_numbers, "count_unseen_numbers", "invariant 2", 1000},
    Planted{Mutant::trust_the_set, "trust_the_set", "invariant 2", 20000},
    Planted{Mutant::no_floor, "no_floor", "invariant 2", 1000},
    Planted{Mutant::floor_unread, "floor_unread", "invariant 2", 1000},
    Planted{Mutant::unraised_counts, "unraised_counts", "invariant 2", 1000},
    Planted{Mutant::no_quarantine, "no_quarantine", "invariant 1", 1000},
    Planted{Mutant::no_clock_guard, "no_clock_guard", "invariant 1", 1000},
    Planted{Mutant::leaps_are_ours, "leaps_are_ours", "invariant 1", 1000},
    Planted{Mutant::no_release_on_failure, "no_release_on_failure", "invariant 4", 1000},
    Planted{Mutant::release_before_set, "release_before_set", "invariant 4", 1000},
    Planted{Mutant::reused_token, "reused_token", "", 1000},
    Planted{Mutant::clock_stops_in_pauses, "clock_stops_in_pauses", "invariant 1", 1000},
    Planted{Mutant::no_marker_behind_votes, "no_marker_behind_votes", "invariant 1", 1000},
    Planted{Mutant::marker_ahead_of_votes, "marker_ahead_of_votes", "invariant 1", 3000, true},
    Planted{Mutant::no_tracking, "no_tracking", "invariant 1", 1000},
    Planted{Mutant::connects_at_once, "connects_at_once", "again and again", 1000},
    Planted{Mutant::tracks_once, "tracks_once", "does not see", 1000},
    Planted{Mutant::readers_let_all_in, "readers_let_all_in", "invariant 3", 1000},
    Planted{Mutant::writer_ignores_readers, "writer_ignores_readers", "invariant 3", 1000},
    Planted{Mutant::count_permits, "count_permits", "invariant", 1000},
    Planted{Mutant::release_at_once, "release_at_once", "invariant 3", 1000},
    Planted{Mutant::cooldown_where_the_key_was, "cooldown_where_the_key_was", "invariant 3", 2000},
    Planted{Mutant::memory_is_not_asked_for, "memory_is_not_asked_for", "invariant 3", 2000},
    Planted{Mutant::cooldown_untold, "cooldown_untold", "invariant 5", 200},
    Planted{Mutant::fenced_writer_lets_in, "fenced_writer_lets_in", "invariant 5", 200},
    Planted{Mutant::plain_extend_shortens, "plain_extend_shortens", "invariant 1", 1000},
    Planted{Mutant::plain_release_is_quiet, "plain_release_is_quiet", "invariant 5", 200},
    Planted{Mutant::reservations_are_kept, "reservations_are_kept", "invariant 5", 200},
    Planted{Mutant::readers_come_one_by_one, "readers_come_one_by_one", "overtaken", 1000},
    Planted{Mutant::any_permit_is_quiet, "any_permit_is_quiet", "invariant 5", 200},
    Planted{Mutant::wins_are_lost, "wins_are_lost", "invariant 5", 1000, true},
    Planted{Mutant::readers_stay_queued, "readers_stay_queued", "was free", 1000},
    Planted{Mutant::delay_is_ignored, "delay_is_ignored", "invariant 1: nobody", 1000},
    Planted{Mutant::delay_ends_with_the_holds, "delay_ends_with_the_holds", "invariant 1: nobody",
            1000},
    Planted{Mutant::delay_is_shortened, "delay_is_shortened", "invariant 1: nobody", 1000},
    Planted{Mutant::owner_is_spared, "owner_is_spared", "invariant 1: nobody", 1000},
    Planted{Mutant::evictions_untold, "evictions_untold", "invariant 1", 1000},
    Planted{Mutant::falls_prove_nothing_evicted, "falls_prove_nothing_evicted", "invariant 1",
            1000},
    Planted{Mutant::falls_are_ignored, "falls_are_ignored", "invariant 1", 1000},
    Planted{Mutant::resets_are_evictions, "resets_are_evictions", "forgotten nothing", 100},
    Planted{Mutant::roles_are_copies, "roles_are_copies", "invariant 1", 1000},
    Planted{Mutant::copies_prove_nothing, "copies_prove_nothing", "forgotten nothing", 100},
    Planted{Mutant::half_the_rest, "half_the_rest", "for longer than it said", 3000},
    Planted{Mutant::one_more_reader_writes, "one_more_reader_writes", "was free", 1000},
    Planted{Mutant::permits_are_not_exchanged, "permits_are_not_exchanged", "of the permits", 1000},
    Planted{Mutant::nothing_is_kept, "nothing_is_kept", "turns of others", 1000},
    Planted{Mutant::the_gone_are_too_many, "the_gone_are_too_many", "was free", 1000},
    Planted{Mutant::reserved_for_the_slowest, "reserved_for_the_slowest", "was free", 1000, true},
    Planted{Mutant::swapped_in_as_new, "swapped_in_as_new", "invariant 1", 1000},
    Planted{Mutant::forged_on_all, "forged_on_all", "invariant 18", 100},
    Planted{Mutant::queue_scripts_stay_away, "queue_scripts_stay_away", "was free", 1000},
    Planted{Mutant::downgrade_is_quiet, "downgrade_is_quiet", "was free", 1000},
    Planted{Mutant::only_the_last_stands_by, "only_the_last_stands_by", "was free", 1000, true},
    Planted{Mutant::the_late_stay_first, "the_late_stay_first", "was free", 1000},
    Planted{Mutant::downgrade_leaves_a_gap, "downgrade_leaves_a_gap", "invariant 3", 1000},
    Planted{Mutant::kept_while_it_waits, "kept_while_it_waits", "was kept for", 200},
    Planted{Mutant::leaves_one_of_several, "leaves_one_of_several", "which gave up", 200},
    Planted{Mutant::lost_is_handed_out, "lost_is_handed_out", "invariant 1", 1000},
    Planted{Mutant::released_after_detach, "released_after_detach", "invariant 1", 1000},
    Planted{Mutant::renewals_repair, "renewals_repair", "invariant 4", 1000},
    Planted{Mutant::number_is_not_checked, "number_is_not_checked", "invariant 2", 1000},
    Planted{Mutant::adopted_writers_stay, "adopted_writers_stay", "invariant 5", 1000},
    Planted{Mutant::nobody_waits, "nobody_waits", "invariant 1", 1000},
    Planted{Mutant::primary_acknowledges, "primary_acknowledges", "invariant 1", 1000},
    Planted{Mutant::attachments_uncounted, "attachments_uncounted", "invariant 1", 1000},
    Planted{Mutant::attachments_tolerated, "attachments_tolerated", "invariant 1", 1000},
    Planted{Mutant::attachments_before_wait, "attachments_before_wait", "invariant 1", 1000},
    Planted{Mutant::new_reigns_vote_at_once, "new_reigns_vote_at_once", "invariant 1", 1000},
    Planted{Mutant::reigns_confirmed_at_once, "reigns_confirmed_at_once", "invariant 1", 1000},
    Planted{Mutant::records_follow_each_reading, "records_follow_each_reading", "invariant 1", 3000,
            true},
};

}  // namespace redlock::simulation
