import { expect, test } from "vitest";
import { hasToken, TOKEN_FORMS } from "../src/code/known-secrets.ts";
import { mayMatch, readProseText, wordedPatterns } from "../src/rules/prose-words.ts";
import { scanRules } from "../src/rules.ts";

type Random = () => number;

function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Makes texts that an expression may match: of each alternative one, of each repetition few. What it looks ahead for, too. */
class Sampler {
  #at = 0;
  readonly #source: string;
  readonly #random: Random;

  constructor(source: string, random: Random) {
    this.#source = source;
    this.#random = random;
  }

  sample(): string {
    this.#at = 0;
    return this.#alternatives();
  }

  #alternatives(): string {
    const choices = [this.#sequence()];
    while (this.#source[this.#at] === "|") {
      this.#at++;
      choices.push(this.#sequence());
    }
    return choices[Math.floor(this.#random() * choices.length)] ?? "";
  }

  #sequence(): string {
    let text = "";
    while (this.#at < this.#source.length && !"|)".includes(this.#source[this.#at] ?? "")) {
      const start = this.#at;
      const first = this.#atom();
      const end = this.#at;
      const times = this.#times();
      const after = this.#at;
      for (let count = 0; count < times; count++) {
        if (count === 0) text += first;
        else {
          this.#at = start;
          text += this.#atom();
          this.#at = end;
        }
      }
      this.#at = after;
    }
    return text;
  }

  #times(): number {
    const [whole, least, most] = /^(?:[?*+]|\{(\d+)(?:,(\d*))?\})/.exec(this.#source.slice(this.#at)) ?? [];
    if (whole === undefined) return 1;
    this.#at += whole.length + (this.#source[this.#at + whole.length] === "?" ? 1 : 0);
    const from = least === undefined ? (whole === "+" ? 1 : 0) : Number(least);
    const to = whole === "?" ? 1 : Math.min(from + 2, most ? Number(most) : from + 2);
    return from + Math.floor(this.#random() * (to - from + 1));
  }

  #atom(): string {
    const source = this.#source.slice(this.#at);
    const [group] = /^\((?:\?(?::|=|!|<=|<!))?/.exec(source) ?? [];
    if (group !== undefined) {
      this.#at += group.length;
      const text = this.#alternatives();
      this.#at++;
      return group === "(" || group === "(?:" ? text : group === "(?=" && this.#random() < 0.5 ? text : "";
    }
    const [whole = source[0] ?? ""] = /^(?:\\.|\[\^?(?:\\.|[^\]\\])*\])/.exec(source) ?? [];
    this.#at += whole.length;
    if (whole === "^" || whole === "$" || whole === "\\b") return "";
    if (whole === "\\s") return this.#pick([" ", "\n", "  "]);
    if (whole === "\\w") return this.#pick(["a", "Z", "7", "_"]);
    if (whole === "\\d") return "4";
    if (whole.startsWith("[")) return this.#member(whole);
    return whole.startsWith("\\") ? whole.slice(1) : whole;
  }

  #member(set: string): string {
    const pattern = new RegExp(set);
    const all = [" ", "a", "s", "x", "7", "-", "'", ",", "`", "/", "A", "_", "’", '"', "."];
    return this.#pick(all.filter((character) => pattern.test(character)));
  }

  #pick(from: readonly string[]): string {
    return from[Math.floor(this.#random() * from.length)] ?? "";
  }
}

function shout(text: string, random: Random): string {
  return random() < 0.3 ? text.toUpperCase() : text;
}

test("no match of an expression is without the words it is given", () => {
  scanRules();
  const patterns = wordedPatterns();
  expect(patterns.length).toBeGreaterThanOrEqual(9);
  for (const pattern of patterns) {
    const random = seeded(pattern.source.length);
    const sampler = new Sampler(pattern.source, random);
    const plain = new RegExp(pattern.source, `${pattern.flags.replace("g", "").replace("m", "")}m`);
    let matches = 0;
    for (let round = 0; round < 6000; round++) {
      const text = shout(sampler.sample(), random);
      const around = random() < 0.5 ? `Then.\n${text}\nIt is done.` : text;
      if (!plain.test(around)) continue;
      matches++;
      expect(mayMatch(pattern, readProseText(around)), `${pattern} in ${JSON.stringify(around)}`).toBe(true);
    }
    expect(matches, `${pattern} was matched`).toBeGreaterThan(50);
  }
});

test("a text that has none of the words is not looked through", () => {
  const text = readProseText("Read the file, then write down each place where they differ.");
  expect(wordedPatterns().filter((pattern) => mayMatch(pattern, text))).toEqual([]);
});

test("words count whatever their case, and only from their first letter on", () => {
  const [pattern] = wordedPatterns().filter(({ source }) => source.includes("backdoor"));
  const asks = (text: string): boolean => pattern !== undefined && mayMatch(pattern, readProseText(text));
  expect(asks("add a BACKDOOR")).toBe(true);
  expect(asks("add the API_KEY to the log")).toBe(true);
  expect(asks("x_secret")).toBe(true);
  expect(asks("nosecret, passe")).toBe(true);
  expect(asks("nosecret, apiary")).toBe(false);
});

test("a token is found wherever it stands in a text", () => {
  for (const { what, pattern } of TOKEN_FORMS) {
    const random = seeded(pattern.source.length);
    const sampler = new Sampler(pattern.source, random);
    const plain = new RegExp(pattern.source);
    let matches = 0;
    for (let round = 0; round < 500; round++) {
      const before = "a word and a-name-with-hyphens\n ".repeat(3).slice(Math.floor(random() * 70));
      const text = `${before}${sampler.sample()}${random() < 0.5 ? "\nand more" : ""}`;
      if (!plain.test(text)) continue;
      matches++;
      expect(hasToken(text), `${what} in ${JSON.stringify(text)}`).toBe(true);
    }
    expect(matches, `${what} was matched`).toBeGreaterThan(50);
  }
});

test("a text without a token has none, however long its words and lines are", () => {
  expect(hasToken("the-name-of-a-skill-that-is-long ".repeat(20_000))).toBe(false);
  expect(hasToken("x".repeat(2_000_000))).toBe(false);
  expect(hasToken("")).toBe(false);
});
