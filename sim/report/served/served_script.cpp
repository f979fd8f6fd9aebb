#include "sim/report/page/resources.h"

namespace headway::report {

// One text.
std::string_view served_page_script() {  // NOLINT(readability-function-size)
  return R"js(
// The scenario is a text and changes laid over it, as files and --set are. Every change asks the
// server for an estimate at once, and for a simulation once the hand rests.
const get = id => document.getElementById(id);
const page = Math.random().toString(36).slice(2);
const scenario = {text: '', set: new Map()};
const shown = {values: {}, used: {}, estimate: null, run: null, answer: null, pinned: null};
let form = null, charts = [];

// --- Asking ---------------------------------------------------------------------------------------

function token(address = location.hash) {
  const given = /[#&]token=([0-9a-f]+)/.exec(address);
  if (given) localStorage.setItem('headway-token', given[1]);
  return localStorage.getItem('headway-token') || '';
}

async function ask(path, question) {
  const response = await fetch('/api/' + path, {method: 'POST', body: JSON.stringify(question),
    headers: {'Authorization': 'Bearer ' + token(), 'Content-Type': 'application/json'}});
  const type = response.headers.get('Content-Type') || '';
  const answer = type.includes('json') ? await response.json()
    : type.includes('octet') ? await response.blob() : await response.text();
  if (!response.ok || answer.errors) {
    const errors = answer.errors || [{field: '', message: answer.trim(), place: ''}];
    throw Object.assign(new Error(errors[0].message), {errors, replaced: answer.replaced});
  }
  return answer;
}

const question = more => ({text: scenario.text, page, ...more,
  set: [...scenario.set].map(([path, value]) => path + '=' + value)});

function say(words) { get('status').textContent = words; }

let hurry = 0, asking = false, resting = null, simulating = false;

// Something changed at `time`; the latest is asked for, those between are not.
async function changed(time = performance.now()) {
  hurry = time;
  clearTimeout(resting);
  if (simulating) ask('stop', {page, verb: 'run'}).catch(() => {});
  if (asking) return;
  asking = true;
  let sound = false;
  while (hurry) {
    const begun = hurry;
    hurry = 0;
    try {
      Object.assign(shown, await ask('estimate', question()), {run: null});
      sound = true;
      showErrors([]);
      showScenario();
      showFigures();
      const took = performance.now() - begun;
      document.body.dataset.ms = took;
      get('speed').textContent = `Estimated in ${Math.round(took)} ms, without events; the simulation follows.`;
    } catch (error) {
      sound = false;
      showErrors(error.errors || [{field: '', message: 'headway serve does not answer: ' + error.message, place: ''}]);
      showChanges();
    }
  }
  asking = false;
  document.body.dataset.sound = sound;  // if not, the figures are those of the last that was
  if (sound) resting = setTimeout(simulate, 250);
  else forget();
}

// Asks for what takes a moment; nothing if a newer question took its place.
async function simulated(verb, words, more = {}) {
  say(words);
  get('stop').hidden = verb === 'run';
  get('stop').dataset.verb = verb;
  const begun = performance.now();
  const clock = setInterval(() => say(`${words}, ${Math.round((performance.now() - begun) / 1000)} s`), 1000);
  try {
    const answer = await ask('simulate', question({verb, ...more}));
    if (verb !== 'run') showErrors([]);  // those of the question before
    say(`done in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    return answer;
  } catch (error) {
    say(error.replaced ? 'stopped' : error.message);
    if (!error.replaced) showErrors(error.errors || []);
    return null;
  } finally {
    clearInterval(clock);
    if (get('stop').dataset.verb === verb) get('stop').hidden = true;
  }
}

let runs = 0;
async function simulate() {
  const mine = ++runs;
  simulating = true;
  const answer = await simulated('run', 'simulating');
  if (mine !== runs) return;
  simulating = false;
  if (hurry || asking) return;
  if (!answer) return forget();
  Object.assign(shown, {run: answer.result, text: answer.text, power: answer.power});
  get('speed').textContent = get('speed').textContent.replace('; the simulation follows', '');
  showFigures();
  await put(get('result'), answer.html);
  document.body.dataset.simulated = mine;
  if (awaited) handOver(awaited);
}

// Replaces a part of the report; what was open stays open.
async function put(place, html) {
  const name = details => details.querySelector('summary').textContent;
  const open = new Set([...place.querySelectorAll('details[open]')].map(name));
  for (const chart of place.charts || []) chart.finalize();
  place.innerHTML = html;
  for (const details of place.querySelectorAll('details')) if (open.has(name(details))) details.open = true;
  place.charts = await window.drawPictures(place);
}

// --- Figures --------------------------------------------------------------------------------------

function brief(x) {
  const [size, letter] = Math.abs(x) >= 1e12 ? [1e12, ' T'] : Math.abs(x) >= 1e9 ? [1e9, ' B']
    : Math.abs(x) >= 1e6 ? [1e6, ' M'] : Math.abs(x) >= 1e4 ? [1e3, ' k'] : [1, ''];
  return Number((x / size).toPrecision(3)) + letter;
}
// As the program prints a share: what is less than all of it does not read 100.
function percent(x) {
  let places = 1;
  while (x < 1 - 1e-9 && (100 * x).toFixed(places).startsWith('100')) ++places;
  return (100 * x).toFixed(places) + ' %';
}
const free = memory => 1 - memory.peak_bytes / memory.capacity_bytes;
const figures = [
  ['step', x => brief(x) + ' s', e => e.time_s, r => r.step.time_s],
  ['MFU', percent, e => e.mfu, r => r.step.mfu],
  ['tokens a second', brief, e => e.tokens_per_s, r => r.step.tokens_per_s],
  ['free memory', percent, e => free(e.memory), r => free(r.memory)],
  ['wall clock', x => brief(x) + ' days', e => e.work_s && e.work_s / 86400, r => r.campaign?.wall_days.p50, ' without failures'],
  ['ETTR', percent, () => null, r => r.campaign?.ettr.p50],
  ['cost', x => brief(x) + ' USD', () => null, r => r.cost?.total_usd.p50],
];

function cell(row, text, kind = 'td') {
  const out = document.createElement(kind);
  out.textContent = text;
  row.append(out);
  return out;
}

function showFigures() {
  const rows = figures.map(([name, format, ofEstimate, ofRun, lacks = '']) => {
    const row = document.createElement('tr');
    const value = side => side?.run ? ofRun(side.run) : null;
    const estimate = side => side?.estimate ? ofEstimate(side.estimate) : null;
    const text = x => x === null || x === undefined ? '' : format(x);
    cell(row, name, 'th').className = 'text';
    const guess = x => text(x) + (text(x) && lacks);  // an estimate has no failures and no saves
    cell(row, guess(estimate(shown)));
    const now = value(shown), before = value(shown.pinned);
    const interval = name === 'step' && shown.run ? shown.run.step.time_interval_s : null;
    const cellNow = cell(row, shown.run ? text(now) : ofRun && shown.estimate && name !== 'ETTR' && name !== 'cost' ? '\u2026' : '');
    if (interval) cellNow.title = `90 %: ${brief(interval[0])} to ${brief(interval[1])} s`;
    cell(row, before === null || before === undefined ? guess(estimate(shown.pinned)) : text(before));
    // Of like with like: simulated figures, or estimates until both are there.
    const [a, b] = now !== null && before !== null ? [before, now] : [estimate(shown.pinned), estimate(shown)];
    const both = a !== null && a !== undefined && b !== null && b !== undefined;
    const change = !both ? null : format === percent ? b - a : b / a - 1;  // of shares the difference
    cell(row, !both ? '' : Math.abs(change) < 5e-4 ? 'the same'
      : (change > 0 ? '+' : '') + (format === percent ? (100 * change).toFixed(1) + ' points' : percent(change)));
    return row;
  });
  get('figures').tBodies[0].replaceChildren(...rows);
  get('compare').disabled = !shown.pinned;
}

function showErrors(errors) {
  for (const old of document.querySelectorAll('.error')) old.textContent = '';
  for (const old of document.querySelectorAll('[aria-invalid]')) {
    for (const name of ['aria-invalid', 'aria-describedby']) old.removeAttribute(name);
  }
  const said = new Set();
  const list = errors.flatMap(error => {
    const placed = error.field ? reveal(error.field) : [];
    for (const row of placed) {
      const told = row.querySelector('.error');
      told.textContent = error.message;
      told.id = 'error-' + error.field;
      const input = row.querySelector('input, select');
      input?.setAttribute('aria-invalid', 'true');
      input?.setAttribute('aria-describedby', told.id);
    }
    const text = error.place || error.message;
    if (said.has(text)) return [];
    said.add(text);
    const item = document.createElement(error.place ? 'pre' : 'p');
    item.className = 'bad';
    item.textContent = text;
    return [item];
  });
  get('errors').replaceChildren(...list);
  if (errors.length) say(errors.length === 1 ? 'One error' : errors.length + ' errors');
}

// --- The form -------------------------------------------------------------------------------------

const at = path => path.split('.').reduce((part, key) => part?.[key], shown.values);
const join = (path, key) => path ? path + '.' + key : key;
const inText = value => Array.isArray(value) ? value.some(x => typeof x === 'object') : typeof value === 'number';

function make(tag, properties = {}, ...children) {
  const out = Object.assign(document.createElement(tag), properties);
  out.append(...children);
  return out;
}

const before = new Map();  // what changed fields had
function setChange(path, value) {
  if (!scenario.set.has(path)) before.set(path, String(at(path) ?? ''));
  scenario.set.delete(path);  // the latest is laid on last
  if (value !== null && value !== before.get(path)) scenario.set.set(path, value);
}

function choices(words, current) {
  const all = words.includes(current) ? words : [current, ...words];
  return make('select', {}, ...all.map(word => make('option', {value: word, textContent: word || '(none)'})));
}

// What takes the value of a field.
function control(field, path) {
  if (field.shape === 'word' || field.shape === 'flag') {
    const words = [...(field.words || ['true', 'false'])];
    if (field.auto) words.unshift('auto');
    if (field.optional) words.unshift('');
    return choices(words, field.default ?? words[0]);
  }
  const input = make('input', {type: 'text', placeholder: field.default ?? (field.optional ? '(none)' : '')});
  if (field.shape === 'integer' && !field.auto) {
    Object.assign(input, {type: 'number', step: 1});
    if (field.low !== undefined) input.min = field.low;
    if (field.high !== undefined) input.max = field.high;
  }
  if (field.shape === 'list' && inText(at(path))) input.disabled = true;
  return input;
}

// Nothing is what an optional field may have; of others the field says that it has no value.
const written = (field, value) => value === '' ? (field.optional || field.words || field.shape === 'flag' ? 'null' : '')
  : field.shape === 'text' ? JSON.stringify(value) : value;

function help(field) {
  const units = field.unit ? ` In ${form.units[field.unit].join(', ')}.` : '';
  const range = field.range ? ` It must be ${field.range}.` : '';
  const otherwise = field.default !== undefined ? ` Default: ${field.default}.` : field.required ? ' It must be written.' : '';
  return field.about + units + range + otherwise;
}

// One field: name, control, a way back, what it means while it has the focus, what is wrong with it.
function row(field, path, label) {
  const input = control(field, path);
  const about = make('p', {className: 'about', textContent: help(field)});
  const back = make('button', {type: 'button', className: 'back', textContent: '\u21ba', title: 'As it was'});
  back.setAttribute('aria-label', label + ' as it was');
  const out = make('div', {className: 'field'},
    make('label', {title: help(field)}, make('span', {textContent: label}), input), back, about,
    make('p', {className: 'error bad'}));
  out.dataset.path = path;
  const take = event => { setChange(path, written(field, input.value)); changed(event.timeStamp); };
  input.addEventListener(input.tagName === 'SELECT' ? 'change' : 'input', take);
  // The way back goes as soon as it is taken: whoever came by keyboard goes on in the field.
  back.addEventListener('click', event => { input.focus(); setChange(path, null); changed(event.timeStamp); });
  out.refresh = () => {
    const value = at(path);
    if (document.activeElement === input && scenario.set.has(path)) return;
    input.disabled = field.shape === 'list' && inText(value);
    if (input.disabled) input.placeholder = `${Array.isArray(value) ? value.length : value} items; see the text`;
    input.value = input.disabled || value === undefined ? '' : Array.isArray(value) ? `[${value.join(', ')}]` : value;
  };
  out.refresh();
  return out;
}

// The entry of the catalogue that a part is.
function useRow(type, field, path) {
  const names = form.catalogue[type.catalogue] || [];
  const none = field.optional ? [''] : [];
  const input = choices([...none, ...names], shown.used[path] ?? '');
  const out = make('div', {className: 'field use'},
    make('label', {}, make('span', {textContent: 'use'}), input), make('p', {className: 'error bad'}));
  out.dataset.path = path + '.use';
  input.addEventListener('change', event => {
    for (const other of [...scenario.set.keys()]) if (other.startsWith(path + '.') || other === path) scenario.set.delete(other);
    setChange(input.value ? path + '.use' : path, input.value || 'null');
    changed(event.timeStamp);
  });
  out.refresh = () => {
    input.value = shown.used[path] ?? '';
  };
  out.refresh();
  return out;
}

// A part with fields of its own; they are made when it is opened.
function part(field, path) {
  const entry = make('span', {className: 'soft'});
  const out = make('details', {}, make('summary', {title: field.about}, field.key + ' ', entry), make('p', {className: 'error bad'}));
  out.dataset.path = path;
  out.fill = () => {
    if (out.filled) return;
    out.filled = true;
    const type = form.types[field.type];
    if (type.catalogue && type.catalogue !== 'scenarios') out.append(useRow(type, field, path));
    out.append(...rows(type, path));
    showChanges();
  };
  out.addEventListener('toggle', () => { if (out.open) out.fill(); });
  out.refresh = () => { entry.textContent = shown.used[path] ?? (at(path) === undefined ? '(none)' : ''); };
  out.refresh();
  return out;
}

const rows = (type, path) => type.fields.filter(field => field.key !== 'headway').map(field =>
  field.shape === 'record' ? part(field, join(path, field.key)) : row(field, join(path, field.key), field.key));

// Opens the parts that a field is in; returns its rows, or the part that is nearest.
function reveal(path) {
  const keys = path.replace(/\[.*/, '').split('.');
  for (let n = keys.length; n > 0; --n) {
    const whole = keys.slice(0, n).join('.');
    for (let k = 1; k < n; ++k) {
      const outer = get('fields').querySelector(`details[data-path="${CSS.escape(keys.slice(0, k).join('.'))}"]`);
      if (outer) { outer.fill(); outer.open = true; }
    }
    const found = document.querySelectorAll(`[data-path="${CSS.escape(whole)}"]`);
    if (found.length) return found;
  }
  return [];
}

function search() {
  const words = get('search').value.trim().toLowerCase();
  const found = [];
  const look = (name, path, above) => {
    for (const field of form.types[name].fields) {
      const here = join(path, field.key);
      if (field.shape === 'record') { if (!above.includes(field.type)) look(field.type, here, [...above, field.type]); }
      else if ((here + ' ' + field.about).toLowerCase().includes(words)) found.push([field, here]);
    }
  };
  if (words.length > 1) look(form.root, '', [form.root]);
  // Names first, then meanings.
  found.sort((a, b) => b[1].toLowerCase().includes(words) - a[1].toLowerCase().includes(words));
  get('found').replaceChildren(...found.slice(0, 20).map(([field, path]) => row(field, path, path)));
  showChanges();
  get('fields').hidden = words.length > 1;
}

function showChanges() {
  for (const each of document.querySelectorAll('.field')) each.classList.toggle('changed', scenario.set.has(each.dataset.path));
  const buttons = () => [...get('changes').querySelectorAll('button')];
  const held = buttons().indexOf(document.activeElement);
  get('changes').replaceChildren(...[...scenario.set].map(([path, value]) => {
    const button = make('button', {type: 'button', textContent: '\u00d7'});
    button.setAttribute('aria-label', 'Take back ' + path);
    button.onclick = event => { scenario.set.delete(path); changed(event.timeStamp); };
    return make('li', {}, `${path} = ${value} `, button);
  }));
  // The focus is not lost with the change that is taken back: the next has it, or the search.
  if (held >= 0) (buttons()[held] ?? buttons().at(-1) ?? get('search')).focus();
}

function showScenario() {
  get('name').textContent = shown.estimate.scenario.name || 'Headway';
  document.title = get('name').textContent;
  for (const each of document.querySelectorAll('.field, aside details')) each.refresh();
  showChanges();
  if (document.activeElement !== get('text')) get('text').value = scenario.text;
  history.replaceState(null, '', address());
}

// --- The address ----------------------------------------------------------------------------------

const encode = value => btoa(Array.from(new TextEncoder().encode(JSON.stringify(value)), byte => String.fromCharCode(byte)).join(''))
  .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const decode = text => JSON.parse(new TextDecoder().decode(
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), letter => letter.charCodeAt(0))));

const address = () => '#s=' + encode({t: scenario.text, c: [...scenario.set]});

// Takes the scenario of the address, if there is one.
function takeAddress(text = location.hash) {
  const given = /[#&]s=([\w-]+)/.exec(text);
  if (!given) return false;
  try {
    const {t, c} = decode(given[1]);
    scenario.text = String(t);
    scenario.set = new Map(c.map(([path, value]) => [String(path), String(value)]));
    return true;
  } catch (error) {
    say('the link is damaged: ' + error.message);
    return false;
  }
}

// --- Plans, drills, comparisons, files ------------------------------------------------------------

async function show(verb, words, more) {
  const answer = await simulated(verb, words, more);
  if (!answer) return;
  await put(get('answer'), answer.html);
  if (verb === 'plan') get('answer').prepend(planButtons(answer.result.plans));
  document.body.dataset.answered = verb;
}

function planButtons(plans) {
  const layout = plan => Object.entries(plan.layout).filter(([key]) => key !== 'micro_batches');
  const differs = key => plans.some(plan => JSON.stringify(plan.layout[key]) !== JSON.stringify(plans[0].layout[key]));
  const buttons = plans.map((plan, i) => {
    const words = layout(plan).filter(([key]) => differs(key)).map(([key, value]) => `${key} ${value}`).join(', ');
    const button = make('button', {type: 'button', textContent: `Take ${i + 1}: ${brief(plan.step.time_s)} s`, title: words});
    button.onclick = event => {
      for (const [key, value] of layout(plan)) {
        const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
        if (String(at('parallelism.' + key)) !== String(value)) setChange('parallelism.' + key, text);
      }
      changed(event.timeStamp);
    };
    return button;
  });
  return make('div', {className: 'tools'}, ...buttons);
}

function save(name, type, text) {
  const link = make('a', {href: URL.createObjectURL(new Blob([text], {type})), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const trace = () => ask('trace', {result: shown.run, power: shown.power});

const files = {
  yaml: async () => save('scenario.yaml', 'application/yaml', (await ask('text', question())).text),
  json: async () => save('result.json', 'application/json', shown.text),
  trace: async () => save('step.pftrace', 'application/octet-stream', await trace()),
  report: async () => save('report.html', 'text/html', await ask('report', {result: shown.run})),
};

// What was asked for before its simulation had ended; then it comes by itself.
let awaited = '';
function forget() {
  awaited = '';
  get('download').textContent = 'Download';
}
async function handOver(kind) {
  const current = shown.run && !hurry && !asking;
  awaited = kind !== 'yaml' && !current ? kind : '';
  get('download').textContent = awaited ? 'Download when simulated' : 'Download';
  if (awaited) return;
  try { await files[kind](); } catch (error) { showErrors(error.errors || []); }
}

// --- Perfetto ---------------------------------------------------------------------------------------

// Its page in a frame, as it offers to others: it is asked whether it is there (PING, PONG), then given the trace, which
// stays in the browser. Nothing is loaded from a network before the button is pressed.
const PERFETTO = 'https://ui.perfetto.dev', PATIENCE = 8000;

function isThere(frame) {
  return new Promise(resolve => {
    const heard = event => {
      if (event.origin === PERFETTO && event.source === frame.contentWindow && event.data === 'PONG') done(true);
    };
    const asks = setInterval(() => frame.contentWindow?.postMessage('PING', '*'), 100);
    const late = setTimeout(() => done(false), PATIENCE);
    const done = answer => {
      clearInterval(asks);
      clearTimeout(late);
      removeEventListener('message', heard);
      resolve(answer);
    };
    addEventListener('message', heard);
  });
}

async function showTrace() {
  const buffer = await (await trace()).arrayBuffer();
  const frame = make('iframe', {src: PERFETTO + '/?mode=embedded', title: 'The step in Perfetto', className: 'perfetto',
    referrerPolicy: 'no-referrer'});
  get('answer').replaceChildren(frame);
  say('waiting for ui.perfetto.dev');
  if (await isThere(frame)) {
    const title = 'step of ' + shown.run.scenario.name;
    frame.contentWindow.postMessage({perfetto: {buffer, title, keepApiOpen: true}}, PERFETTO, [buffer]);
    say('');
  } else {
    frame.remove();
    say('ui.perfetto.dev does not answer: there is no network here. Download the trace, and open it where there is one.');
  }
}

function tab(name) {
  for (const [button, box] of [['tab-form', 'form'], ['tab-text', 'as-text']]) {
    get(box).hidden = box !== name;
    get(button).setAttribute('aria-selected', box === name);
  }
}

function listen() {
  get('search').oninput = search;
  get('tab-form').onclick = () => tab('form');
  get('tab-text').onclick = () => tab('as-text');
  get('text').oninput = event => { scenario.text = get('text').value; changed(event.timeStamp); };
  get('write-in').onclick = async () => {
    try {
      scenario.text = (await ask('text', question())).text;
      scenario.set.clear();
      changed();
    } catch (error) { showErrors(error.errors || []); }
  };
  get('pin').onclick = () => {
    shown.pinned = {estimate: shown.estimate, run: shown.run, scenario: question()};
    showFigures();
  };
  get('compare').onclick = () => {
    const {text, set} = shown.pinned.scenario;
    show('compare', 'comparing with the pinned scenario', {pinned: {text, set}});
  };
  get('plan').onclick = () => show('plan', 'searching layouts');
  get('drill').onclick = () => show('drill', 'drilling', {fault: get('fault').value + get('where').value.trim()});
  get('stop').onclick = () => ask('stop', {page, verb: get('stop').dataset.verb}).catch(() => {});
  get('link').onclick = async () => {
    history.replaceState(null, '', address());  // of what is in the form, right or wrong
    try { await navigator.clipboard.writeText(location.href); say('the address of this scenario is copied'); }
    catch { say('copy the address of this page: it holds the scenario'); }
  };
  get('download').onclick = () => handOver(get('kind').value);
  get('perfetto').onclick = async () => {
    if (!shown.run) { say('the simulation has not ended yet'); return; }
    try { await showTrace(); } catch (error) { showErrors(error.errors || []); }
  };
  // An answer that came meanwhile has its scenario in the address already: the link is in the event.
  addEventListener('hashchange', event => { token(event.newURL); if (takeAddress(event.newURL)) changed(); });
}

async function start() {
  let begun;
  try {
    begun = await ask('start', {});
  } catch (error) {
    showErrors(error.errors || []);
    say('Open the address that headway serve printed: it holds the token of this start.');
    return;
  }
  form = begun.form;
  if (!takeAddress()) {
    scenario.text = begun.text;
    scenario.set = new Map(begun.set.map(change => { const i = change.indexOf('='); return [change.slice(0, i), change.slice(i + 1)]; }));
  }
  get('text').value = scenario.text;
  get('fault').append(...begun.faults.map(kind => make('option', {textContent: kind})));
  get('fields').append(...rows(form.types[form.root], ''));
  for (const name of ['cluster', 'training', 'parallelism']) reveal(name + '.x').forEach(x => { x.fill?.(); x.open = true; });
  tab('form');
  listen();
  changed();
}

await start();
document.body.dataset.ready = 'yes';
)js";
}

}  // namespace headway::report
