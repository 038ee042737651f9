/**
 * Where a script of another skill runs that a model asks for: all checks of an invocation, its own world and variables,
 * and never more than the run or the conversation that asks has. An untrusted one gets a work folder of its own.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { folderName } from "../host/folder-name.ts";
import { refusalText } from "../invoke/refusal-text.ts";
import type { OpenScriptPlace } from "../tools/scripts/run-script.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import { createQuestionQueue } from "./approvals.ts";
import type { CapabilityNotes } from "./capability-notes.ts";
import { refuseWithoutSocket } from "./capability-preflight.ts";
import { deliverValues } from "./deliver-values.ts";
import { prepareRequest } from "./invoke-skill.ts";
import { openRedactor } from "./open-redactor.ts";
import type { RunHost } from "./run-host.ts";
import type { RunParent } from "./run-parent.ts";
import type { RunRequest } from "./run-request.ts";
import { openSkillPlace } from "./skill-place.ts";

export interface ScriptPlaceInput {
  readonly host: RunHost;
  /** The run or the conversation that asks, as it is now. */
  parent(): RunParent;
  /** What a skill has of it that it starts. */
  readonly request: Omit<RunRequest, "skill">;
  /** Hosts that the scripts reach are added. */
  readonly reached: Set<string>;
  readonly runId: string;
  /** What the scripts ask of the host is added. */
  capabilityNotes(): CapabilityNotes;
}

export function createScriptPlaces(input: ScriptPlaceInput): OpenScriptPlace {
  const { host, request, reached } = input;
  return async (name, { world, signal }) => {
    const parent = input.parent();
    const asked = { ...request, skill: name, source: "model", signal } as const;
    const outcome = await prepareRequest(asked, host, { asked: "script", parent });
    if (!outcome.ok) return { ok: false, message: refusalText(outcome.refusal) };
    const { prepared } = outcome;
    const { skill, trust } = prepared;
    const redactor = openRedactor({ prepared, request: asked, host, parent }); // What it is given is kept out of what its caller shows.
    // Beside the work folder, where nothing that runs could have put a link in the way.
    const isShared = trustAllows(trust.level, "read-working-directory");
    const workDir = isShared
      ? world.workDir
      : join(dirname(world.workDir), "scripts", folderName(skill.name));
    mkdirSync(workDir, { recursive: true, mode: 0o700 });
    parent.memory.trust.note(skill.name, skill.trust.level); // What it writes is read in the conversation.
    const { questions = createQuestionQueue() } = parent;
    const place = await openSkillPlace({
      skill,
      trust: trust.level,
      host,
      run: { runId: input.runId, redactor, capabilityNotes: input.capabilityNotes(), questions },
      workDir,
      request: asked,
      parent,
      conversation: parent.memory.trust,
    });
    const unreachable = refuseWithoutSocket(skill, place.sandbox);
    if (unreachable) {
      await place.close();
      return { ok: false, message: refusalText(unreachable) };
    }
    return {
      ok: true,
      world: place.world,
      ...(place.sandbox && { sandbox: place.sandbox }),
      env: deliverValues(prepared, parent.memory),
      async close() {
        for (const domain of place.reached) reached.add(domain);
        await place.close();
      },
    };
  };
}
