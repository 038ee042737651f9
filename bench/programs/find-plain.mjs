/** Reads the skills in a folder, builds a plain BM25 index, and runs one query. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { plainBm25 } from "../find/plain-bm25.mjs";

const [root = ".", query = ""] = process.argv.slice(2);
const documents = readdirSync(root).map((name) => {
  const location = join(root, name, "SKILL.md");
  return { location, text: readFileSync(location, "utf8") };
});
const find = plainBm25(documents);
process.stdout.write(`${find(query, 10).length} found\n`);
