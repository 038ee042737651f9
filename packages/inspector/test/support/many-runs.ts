/** Lines of the list of runs, as many as a test wants. */
import type { ApiRunSummary } from "@metier/service/api";

const SKILLS = ["research", "summarize-text", "refactor", "invoice", "translate", "release-notes"];
const STATUSES = [
  "completed",
  "completed",
  "completed",
  "completed",
  "failed",
  "limited",
  "waiting",
  "running",
  "cancelled",
  "refused",
] as const;

/** Newest first. */
export function manyRuns(count: number, now: number): readonly ApiRunSummary[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `r${String(count - index).padStart(6, "0")}`,
    status: STATUSES[(index * 7) % STATUSES.length] ?? "completed",
    skill: SKILLS[(index * 5) % SKILLS.length] ?? "research",
    ...(index % 4 === 0 && { agent: "buyer" }),
    userId: ["ada", "grace", "linus"][index % 3] ?? "ada",
    createdAt: new Date(now - index * 1_200_000).toISOString(),
    updatedAt: new Date(now - index * 1_200_000 + 60_000).toISOString(),
    activeMs: 1_000 + ((index * 997) % 90_000),
    events: 12,
    usage: { inputTokens: 900 + index, outputTokens: 100, totalTokens: 1_000 + index },
    cost: ((index * 13) % 100) / 90,
  }));
}
