/**
 * Compresses the tokenizer's vocabulary inside the code: the largest file of the build becomes half as large, and
 * loads in less than half the time because it is JSON.
 */
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

/** @returns {import("esbuild").Plugin} */
export function packVocabulary() {
  return {
    name: "pack-vocabulary",
    setup(build) {
      build.onLoad({ filter: /\/gpt-tokenizer\/esm\/bpeRanks\/\w+\.js$/ }, async ({ path }) => {
        const { default: ranks } = await import(pathToFileURL(path).href);
        return { contents: `${UNPACK}export default unpack(${JSON.stringify(pack(ranks))});\n` };
      });
    },
  };
}

const UNPACK = `import { brotliDecompressSync } from "node:zlib";
const unpack = (packed) => JSON.parse(brotliDecompressSync(Buffer.from(packed, "base64")).toString("utf8"));
`;

/** @type {Map<unknown, string>} */
const packed = new Map();

/** Cached: it takes seconds, and the build needs it twice. @param {unknown} ranks */
function pack(ranks) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
  const text = packed.get(ranks) ?? brotliCompressSync(JSON.stringify(ranks), { params }).toString("base64");
  packed.set(ranks, text);
  return text;
}
