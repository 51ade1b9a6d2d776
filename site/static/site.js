// Small helps for the keyboard and for those who listen to a page.
(function () {
  "use strict";
  const boxes = ".table-wrapper, .math-wrapper, div.math, span.math.wide, .highlight pre, .output pre";
  const least = 0.8;  // of its size: smaller letters cannot be read
  const narrow = 0.7;  // the same for a formula, whose letters are larger
  const phone = 700;  // a page is narrower there
  const tallest = 150;  // a row that is taller has columns of one or two words a line
  const short = 12;  // letters: where no first cell has more, they need their heading to be understood

  // A table that does not fit a phone: the cells of a row stand below each other, each with its heading.
  function stack(table) {
    const headings = [...table.tHead.rows[0].cells];
    const bare = headings.some((it) => it.querySelector(".math:not(:has(mjx-container))"));
    if (innerWidth >= phone || bare) return;
    table.style.fontSize = "";
    const rows = [...table.tBodies[0].rows];
    const terse = rows.every((row) => row.cells[0].textContent.trim().length <= short);
    for (const row of rows) {
      row.setAttribute("role", "row");
      [...row.cells].forEach((cell, place) => {
        cell.setAttribute("role", "cell");
        const named = place > 0 || terse;
        if (!named || !cell.textContent.trim() || !headings[place].textContent.trim()) return;
        const name = document.createElement("span");
        name.className = "column";
        name.setAttribute("aria-hidden", "true");  // the heading itself is read out
        const words = [...headings[place].cloneNode(true).childNodes].filter((it) => it.textContent.trim());
        name.append(...words, ": ");
        cell.prepend(name);
      });
    }
    for (const heading of headings) heading.setAttribute("role", "columnheader");
    for (const part of [table.tHead, table.tBodies[0]]) part.setAttribute("role", "rowgroup");
    table.tHead.rows[0].setAttribute("role", "row");
    table.setAttribute("role", "table");  // which it would no longer be, as its parts are blocks
    table.classList.add("stacked");
  }

  // A table that is wider than the page has smaller letters, as far as they can be read.
  function fit() {
    for (const box of document.querySelectorAll(".table-wrapper")) {
      const table = box.querySelector("table");
      table.style.fontSize = "";
      table.classList.remove("wide", "stacked");
      for (const name of table.querySelectorAll("span.column")) name.remove();
      const wide = () => box.scrollWidth > box.clientWidth + 1;
      const tall = [...table.querySelectorAll("tbody tr")].some((row) => row.offsetHeight > tallest);
      for (let size = 95; size >= 100 * least && wide(); size -= 5) table.style.fontSize = size + "%";
      if (tall || wide()) stack(table);
      table.classList.toggle("wide", wide());
    }
  }

  // So has a formula; in a line that is too long for it, on a phone, it stands by itself.
  function shrink() {
    for (const formula of document.querySelectorAll("article .math")) {
      const picture = formula.querySelector(":scope > mjx-container > svg");
      const line = formula.closest("div.math, p, li, dd");
      if (!picture || !line || formula.closest("td, th")) continue;  // a column is as wide as its formulas
      formula.classList.remove("wide");
      picture.style.width = "";
      const width = picture.getBoundingClientRect().width;
      const mark = formula === line ? 0 : formula.getBoundingClientRect().width - width;
      const room = line.clientWidth - mark;
      if (line.clientWidth === 0 || width <= room) continue;
      picture.style.width = Math.max(narrow * width, room) + "px";
      formula.classList.toggle("wide", formula !== line);
    }
  }

  // Boxes that scroll sideways can be reached and moved with the keyboard; others stay out of the way.
  function reach() {
    fit();
    shrink();
    for (const box of document.querySelectorAll(boxes)) {
      if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }

  // A link that is a formula is called by what it leads to.
  function name() {
    for (const link of document.querySelectorAll('article a[href^="#"]')) {
      const formula = link.querySelector(".math");
      const target = document.getElementById(link.hash.slice(1));
      if (formula && target && link.textContent.trim() === formula.textContent.trim()) {
        link.setAttribute("aria-label", target.firstChild.textContent.trim());
      }
    }
  }

  // A formula keeps the comma or the full stop that follows it: a line must not begin with one.
  function keep() {
    for (const formula of document.querySelectorAll("article span.math")) {
      const next = formula.nextSibling;
      const mark = next && next.nodeType === Node.TEXT_NODE && next.data.match(/^[,.;:!?)’-]+/);
      if (!mark) continue;
      next.splitText(mark[0].length);
      formula.append(next);
    }
  }

  // Who opens a page at a place is still there once tables and formulas have their heights.
  let moved = false;
  for (const sign of ["wheel", "touchmove", "keydown"]) {
    window.addEventListener(sign, () => { moved = true; }, { passive: true, once: true });
  }
  function stay() {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (place && !moved) place.scrollIntoView({ behavior: "instant" });
  }

  // An option of a command is not broken at its hyphens.
  function whole() {
    for (const code of document.querySelectorAll(".highlight pre")) {
      const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
      const texts = [];
      for (let node = walker.nextNode(); node; node = walker.nextNode()) texts.push(node);
      for (const text of texts) {
        const parts = text.data.split(/((?<=\s|^)--?[a-z][a-z-]*)/);
        if (parts.length === 1) continue;
        text.replaceWith(...parts.filter((it) => it).map((part, place) => {
          if (!/^--?[a-z]/.test(part)) return part;
          const option = document.createElement("span");
          option.className = "option";
          option.append(part);
          return option;
        }));
      }
    }
  }

  whole();
  keep();
  name();
  reach();
  window.addEventListener("resize", reach);
  document.addEventListener("toggle", reach, true);  // what was folded had no width
  window.addEventListener("load", () => {
    reach();
    stay();
    if (window.MathJax && MathJax.startup) MathJax.startup.promise.then(reach).then(stay);
  });
})();
