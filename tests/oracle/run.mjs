// Runs page cases with Playwright. In: one JSON job on stdin, {chromium, cases: [{name, url, steps}]}. Out: a JSON
// line for each step, {case, step, got}, where got has the shape of an expectation. It judges nothing itself: the
// comparison has one implementation, in the runner that starts this.
import { chromium } from 'playwright-core';
import { text } from 'node:stream/consumers';

const WORKERS = 2;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function runCase({ name, url, steps }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  const page = await context.newPage();
  const seen = { dialogs: [], tabs: [], navigated: false };
  page.on('dialog', (dialog) => {
    seen.dialogs.push({ type: dialog.type(), message: dialog.message() });
    (dialog.type() === 'beforeunload' ? dialog.accept() : dialog.dismiss()).catch(() => {});
  });
  page.on('popup', (popup) => seen.tabs.push(popup));
  page.on('framenavigated', (frame) => { if (frame === page.mainFrame()) seen.navigated = true; });
  try {
    await page.goto(url);
    for (const [step, { action, params }] of steps.entries()) {
      Object.assign(seen, { dialogs: [], tabs: [], navigated: false });
      const got = await attempt(page, action, params, seen);
      // A lone surrogate of a page would be an escape that strict JSON refuses.
      const wellFormed = (_, value) => (typeof value === 'string' ? value.toWellFormed() : value);
      if (got) process.stdout.write(JSON.stringify({ case: name, step, got }, wellFormed) + '\n');
    }
  } catch (error) {
    process.stderr.write(`${name}: ${error.message}\n`);
  } finally {
    await context.close();
  }
}

async function attempt(page, action, params, seen) {
  if (action === 'sleep') return void await sleep(params.ms);
  try {
    const data = await actions[action](page, params, seen);
    if (seen.dialogs.length) data.dialogs = seen.dialogs;
    return { data };
  } catch (error) {
    return failure(action, error);
  }
}

// Plain CSS of ours is Playwright's css engine, which pierces open shadow roots too.
function target(page, { selector, frame = [] }) {
  const scope = frame.reduce((scope, selector) => scope.locator(`css=${selector}`).first().contentFrame(), page);
  return scope.locator(`css=${selector}`).first();
}

async function acted(page, seen) {
  // Playwright tells of a new tab by an event that comes after the click has returned.
  await sleep(150);
  const data = {};
  if (seen.navigated) data.navigation = 'committed';
  if (seen.tabs.length) data.opened_tab = seen.tabs[0].url() || 'about:blank';
  return data;
}

const truncate = (text, max = 262144) => {
  const points = [...text];
  return [points.slice(0, max).join(''), points.length > max];
};
const arrived = (page, response) => ({ url: page.url(), status: response ? response.status() : null });
const waitUntil = ({ wait_until = 'load', timeout_ms: timeout }) => ({ waitUntil: wait_until, timeout });

async function history(page, move) {
  const before = page.url();
  const response = await move();
  if (!response && page.url() === before) throw new Error('no_history');
  return arrived(page, response);
}

