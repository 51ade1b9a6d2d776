/* The words of a page, which the site's build has put into it, and how their places are filled: as in
   src/compendium/studies/phrases.py. */
const pageWords = (function () {
  "use strict";

  const words = JSON.parse(document.getElementById("page-words").textContent);

  /** Put values into the places of a sentence; one with two forms takes the first for 1, else the second. */
  function fill(template, values) {
    return template.replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, (_, name, one, many) => {
      if (!Object.hasOwn(values, name)) throw new RangeError(`no value for ${name} in: ${template}`);
      const value = String(values[name]);
      return one === undefined ? value : value === "1" ? one : many;
    });
  }

  /** A text as HTML: symbols in italics, exponents and the star of D* raised. */
  function html(text) {
    return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")
      .replace(/(?<![A-Za-z])([εδγ]|[CDkz](?![A-Za-z])|KEYSIZE)/g, "<var>$1</var>")
      .replace(/\^(<var>ε<\/var>|Q)|(?<=<var>D<\/var>)(\*)/g, (_, power, star) => `<sup>${power ?? star}</sup>`);
  }

  const say = (name, values = {}) => fill(words.say[name] ?? words.page[name], values);

  return { words, fill, html, say };
})();
