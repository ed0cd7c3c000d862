#pragma once

#include <string_view>

namespace redlock::chaos {

/// The style of the HTML report; follows the reader's choice of light or dark.
inline constexpr std::string_view report_style = R"css(
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --sheet: #ffffff; --ink: #1d2330; --pale: #6b7280; --line: #e3e1da;
  --lane: #f3f1eb; --good: #12805c; --bad: #c0262d; --bar: #4a72b8; --healed: #12805c14;
  --kill: #c0262d; --pause: #b39412; --partition: #7a4fb5; --clock: #0a6a80; --restart: #7a5230;
  --slow: #66761c; --role: #46557a; --on-mark: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171d; --sheet: #1b1f27; --ink: #e6e8ec; --pale: #949cab; --line: #2d333f;
    --lane: #20252e; --good: #3fc796; --bad: #ff6b6b; --bar: #6f97dd; --healed: #3fc79618;
    --kill: #ff6b6b; --pause: #e6cf52; --partition: #ab86e0; --clock: #45b8dc; --restart: #c39a72;
    --slow: #a9ba4c; --role: #9aa9cf; --on-mark: #14171d;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 1500px;
  background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header { display: flex; align-items: center; gap: 1rem; flex-wrap: wrap; }
h1 { font-size: 1.5rem; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 1.05rem; margin: 2.2rem 0 0.6rem; }
.lead { max-width: 70ch; color: var(--pale); margin: 0.6rem 0 1.4rem; }
.small { color: var(--pale); font-size: 0.85rem; }
.verdict { margin: 0; padding: 0.15rem 0.8rem; border-radius: 99px; font-weight: 650; color: #fff; }
.verdict.good { background: #12805c; } .verdict.bad { background: #c0262d; }
.verdict.pale { background: #6b7280; }
.cards { display: grid; grid-template-columns: repeat(2, 1fr); gap: 0.6rem; }
@media (min-width: 640px) { .cards { grid-template-columns: repeat(5, 1fr); } }
@media (min-width: 1280px) { .cards { grid-template-columns: repeat(10, 1fr); } }
.card { background: var(--sheet); border: 1px solid var(--line); border-radius: 8px;
  padding: 0.6rem 0.8rem; }
.card b { display: block; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.card span { color: var(--pale); font-size: 0.8rem; }
.timeline { display: flex; background: var(--sheet); border: 1px solid var(--line);
  border-radius: 8px; overflow: hidden; }
.timeline .labels { flex: none; border-right: 1px solid var(--line); }
.timeline .scroll { overflow-x: auto; }
svg { display: block; }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink); }
svg text.tick { fill: var(--pale); text-anchor: middle; font-variant-numeric: tabular-nums; }
svg text.group { fill: var(--pale); font-size: 10px; letter-spacing: 0.06em; }
svg text.in { fill: var(--on-mark); font-weight: 600; font-size: 10px; pointer-events: none; }
.lane { fill: var(--lane); } .grid { stroke: var(--line); } .healed { fill: var(--healed); }
.healed-line { stroke: var(--good); stroke-dasharray: 3 3; }
.violation { stroke: var(--bad); stroke-width: 2; } .violation-mark { fill: var(--bad); }
.bar { fill: var(--bar); } .histogram { max-width: 760px; width: 100%; }
.kill { fill: var(--kill); } .pause { fill: var(--pause); } .partition { fill: var(--partition); }
.clock { fill: var(--clock); } .restart { fill: var(--restart); } .slow { fill: var(--slow); } .role { fill: var(--role); }
.stripe { stroke: var(--sheet); stroke-width: 2; stroke-opacity: 0.4; }
.link { opacity: 0.55; } .shared { opacity: 0.6; }
.c0 { fill: #3b76c4; } .c1 { fill: #e08a1e; } .c2 { fill: #2f9e6e; } .c3 { fill: #b8478f; }
.c4 { fill: #7b68c8; } .c5 { fill: #a0682f; } .c6 { fill: #2c9aa8; } .c7 { fill: #d0574b; }
.legend { display: flex; flex-wrap: wrap; gap: 0.3rem 1.1rem; margin: 0.6rem 0; font-size: 0.85rem;
  color: var(--pale); }
.legend svg { display: inline-block; vertical-align: -2px; margin-right: 0.35rem; }
table { border-collapse: collapse; font-size: 0.88rem; background: var(--sheet);
  border: 1px solid var(--line); }
th, td { text-align: left; padding: 0.25rem 0.8rem; border-top: 1px solid var(--line); }
th { color: var(--pale); font-weight: 550; } td.n { text-align: right;
  font-variant-numeric: tabular-nums; }
td.bad { color: var(--bad); font-weight: 600; }
.columns { display: flex; flex-wrap: wrap; gap: 0 3rem; }
details { margin-top: 1.5rem; } summary { cursor: pointer; margin-bottom: 0.6rem; }
pre { background: var(--sheet); border: 1px solid var(--line); border-radius: 8px;
  padding: 0.8rem 1rem; overflow-x: auto; }
)css";

}  // namespace redlock::chaos
