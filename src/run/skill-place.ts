/**
 * Where the processes of one skill run: what they see of the machine, what holds them, and which domains they reach.
 * Decided the same way for a run, a script and a hook; open until `close`.
 */
import { hasFolder } from "../disclose/skill-folder.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { type BuiltWorld, buildWorld } from "../sandbox/build-world.ts";
import { chooseSandbox } from "../sandbox/choose-sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { World } from "../sandbox/world.ts";
import type { Skill, Trust } from "../skill/skill.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import { configFilesOf } from "./config-files.ts";
import { grantedNetwork } from "./granted-network.ts";
import type { RunHost } from "./run-host.ts";
import type { RunParent } from "./run-parent.ts";
import type { RunRequest } from "./run-request.ts";
import type { SandboxUse } from "./run-result.ts";

export interface SkillPlaceInput {
  readonly skill: Skill;
  /** Already lowered to its caller's. */
  readonly trust: Trust;
  readonly host: Pick<RunHost, "places" | "cwd" | "environment" | "config">;
  /** Exists, and belongs to this use alone. */
  readonly workDir: string;
  readonly request: Pick<RunRequest, "write" | "privateFiles" | "caller">;
  readonly parent?: Pick<RunParent, "world" | "network">;
  /** Only to see what would happen: nothing is started. */
  readonly isDry?: boolean;
}

export interface SkillPlace {
  /** As it is now. */
  readonly world: World;
  /** Absent where none holds here: then nothing is executed. */
  readonly sandbox?: Sandbox;
  /** Granted domains. */
  readonly network: readonly string[];
  readonly declared: SandboxUse;
  readonly diagnostics: readonly Diagnostic[];
  /** The folder of another skill whose instructions are followed: it can be read from now on, where trust allows. */
  show(folder: string): void;
  close(): Promise<void>;
}

export async function openSkillPlace(input: SkillPlaceInput): Promise<SkillPlace> {
  const { skill, trust, host, parent } = input;
  const { config } = host.config();
  const shown = new Set<string>();
  const built = lookAround(input, shown);
  let { world } = built;
  const { sandbox, diagnostics } = await chooseSandbox({
    backend: config.sandbox.backend,
    trust,
    environment: host.environment,
  });
  return {
    get world() {
      return world;
    },
    ...(sandbox && { sandbox }),
    network: grantedNetwork(trust, config, skill.manifest.sandbox, parent?.network),
    declared: skill.manifest.sandbox ?? { network: [], read: [], write: [] },
    diagnostics: [...built.diagnostics, ...diagnostics],
    show(folder) {
      if (!trustAllows(trust, "read-working-directory")) return;
      shown.add(folder);
      ({ world } = lookAround(input, shown));
    },
    close: () => Promise.resolve(),
  };
}

function lookAround(
  { skill, trust, host, workDir, request, parent }: SkillPlaceInput,
  shown: ReadonlySet<string>,
): BuiltWorld {
  return buildWorld({
    trust,
    cwd: host.cwd,
    workDir,
    write: request.write ?? false,
    places: host.places,
    privateFiles: [...configFilesOf(host.config()), ...(request.privateFiles ?? [])],
    otherSkills: [...shown],
    ...(hasFolder(skill) && { skillDir: skill.directory }),
    ...(parent?.world && { within: parent.world }),
  });
}
