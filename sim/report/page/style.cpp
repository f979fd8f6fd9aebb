#include "sim/report/page/resources.h"

namespace headway::report {

std::string_view page_style() {
  return R"css(
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --paper: #fff;
  --tile: #f6f8fa; --accent: #0b62c4; --bad: #b42318; --warn: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa5b1; --line: #3d444d;
  --paper: #0f1319; --tile: #1a2029; --accent: #6cb0ff; --bad: #ff8f85; --warn: #e8b34b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 72rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin: 0.2em 0; } h2 { font-size: 1.2rem; margin: 1.6em 0 0.4em; }
p { margin: 0.4em 0; } .soft { color: var(--soft); font-size: 0.85rem; }
.verdict { font-size: 1.15rem; border-left: 4px solid var(--accent); padding-left: 0.7rem; }
.bad { color: var(--bad); font-weight: 600; } .warning { color: var(--warn); }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); gap: 0.6rem;
  padding: 0; list-style: none; }
.tiles li { background: var(--tile); border: 1px solid var(--line); border-radius: 6px; padding: 0.6rem; }
.tiles b { display: block; font-size: 1.25rem; } .tiles span { color: var(--soft); font-size: 0.85rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1rem; margin-top: 1rem; }
.charts.packed { grid-auto-rows: 1px; grid-auto-flow: dense; row-gap: 0; align-items: start; }
figure { margin: 0; min-width: 0; } figcaption { margin-bottom: 0.3rem; } figcaption h3 { font: inherit; font-weight: 600; margin: 0; }
.chart { width: 100%; min-height: 60px; } .chart svg { max-width: 100%; }
.table { overflow-x: auto; margin: 0.5rem 0; } .table:focus-visible { outline: 2px solid var(--accent); }
.table[tabindex] { box-shadow: inset -0.7rem 0 0.6rem -0.7rem var(--soft); }
.table[tabindex] :is(th, td):first-child { position: sticky; left: 0; background: var(--paper); }
table { border-collapse: collapse; font-size: 0.85rem; width: max-content; } caption { text-align: left; font-weight: 600; padding: 0.3rem 0; }
th, td { padding: 0.15rem 0.6rem; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: normal; }
td.text { max-width: 24rem; } th.number { max-width: 8rem; } [data-list=plans] th.number { max-width: 6rem; } th { color: var(--soft); font-weight: 600; } td, .number { text-align: right; font-variant-numeric: tabular-nums; }
td.text, .text { text-align: left; font-variant-numeric: normal; } .total td { border-top: 2px solid var(--soft); font-weight: 600; }
details { border: 1px solid var(--line); border-radius: 6px; margin: 0.5rem 0; padding: 0.3rem 0.7rem; }
summary { cursor: pointer; font-weight: 600; } pre { overflow-x: auto; font-size: 0.8rem; }
.brush { display: flex; flex-wrap: wrap; gap: 0.3rem 0.8rem; align-items: center; font-size: 0.85rem; margin-top: 0.3rem; }
.brush input[type=number] { width: 7.5rem; font: inherit; } .brush button { font: inherit; padding: 0.1rem 0.7rem; }
tr.in td { background: var(--tile); font-weight: 600; } tr.out td { opacity: 0.35; }
.timeline canvas { width: 100%; display: block; border: 1px solid var(--line); border-radius: 6px; touch-action: pan-y; }
.timeline canvas:focus { outline: 2px solid var(--accent); }
.timeline button { font: inherit; padding: 0.1rem 0.7rem; margin: 0 0.3rem 0.3rem 0; }
.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; font-size: 0.85rem; }
.legend i { print-color-adjust: exact; display: inline-block; width: 0.9em; height: 0.9em; border-radius: 2px; margin-right: 0.35em; vertical-align: -0.1em; }
.told { min-height: 1.6em; white-space: pre-line; font-size: 0.85rem; color: var(--soft); }
.vega-bindings { font-size: 0.85rem; } .vega-bindings select { font: inherit; color: inherit; background: var(--paper); }
@media (max-width: 40rem) {
  th, td { padding: 0.15rem 0.3rem; } td.text { max-width: 15rem; }
  [data-list=plans] td.text { max-width: 7rem; overflow-wrap: anywhere; } [data-list=plans] th.number { max-width: 3.8rem; }
}
@media print {
  :root { color-scheme: light; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --paper: #fff; --tile: #f6f8fa; --accent: #0b62c4; --bad: #b42318; --warn: #8a5a00; }
  body { max-width: none; font-size: 11px; } .timeline button, .brush, .vega-bindings, .told, .keys, .charts details { display: none; }
  .charts.packed { display: block; } figure, tr, .tiles li { break-inside: avoid; } h2 { break-after: avoid; } .table { overflow: visible; } table { width: auto; } pre { white-space: pre-wrap; } details > pre { columns: 3; font-size: 7px; line-height: 1.15; }
  .dark :is(svg.marks, .timeline canvas, .legend i) { filter: invert(1) hue-rotate(180deg); }
}
)css";
}

}  // namespace headway::report
