#include "sim/report/page/resources.h"

namespace headway::report {

// One text.
std::string_view page_script() {  // NOLINT(readability-function-size)
  return R"js(
const dark = matchMedia('(prefers-color-scheme: dark)').matches;
document.documentElement.classList.toggle('dark', dark);  // paper is not: see the style
const problems = [];
let drawn = 0;

// The chart library of a page that is one file stands in it packed, behind its licences.
async function unpackCharts() {
  const packed = document.getElementById('charts');
  if (!packed) return;
  try {
    const bytes = Uint8Array.from(atob(packed.textContent.trim().split('\n\n').pop()), letter => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    const script = document.createElement('script');
    script.textContent = '(() => {"use strict";' + await new Response(stream).text() + '})();';  // its names are its own
    document.head.append(script);
    script.remove();  // it has run
  } catch (error) {
    problems.push(String(error));
    for (const table of document.querySelectorAll('.charts details')) table.open = true;
    const told = document.createElement('p');
    told.className = 'warning';
    told.textContent = 'This browser cannot unpack the charts (those of 2023 and later can); tables stand for them.';
    document.body.prepend(told);
  }
}

// Ties the brush of the chart of plans, and fields for those who have no mouse, to the table of plans.
function tieToPlans(place, view) {
  const table = place.closest('section')?.querySelector('[data-list="plans"] table');
  const plans = view.data('source_0');
  if (!table || !plans.length) return;
  const box = document.createElement('form'), told = document.createElement('span');
  box.className = 'brush'; told.setAttribute('role', 'status');
  const fields = {};
  for (const key of ['days', 'dollars']) for (const end of ['from', 'to']) {
    const label = document.createElement('label'), input = document.createElement('input');
    input.type = 'number'; input.step = 'any'; input.name = key + '-' + end;
    label.append(key + ' ' + end + ' ', input); box.append(label);
    fields[key + end] = input;
  }
  const only = document.createElement('input'), label = document.createElement('label'), all = document.createElement('button');
  only.type = 'checkbox'; only.name = 'front'; label.append(only, ' only the front');
  all.type = 'button'; all.textContent = 'all layouts';
  box.append(label, all, told);
  place.after(box);
  const rows = [...table.tBodies[0].rows];
  function choose() {
    const bound = (key, none) => fields[key].value === '' ? none : Number(fields[key].value);
    const inside = (plan, key) => plan[key] >= bound(key + 'from', -Infinity) && plan[key] <= bound(key + 'to', Infinity);
    const chosen = plans.filter(plan => inside(plan, 'days') && inside(plan, 'dollars') && (!only.checked || plan.front === 'on it'));
    const free = chosen.length === plans.length;
    const listed = chosen.map(plan => plan.plan).filter(place => place).sort((a, b) => a - b);  // the others are only in the chart
    rows.forEach((row, i) => { const out = !free && !listed.includes(i + 1); row.classList.toggle('out', out); row.classList.toggle('in', !free && !out); });
    told.textContent = free ? '' : chosen.length + ' of ' + plans.length + ' layouts' + (listed.length ? '; in the table: ' + listed.join(', ') : '');
    view.signal('chosen', free ? null : chosen.map(plan => plan.point)).runAsync();
  }
  view.addSignalListener('brush', (_, brush) => {
    for (const key of ['days', 'dollars']) {
      const ends = brush[key] ? brush[key].map(end => Number(end.toPrecision(5))).sort((a, b) => a - b) : ['', ''];
      fields[key + 'from'].value = ends[0]; fields[key + 'to'].value = ends[1];
    }
    choose();
  });
  box.addEventListener('submit', event => event.preventDefault());
  box.addEventListener('input', choose);
  all.onclick = () => { box.reset(); choose(); };
}

async function drawCharts(root) {
  if (!window.vegaEmbed) return;
  const views = [];
  for (const script of root.querySelectorAll('script.specification')) {
    const place = document.getElementById('chart-' + script.id);
    try {
      const embedded = await window.vegaEmbed(place, JSON.parse(script.textContent),
        {renderer: 'svg', actions: false, theme: dark ? 'dark' : undefined, config: {background: 'transparent', axis: {gridColor: faint}, text: {color: dark ? '#fff' : '#000'}}});
      views.push(embedded);
      if (script.id.endsWith('-front')) tieToPlans(place, embedded.view);
      const svg = place.querySelector('svg.marks');  // not around what chooses a stage below it
      svg.setAttribute('role', 'img');
      svg.setAttribute('aria-label', place.dataset.title + '; the same as a table below');
      drawn += 1;
    } catch (error) { problems.push(String(error)); }
  }
  return views;
}

const faint = dark ? '#2b323c' : '#e3e7ec';
const palettes = {
  stages: ['#4c8dd6', '#3f9c6a', '#c9a227', '#a06cd5', '#e08a2e', faint, '#98a2ad'],
  streams: ['#4c8dd6', '#e08a2e', '#3f9c6a', '#a06cd5', '#c0392b', '#2a9d9d', '#e8c34b', '#8c6d46', '#98a2ad'],
  failures: ['#e8c34b', '#c0392b', '#e67e22', '#98a2ad', '#a06cd5', '#4c8dd6', '#2a9d9d', '#3f9c6a', '#7fc8a9', '#8c6d46', '#b09a7a', '#d0bfa6', '#6b7a8f'],
};

// [n, p]: n more entries, each the same as the one p before it.
function whole(list) {
  const out = [];
  for (const each of list) {
    if (!Array.isArray(each)) out.push(each);
    else for (let i = 0; i < each[0]; i += 1) out.push(out[out.length - each[1]]);
  }
  return out;
}

function timeline(box) {
  const data = JSON.parse(document.getElementById(box.dataset.source).textContent);
  for (const s of data.rows) {
    for (const key of ['gap', 'length', 'exposed', 'what', 'number', 'more', 'chunk', 'runs']) if (s[key]) s[key] = whole(s[key]);
    let sum = 0;
    if (s.more) s.number = s.more.map(more => sum += more);
    let last = 0;
    s.what = s.what || s.gap.map(() => s.all);
    s.begin = s.gap.map((gap, i) => { const begin = last + gap; last = begin + s.length[i]; return begin; });
  }
  const canvas = box.querySelector('canvas'), told = box.querySelector('.told');
  const pen = canvas.getContext('2d');
  const row = Math.max(data.row || 6, Math.min(26, Math.floor(420 / data.rows.length)));
  const top = 4, foot = 22, colours = palettes[data.palette];
  pen.font = '11px system-ui, sans-serif';
  const brief = text => text.length > 32 ? text.slice(0, 31) + '\u2026' : text;
  const left = 8 + Math.ceil(Math.max(...data.rows.map(s => pen.measureText(brief(s.label)).width)));
  let end = data.end;
  for (const s of data.rows) {
    const n = s.begin.length;
    if (n) end = Math.max(end, s.begin[n - 1] + s.length[n - 1]);
  }
  let from = 0, to = end, chosen = null;
  const ink = getComputedStyle(document.body).color;
  const unitOf = s => s >= 172800 ? [86400, 'd'] : s >= 7200 ? [3600, 'h'] : s >= 1 || s === 0 ? [1, 's'] : s >= 1e-3 ? [1e-3, 'ms'] : [1e-6, 'us'];
  function time(units) {
    const s = units / data.units_per_s, [size, word] = unitOf(s);
    return String(Number((s / size).toPrecision(4))) + ' ' + word;
  }
  // Steps between round values of what is shown, at most so many of them, and how such a value is written.
  function grid(most) {
    const [size, word] = unitOf(to / data.units_per_s), unit = size * data.units_per_s;
    const least = (to - from) / unit / most, power = 10 ** Math.floor(Math.log10(least));
    const step = power * [1, 2, 5, 10].find(n => n * power >= least), digits = Math.max(0, -Math.floor(Math.log10(step * 1.001)));
    return {step: step * unit, words: at => (at / unit).toFixed(digits) + ' ' + word};
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
    const height = top + row * data.rows.length + foot;
    canvas.width = width * ratio; canvas.height = height * ratio; canvas.style.height = height + 'px';
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = '11px system-ui, sans-serif'; pen.textBaseline = 'middle';
    const scale = (width - left) / (to - from);
    data.rows.forEach((s, i) => {
      const y = top + i * row;
      if (row >= 11 || i % Math.ceil(11 / row) === 0) { pen.fillStyle = ink; pen.fillText(brief(s.label), 0, y + row / 2); }
      // Of what is far thinner than a pixel only what reaches beyond the last that was drawn.
      let edge = -1;
      for (let k = 0; k < s.begin.length; ++k) {
        const b = s.begin[k], e = b + s.length[k];
        if (e < from || b > to) continue;
        if ((e - from) * scale < edge + 0.25) continue;
        edge = (e - from) * scale;
        const x = left + Math.max(0, (b - from) * scale), x2 = left + Math.min(width - left, (e - from) * scale);
        pen.globalAlpha = s.runs ? 0.2 + 0.8 * Math.min(1, s.runs[k] / Math.max(1, s.length[k]))
          : s.chunk && s.chunk[k] > 0 ? Math.max(0.45, 1 - 0.12 * s.chunk[k]) : 1;
        pen.fillStyle = colours[s.what[k] % colours.length];
        pen.fillRect(x, y, Math.max(0.5, x2 - x - (x2 - x > 3 ? 0.6 : 0)), row - 1);
        pen.globalAlpha = 1;
        if (s.number && s.number[k] >= 0 && x2 - x > 22 && row > 11) { pen.fillStyle = s.chunk && s.chunk[k] > 2 ? '#1b1f24' : '#fff'; pen.fillText(String(s.number[k]), x + 4, y + row / 2); }
      }
    });
    pen.fillStyle = pen.strokeStyle = ink;
    if (chosen) {  // by keys
      const s = data.rows[chosen.row], x = left + (s.begin[chosen.span] - from) * scale;
      pen.strokeRect(x, top + chosen.row * row - 0.5, Math.max(2, s.length[chosen.span] * scale), row);
    }
    const y = top + row * data.rows.length + foot / 2;
    const {step, words: wordsAt} = grid(Math.max(2, Math.floor((width - left) / 120)));
    for (let n = Math.ceil(from / step); n * step <= to; n += 1) {
      const t = n * step, words = wordsAt(t), x = left + (t - from) * scale, half = pen.measureText(words).width / 2;
      pen.fillRect(x, y - foot / 2, 1, 4);
      pen.fillText(words, Math.max(left, Math.min(width - 2 * half, x - half)), y + 2);
    }
  }
  function zoom(factor, middle) {
    const span = Math.min(end, Math.max(end * 1e-5, (to - from) * factor));
    const share = (middle - from) / (to - from);
    from = Math.max(0, Math.min(end - span, middle - share * span)); to = from + span; draw();
  }
  function move(by) { const span = to - from; from = Math.max(0, Math.min(end - span, from + by * span)); to = from + span; draw(); }
  const at = event => from + (event.offsetX - left) / (canvas.clientWidth - left) * (to - from);
  function tell(event) {
    const s = data.rows[Math.floor((event.offsetY - top) / row)], t = at(event);
    if (!s || event.offsetX < left) { told.textContent = ''; return; }
    let low = 0, high = s.begin.length - 1;
    while (low < high) { const m = (low + high + 1) >> 1; if (s.begin[m] <= t) low = m; else high = m - 1; }
    const hair = 2 * (to - from) / (canvas.clientWidth - left);  // what is thinner is still found
    if (low < s.begin.length - 1 && t < s.begin[low + 1] && s.begin[low + 1] - t < hair && t > s.begin[low] + s.length[low]) low += 1;
    if (s.begin[low] > t + hair || t > s.begin[low] + s.length[low] + hair) { told.textContent = s.label + ': ' + data.else; return; }
    tellSpan(s, low);
  }
  function tellSpan(s, low) {
    const exposed = s.exposed ? s.exposed[low] : 0;
    told.textContent = s.label + ', ' + data.names[s.what[low]] +
      (s.number && s.number[low] >= 0 ? ', micro-batch ' + s.number[low] : '') +
      (s.chunk && s.chunk[low] >= 0 ? ', chunk ' + s.chunk[low] : '') + ': ' + time(s.length[low]) + ' from ' + time(s.begin[low]) +
      (exposed > 0 && exposed < s.length[low] ? '; ' + time(exposed) + ' of it are waits for transfers inside it' : '') +
      (s.runs && s.runs[low] < s.length[low] ? '; ' + time(s.runs[low]) + ' of it at work' : '') +
      ((data.formulas || [])[s.what[low]] || []).map((line, i) => (i ? '' : '\nThe largest parts of all such spans of the step:') + '\n' + line).join('');
  }
  // Another row, or the next or last span of it; what is told moves into sight.
  function choose(rows, spans) {
    const now = chosen || {row: data.rows.findIndex(s => s.begin.length), span: 0};
    if (!chosen) rows = spans = 0;  // the first key comes in
    let place = now.row + rows;
    while (data.rows[place] && !data.rows[place].begin.length) place += rows;
    const s = data.rows[place];
    if (!s) return;
    let span = now.span + spans;
    if (rows) for (span = 0; span + 1 < s.begin.length && s.begin[span + 1] <= data.rows[now.row].begin[now.span]; ) span += 1;
    chosen = {row: place, span: Math.max(0, Math.min(s.begin.length - 1, span))};
    const begin = s.begin[chosen.span];
    if (begin < from || begin > to) move((begin - (from + to) / 2) / (to - from));
    draw();
    tellSpan(s, chosen.span);
  }
  let grabbed = null;
  canvas.addEventListener('wheel', e => { if (e.ctrlKey || e.shiftKey) { e.preventDefault(); zoom((e.deltaY || e.deltaX) > 0 ? 1.25 : 0.8, at(e)); } }, {passive: false});
  canvas.addEventListener('pointerdown', e => { grabbed = e.offsetX; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener('pointerup', () => { grabbed = null; });
  canvas.addEventListener('pointermove', e => {
    if (grabbed !== null && e.offsetX !== grabbed) { move((grabbed - e.offsetX) / (canvas.clientWidth - left)); grabbed = e.offsetX; }
    tell(e);
  });
  canvas.addEventListener('dblclick', e => zoom(0.4, at(e)));
  canvas.addEventListener('keydown', e => {
    const middle = (from + to) / 2;
    const does = {'+': () => zoom(0.5, middle), '=': () => zoom(0.5, middle), '-': () => zoom(2, middle),
      ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), '0': () => zoom(1e9, middle)}[e.key];
    if (does) { e.preventDefault(); does(); tellRange(); return; }
    const way = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ',': [0, -1], '.': [0, 1]}[e.key];
    if (way) { e.preventDefault(); choose(...way); }
  });
  const tellRange = () => { told.textContent = 'shown: ' + time(to - from) + ' from ' + grid(40).words(from) + ' on'; };
  const buttons = box.querySelectorAll('button');
  [0.5, 2, 1e9].forEach((factor, i) => { buttons[i].onclick = () => { zoom(factor, (from + to) / 2); tellRange(); }; });
  const legend = box.querySelector('.legend');
  data.names.forEach((name, i) => {
    const item = document.createElement('span'), mark = document.createElement('i');
    mark.style.background = colours[i % colours.length];
    item.append(mark, name); legend.append(item);
  });
  new ResizeObserver(draw).observe(box);
  draw();
  box.dataset.spans = data.rows.reduce((sum, s) => sum + s.begin.length, 0);
  drawn += 1;
}

// A chart lies right below the one above it, however high its neighbour is.
const heights = new ResizeObserver(all => {
  for (const {target} of all) target.style.gridRowEnd = 'span ' + Math.ceil(target.getBoundingClientRect().height + 16);
});

// A table wider than its box scrolls inside it, also by keys, and says so to those who hear it.
const boxes = new ResizeObserver(all => {
  for (const {target} of all) {
    const wide = target.scrollWidth > target.clientWidth + 1;
    if (wide === target.hasAttribute('tabindex')) continue;
    if (!wide) { for (const name of ['tabindex', 'role', 'aria-label']) target.removeAttribute(name); continue; }
    const over = target.querySelector('caption')?.textContent || target.closest('details')?.querySelector('summary').textContent ||
      target.closest('section')?.querySelector('h1').textContent || '';
    target.tabIndex = 0; target.setAttribute('role', 'group'); target.setAttribute('aria-label', ('Table, scrolls sideways: ' + over).trim());
  }
});

// Draws all that stands in `root`; returns charts to finalize before it is replaced.
window.drawPictures = async root => {
  for (const box of root.querySelectorAll('.timeline')) {
    try { timeline(box); } catch (error) { problems.push(String(error)); }
  }
  for (const box of root.querySelectorAll('.table')) boxes.observe(box);
  for (const box of root.querySelectorAll('.charts')) {
    box.classList.add('packed');
    for (const figure of box.children) heights.observe(figure);
  }
  const views = await drawCharts(root);
  document.body.dataset.drawn = drawn;
  document.body.dataset.problems = problems.join('; ');
  return views || [];
};
// Paper shows what is folded, but for the tables of charts, which are drawn.
let unfolded = [];
window.addEventListener('beforeprint', () => {
  unfolded = [...document.querySelectorAll('details:not([open])')].filter(each => !each.closest('.charts'));
  for (const each of unfolded) each.open = true;
});
window.addEventListener('afterprint', () => { for (const each of unfolded) each.open = false; unfolded = []; });
window.addEventListener('error', event => problems.push(event.message));
await unpackCharts();
await window.drawPictures(document);
)js";
}

}  // namespace headway::report
