#pragma once

#include <string>
#include <string_view>

namespace redlock::cli {

/// The style of all HTML pages that this program writes; follows the reader's choice of light or
/// dark.
inline constexpr std::string_view page_style = R"css(:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --sheet: #ffffff; --ink: #1d2330; --pale: #6b7280; --line: #e3e1da;
  --lane: #f3f1eb; --good: #12805c; --bad: #c0262d; --bar: #4a72b8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171d; --sheet: #1b1f27; --ink: #e6e8ec; --pale: #949cab; --line: #2d333f;
    --lane: #20252e; --good: #3fc796; --bad: #ff6b6b; --bar: #6f97dd;
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
.cards { display: grid; grid-template-columns: repeat(2, 1fr); gap: 0.6rem; }
@media (min-width: 640px) { .cards { grid-template-columns: repeat(5, 1fr); } }
@media (min-width: 1280px) { .cards { grid-template-columns: repeat(10, 1fr); } }
.card { background: var(--sheet); border: 1px solid var(--line); border-radius: 8px;
  padding: 0.6rem 0.8rem; }
.card b { display: block; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.card span { color: var(--pale); font-size: 0.8rem; }
svg { display: block; }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink); }
svg text.tick { fill: var(--pale); text-anchor: middle; font-variant-numeric: tabular-nums; }
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
.grid { stroke: var(--line); }
)css";

/// For the text of a page, and for its attributes.
[[nodiscard]] std::string escaped(std::string_view text);

/// All up to the text of the page, which needs no other file; `more_style` belongs to this page.
void begin_page(std::string& page, std::string_view title, std::string_view more_style);
void end_page(std::string& page);

/// One figure among others in a `<section class="cards">`.
void add_card(std::string& page, std::string_view value, std::string_view name);

}  // namespace redlock::cli
