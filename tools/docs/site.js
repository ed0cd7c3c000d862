// What the site does besides the theme: tables for narrow screens, buttons that copy, a search for
// symbols, and light or dark as the system is.

// A table with a long cell is one of sentences, others are of numbers: see site.css.
for (const table of document.querySelectorAll('.md-typeset table:not([class])')) {
  const columns = [...table.querySelectorAll('th')].map((cell) => cell.textContent);
  let longest = 0;
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((cell, index) => {
      cell.dataset.column = columns[index];
      longest = Math.max(longest, cell.textContent.length);
    });
  }
  const box = document.createElement('div');
  box.className = longest > 40 ? 'sentences' : 'numbers';
  table.replaceWith(box);
  box.append(table);
}

// Material 8 has a button only for code that fits on the screen, and it copies output, too. Of a
// session, this one copies the commands.
for (const code of document.querySelectorAll('pre > code')) {
  const copied = code.cloneNode(true);
  if (copied.querySelector('.gp')) copied.querySelectorAll('.gp, .go').forEach((part) => part.remove());
  const button = document.createElement('button');
  button.className = 'md-clipboard md-icon';
  button.title = 'Copy';
  button.dataset.clipboardText = copied.textContent.trim();
  code.before(button);
}

// What is no word has a meaning to the search: '-' excludes, ':' names a field. Readers look for
// '--permits' and 'redlock::Client'. A symbol with this very name comes before longer ones.
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...others) {
  if (typeof message.data === 'string') {
    const words = message.data.match(/\w+/g) ?? [];
    message.data = [...words.map((word) => `${word}^97`), ...words].join(' ');
  }
  post.call(this, message, ...others);
};

// Material 8 shows how a section begins. This shows the sentence with the first word of the search.
const results = document.querySelector('.md-search-result__list');
const query = document.querySelector('.md-search__input');
let sections;

async function showPlaces() {
  const { base: root } = JSON.parse(document.querySelector('#__config').textContent);
  const base = new URL(`${root}/`, location);
  sections ??= fetch(new URL('search/search_index.json', base))
    .then((answer) => answer.json())
    .then(({ docs }) => new Map(docs.map(
      (entry) => [new URL(entry.location, base).href, entry.text])));
  const found = await sections;
  const word = query.value.toLowerCase().match(/\w+/)?.[0];
  for (const link of results.querySelectorAll('a.md-search-result__link')) {
    const teaser = link.querySelector('.md-search-result__teaser');
    const address = new URL(link.href);
    address.search = '';
    const text = found.get(address.href) ?? '';
    const at = text.toLowerCase().indexOf(word);
    if (!word || !teaser || teaser.querySelector('mark') || at < 0) continue;
    const begin = text.lastIndexOf(' ', Math.max(0, at - 80)) + 1;
    const mark = document.createElement('mark');
    mark.textContent = text.slice(at, at + word.length);
    teaser.replaceChildren(text.slice(begin, at), mark, text.slice(at + word.length, at + 200));
  }
}

if (results) {
  new MutationObserver(showPlaces).observe(results, { childList: true });
}

// Material keeps the theme of the first visit. This follows the system until the reader chooses.
const paletteForm = document.querySelector('[data-md-component=palette]');
const dark = matchMedia('(prefers-color-scheme: dark)');

function followSystem() {
  const fits = (input) => matchMedia(input.dataset.mdColorMedia).matches;
  const input = [...paletteForm.querySelectorAll('input')].find(fits);
  if (input && !input.checked && !__md_get('__chosen')) input.click();
}

if (paletteForm) {
  paletteForm.addEventListener('click', (event) => {
    if (event.isTrusted && event.target.closest('label')) __md_set('__chosen', true);
  });
  dark.addEventListener('change', followSystem);
  addEventListener('load', followSystem);
}
