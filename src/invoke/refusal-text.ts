/** A refusal in words, for a model or a person: what, what to do, and what else would have to change. */
import type { Refusal, RefusalCause } from "./invocation.ts";

export function refusalText({ also, ...first }: Refusal): string {
  const others = also.map((cause) => `- ${causeText(cause)}`);
  return [causeText(first), ...(others.length > 0 ? ["Also:", ...others] : [])].join("\n");
}

/** Behind several lines, such as a program's last words, a hint has a line of its own. */
function causeText({ message, hint }: RefusalCause): string {
  return hint === "" ? message : `${message}${message.includes("\n") ? "\n" : " "}${hint}`;
}
