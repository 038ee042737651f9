/** A service in which every view of the inspector has something to show: skills, runs of all kinds, what waits, evals. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Inspected } from "./inspected-service.ts";
import type { World } from "./world.ts";

/** Where each view is; `RUN` and `OTHER` stand for runs. */
export const VIEW_ADDRESSES = {
  skills: "/skills",
  skill: "/skill/user:build",
  "skill-trust": "/skill/user:build?tab=trust",
  playground: "/playground?q=build+the+project",
  runs: "/runs",
  run: "/run/RUN",
  compare: "/compare/RUN/OTHER",
  statistics: "/statistics",
  approvals: "/approvals",
  schedules: "/schedules",
  agents: "/agents",
  evals: "/evals",
  iteration: "/evals/build/1",
  routing: "/routing?q=build+it&skill=notes",
  tenants: "/tenants",
  tenant: "/tenants/acme",
  workers: "/workers",
  quotas: "/quotas",
  "quotas-users": "/quotas?by=user",
  audit: "/audit",
  "audit-line": "/audit?line=2",
  design: "/design",
} as const;

export type ViewName = keyof typeof VIEW_ADDRESSES;

export function addressOf(view: ViewName, { run, other }: FilledService): string {
  return VIEW_ADDRESSES[view].replace("RUN", run).replace("OTHER", other);
}

export interface FilledService {
  readonly run: string;
  readonly other: string;
}

export function writeViewSkills(world: World): void {
  writeIteration(world.project, "build");
  world.write({
    "home/.metier/skills/build/SKILL.md": describedSkill(
      "build",
      "Builds the project and says what came of it. Use it when somebody wants a build.\nallowed-tools: Bash",
      "# Build\n\nRun the build and *read* what it says.\n\n1. `make`\n2. Tell what failed.\n\n| step | tool |\n| --- | --- |\n| one | make |",
    ),
    "home/.metier/skills/build/scripts/make.sh": "#!/bin/sh\nmake all\n",
    "home/.metier/skills/notes/SKILL.md": describedSkill(
      "notes",
      "Writes release notes from the history of a project. Use it before a release.",
      "Read the history, then write notes.",
    ),
    "home/.metier/skills/broken/SKILL.md": "---\nname: broken\n---\n",
  });
}

function describedSkill(name: string, description: string, body: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;
}

/** Two runs that have ended, one that waits, a schedule and an agent. */
export async function fillService(service: Inspected): Promise<FilledService> {
  const start = (message: string, approve: "ask" | "allow"): Promise<{ readonly id: string }> =>
    service.call("POST", "/v1/runs", { skill: "build", message, approve });
  const { id: run } = await start("Please run: echo hello; echo text > out.txt", "allow");
  const { id: other } = await start("Please run: echo other; exit 3", "allow");
  await settle(service, run);
  await settle(service, other);
  await start("Please run: rm -rf build", "ask");
  await service.call("POST", "/v1/schedules", {
    name: "Nightly build",
    cron: "0 3 * * *",
    run: { skill: "build", message: "Build it." },
  });
  await service.call("POST", "/v1/agents", { name: "builder", instructions: "You build things." });
  await fillTenants(service);
  return { run, other };
}

/** Two more tenants with keys, and quotas of which something is used. */
async function fillTenants(service: Inspected): Promise<void> {
  for (const name of ["acme", "research"]) await service.call("POST", "/v1/tenants", { name });
  const key = (body: object) => service.call("POST", "/v1/keys", { tenant: "acme", ...body });
  await key({ name: "Admin of Acme", role: "admin" });
  await key({ name: "Build server", scopes: ["read", "run"], userId: "ci", expiresAt: "2100-01-01" });
  const { id } = await service.call<{ readonly id: string }>("POST", "/v1/keys", {
    tenant: "acme",
    name: "Former colleague",
    role: "member",
  });
  await service.call("DELETE", `/v1/keys/${id}`);
  const limits = { concurrentRuns: 10, openRuns: 500, tokensPerDay: 2_000_000, costPerDay: 20 };
  await service.call("PUT", "/v1/tenants/default/quotas", { ...limits, storageBytes: 5 * 1024 ** 3 });
  await service.call("PUT", "/v1/quotas", {
    eachUser: { concurrentRuns: 3 },
    users: { ada: { tokensPerDay: 100_000 } },
  });
}

async function settle(service: Inspected, id: string): Promise<void> {
  for (;;) {
    const { status } = await service.call<{ readonly status: string }>("GET", `/v1/runs/${id}`);
    if (["completed", "failed", "limited", "refused"].includes(status)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** An iteration as `metier eval` leaves it. */
function writeIteration(folder: string, skillName: string): void {
  const iteration = join(folder, `${skillName}-workspace`, "iteration-1");
  mkdirSync(join(iteration, "eval-a", "with_skill", "outputs"), { recursive: true });
  writeFileSync(join(iteration, "eval-a", "with_skill", "outputs", "answer.md"), "It is built.\n");
  writeFileSync(join(iteration, "benchmark.json"), JSON.stringify(benchmark(skillName)));
}

const spread = (mean: number, stddev: number) => ({ mean, stddev, min: mean, max: mean });

function benchmark(skillName: string): object {
  const side = (mean: number) => ({
    pass_rate: spread(mean, 0.1),
    time_seconds: spread(2.5, 0.4),
    tokens: spread(1200, 80),
  });
  const run = (configuration: string, passed: number) => ({
    eval_id: 1,
    eval_name: "It says what failed",
    configuration,
    run_number: 1,
    result: {
      passed,
      failed: 2 - passed,
      total: 2,
      pass_rate: passed / 2,
      time_seconds: 2.5,
      tokens: 1200,
      tool_calls: 1,
      errors: 0,
    },
    expectations: [
      { text: "It names the file.", passed: passed > 0, evidence: "It says `main.c`." },
      {
        text: "It is short.",
        passed: passed > 1,
        evidence: "Two lines.",
        ungraded: passed === 0 || undefined,
      },
    ],
    notes: [],
    outputs: configuration === "with_skill" ? ["eval-a/with_skill/outputs/answer.md"] : [],
  });
  return {
    metadata: {
      skill_name: skillName,
      skill_path: "",
      executor_model: "test/talking",
      analyzer_model: "test/talking",
      timestamp: "2026-01-05T08:00:00.000Z",
      evals_run: ["1"],
      runs_per_configuration: 1,
      replayed: false,
    },
    runs: [run("with_skill", 2), run("without_skill", 0)],
    run_summary: {
      with_skill: side(1),
      without_skill: side(0.2),
      delta: { pass_rate: 0.8, time_seconds: 0, tokens: 0 },
    },
    notes: ['It says what failed: "It is short." could not be graded once.'],
  };
}
