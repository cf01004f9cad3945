// Pages tell what reached them in #log, one line an event.
const log = (text) => {
  const node = document.getElementById('log');
  node.textContent += (node.textContent ? '\n' : '') + text;
};
const nameOf = (node) => node.id || node.localName || 'document';
const watch = (target, ...types) => types.forEach((type) => target.addEventListener(type, (event) =>
  log(`${type}:${nameOf(event.target)} ${event.isTrusted ? 'trusted' : 'synthetic'}`)));