const actions = {
  async click(page, p, seen) {
    await target(page, p).click({
      button: p.button, clickCount: p.click_count, modifiers: p.modifiers, timeout: p.timeout_ms,
    });
    return acted(page, seen);
  },
  async type(page, p, seen) {
    const element = target(page, p);
    const handle = await element.elementHandle({ timeout: p.timeout_ms });
    const kind = await handle.evaluate((node) => node.type);
    const untypable = ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'].includes(kind);
    if (untypable || p.clear) await element.fill(untypable ? p.text : '', { timeout: p.timeout_ms });
    if (!untypable) {
      for (const state of ['visible', 'enabled', 'editable']) {
        await handle.waitForElementState(state, { timeout: p.timeout_ms }).catch((error) => {
          error.message += `\nelement is not ${state}`;
          throw error;
        });
      }
      await element.focus({ timeout: p.timeout_ms });
      await handle.evaluate((node) => {
        if (node.isContentEditable) getSelection().selectAllChildren(node), getSelection().collapseToEnd();
        else try { node.setSelectionRange(node.value.length, node.value.length); } catch { /* a number field */ }
      });
      await page.keyboard.type(p.text, { delay: p.delay_ms });
    }
    if (p.submit) await page.keyboard.press('Enter');
    return acted(page, seen);
  },
  async navigate(page, p) {
    const response = await page.goto(p.url, waitUntil(p));
    return arrived(page, response);
  },
  async getText(page, p) {
    const [element, options] = [target(page, p), { timeout: p.timeout_ms }];
    const whole = await element.innerText(options).catch((error) => {
      // SVG has no innerText.
      if (!/not an HTMLElement/.test(error.message)) throw error;
      return element.textContent(options);
    });
    const [text, truncated] = truncate(whole, p.max_length);
    return { text, truncated };
  },
  async waitFor(page, p) {
    await target(page, p).waitFor({ state: p.state, timeout: p.timeout_ms });
    return {};
  },
  async hover(page, p) {
    await target(page, p).hover({ timeout: p.timeout_ms });
    return {};
  },
  async select(page, p) {
    const wanted = (key) => [p[key]].flat().map((value) => ({ [key]: value }));
    const options = wanted('value' in p ? 'value' : 'label');
    return { values: await target(page, p).selectOption(options, { timeout: p.timeout_ms }) };
  },
  async pressKey(page, p, seen) {
    if (p.selector) await target(page, p).press(p.key, { timeout: p.timeout_ms });
    else await page.keyboard.press(p.key);
    return acted(page, seen);
  },
  async scroll(page, p) {
    if (p.selector) await target(page, p).scrollIntoViewIfNeeded({ timeout: p.timeout_ms });
    return page.evaluate(({ dx = 0, dy = 0 }) => {
      scrollBy({ left: dx, top: dy, behavior: 'instant' });
      return { x: scrollX, y: scrollY };
    }, p);
  },
  async getAttribute(page, p) {
    const element = target(page, p);
    const live = (node, name) => (name in node ? String(node[name]) : node.getAttribute(name));
    const value = ['value', 'checked'].includes(p.name)
      ? await element.evaluate(live, p.name, { timeout: p.timeout_ms })
      : await element.getAttribute(p.name, { timeout: p.timeout_ms });
    return { value };
  },
  async getHtml(page, p) {
    const [element, options] = [target(page, p), { timeout: p.timeout_ms }];
    const whole = p.outer ? await element.evaluate((node) => node.outerHTML, null, options) : await element.innerHTML(options);
    const [html, truncated] = truncate(whole, p.max_length);
    return { html, truncated };
  },
  async screenshot(page, p) {
    const options = { type: p.format, quality: p.quality, timeout: p.timeout_ms };
    const image = p.selector
      ? await target(page, p).screenshot(options)
      : await page.screenshot({ ...options, fullPage: p.full_page });
    // Only the header of a PNG tells its size in fixed places.
    const png = image.subarray(1, 4).toString() === 'PNG';
    const size = png ? { width: image.readUInt32BE(16), height: image.readUInt32BE(20) } : {};
    return { format: png ? 'png' : 'jpeg', ...size, data: image.toString('base64') };
  },
  goBack: (page, p) => history(page, () => page.goBack(waitUntil(p))),
  goForward: (page, p) => history(page, () => page.goForward(waitUntil(p))),
  async reload(page, p) {
    const response = await page.reload(waitUntil(p));
    return arrived(page, response);
  },
  async listTabs(page) {
    const tab = async (one) => ({ url: one.url(), title: await one.title(), active: one === page });
    return { tabs: await Promise.all(page.context().pages().map(tab)) };
  },
};

// Playwright tells why it waited in a log inside the message; the last reason is the one that held at the end.
const REASONS = [
  [/intercepts pointer events/, 'covered'],
  [/element is not visible|hidden <|to be hidden/, 'hidden'],
  [/element is inert/, 'inert'],
  [/element is not enabled|option being selected is not enabled/, 'disabled'],
  [/element is not editable/, 'readonly'],
  [/element is not stable|waiting for element to be stable/, 'unstable'],
  [/outside of the viewport/, 'outside_viewport'],
  [/did not find some options/, 'no_option'],
];

function failure(action, error) {
  const message = error.message;
  const fail = (code, details = {}) => ({ error: code, reason: details.reason ?? null, details });
  if (['navigate', 'goBack', 'goForward', 'reload'].includes(action)) {
    const net = /net::(ERR_\w+)/.exec(message)?.[1];
    const reason = /no_history/.test(message) ? 'no_history'
      : /Download is starting/.test(message) ? 'download'
      : error.name === 'TimeoutError' ? 'timeout'
      : net === 'ERR_ABORTED' ? 'no_content'
      : net ? 'network' : 'other';
    return fail('CMD_NAVIGATION_FAILED', { reason, net_error: net, message });
  }
  if (/not a valid selector|Unexpected token|Unsupported token|while parsing|parsing css selector/i.test(message)) return fail('CMD_SELECTOR_INVALID', { message });
  if (error.name !== 'TimeoutError') return fail('CMD_EXECUTION_FAILED', { message });
  let last = { at: -1, reason: 'not_found' };
  for (const [pattern, reason] of REASONS) {
    const at = [...message.matchAll(new RegExp(pattern, 'g'))].pop()?.index ?? -1;
    if (at > last.at) last = { at, reason };
  }
  return fail('CMD_SELECTOR_TIMEOUT', { reason: last.reason, message });
}

const job = JSON.parse(await text(process.stdin));
const browser = await chromium.launch({
  executablePath: job.chromium,
  args: ['--no-sandbox', '--disable-gpu', '--site-per-process', '--host-resolver-rules=MAP localhost 127.0.0.1'],
});
const queue = [...job.cases];
await Promise.all(Array.from({ length: WORKERS }, async () => {
  for (let next = queue.shift(); next; next = queue.shift()) await runCase(next);
}));
await browser.close();
