// Builds the extension into ../pyptx/labextension, where it is committed and shipped from.
//
//     npm ci && npm run build          after a change here, in pyptx/renderer or in pyptx/isa/isa.json
//     npm ci && npm run check          compare the committed build with the sources, byte for byte

import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";

const here = import.meta.dirname ?? resolve(new URL(".", import.meta.url).pathname);
const committed = resolve(here, "../pyptx/labextension");
const built = resolve(here, "build/labextension");
const modules = join(here, "node_modules");

function node(...command) {
  const done = spawnSync(process.execPath, command, { cwd: here, stdio: ["ignore", "inherit", "inherit"] });
  if (done.status !== 0) process.exit(done.status ?? 1);
}

/** Paths of the files below a folder, relative to it. */
function files(folder, at = folder) {
  return readdirSync(at, { withFileTypes: true }).flatMap(entry =>
    (entry.isDirectory() ? files(folder, join(at, entry.name)) : [relative(folder, join(at, entry.name))])).sort();
}

const exists = path => statSync(path, { throwIfNoEntry: false }) !== undefined;

for (const folder of ["lib", "build"]) rmSync(join(here, folder), { recursive: true, force: true });
node(join(modules, "typescript/bin/tsc"));
node(join(modules, "@jupyter/builder/lib/build-labextension.js"),
     "--core-package-file", join(modules, "@jupyterlab/core-meta/core.package.json"), here);

if (process.argv.includes("--check")) {
  const [old, fresh] = [exists(committed) ? files(committed) : [], files(built)];
  const differ = [...new Set([...old, ...fresh])].filter(name => !old.includes(name) || !fresh.includes(name) ||
    !readFileSync(join(committed, name)).equals(readFileSync(join(built, name))));
  if (differ.length) {
    console.error(`pyptx/labextension is stale; run "npm run build" in lab_extension:\n  ${differ.sort().join("\n  ")}`);
    process.exit(1);
  }
  console.log(`pyptx/labextension is up to date: ${fresh.length} files`);
} else {
  rmSync(committed, { recursive: true, force: true });
  cpSync(built, committed, { recursive: true });
  const size = files(committed).reduce((sum, name) => sum + statSync(join(committed, name)).size, 0);
  console.log(`wrote ${committed}: ${files(committed).length} files, ${size} bytes`);
}
