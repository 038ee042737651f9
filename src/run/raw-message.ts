/** What the user wrote, word for word: what a model or a program says in their name is never taken for it. */
import type { RunRequest } from "./run-request.ts";

export function rawMessageOf({
  userMessage,
  message,
  arguments: line,
  source,
}: Pick<RunRequest, "userMessage" | "message" | "arguments" | "source">): string | undefined {
  if (userMessage !== undefined || source !== "user") return userMessage;
  const parts = [line, message].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join("\n");
}
