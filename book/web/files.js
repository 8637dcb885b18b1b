/* Pages opened as files. Some browsers, Firefox among them, take each file for a site of its own, whose storage
   no other page sees; cookies they share. So what a reader's browser keeps goes along in cookies. Where files
   have none, as in Chromium, they share their storage. It runs before anything asks for what is kept. */
(function () {
  "use strict";

  const KEYS = ["mode", "theme", "code", "predictions", "exercises"];
  const SHARED = "files=shared";
  const YEAR = 365 * 24 * 3600; // s
  const kept = document.cookie.split("; ");
  const before = new Map(); // what the page began with

  const write = (cookie, seconds) => { document.cookie = `${cookie}; path=/; max-age=${seconds}; samesite=lax`; };

  function takeOver() {
    const cookies = new Map(kept.map((one) => one.split(/=(.*)/s, 2)));
    for (const key of KEYS) {
      if (cookies.has(key)) localStorage.setItem(key, decodeURIComponent(cookies.get(key)));
      else if (kept.includes(SHARED)) localStorage.removeItem(key); // another page forgot it
      before.set(key, localStorage.getItem(key));
    }
  }

  function passOn() {
    for (const key of KEYS) {
      const value = localStorage.getItem(key);
      if (value === before.get(key)) continue;
      before.set(key, value);
      write(`${key}=${(value ?? "").replace(/[%;\s]/g, encodeURIComponent)}`, value === null ? 0 : YEAR);
    }
  }

  write(SHARED, YEAR);
  if (!document.cookie.includes(SHARED)) return;
  try {
    takeOver();
    for (const event of ["click", "change"]) addEventListener(event, () => setTimeout(passOn, 100));
    addEventListener("pagehide", passOn); // a link may be faster
  } catch {
    // a browser that keeps nothing: the page works all the same
  }
})();
