// Runs in an isolated world of every document, before the page's own scripts, so that its capture
// listeners come first and nothing that the page overwrites is in reach. It never acts on its own:
// the executor calls one method at a time.
(() => {
  // A symbol, because `<div id=...>` would shadow a plain global name in this world too.
  const KEY = Symbol.for('sgclaw');
  // A window that leaves its initial empty document for one of the same origin, as in a new tab, stays
  // and so does this world, but the listeners are deaf from then on.
  if (globalThis[KEY]?.document === document) return globalThis[KEY];

  const FRAMES = [HTMLIFrameElement, HTMLFrameElement, HTMLObjectElement, HTMLEmbedElement];
  const DATA_TYPES = ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'];
  const TEXT_TYPES = ['text', 'search', 'url', 'tel', 'email', 'password', 'number'];
  let target = null;
  let field = null;

  // Form controls shadow the properties of their form by name, and images, forms and frames those of
  // the document, in this world too: `form.parentNode` may be an input. What may be a form, and the
  // document, are therefore asked through their prototypes, which here are the browser's own.
  const get = (node, name) => Reflect.get(Object.getPrototypeOf(node), name, node);
  const call = (node, name, ...values) => Reflect.apply(get(node, name), node, values);
  // Names in the page come before the window's methods of EventTarget.
  const listenTo = EventTarget.prototype.addEventListener.bind(globalThis);

  // ---- finding --------------------------------------------------------------------------------

  // The parent in the tree as it is drawn: through slots and out of shadow roots.
  const parentOf = (node) => {
    const slot = get(node, 'assignedSlot');
    if (slot) return slot;
    const parent = get(node, 'parentNode');
    return parent instanceof ShadowRoot ? parent.host : parent instanceof Element ? parent : null;
  };

  // The parent for descendant combinators: out of shadow roots, but not through slots.
  const lightParent = (node) => {
    const parent = get(node, 'parentNode');
    return parent instanceof ShadowRoot ? parent.host : parent instanceof Element ? parent : null;
  };

  // Splits a selector list at its commas, and each selector at its descendant combinators, so that
  // `my-card .price` matches where a shadow boundary lies between the two.
  const split = (selector) => {
    const list = [[]];
    let part = '', depth = 0, quote = '';
    const cut = () => { if (part.trim()) list[list.length - 1].push(part.trim()); part = ''; };
    for (let i = 0; i < selector.length; i++) {
      const c = selector[i];
      if (c === '\\') { part += c + (selector[++i] ?? ''); continue; }
      if (quote) { if (c === quote) quote = ''; part += c; continue; }
      if (c === '"' || c === "'") quote = c;
      if (c === '(' || c === '[') depth++;
      if (c === ')' || c === ']') depth--;
      if (depth === 0 && c === ',') { cut(); list.push([]); continue; }
      if (depth === 0 && /\s/.test(c)) {
        const next = selector.slice(i).trimStart()[0];
        if (!/[>+~|]$/.test(part.trimEnd()) && next && !'>+~|,'.includes(next)) { cut(); continue; }
      }
      part += c;
    }
    cut();
    return list;
  };

  const matches = (element, steps) => {
    const last = steps.length - 1;
    if (!call(element, 'matches', steps[last])) return false;
    let node = element;
    for (let i = last - 1; i >= 0; i--) {
      do { node = lightParent(node); } while (node && !call(node, 'matches', steps[i]));
      if (!node) return false;
    }
    return true;
  };

  const search = (root, list) => {
    for (const element of call(root, 'querySelectorAll', '*')) {
      if (list.some((steps) => matches(element, steps))) return element;
      const shadow = get(element, 'shadowRoot');
      const found = shadow && search(shadow, list);
      if (found) return found;
    }
    return null;
  };

  const find = (selector) => {
    // Throws where the selector is not CSS, whatever the page holds.
    const plain = call(document, 'querySelector', selector);
    for (const element of call(document, 'querySelectorAll', '*')) {
      if (!get(element, 'shadowRoot')) continue;
      const list = split(selector);
      try {
        return search(document, list);
      } catch {
        // A selector that does not come apart, such as one that begins with a combinator.
        return plain;
      }
    }
    return plain;
  };

  const lookUp = (selector) => {
    try {
      target = find(selector);
    } catch (error) {
      target = null;
      return { invalid: true };
    }
    return target ? null : { reason: 'not_found' };
  };

  // ---- states ---------------------------------------------------------------------------------

  const visible = (element) => {
    if (element instanceof HTMLOptionElement || element instanceof HTMLOptGroupElement) {
      const select = element.closest('select');
      if (select) return visible(select);
    }
    if (getComputedStyle(element).display === 'contents') {
      for (const child of get(get(element, 'shadowRoot') ?? element, 'childNodes')) {
        if (child instanceof Element && visible(child)) return true;
        if (child instanceof Text && boxes(child).length > 0
            && getComputedStyle(element).visibility === 'visible') return true;
      }
      return false;
    }
    if (!call(element, 'checkVisibility', { visibilityProperty: true })) return false;
    const box = call(element, 'getBoundingClientRect');
    return box.width > 0 && box.height > 0;
  };

  // A label stands for its control where a state is asked for.
  const controlOf = (element) => (element instanceof HTMLLabelElement && element.control) || element;

  const disabled = (element) => {
    const control = call(element, 'closest', 'button, input, select, textarea, option, optgroup');
    if (call(controlOf(element), 'matches', ':disabled') || control?.matches(':disabled')) return true;
    for (let node = element; node; node = parentOf(node)) {
      const stated = call(node, 'getAttribute', 'aria-disabled');
      if (stated === 'true') return true;
      if (stated === 'false') return false;
    }
    return false;
  };

  const inert = (element) => {
    const path = pathOf(element);
    if (path.some((node) => get(node, 'inert'))) return true;
    // A modal dialog makes everything outside it inert.
    const modal = call(document, 'querySelectorAll', 'dialog:modal');
    return modal.length > 0 && !path.some((node) => [...modal].includes(node));
  };

  const readOnly = (element) =>
    element.readOnly === true || call(element, 'getAttribute', 'aria-readonly') === 'true';

  // Whether a frame was drawn in time; a page that waits for its style sheets draws none. The timers
  // of this world are the browser's own.
  const frame = (limit) => new Promise((resolve) => {
    const timer = setTimeout(resolve, limit, false);
    requestAnimationFrame(() => { clearTimeout(timer); resolve(true); });
  });

  const boxes = (node) => {
    let list = node instanceof Element ? [...call(node, 'getClientRects')] : [];
    if (!list.some((box) => box.width > 0 && box.height > 0)) {
      const range = call(document, 'createRange');
      if (node instanceof Element) range.selectNodeContents(node); else range.selectNode(node);
      list = [...range.getClientRects()];
    }
    return list.filter((box) => box.width > 0 && box.height > 0);
  };

  const outline = (element) => {
    const box = call(element, 'getBoundingClientRect');
    if (box.width || box.height) return [box.x, box.y, box.width, box.height].join();
    return boxes(element).map((part) => [part.x, part.y, part.width, part.height].join()).join(';');
  };

  const still = async (element) => {
    const first = outline(element);
    if (!await frame(1000)) return false;
    const second = outline(element);
    if (first !== second || !await frame(1000)) return false;
    return get(element, 'isConnected') && outline(element) === second;
  };

  // Sticky headers cover what "nearest" brings into view, so later attempts align in other ways.
  const ALIGNMENTS = ['nearest', 'center', 'end', 'start'];
  const reveal = (element, attempt) => {
    const block = ALIGNMENTS[attempt % ALIGNMENTS.length];
    const scrolled = getComputedStyle(element).display === 'contents'
      ? get(element, 'firstElementChild') ?? get(element, 'parentElement') ?? element : element;
    const inline = attempt === 0 ? 'nearest' : 'center';
    call(scrolled, 'scrollIntoView', { block, inline, behavior: 'instant' });
  };

  // ---- hit testing ----------------------------------------------------------------------------

  const hitAt = (x, y) => {
    let hit = call(document, 'elementFromPoint', x, y);
    while (hit) {
      const shadow = get(hit, 'shadowRoot');
      const inner = shadow?.elementFromPoint(x, y);
      if (!inner || inner === hit || !shadow.contains(inner)) break;
      hit = inner;
    }
    return hit;
  };

  // Whether input that lands on `hit` is input for `element`: on it, inside it, or on a label that
  // passes it on.
  const reaches = (element, path) => {
    for (const node of path) {
      if (node === element) return true;
      if (node instanceof HTMLLabelElement && node.control === element) return true;
      // The areas of an image map lie on its image.
      if (node instanceof HTMLMapElement && element instanceof HTMLImageElement
          && element.useMap === `#${node.name}`) return true;
    }
    return element instanceof HTMLLabelElement && element.control !== null && path[0] === element.control;
  };

  const pathOf = (hit) => {
    const path = [];
    for (let node = hit; node; node = parentOf(node)) path.push(node);
    return path;
  };

  // A whole number within [from, to) where there is one: mouse events are delivered at whole pixels.
  const whole = (from, to, at) => {
    const low = Math.floor(at);
    if (low >= from) return low;
    return low + 1 < to ? low + 1 : at;
  };

  const pointsOf = (element) => {
    const points = [];
    for (const box of boxes(element)) {
      const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth);
      const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
      if (right <= left || bottom <= top) continue;
      for (const [u, v] of [[0.5, 0.5], [0.25, 0.25], [0.75, 0.75], [0.75, 0.25], [0.25, 0.75]]) {
        points.push([whole(left, right, left + (right - left) * u), whole(top, bottom, top + (bottom - top) * v)]);
      }
      if (points.length >= 40) break;
    }
    return points;
  };

  // ---- the guard ------------------------------------------------------------------------------

  // While armed, trusted mouse events pass only where they reach the target. Input created before
  // `until` but delivered after it belongs to a command that has already failed: it is stopped.
  let guard = null;
  const late = (event) => performance.now() > guard.until && event.timeStamp <= guard.until + 50;
  const stop = (event) => { event.preventDefault(); event.stopImmediatePropagation(); };

  const onMouse = (event) => {
    if (!guard || !event.isTrusted) return;
    if (performance.now() > guard.until) {
      if (late(event)) stop(event); else guard = null;
      return;
    }
    if (guard.kind !== 'mouse') return;
    if (guard.verdict === undefined) {
      // A release without its press went astray: the press went elsewhere.
      guard.verdict = guard.element !== null && PRESSES.includes(event.type)
        && reaches(guard.element, event.composedPath());
    }
    if (!guard.verdict) stop(event);
  };
  const onKey = (event) => {
    if (!guard || !event.isTrusted || performance.now() <= guard.until) return;
    if (late(event)) stop(event); else guard = null;
  };
  const PRESSES = ['pointerdown', 'mousedown', 'touchstart'];
  const MOUSE = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick',
    'contextmenu', 'touchstart', 'touchend', 'dragstart'];
  const KEYS = ['keydown', 'keypress', 'keyup', 'beforeinput'];
  // Again at each use: `document.open()` takes all listeners away; adding one twice does nothing.
  const listen = () => {
    for (const type of MOUSE) listenTo(type, onMouse, { capture: true, passive: false });
    for (const type of KEYS) listenTo(type, onKey, { capture: true });
  };
  const arm = (kind, until, element = null) => {
    listen();
    guard = { kind, until, element };
  };
  listen();

  // ---- text -----------------------------------------------------------------------------------

  // Cut to `most` code points, and to `bytes` bytes as the text stands in a JSON message.
  const cut = (text, most, bytes) => {
    text = text.toWellFormed();
    let count = 0, size = 0, end = 0;
    for (const character of text) {
      const code = character.codePointAt(0);
      size += code === 0x22 || code === 0x5c || (code >= 8 && code <= 13 && code !== 11) ? 2
        : code < 0x20 ? 6 : code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      if (++count > most || size > bytes) return { text: text.slice(0, end), truncated: true };
      end += character.length;
    }
    return { text, truncated: false };
  };

  const strings = (value) => (Array.isArray(value) ? value : [value]);
  const labelOf = (option) => option.label.replace(/\s+/g, ' ').trim();

  const fireInput = (element) => {
    element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    element.dispatchEvent(new Event('change', { bubbles: true }));
  };

  const deepActive = () => {
    let active = get(document, 'activeElement');
    while (active) {
      const inner = get(active, 'shadowRoot')?.activeElement;
      if (!inner) break;
      active = inner;
    }
    return active;
  };

  const numeric = (text) => {
    const probe = call(document, 'createElement', 'input');
    probe.type = 'number';
    probe.value = text;
    return text === '' || probe.value !== '';
  };

  const embeds = (element) => FRAMES.some((kind) => element instanceof kind);
  const multiLine = (element) => element instanceof HTMLTextAreaElement || get(element, 'isContentEditable');

  const api = {
    document,

    // Attached, and in the states asked for. `needs`: visible, enabled, editable.
    async check({ selector, needs }) {
      const failed = lookUp(selector);
      if (failed) return failed;
      const control = controlOf(target);
      if (needs.includes('visible') && !visible(target)) return { reason: 'hidden' };
      if (needs.includes('enabled') && disabled(target)) return { reason: 'disabled' };
      if (needs.includes('editable') && readOnly(control)) return { reason: 'readonly' };
      if (needs.includes('enabled') && inert(target)) return { reason: 'inert' };
      return { ok: true };
    },

    // Everything before a mouse event: the point that reaches the target, with the guard armed.
    async aim({ selector, needs, attempt, until, press }) {
      const failed = await api.check({ selector, needs });
      if (!failed.ok) return failed;
      const element = target;
      // With the pointer locked, every mouse event goes to the element that holds it.
      if (document.pointerLockElement) document.exitPointerLock();
      reveal(element, attempt);
      if (!await still(element)) return { reason: get(element, 'isConnected') ? 'unstable' : 'not_found' };
      const again = await api.check({ selector, needs });
      if (!again.ok) return again;
      if (target !== element) return { reason: 'unstable' };
      const points = pointsOf(element);
      if (points.length === 0) return { reason: 'outside_viewport' };
      for (const [x, y] of points) {
        const hit = hitAt(x, y);
        if (!hit || !reaches(element, pathOf(hit))) continue;
        if (press) arm('mouse', until, element);
        return { ok: true, x, y, width: innerWidth, height: innerHeight,
          embeds: embeds(element) };
      }
      return { reason: 'covered' };
    },

    // For the documents around: whether the point leads to the frame found by `selector`.
    leads({ selector, x, y, until, press }) {
      const failed = lookUp(selector);
      if (failed) return failed;
      const hit = hitAt(x, y);
      if (!hit || !reaches(target, pathOf(hit))) return { reason: 'covered' };
      if (press) arm('mouse', until);
      return { ok: true };
    },

    disarm() {
      const verdict = guard?.verdict;
      guard = null;
      return { seen: verdict !== undefined, reached: verdict === true };
    },

    // The frame element itself; the executor asks the browser which document it holds.
    owner(selector) {
      lookUp(selector);
      return target && embeds(target) ? target : null;
    },

    revealOwner({ attempt }) {
      if (!target || !get(target, 'isConnected')) return { reason: 'not_found' };
      if (!visible(target)) return { reason: 'hidden' };
      if (inert(target)) return { reason: 'inert' };
      reveal(target, attempt);
      return { ok: true };
    },

    size: () => ({ width: innerWidth, height: innerHeight }),
    facts: () => null,

    // Lets the page run what the input has queued, such as `hashchange`.
    async settle() { if (await frame(100)) await new Promise((resolve) => setTimeout(resolve)); },

    // ---- typing ----

    // Makes the target the focused element with the caret at its end.
    async prepare({ selector, text, clear, until }) {
      const failed = await api.check({ selector, needs: ['visible', 'enabled', 'editable'] });
      if (!failed.ok) return failed;
      if (performance.now() > until) return { reason: 'unstable' };
      let element = controlOf(target);
      const type = element instanceof HTMLInputElement ? element.type : '';
      if (DATA_TYPES.includes(type)) return api.setData(element, type, text);
      const isField = TEXT_TYPES.includes(type) || element instanceof HTMLTextAreaElement;
      if (!isField && !get(element, 'isContentEditable')) return { refused: 'not_editable' };
      if (!multiLine(element) && /[\r\n]/.test(text)) return { refused: 'newline_in_single_line' };
      if (type === 'number' && !numeric((clear ? '' : element.value) + text)) return { refused: 'invalid_value' };
      arm('keys', until);
      reveal(element, 0);
      // Within a contenteditable region the region's host takes the focus.
      const region = get(element, 'isContentEditable') && !isField;
      let host = element;
      while (region) {
        const outer = get(host, 'parentElement');
        if (!outer || !get(outer, 'isContentEditable')) break;
        host = outer;
      }
      if (deepActive() !== host) call(host, 'focus', { preventScroll: true });
      // A field that was rendered anew is looked up again; one that gives the focus away will do so
      // each time.
      if (deepActive() !== host) return get(host, 'isConnected') ? { refused: 'focus_lost' } : { reason: 'unstable' };
      const selection = getSelection();
      if (clear && region) {
        selection.selectAllChildren(element);
        call(document, 'execCommand', 'delete');
      } else if (clear) {
        element.select();
        if (element.value !== '' || element.validity.badInput) call(document, 'execCommand', 'delete');
      }
      // What the page does on focus may come a moment later, and move the caret.
      await api.settle();
      if (deepActive() !== host) return get(host, 'isConnected') ? { refused: 'focus_lost' } : { reason: 'unstable' };
      if (!region) {
        selection.modify('move', 'forward', 'documentboundary');
      } else if (!clear) {
        selection.selectAllChildren(element);
        selection.collapseToEnd();
      }
      // The selection may have moved the focus: in design mode, from the root to the body.
      field = region ? deepActive() : host;
      if (!field || !pathOf(element).includes(field)) return { refused: 'focus_lost' };
      return { ok: true, multi_line: multiLine(element) };
    },

    setData(element, type, text) {
      const before = element.value;
      element.value = text;
      let valid;
      if (type === 'color') valid = /^#[0-9a-fA-F]{6}$/.test(text);
      else if (text === '') valid = type !== 'range';
      else if (type === 'range') valid = /^-?\d*\.?\d+([eE][-+]?\d+)?$/.test(text) && Number(element.value) === Number(text);
      else valid = element.value !== '';
      if (!valid) {
        element.value = before;
        return { refused: 'invalid_value' };
      }
      if (element.value !== before) fireInput(element);
      return { done: true };
    },

    // Where the next key would go, seen from this document.
    keys() {
      const active = deepActive();
      const inner = active && embeds(active);
      // Whether the field that typing began in would still take it.
      const lost = field === null || active !== field || call(field, 'matches', ':disabled') || readOnly(field);
      return { focused: call(document, 'hasFocus') && !inner, inner: Boolean(inner), lost };
    },
    activeFrame: () => { const active = deepActive(); return active && embeds(active) ? active : null; },

    async focus({ selector, until }) {
      const failed = await api.check({ selector, needs: ['visible', 'enabled'] });
      if (!failed.ok) return failed;
      if (performance.now() > until) return { reason: 'unstable' };
      arm('keys', until);
      const element = controlOf(target);
      reveal(element, 0);
      if (deepActive() !== element) call(element, 'focus', { preventScroll: true });
      return { ok: true };
    },

    submitForm({ until }) {
      if (performance.now() > until) return { ok: false };
      const active = deepActive();
      const form = active && get(active, 'form');
      if (form) call(form, 'requestSubmit');
      return { ok: Boolean(form) };
    },

    // ---- fields ----

    async select({ selector, by, wanted, until }) {
      const failed = await api.check({ selector, needs: ['visible', 'enabled'] });
      if (!failed.ok) return failed;
      if (performance.now() > until) return { reason: 'unstable' };
      const element = controlOf(target);
      if (!(element instanceof HTMLSelectElement)) return { refused: 'not_a_select' };
      const options = [...element.options];
      const chosen = [];
      for (const want of strings(wanted)) {
        const option = by === 'value' ? options.find((o) => o.value === want)
          : options.find((o) => o.label === want) ?? options.find((o) => labelOf(o) === want.replace(/\s+/g, ' ').trim());
        if (!option) return { reason: 'no_option' };
        if (option.matches(':disabled')) return { reason: 'disabled' };
        chosen.push(option);
      }
      if (!element.multiple && chosen.length !== 1) return { refused: 'not_multiple' };
      element.focus({ preventScroll: true });
      let changed = false;
      if (element.multiple) {
        for (const option of options) {
          const on = chosen.includes(option);
          if (option.selected !== on) { option.selected = on; changed = true; }
        }
      } else if (!chosen[0].selected) {
        chosen[0].selected = true;
        changed = true;
      }
      if (changed) fireInput(element);
      return { ok: true, values: [...element.selectedOptions].map((o) => o.value.toWellFormed()) };
    },

    // ---- reading ----

    text({ selector, most, bytes }) {
      const failed = lookUp(selector);
      if (failed) return failed;
      const field = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
      const text = field ? '' : get(target, target instanceof HTMLElement ? 'innerText' : 'textContent');
      return { ok: true, ...cut(text, most, bytes) };
    },

    html({ selector, outer, most, bytes }) {
      const failed = lookUp(selector);
      if (failed) return failed;
      return { ok: true, ...cut(get(target, outer ? 'outerHTML' : 'innerHTML'), most, bytes) };
    },

    attribute({ selector, name, bytes }) {
      const failed = lookUp(selector);
      if (failed) return failed;
      const lower = name.toLowerCase();
      let value;
      if (lower === 'value' && target instanceof HTMLInputElement && target.type === 'password') return { secret: true };
      if (lower === 'value' && typeof target.value === 'string') value = target.value;
      else if (lower === 'checked' && typeof target.checked === 'boolean') value = String(target.checked);
      else value = call(target, 'getAttribute', name);
      if (value === null || value === undefined) return { ok: true, value: null };
      const { text, truncated } = cut(value, Infinity, bytes);
      return truncated ? { large: true } : { ok: true, value: text };
    },

    state({ selector }) {
      const failed = lookUp(selector);
      if (failed?.invalid) return failed;
      return { ok: true, attached: target !== null, visible: target !== null && visible(target) };
    },

    // ---- scrolling and pictures ----

    scrollTo({ selector, until }) {
      const failed = lookUp(selector);
      if (failed) return failed;
      if (performance.now() > until) return { reason: 'unstable' };
      if (!visible(target)) return { reason: 'hidden' };
      reveal(target, 1);
      return { ok: true, x: scrollX, y: scrollY };
    },

    scrollBy({ dx, dy, until }) {
      if (performance.now() > until) return { reason: 'unstable' };
      scrollBy({ left: dx, top: dy, behavior: 'instant' });
      return { ok: true, x: scrollX, y: scrollY };
    },

    async picture({ selector }) {
      const failed = await api.check({ selector, needs: ['visible'] });
      if (!failed.ok) return failed;
      reveal(target, 0);
      const element = target;
      if (!await still(element)) return { reason: 'unstable' };
      const box = call(element, 'getBoundingClientRect');
      return { ok: true, x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height,
        ratio: devicePixelRatio };
    },

    page() {
      const root = get(document, 'documentElement');
      return { ok: true, width: Math.max(get(root, 'scrollWidth'), innerWidth),
        height: Math.max(get(root, 'scrollHeight'), innerHeight), ratio: devicePixelRatio };
    },

    // Every answer says which document gave it and what its clock shows.
    async answer(name, parameters) {
      const value = await api[name](parameters);
      return { value, origin: self.origin, href: location.href, now: performance.now() };
    },
  };
  Object.defineProperty(globalThis, KEY, { value: api, configurable: true });
  return api;
})()
