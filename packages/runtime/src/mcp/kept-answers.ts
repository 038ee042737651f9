/**
 * Kept answers: a repeated request gets the same text while nothing it depends on has changed. Everything else, and
 * each first request, goes to the SDK.
 */
import { isJsonObject } from "@metier/base/json";
import type { SkillLibrary } from "@metier/run";
import type { Metier } from "../runtime/create-metier.ts";
import type { Entries } from "./entries.ts";
import { skillNameIn } from "./skill-entry.ts";

/** A request whose answer may be kept. */
export interface AskedAgain {
  /** As JSON. */
  readonly id: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The whole request without the id: equal text asks for the same thing. */
  readonly key: string;
}

/** For one connection, because requests don't repeat what a client said about itself at the start. */
export interface KeptAnswers {
  /** The result, as JSON. */
  recall(key: string): string | undefined;
  /**
   * Call it before the request is answered, and the returned function with the result. `undefined`: the answer can't be
   * kept.
   */
  follow(asked: AskedAgain, key?: string): ((result: unknown) => void) | undefined;
}

interface KeptAnswer {
  readonly text: string;
  stands(): boolean;
}

/** Characters of one answer, and of all answers. */
const MOST_TEXT = 1024 * 1024;
const MOST_TEXTS = 8 * MOST_TEXT;

export function createKeptAnswers(
  metier: Metier,
  library: SkillLibrary,
  entries: Entries,
  onFault: (fault: unknown) => void,
): KeptAnswers {
  let kept = new Map<string, KeptAnswer>();
  let size = 0;
  const keep = (key: string, answer: KeptAnswer): void => {
    const added = key.length + answer.text.length;
    if (added > MOST_TEXT) return;
    if (size + added > MOST_TEXTS) {
      kept = new Map();
      size = 0;
    }
    kept.set(key, answer);
    size += added; // Including replaced ones: counting twice only drops earlier.
  };
  return {
    recall(key) {
      const found = kept.get(key);
      if (found?.stands()) return found.text;
      kept.delete(key);
      return undefined;
    },
    follow(asked, key = asked.key) {
      const { catalog } = metier;
      const origin = originOf(asked, library, entries);
      if (origin === undefined) return undefined;
      const stands = (): boolean => metier.catalog === catalog && origin.stands();
      const check = async (result: unknown): Promise<void> => {
        if (!isJsonObject(result) || result.isError === true || !(await origin.isWhole())) return;
        // After all checks: what changed in the meantime isn't kept.
        if (stands()) keep(key, { text: JSON.stringify(result), stands });
      };
      return (result) => void check(result).catch(onFault);
    },
  };
}

/** What an answer depends on besides the catalog. */
interface Origin {
  stands(): boolean;
  /** Whether it depends on nothing else. */
  isWhole(): boolean | Promise<boolean>;
}

const WHOLE = { isWhole: () => true };

function originOf(
  { method, params }: AskedAgain,
  library: SkillLibrary,
  entries: Entries,
): Origin | undefined {
  if (method === "tools/list") return { ...WHOLE, stands: () => true };
  if (method === "skills/list") {
    const until = entries.listsStandUntil();
    return { ...WHOLE, stands: () => performance.now() < until };
  }
  const name = skillAskedFor(method, params);
  const skill = library.skills().find((candidate) => candidate.name === name);
  const stamps = skill && entries.stamp(skill);
  if (skill === undefined || stamps === undefined) return undefined;
  const stands = (): boolean => stamps.hold();
  if (method === "resources/read") return { ...WHOLE, stands };
  return { stands, isWhole: async () => (await entries.ofNow(skill))?.isPlain ?? false };
}

/** Whose text is given, if the answer is only a skill's text. */
function skillAskedFor(method: string, params: AskedAgain["params"]): unknown {
  if (method === "resources/read")
    return typeof params.uri === "string" ? skillNameIn(params.uri) : undefined;
  const { name, arguments: given } = params;
  return name === "use_skill" && isJsonObject(given) ? given.skill : undefined;
}

const METHODS: ReadonlySet<unknown> = new Set(["tools/list", "tools/call", "skills/list", "resources/read"]);
/** The longest request; a longer one is rarely repeated. */
const MOST_ASKED = 4096;

/** `undefined` if it isn't such a request, or is malformed; the SDK reports the error. */
export function readAsked(text: string): AskedAgain | undefined {
  if (text.length > MOST_ASKED) return undefined;
  const message = parse(text);
  if (!isJsonObject(message)) return undefined;
  const { jsonrpc, id, method, params = {}, ...others } = message;
  if (jsonrpc !== "2.0" || !METHODS.has(method) || !isJsonObject(params)) return undefined;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return undefined;
  for (const _ in others) return undefined;
  // The SDK reports progress to clients that ask for it.
  if (isJsonObject(params._meta) && "progressToken" in params._meta) return undefined;
  const asked = JSON.stringify(params);
  return { id: JSON.stringify(id), method: String(method), params, key: `${method} ${asked}` };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The SDK answers it.
  }
}

/** The message that answers a request. */
export function writeAnswer({ id }: AskedAgain, result: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}
