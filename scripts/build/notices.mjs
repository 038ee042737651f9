/** The licenses of bundled packages, as their authors require for redistribution. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../setup/repository.mjs";

const RULE = "-".repeat(80);

/**
 * @param {readonly string[]} inputs the files of the bundle, relative to the clone
 * @returns {string} one section per package: `name version (license)`, then the license's text
 */
export function collectNotices(inputs) {
  const sections = bundledPackages(inputs).map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return `${RULE}\n${name} ${version} (${license})\n${RULE}\n\n${licenceText(folder, license)}\n`;
  });
  return `Metier contains code of these packages.\n\n${sections.join("\n")}`;
}

/** @param {readonly string[]} inputs */
function bundledPackages(inputs) {
  const folders = inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []);
  return [...new Set(folders)].sort().map((folder) => join(ROOT, folder));
}

/** @param {string} folder @param {string} license */
function licenceText(folder, license) {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (file) return readFileSync(join(folder, file), "utf8").trim();
  if (license === "Apache-2.0") return "The text of this licence is that of Metier's own LICENSE file.";
  if (license === "Unlicense") return "Its authors have given it to the public domain: https://unlicense.org";
  throw new Error(`${folder} is bundled but has no license text; write its notice by hand.`);
}
