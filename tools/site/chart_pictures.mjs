/* Vega-Lite charts as SVG: a list of specifications comes in, a list of pictures goes out.
 *
 *     node chart_pictures.mjs FOLDER < specifications.json      FOLDER has node_modules
 */
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import path from "node:path";

const from = createRequire(path.join(path.resolve(process.argv[2]), "package.json"));
const load = (name) => import(pathToFileURL(from.resolve(name)).href);
const [vega, vegaLite] = await Promise.all([load("vega"), load("vega-lite")]);

const pictures = [];
for (const spec of JSON.parse(readFileSync(0, "utf-8"))) {
  const { spec: compiled } = vegaLite.compile(spec, { logger: vega.logger(vega.None) });
  const view = new vega.View(vega.parse(compiled), { renderer: "none", logLevel: vega.None });
  pictures.push(await view.toSVG());
}
process.stdout.write(JSON.stringify(pictures));
