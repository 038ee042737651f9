/**
 * A run reads the user's mail without a credential and without network access: the host does it, with an account that
 * the user has linked. Mailbox, sign-in, provider (`examples/desk`) and sandbox are real; only the model is scripted,
 * so this needs no key.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMetier, createScriptedModel } from "metier";

const folder = mkdtempSync(join(tmpdir(), "metier-example-"));
const root = join(folder, "desk");
const desk = join(import.meta.dirname, "desk");

// What a user does once on the command line: create an account with a passcode, and start the server whose page links
// it.
const program = join(desk, "desk.ts");
const env = { ...process.env, DESK_ROOT: root };
const added = execFileSync(process.execPath, [program, "add", "anna", "--email", "anna@example.org"], {
  env,
});
const passcode = String(added).trim().split(" ").at(-1) ?? "";
const server = spawn(process.execPath, [program, "serve", "--port", "0"], { env });
const [started] = await once(server.stdout, "data");
const url = String(started).trim().split(" ").at(-1) ?? "";

writeFileSync(
  join(root, "anna", "mail", "new", "1767225600.M1P1.example"),
  "From: Bob <bob@example.org>\nTo: anna@example.org\nSubject: Lunch?\n\nAt noon in the old harbour?\n",
);

const model = createScriptedModel([
  {
    answer: {
      toolCalls: [
        { tool: "bash", input: { command: "metier-sb capability invoke -c desk.mail -o list_messages" } },
      ],
    },
  },
  {
    expect: { toolResult: { contains: ["bob@example.org", "Lunch?"] } },
    answer: { text: "One message: Bob asks whether you come to lunch." },
  },
]);
const metier = await createMetier({
  home: folder,
  paths: [join(desk, "skills")],
  trustedPaths: [join(desk, "skills")],
  models: { default: model },
  config: {
    capabilities: {
      providers: {
        desk: {
          command: [process.execPath, join(desk, "bridge.ts")],
          env: {
            DESK_ROOT: { value: root, secret: false },
            DESK_SERVER: { value: url, secret: false },
          },
        },
      },
    },
  },
});
const caller = { userId: "anna", chatType: "private" };

try {
  const begun = await metier.capabilities.auth.begin({ capability: "desk.mail" }, { caller });
  assert.ok(begun.ok, "The sign-in did not begin.");
  const { authUrl, userCode = "", flowId } = begun.value;
  console.log(`The user opens a page and types the code ${userCode}, an account and its passcode.`);
  const form = { user_code: userCode, account: "anna", passcode, decision: "approve" };
  await fetch(authUrl, { method: "POST", body: new URLSearchParams(form) });
  const linked = await metier.capabilities.auth.poll(flowId, { caller });
  assert.ok(linked.ok && linked.value.status === "complete", "The account is not linked.");
  console.log(`Linked: ${linked.value.accountEmail}. Its tokens stay in a vault, which no run sees.`);

  const plan = await metier.plan({ skill: "desk", caller });
  if (plan.ok && plan.outline.sandbox.backend === "bubblewrap") {
    const result = await metier.run({ skill: "desk", message: "What came in?", caller });
    assert.equal(result.status, "completed", result.error?.message);
    model.assertDone();
    console.log(`The run says: ${result.text}`);
    console.log(`What the host did for it: ${JSON.stringify(result.capabilities)}`);
  } else {
    console.log("The rest of this example needs bubblewrap: `metier doctor` says how to get it.");
  }
} finally {
  await metier.capabilities.close();
  await stop(server);
  rmSync(folder, { recursive: true });
}

async function stop(process: ChildProcess): Promise<void> {
  process.kill();
  await once(process, "exit");
}
