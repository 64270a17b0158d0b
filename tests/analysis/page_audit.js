// What is wrong with the page as it stands in the window: one line for each fault, none when all is well.
// The browser's own boxes of text decide, not the style sheet. `size` counts what was looked at, so that a
// test can refuse a page on which nothing was.
"use strict";
(() => {
  const root = document.documentElement;
  const short = text => JSON.stringify(text.trim().replace(/\s+/g, " ").slice(0, 50));
  const at = r => `(${[r.left, r.top, r.right, r.bottom].map(v => v.toFixed(0)).join(" ")})`;

  // --- boxes that cut or scroll ------------------------------------------------------------------------

  const clips = new Map();
  // The part of the window through which what lies in `element` is seen: what cuts it, and what scrolls it.
  function windowOf(element) {
    if (element === null || element === root || element === document.body) {
      return {cut: null, seen: null};
    }
    if (clips.has(element)) return clips.get(element);
    const outer = windowOf(element.parentElement);
    const style = getComputedStyle(element);
    let {cut, seen} = outer;
    if (style.overflowX !== "visible" || style.overflowY !== "visible") {
      const b = element.getBoundingClientRect();
      const inner = {left: b.left + element.clientLeft, top: b.top + element.clientTop};
      inner.right = inner.left + element.clientWidth;
      inner.bottom = inner.top + element.clientHeight;
      const scrolls = axis => ["auto", "scroll"].includes(style[`overflow${axis}`]);
      const reach = {
        left: inner.left - element.scrollLeft, top: inner.top - element.scrollTop,
        right: scrolls("X") ? inner.left - element.scrollLeft + element.scrollWidth : inner.right,
        bottom: scrolls("Y") ? inner.top - element.scrollTop + element.scrollHeight : inner.bottom,
      };
      seen = seen ? common(seen, inner) : inner;
      cut = {...reach, within: scrolls("X") || scrolls("Y") ? null : cut, scrolls: scrolls("X"), name: name(element)};
    }
    const result = {cut, seen};
    clips.set(element, result);
    return result;
  }
  function common(a, b) {
    return {left: Math.max(a.left, b.left), top: Math.max(a.top, b.top),
      right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom)};
  }
  function name(element) {
    const id = element.id ? `#${element.id}` : "";
    const words = element.getAttribute("class");
    return element.tagName.toLowerCase() + id + (words ? `.${words.trim().replace(/\s+/g, ".")}` : "");
  }

  // --- texts of the page -------------------------------------------------------------------------------

  function htmlTexts() {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement;
      if (!/\S/.test(node.data) || parent.closest("script,style,svg,noscript,template")) continue;
      if (!parent.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
      const box = parent.getBoundingClientRect();
      if (box.width <= 1 && box.height <= 1) continue;  // for screen readers alone
      range.selectNodeContents(node);
      const rects = [...range.getClientRects()].filter(r => r.width > 0.5 && r.height > 0.5);
      found.push({text: node.data, parent, rects});
    }
    return found;
  }

  function cutTexts(texts) {
    const faults = [];
    const wide = root.clientWidth;
    for (const {text, parent, rects} of texts) {
      const {cut} = windowOf(parent);
      for (const r of rects) {
        let scrolled = false;
        for (let box = cut; box; box = box.within) {
          if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1) {
            faults.push(`cut by ${box.name}: ${short(text)} ${at(r)} in ${at(box)}`);
          }
          scrolled ||= box.scrolls;
        }
        if (!scrolled && (r.left < -1 || r.right > wide + 1)) {
          faults.push(`beyond the window: ${short(text)} in ${name(parent)} ${at(r)}`);
        }
      }
    }
    return faults;
  }

  // Texts on top of each other. Boxes of lines are taller than letters and may touch; a third of a line is too much.
  function overlaps(texts) {
    const boxes = [];
    for (const {text, parent, rects} of texts) {
      const position = layered(parent);
      const {seen} = windowOf(parent);
      for (const r of rects) {
        const box = seen ? common(seen, r) : r;
        if (box.right - box.left > 1 && box.bottom - box.top > 1) boxes.push({...plain(box), text, parent, position});
      }
    }
    boxes.sort((a, b) => a.top - b.top);
    const faults = [];
    let open = [];
    for (const box of boxes) {
      open = open.filter(other => other.bottom > box.top + 1);
      for (const other of open) {
        const both = common(box, other);
        const least = Math.min(box.bottom - box.top, other.bottom - other.top);
        if (both.right - both.left > 1 && both.bottom - both.top > least / 3
            && other.parent !== box.parent && other.position === box.position) {
          faults.push(`overlap: ${short(other.text)} ${at(other)} and ${short(box.text)} ${at(box)}`);
        }
      }
      open.push(box);
    }
    return faults;
  }
  const plain = r => ({left: r.left, top: r.top, right: r.right, bottom: r.bottom});
  // What is fixed to the window lies over the page on purpose.
  function layered(element) {
    for (let e = element; e; e = e.parentElement) if (getComputedStyle(e).position === "fixed") return e;
    return null;
  }

  // --- texts of the figures ----------------------------------------------------------------------------

  // Letters are outlines in groups that matplotlib numbers (text_7), or text.
  function figureTexts(svg) {
    const groups = [...svg.querySelectorAll('g[id*="text_"]')].filter(g => /(^|[-.])text_\d+$/.test(g.id));
    const known = new Set(groups);
    const others = [...svg.querySelectorAll("text")].filter(t => ![...known].some(g => g.contains(t)));
    const found = [];
    for (const element of [...groups, ...others]) {
      const b = element.tagName === "text" ? lettered(element) : element.getBBox();
      if (b.width === 0 && b.height === 0) continue;
      const matrix = svg.getScreenCTM().inverse().multiply(element.getScreenCTM());
      const corners = [[b.x, b.y], [b.x + b.width, b.y], [b.x + b.width, b.y + b.height], [b.x, b.y + b.height]]
        .map(([x, y]) => new DOMPoint(x, y).matrixTransform(matrix));
      found.push({element, corners, text: said(element), upright: tight(element, svg) ?? corners});
    }
    return found;
  }
  // The box of the letters: a font's own box has room above capitals, and below what does not hang.
  function lettered(element) {
    const {x, width} = element.getBBox();
    const size = parseFloat(getComputedStyle(element).fontSize), line = Number(element.getAttribute("y"));
    const hangs = /[gjpqy,;()[\]{}|_/µ]/.test(element.textContent) ? 0.24 : 0;
    const y = line - (element.hasAttribute("y") ? 0.76 : 0) * size;
    return {x, width, y, height: (0.76 + hangs) * size};
  }
  // The box along the letters, which a turned text has aslant: that of the group that is turned.
  function tight(element, svg) {
    const inner = [...element.querySelectorAll(":scope > g")].filter(g => !plate(g));
    const one = inner.length === 1 ? inner[0] : null;
    if (!one) return null;
    const b = one.getBBox();
    const matrix = svg.getScreenCTM().inverse().multiply(one.getScreenCTM());
    return [[b.x, b.y], [b.x + b.width, b.y], [b.x + b.width, b.y + b.height], [b.x, b.y + b.height]]
      .map(([x, y]) => new DOMPoint(x, y).matrixTransform(matrix));
  }
  // The filled shape that matplotlib lays under a text to keep it readable.
  const plate = element => /(^|[-.])patch_\d+$/.test(element.id) ? element : null;
  function said(element) {
    if (element.tagName === "text") return element.textContent;
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_COMMENT);
    const lines = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) lines.push(node.data.trim());
    return lines.join(" ") || element.getAttribute("aria-label") || element.id;
  }
  // How far two boxes reach into each other, along the sides of both; 0 when they do not touch.
  function depth(a, b) {
    let least = Infinity;
    for (const [p, q] of [[a[0], a[1]], [a[1], a[2]], [b[0], b[1]], [b[1], b[2]]]) {
      const length = Math.hypot(q.x - p.x, q.y - p.y);
      if (length === 0) continue;
      const span = corners => {
        const along = corners.map(c => (c.x * (q.x - p.x) + c.y * (q.y - p.y)) / length);
        return [Math.min(...along), Math.max(...along)];
      };
      const [a0, a1] = span(a), [b0, b1] = span(b);
      least = Math.min(least, Math.min(a1, b1) - Math.max(a0, b0));
    }
    return Math.max(0, least);
  }

  // The size of its letters on the screen, in pixels; matplotlib draws outlines at a hundred units to the size.
  function letters(element) {
    const glyph = element.querySelector("use")?.parentElement;
    if (!glyph) return element.tagName === "text" ? parseFloat(getComputedStyle(element).fontSize) * scaleOf(element) : null;
    return 100 * scaleOf(glyph);
  }
  function scaleOf(element) {
    const {a, b} = element.getScreenCTM();
    return Math.hypot(a, b);
  }

  function figureFaults(svg, slack, least) {
    const faults = [];
    const title = svg.getAttribute("aria-label") ?? svg.id;
    const view = svg.viewBox.baseVal;
    const texts = figureTexts(svg);
    if (texts.length === 0) faults.push(`figure ${short(title)}: no text found in it`);
    for (const {text, corners, element} of texts) {
      const x = corners.map(c => c.x), y = corners.map(c => c.y);
      const box = {left: Math.min(...x), right: Math.max(...x), top: Math.min(...y), bottom: Math.max(...y)};
      if (box.left < view.x - slack || box.right > view.x + view.width + slack
          || box.top < view.y - slack || box.bottom > view.y + view.height + slack) {
        faults.push(`figure ${short(title)}: ${short(text)} ${at(box)} leaves it (${view.width} × ${view.height})`);
      }
      const size = letters(element);
      if (size !== null && size < least) faults.push(`figure ${short(title)}: ${short(text)} has letters of ${size.toFixed(1)} px`);
      const clipped = element.closest("[clip-path]");
      if (clipped && svg.contains(clipped)) faults.push(`figure ${short(title)}: ${short(text)} may be clipped`);
    }
    texts.forEach((one, place) => {
      for (const other of texts.slice(place + 1)) {
        const deep = depth(one.upright, other.upright);
        if (deep > slack) {
          faults.push(`figure ${short(title)}: ${short(one.text)} and ${short(other.text)} overlap by ${deep.toFixed(1)}`);
        }
      }
    });
    return {faults, count: texts.length};
  }

  // --- colours -----------------------------------------------------------------------------------------

  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const colours = new Map();
  function rgba(text) {
    if (!colours.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      colours.set(text, [r, g, b, a / 255]);
    }
    return colours.get(text);
  }
  const over = ([r, g, b, a], under) => [r, g, b].map((v, i) => v * a + under[i] * (1 - a));
  function luminance(rgb) {
    const [r, g, b] = rgb.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  function contrast(a, b) {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  }
  const papers = new Map();
  function paper(element) {
    // Browsers print no backgrounds unless they are told to.
    if (matchMedia("print").matches) return [255, 255, 255];
    if (element === null) return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
    if (!papers.has(element)) {
      const colour = rgba(getComputedStyle(element).backgroundColor);
      papers.set(element, colour[3] === 1 ? colour.slice(0, 3) : over(colour, paper(element.parentElement)));
    }
    return papers.get(element);
  }

  // Contrast of text as WCAG 2.1 defines it (1.4.3): at least 4.5, of large text 3.
  function faint(texts) {
    const faults = new Map();
    for (const {text, parent, rects} of texts) {
      if (rects.length === 0) continue;
      const style = getComputedStyle(parent);
      const under = paper(parent);
      const found = contrast(over(rgba(style.color), under), under);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700);
      if (found < (large ? 3 : 4.5)) {
        const place = `${name(parent)} ${style.color} on ${under.map(Math.round)}`;
        if (!faults.has(place)) faults.set(place, `faint: ${short(text)} in ${place}: ${found.toFixed(2)}`);
      }
    }
    return [...faults.values()];
  }

  // Text of a figure against its own paper; what stands on a bar or a tile is judged against that.
  function faintInFigure(svg) {
    const faults = [];
    const title = svg.getAttribute("aria-label") ?? svg.id;
    const back = svg.querySelector('g[id$="patch_1"] path, rect');
    const ground = back ? fill(back, paper(svg)) : paper(svg);
    for (const {element, text} of figureTexts(svg)) {
      const own = [...element.querySelectorAll("g")].find(plate)?.querySelector("path");
      const ink = element.querySelector("use") ?? element.querySelector("text, tspan, :scope > g > path") ?? element;
      const colour = rgba(getComputedStyle(ink).fill);
      const near = own ? fill(own, ground) : ground;
      if (contrast(over(colour, near), near) >= 3) continue;
      element.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
      const b = element.getBoundingClientRect();
      const below = document.elementsFromPoint((b.left + b.right) / 2, (b.top + b.bottom) / 2)
        .filter(e => svg.contains(e) && e !== svg && !element.contains(e));
      const tile = below.find(e => e.tagName === "image" || rgba(getComputedStyle(e).fill)[3] > 0);
      if (tile?.tagName === "image") continue;
      const under = tile ? fill(tile, ground) : ground;
      const found = contrast(over(colour, under), under);
      if (found < 3) faults.push(`figure ${short(title)}: ${short(text)} is faint: ${found.toFixed(2)}`);
    }
    scrollTo({left: 0, top: 0, behavior: "instant"});
    return faults;
  }
  function fill(shape, under) {
    const style = getComputedStyle(shape);
    const [r, g, b, a] = rgba(style.fill);
    return over([r, g, b, a * parseFloat(style.fillOpacity) * parseFloat(style.opacity)], under);
  }

  // --- tables ------------------------------------------------------------------------------------------

  // What a cell says, as a number of its unit: {number, unit}, or null where it does not begin with a number.
  const FACTORS = {P: 1e15, T: 1e12, G: 1e9, M: 1e6, k: 1e3, m: 1e-3, "µ": 1e-6, n: 1e-9};
  function amount(cell) {
    const text = cell.textContent.replace(/[\u00a0\u202f]/g, " ").trim();
    const found = text.replace(/(\d)[ ,](?=\d{3}(\D|$))/g, "$1").match(/^([+−-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w.])(.*)$/s);
    if (!found) return null;
    const number = Number(found[1].replace("−", "-"));
    // A span is in order by where it begins; its unit stands behind its end.
    const unit = found[2].replace(/^–[+−-]?[\d.]+(e[+-]?\d+)?/, "").trim();
    const scaled = unit.match(/^([PTGMkmµn])(B\/s|Hz|s|\/s)$/);
    return scaled ? {number: number * FACTORS[scaled[1]], unit: scaled[2]} : {number, unit};
  }
  const words = new Intl.Collator("en", {numeric: true});
  // What is out of order between a cell and the next one, which are to ascend; their units must agree to be compared.
  function unordered(first, second) {
    const a = amount(first), b = amount(second);
    if (a && b) return a.unit === b.unit && a.number > b.number + 0.005 * Math.abs(b.number);
    if (a || b) return false;
    const [one, other] = [first, second].map(cell => cell.textContent.trim());
    return one !== "–" && other !== "–" && one !== "" && other !== "" && words.compare(one, other) > 0;
  }

  // Every heading of every table, selected twice: up, then down, and no row lost. Resolves to {faults, sorted}.
  // Where a table shows but some of its rows, others may come.
  globalThis.auditTables = async (selector, {whole = true} = {}) => {
    const faults = [];
    let sorted = 0;
    for (const table of document.querySelectorAll(selector)) {
      const heads = [...table.tHead.rows[0].cells];
      const rows = () => [...table.tBodies[0].rows];
      const sum = list => list.map(row => row.textContent).sort().join("\n");
      const before = sum(rows());
      for (const [column, head] of heads.entries()) {
        for (const way of ["ascending", "descending"]) {
          head.click();
          const place = `table ${short(heads.map(h => h.textContent).join(" | "))}, ${short(head.textContent)} ${way}`;
          if (head.getAttribute("aria-sort") !== way) faults.push(`${place}: aria-sort is ${head.getAttribute("aria-sort")}`);
          const cells = rows().map(row => row.cells[column]);
          if (way === "descending") cells.reverse();
          for (let i = 1; i < cells.length; i++) {
            if (unordered(cells[i - 1], cells[i])) {
              faults.push(`${place}: ${short(cells[i - 1].textContent)} next to ${short(cells[i].textContent)}`);
              break;
            }
          }
        }
        sorted += 1;
      }
      if (whole && sum(rows()) !== before) faults.push(`a table lost or changed rows: ${short(before)}`);
    }
    return {faults, sorted};
  };

  // --- links -------------------------------------------------------------------------------------------

  const still = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
  // Follows links within the page, `most` of them at even distances: each must bring its target into the window.
  globalThis.auditLinks = async most => {
    const style = document.createElement("style");
    style.textContent = "html { scroll-behavior: auto !important }";
    document.head.append(style);
    const addresses = [...new Set([...document.querySelectorAll('a[href^="#"]')].map(a => a.getAttribute("href")))];
    const faults = [];
    const missing = addresses.filter(a => !document.getElementById(decodeURIComponent(a.slice(1))));
    if (missing.length) faults.push(`${missing.length} links lead nowhere, the first ${missing[0]}`);
    const step = Math.max(1, addresses.length / most);
    let followed = 0;
    for (let i = 0; i < addresses.length; i += step) {
      const address = addresses[Math.floor(i)];
      const target = document.getElementById(decodeURIComponent(address.slice(1)));
      if (!target) continue;
      document.querySelector(`a[href="${CSS.escape(address).replace(/^\\#/, "#")}"]`)?.click();
      await still();
      if (/^#r\d+-\d+$/.test(address)) {
        faults.push(...await auditRow(address, target));
        followed += 1;
        continue;
      }
      const r = target.getBoundingClientRect();
      if (!target.checkVisibility() || r.bottom < 0 || r.top > innerHeight) faults.push(`${address} leads out of sight ${at(r)}`);
      followed += 1;
    }
    style.remove();
    return {faults, links: addresses.length, followed};
  };

  // A row that was asked for is shown in full: a card within the window, with all that its line in the table says.
  globalThis.auditRow = async (address, line) => {
    const number = `row ${address.split("-")[1]}`;
    let card = null;
    for (let tries = 0; tries < 200 && !card; tries++) {
      await still();
      card = [...document.querySelectorAll("dialog[open]")].find(one => one.textContent.endsWith(number));
    }
    if (!card) return [`${address} opens no card`];
    const faults = [];
    const r = card.getBoundingClientRect();
    if (r.left < 0 || r.top < 0 || r.right > innerWidth || r.bottom > innerHeight) faults.push(`the card of ${address} is not all in sight ${at(r)}`);
    if (card.scrollWidth > card.clientWidth) faults.push(`the card of ${address} scrolls sideways`);
    const said = card.textContent;
    const words = [...line?.cells ?? []].slice(1).flatMap(cell => cell.textContent.split(/[\s=]+/)).filter(Boolean);
    for (const word of words) if (!said.includes(word)) faults.push(`the card of ${address} lacks ${short(word)}`);
    card.close();
    return faults;
  };

  // --- markup ------------------------------------------------------------------------------------------

  // What a reader who hears the page would miss: names, an order of headings, headings of tables.
  globalThis.auditMarkup = () => {
    const faults = [];
    const all = selector => [...document.querySelectorAll(selector)];
    const ids = new Map();
    for (const element of all("[id]")) ids.set(element.id, (ids.get(element.id) ?? 0) + 1);
    for (const [id, count] of ids) if (count > 1) faults.push(`${count} elements are called ${id}`);
    if (!root.lang) faults.push("the page names no language");
    if (!document.title) faults.push("the page has no title");
    if (all("h1").length !== 1) faults.push(`${all("h1").length} headings of the first level`);
    let level = 0;
    for (const heading of all("h1, h2, h3, h4, h5, h6")) {
      const now = Number(heading.tagName[1]);
      if (now > level + 1) faults.push(`heading ${short(heading.textContent)} of level ${now} follows one of level ${level}`);
      if (!/\S/.test(heading.textContent)) faults.push(`an empty heading of level ${now}`);
      level = now;
    }
    const named = e => /\S/.test(e.getAttribute("aria-label") ?? "") || /\S/.test(e.textContent) || e.labels?.length > 0;
    for (const svg of all("svg")) {
      if (svg.parentElement.closest("svg")) continue;
      if (svg.getAttribute("role") !== "img" || !/\S/.test(svg.getAttribute("aria-label") ?? "")) {
        faults.push(`${name(svg)}: a drawing without role and label`);
      }
    }
    for (const image of all("img")) if (!image.hasAttribute("alt")) faults.push(`${name(image)}: an image without alt`);
    for (const element of all("a, button, summary, input")) if (!named(element)) faults.push(`${name(element)} has no name`);
    for (const table of all("table")) {
      const heads = [...table.querySelectorAll("th")];
      if (heads.length === 0) faults.push(`${name(table)} has no headings`);
      for (const head of heads) if (!head.scope) faults.push(`heading ${short(head.textContent)} of a table has no scope`);
    }
    for (const label of all("[aria-labelledby], [aria-describedby], label[for]")) {
      const to = label.getAttribute("aria-labelledby") ?? label.getAttribute("aria-describedby") ?? label.htmlFor;
      for (const id of to.split(/\s+/)) if (!ids.has(id)) faults.push(`${name(label)} names ${id}, which is not there`);
    }
    return {faults, elements: all("*").length};
  };

  // --- all of it ---------------------------------------------------------------------------------------

  globalThis.audit = ({slack, least = 0, colours: onlyColours = false, print = false}) => {
    clips.clear();
    papers.clear();
    scrollTo({left: 0, top: 0, behavior: "instant"});
    const texts = htmlTexts();
    const svgs = [...document.querySelectorAll("main svg, body svg")].filter(s => s.checkVisibility());
    const faults = [];
    let count = 0;
    if (!onlyColours) {
      if (root.scrollWidth > root.clientWidth) {
        faults.push(`the page is ${root.scrollWidth} px wide, the window ${root.clientWidth}`);
      }
      faults.push(...cutTexts(texts), ...overlaps(texts));
      for (const svg of new Set(svgs)) {
        const found = figureFaults(svg, slack, print ? 0 : least);
        count += found.count;
        faults.push(...found.faults);
      }
    }
    if (print) {
      for (const box of document.body.querySelectorAll("*")) {
        if (box.scrollWidth > box.clientWidth + 1 && box.checkVisibility()
            && getComputedStyle(box).overflowX !== "visible" && box.clientWidth > 0) {
          faults.push(`paper cannot scroll: ${name(box)} is ${box.scrollWidth} px wide, its box ${box.clientWidth}`);
        }
      }
    }
    faults.push(...faint(texts));
    for (const svg of new Set(svgs)) faults.push(...faintInFigure(svg));
    return {faults, size: {texts: texts.length, figures: svgs.length, labels: count}};
  };
})();
