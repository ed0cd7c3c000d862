#pragma once

#include <string_view>

namespace redlock::cli {

/// The page of `bench`, without the style of all pages.
inline constexpr std::string_view bench_style = R"css(
@media (min-width: 640px) { .cards { grid-template-columns: repeat(4, 1fr); } }
@media (min-width: 1280px) { .cards { grid-template-columns: repeat(8, 1fr); } }
h3 { font-size: 0.95rem; margin: 1.4rem 0 0.5rem; }
.scroll { overflow-x: auto; } .scroll table { min-width: 100%; }
.scroll th, .scroll td { white-space: nowrap; padding: 0.25rem 0.45rem; font-size: 0.82rem; }
td.side { font-weight: 550; } tr.first td { border-top: 2px solid var(--line); }
th.n { text-align: right; } p { max-width: 75ch; } td:first-child { vertical-align: top; }
pre code { white-space: pre-wrap; overflow-wrap: anywhere; }
)css";

/// The end of that page: what the figures mean.
inline constexpr std::string_view bench_explanation =
    "<h2>What the figures mean</h2>\n"
    "<p>A <b>cycle</b> acquires a lock and releases it again. A lock <b>in flight</b> runs one "
    "cycle after the other, on a resource of its own: nobody waits for anybody. <b>Acquire</b> is "
    "the time from the call to the lease, <b>cycle</b> that to the end of the release. Every "
    "figure "
    "is the median of the repetitions; so is every point of a curve.</p>\n"
    "<p><b>ours / this</b> compares the cycles per second of the library with those of the side in "
    "its row: 2.00 is twice as many, 0.90 is nine tenths. It is the median of the ratios of all "
    "repetitions, with the least and the most in brackets. In a repetition the sides run one right "
    "after the other, on the same nodes, so that what disturbs one most likely disturbs all: a "
    "ratio "
    "says more about another machine than the figures do.</p>\n"
    "<p>The <b>floor</b> has no lock logic: it sends SET NX PX to all nodes, waits for a majority, "
    "compares and deletes the key on all of them, and waits for a majority again. The "
    "<b>sequential</b> client does the same, but asks one node after the other, with a thread for "
    "each lock in flight. <b>node-redlock</b> and <b>redlock-universal</b> run on Node.js, with "
    "their writes pipelined where there is more than one lock in flight, and without retries, "
    "which "
    "they do not need here.</p>\n"
    "<p><b>CPU time per cycle</b> is what a cycle costs the client's process (all its threads; of "
    "ours on one loop, that of the loop) and all nodes together. Where everything shares one "
    "processor, that sum is what limits the cycles per second.</p>\n";

}  // namespace redlock::cli
