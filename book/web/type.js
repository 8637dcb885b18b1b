/* The page's faces come with its stylesheet, but are unpacked only when words first need them: a moment of
   another face, and then everything moves. So the first picture waits for them, for a second at most. */
(function () {
  "use strict";

  const FACES = ["400 1em 'Source Serif 4'", "italic 400 1em 'Source Serif 4'", "400 1em 'Source Sans 3'", "400 1em 'JetBrains Mono'"];
  const style = document.documentElement.style;
  const show = () => style.removeProperty("visibility");

  style.visibility = "hidden";
  setTimeout(show, 1000);
  const built = /\/ledger\.html$/.test(location.pathname) && // its squares and filters are made as it loads
    new Promise((done) => addEventListener("DOMContentLoaded", done));
  Promise.all([built, ...FACES.map((face) => document.fonts.load(face))]).then(show, show);
})();
