// Small helps for the keyboard and for those who listen to a page.
(function () {
  "use strict";
  const boxes = ".table-wrapper, .math-wrapper, div.math, span.math.wide, .highlight pre, .output pre";

  // A table that is wider than the page has smaller letters; if these would be too small, its words break.
  function fit() {
    for (const box of document.querySelectorAll(".table-wrapper")) {
      const table = box.querySelector("table");
      table.style.fontSize = "";
      table.classList.remove("tight");
      const wide = () => box.scrollWidth > box.clientWidth + 1;
      for (let size = 95; size >= 60 && wide(); size -= 5) table.style.fontSize = size + "%";
      table.classList.toggle("tight", wide());
    }
  }

  // Boxes that scroll sideways can be reached and moved with the keyboard; others stay out of the way. A formula
  // in a line that is too long for it, on a phone, becomes such a box.
  function reach() {
    fit();
    for (const formula of document.querySelectorAll("p span.math, li span.math, dd span.math")) {
      formula.classList.remove("wide");
      const room = formula.closest("p, li, dd").clientWidth;
      const alone = !formula.closest("td, th");  // in a table it makes its column as wide as it is
      formula.classList.toggle("wide", alone && room > 0 && formula.getBoundingClientRect().width > room);
    }
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
      const together = document.createElement("span");
      together.className = "together";
      formula.before(together);
      together.append(formula, next);
    }
  }

  keep();
  name();
  reach();
  window.addEventListener("resize", reach);
  window.addEventListener("load", () => {
    reach();
    if (window.MathJax && MathJax.startup) MathJax.startup.promise.then(reach);
  });
})();
