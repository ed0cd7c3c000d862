#pragma once

#include <string_view>

namespace redlock::chaos {

/// The style of the HTML report, without that of all pages.
inline constexpr std::string_view report_style = R"css(:root {
  --healed: #12805c14;
  --kill: #c0262d; --pause: #b39412; --partition: #7a4fb5; --clock: #0a6a80; --restart: #7a5230;
  --slow: #66761c; --role: #46557a; --pieces: #2e7d4f; --evict: #a83278; --name: #3558b8;
  --load: #5d5d66; --on-mark: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --healed: #3fc79618;
    --kill: #ff6b6b; --pause: #e6cf52; --partition: #ab86e0; --clock: #45b8dc; --restart: #c39a72;
    --slow: #a9ba4c; --role: #9aa9cf; --pieces: #5fc28a; --evict: #e374b8; --name: #7f9cf0;
    --load: #a2a2ad; --on-mark: #14171d;
  }
}
.verdict { margin: 0; padding: 0.15rem 0.8rem; border-radius: 99px; font-weight: 650; color: #fff; }
.verdict.good { background: #12805c; } .verdict.bad { background: #c0262d; }
.verdict.pale { background: #6b7280; }
.timeline { display: flex; background: var(--sheet); border: 1px solid var(--line);
  border-radius: 8px; overflow: hidden; }
.timeline .labels { flex: none; border-right: 1px solid var(--line); }
.timeline .scroll { overflow-x: auto; }
svg text.group { fill: var(--pale); font-size: 10px; letter-spacing: 0.06em; }
svg text.in { fill: var(--on-mark); font-weight: 600; font-size: 10px; pointer-events: none; }
.lane { fill: var(--lane); } .healed { fill: var(--healed); }
.healed-line { stroke: var(--good); stroke-dasharray: 3 3; }
.violation { stroke: var(--bad); stroke-width: 2; } .violation-mark { fill: var(--bad); }
.bar { fill: var(--bar); } .histogram { max-width: 760px; width: 100%; }
.kill { fill: var(--kill); } .pause { fill: var(--pause); } .partition { fill: var(--partition); }
.clock { fill: var(--clock); } .restart { fill: var(--restart); } .slow { fill: var(--slow); } .role { fill: var(--role); }
.pieces { fill: var(--pieces); } .evict { fill: var(--evict); } .name { fill: var(--name); }
.load { fill: var(--load); }
.stripe { stroke: var(--sheet); stroke-width: 2; stroke-opacity: 0.4; }
.link { opacity: 0.55; } .shared { opacity: 0.6; }
.c0 { fill: #3b76c4; } .c1 { fill: #e08a1e; } .c2 { fill: #2f9e6e; } .c3 { fill: #b8478f; }
.c4 { fill: #7b68c8; } .c5 { fill: #a0682f; } .c6 { fill: #2c9aa8; } .c7 { fill: #d0574b; }
)css";

}  // namespace redlock::chaos
