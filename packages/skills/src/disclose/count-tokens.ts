/**
 * Counts a text's tokens with a real tokenizer (`o200k_base`, loaded on demand), or estimates an upper bound without
 * one. Other models split text differently; the number is a measure, not a bill.
 */

export type TokenCounter = (text: string) => number;

/**
 * Longer text is counted in parts, because merging costs the square of a word's length. It is split before a word,
 * where the tokenizer splits too, and elsewhere only if there is none.
 */
const LONGEST_PART = 500;
const PARTS = /[\s\S]{1,500}(?<=\p{L})(?= \p{L})|[\s\S]{1,500}/gu;

let loading: Promise<TokenCounter> | undefined;

/** Its tables take several times as long to load as a command takes to start, so they are loaded once and on demand. */
export function loadTokenCounter(): Promise<TokenCounter> {
  loading ??= load();
  return loading;
}

async function load(): Promise<TokenCounter> {
  const { countTokens, setMergeCacheSize } = await import("gpt-tokenizer/encoding/o200k_base");
  setMergeCacheSize(1000); // its own size, 100,000, is slower than no cache once it is full
  // Nothing in a skill is a control token: `<|endoftext|>` counts as text.
  const plain = { disallowedSpecial: new Set<string>() };
  return (text) => {
    if (text.length <= LONGEST_PART) return countTokens(text, plain);
    let total = 0;
    for (const [part] of text.matchAll(PARTS)) total += countTokens(part, plain);
    return total;
  };
}

/** A word with the space before it, digits, other characters, and each symbol separately. */
const ESTIMATED_PART = / ?[a-z]+|[0-9]+|[^\x00-\x7F]+|[\x00-\x7F]/g;
/** The pairs of lowercase letters that are not a token; a word may be split at each of them. */
const RARE_PAIR =
  /(?=bq|gk|gq|jv|jz|kq|kz|lq|nq|qf|qg|qj|qk|qv|qz|rj|tq|wq|wz|xg|xj|xk|xq|xv|xw|yq|zj|zq|zv)/g;

/**
 * Never fewer tokens than `loadTokenCounter` counts, and never fewer for a longer text; about three times as many for
 * English. It relies on three facts about the tokenizer: up to three digits are one token, no token is shorter than a
 * byte, and two adjacent single letters would have been merged unless they are a rare pair. So a word of `n` letters
 * with `r` rare pairs has at most `(2n + 1 + r) / 3` tokens.
 */
export function estimateTokens(text: string): number {
  let total = Math.floor(text.length / LONGEST_PART); // a cut between parts may cost one more
  for (const [part] of text.matchAll(ESTIMATED_PART)) total += estimatePart(part);
  return total;
}

function estimatePart(part: string): number {
  const code = part.charCodeAt(part.length - 1);
  if (code >= 0x61 && code <= 0x7a) {
    return Math.floor((2 * part.length + 1 + (part.match(RARE_PAIR)?.length ?? 0)) / 3);
  }
  if (code >= 0x30 && code <= 0x39) return Math.ceil(part.length / 3);
  if (code < 0x80) return 1;
  // A digit of another script is grouped with the following ones, which may take one more token.
  return Buffer.byteLength(part) + (/\p{N}$/u.test(part) ? 1 : 0);
}
