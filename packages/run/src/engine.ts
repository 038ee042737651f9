/** The exports of `@metier/run/engine`. */
export { agentJsonSchema, loadAgents } from "./agents/load-agents.ts";
export { commandJsonSchema, loadCommands } from "./agents/load-commands.ts";
export { type AdvanceOptions, advanceRun, endUnrun } from "./durable/advance-run.ts";
export { releaseStart } from "./durable/durable-run.ts";
export { findSkill, prepareInvocation } from "./invoke/prepare.ts";
export { createPreflight } from "./run/capability-preflight.ts";
export { createChat } from "./run/chat.ts";
export { filesOf, invokeSkill, planRun, resultOf } from "./run/invoke-skill.ts";
export { offerSkills } from "./run/offer-skills.ts";
export { findPython } from "./run/packages/installation.ts";
export { namesPackages, prepareEnvironments, setUpSkill } from "./run/packages/prepare-environments.ts";
export { createSecretMachine, DRY_MACHINE, findCommandPlace } from "./run/run-secrets.ts";
export { runSkillScript } from "./run/run-skill-script.ts";
export { prepareRequest } from "./run/run-tools.ts";
export { type TriedModel, tryModel } from "./run/try-model.ts";
