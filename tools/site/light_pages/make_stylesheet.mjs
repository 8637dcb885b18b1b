/* Joins the site's stylesheets into one. Reads { site, styles: [{ file, own }] }, writes CSS.
 *
 * Rules of the theme and of extensions stay when a page or a script names what they select; files
 * that are our `own` stay as they are. */
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";

const { PurgeCSS } = createRequire(new URL("../../../book/web/package.json", import.meta.url))("purgecss");

const LOADED = /\.(html|js)$/;
const NOT_LOOKED_AT = /_static\/(vendor|locales)\/|_sources\/|fontawesome\.js$|search-sections\.js$/;
const SCRIPT = /<script[\s\S]*?<\/script>/g; // charts and their data: what they draw has no rules here
const IMPORT = /@import\s+(?:url\()?["']?([^"')]+)["']?\)?[^;]*;/g;
const TAG = /<[a-z][^>]*>/g;

const { site, styles } = JSON.parse(await text(process.stdin));
const read = (name) => readFileSync(join(site, name), "utf-8");
const files = readdirSync(site, { recursive: true }).map((name) => name.replaceAll("\\", "/"));
const looked = files.filter((name) => LOADED.test(name) && !NOT_LOOKED_AT.test(name));

/* What a rule could select in a file: all words of a script, in a page the tags and not the text. */
function marks(name) {
  return name.endsWith(".js") ? read(name) : (read(name).replace(SCRIPT, "").match(TAG) || []).join("\n");
}

/* A stylesheet with what it imports in place; an import further down would be without effect. */
function whole(file) {
  const css = read(file).replace(/@charset[^;]*;/, "");
  return css.replace(IMPORT, (_, name) => whole(join(dirname(file), name)));
}

const sheet = ({ file }) => ({ raw: whole(file) });
const ours = styles.filter(({ own }) => own).map(sheet);
const purged = await new PurgeCSS().purge({
  content: looked.map((name) => ({ raw: marks(name), extension: "html" })),
  css: styles.filter(({ own }) => !own).map(sheet),
  fontFace: true,
  safelist: { greedy: [/data-theme/, /data-mode/] },
});
process.stdout.write([...purged.map(({ css }) => css), ...ours.map(({ raw }) => raw)].join("\n"));
