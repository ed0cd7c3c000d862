// Two conveniences of the site, which is complete without them: copy buttons on blocks of code, and a
// search over all pages. The index, search-index.js, is read when somebody first uses the search, as
// a script, so that it works from a folder, too.
'use strict';

(() => {
  const up = document.currentScript.dataset.up;

  // --- copy: of a session in a shell, only the commands ---
  function copied(text) {
    const lines = text.replace(/\n$/, '').split('\n');
    const commands = lines.filter((line) => /^[$>] /.test(line));
    return (commands.length ? commands.map((line) => line.slice(2)) : lines).join('\n') + '\n';
  }
  for (const block of document.querySelectorAll('main pre')) {
    if (!navigator.clipboard || block.closest('.member')) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(copied(block.querySelector('code').textContent));
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
    const frame = document.createElement('div');
    frame.className = 'copyable';
    block.replaceWith(frame);
    frame.append(block, button);
  }

  // --- search ---
  let index;
  function load() {
    index ??= new Promise((resolve) => {
      const script = document.createElement('script');
      script.src = `${up}search-index.js`;
      script.addEventListener('load', () => resolve(window.redlockIndex));
      script.addEventListener('error', () => {
        index = undefined;  // the next search tries again
        resolve([]);
      });
      document.head.append(script);
    });
    return index;
  }
  // Each word of the query begins a word of the section. Words of its title count more.
  function find(sections, query) {
    const words = query.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((word) => word);
    if (words.length === 0) return [];
    const score = ({ title, text }) => {
      let sum = 0;
      for (const word of words) {
        if (` ${title.toLowerCase()}`.includes(` ${word}`)) sum += 10;
        else if (` ${text}`.includes(` ${word}`)) sum += 1;
        else return 0;
      }
      return sum;
    };
    return sections.map((section) => [score(section), section]).filter(([sum]) => sum > 0)
      .sort(([a], [b]) => b - a).slice(0, 12).map(([, section]) => section);
  }
  for (const navigation of document.querySelectorAll('nav')) {
    const box = document.createElement('input');
    box.type = 'search';
    box.placeholder = 'Search';
    box.setAttribute('aria-label', 'Search all pages');
    const results = document.createElement('ul');
    results.className = 'results';
    results.setAttribute('aria-live', 'polite');
    const name = navigation.querySelector('.name');
    if (name) name.after(box, results);
    else navigation.prepend(box, results);
    box.addEventListener('focus', load, { once: true });
    box.addEventListener('input', async () => {
      const found = find(await load(), box.value);
      results.replaceChildren(...found.map(({ page, title, url }) => {
        const item = document.createElement('li');
        const link = document.createElement('a');
        link.href = up + url;
        link.textContent = title === page ? page : `${page}: ${title}`;
        item.append(link);
        return item;
      }));
      if (found.length === 0 && box.value.trim()) results.textContent = 'Nothing was found.';
    });
  }
})();
