/** Tries the packed package: bundled skills, a sandboxed bash call, the interpreted shell, a toolset. */
import { createMetier, createScriptedModel, defineTool } from "metier";
import { openAiAgentSkills } from "metier/openai";

/** `skills`: a folder with the skill `expense-report`. @param {string} skills @param {string} home */
export async function tryMetier(skills, home) {
  return {
    node: process.versions.node,
    ...(await readSkills(skills, home)),
    bash: await runBash(home, "auto"),
    shell: await runBash(home, "just-bash"),
    toolset: await runToolset(skills, home),
  };
}

/** @param {string} skills @param {string} home */
async function readSkills(skills, home) {
  const metier = await createMetier({ home, bundled: true, paths: [skills], autoDiscover: true });
  const { text } = await metier.getInstructions("summarize-text");
  const offer = await openAiAgentSkills(metier);
  return {
    bundled: metier.list().filter(({ scope }) => scope === "bundled").length,
    instructions: text.includes("ummar"),
    found: metier.has("expense-report"),
    adapter: offer.tools.length,
  };
}

/** @param {string} home @param {string} backend */
async function runBash(home, backend) {
  const model = createScriptedModel([
    {
      answer: {
        toolCalls: [{ tool: "bash", input: { command: "echo $((40 + 2)) > out.txt; cat out.txt; ls /" } }],
      },
    },
    { answer: { toolCalls: [{ tool: "double", input: { n: 21 } }] } },
    { answer: { text: "Done." } },
  ]);
  const double = defineTool({
    name: "double",
    description: "Doubles a number.",
    input: { type: "object", properties: { n: { type: "number" } } },
    effect: "read",
    execute: (input) => 2 * Number(/** @type {{ n: number }} */ (input).n),
  });
  const metier = await createMetier({
    home,
    autoDiscover: false,
    config: { sandbox: { backend } },
    models: { default: model },
    tools: [double],
  });
  await metier.register({ name: "counting", description: "Counts.", instructions: "Count." });
  const planned = await metier.plan({ skill: "counting" });
  const run = metier.start({ skill: "counting", approve: "all" });
  /** @type {string[]} */
  const told = [];
  for await (const event of run.events())
    if (event.type === "tool-finished") told.push(event.text.split("\n")[0] ?? "");
  const { status, files, error } = await run.result;
  return {
    backend: planned.ok ? planned.outline.sandbox.backend : "none",
    status,
    told,
    files: files.map(({ path }) => path),
    ...(error && { error: error.message }),
  };
}

/** @param {string} skills @param {string} home */
async function runToolset(skills, home) {
  const input = { amount: 40, currency: "CHF" };
  const model = createScriptedModel([
    { answer: { toolCalls: [{ tool: "expense-report__convert", input }] } },
    { answer: { text: "Done." } },
  ]);
  const metier = await createMetier({
    home,
    paths: [skills],
    trustedPaths: [skills],
    models: { default: model },
  });
  const run = metier.start({ skill: "expense-report", approve: "all" });
  /** @type {string[]} */
  const told = [];
  for await (const event of run.events()) if (event.type === "tool-finished") told.push(event.text);
  const { status, error } = await run.result;
  return { status, told, ...(error && { error: error.message }) };
}
