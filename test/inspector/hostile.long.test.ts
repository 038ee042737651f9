/**
 * Skills, models and tools write what they like: descriptions, bodies, outputs and file names that would run in a page that
 * made markup of them. Here they are shown, and nothing of them runs, loads or leads away.
 */
import { expect, test } from "vitest";
import { announceWorker } from "../support/announced-worker.ts";
import { describeInBrowser } from "../support/chromium.ts";
import { type Inspected, inspect } from "../support/inspected-service.ts";
import { createWorld, skill } from "../support/world.ts";

const RUN = "window.hacked=1";
const PAYLOADS: readonly string[] = [
  `<script>${RUN}</script>`,
  `<SCRIPT SRC=//127.0.0.1:9/x.js></SCRIPT>`,
  `<img src=x onerror=${RUN}>`,
  `<img src="//127.0.0.1:9/x.png">`,
  `"><img src=x onerror=${RUN}>`,
  `'><svg onload=${RUN}>`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><animate onbegin=${RUN} attributeName=x dur=1s>`,
  `<svg><set onbegin=${RUN} attributeName=x>`,
  `<math><mtext><script>${RUN}</script></mtext></math>`,
  `<body onload=${RUN}>`,
  `<iframe src="javascript:${RUN}"></iframe>`,
  `<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>`,
  `<object data="javascript:${RUN}"></object>`,
  `<embed src="javascript:${RUN}">`,
  `<link rel=stylesheet href=//127.0.0.1:9/x.css>`,
  `<style>@import url(//127.0.0.1:9/x.css);</style>`,
  `<meta http-equiv=refresh content="0;url=javascript:${RUN}">`,
  `<base href=//127.0.0.1:9/>`,
  `<form action="javascript:${RUN}"><input autofocus onfocus=${RUN}>`,
  `<details open ontoggle=${RUN}>`,
  `<video><source onerror=${RUN}></video>`,
  `<audio src=x onerror=${RUN}>`,
  `<marquee onstart=${RUN}>`,
  `<input autofocus onfocus=${RUN}>`,
  `<select autofocus onfocus=${RUN}>`,
  `<textarea autofocus onfocus=${RUN}>`,
  `<a href="javascript:${RUN}">link</a>`,
  `[link](javascript:${RUN})`,
  `[link](JaVaScRiPt:${RUN})`,
  `[link](data:text/html,<script>${RUN}</script>)`,
  `![image](javascript:${RUN})`,
  `![image](//127.0.0.1:9/x.png)`,
  `<javascript:${RUN}>`,
  `[link][ref]\n\n[ref]: javascript:${RUN}`,
  "```html\n<script>window.hacked=1</script>\n```",
  `</title><script>${RUN}</script>`,
  `</style><script>${RUN}</script>`,
  `</textarea><script>${RUN}</script>`,
  `--><script>${RUN}</script>`,
  `]]><script>${RUN}</script>`,
  `{{constructor.constructor('${RUN}')()}}`,
  `\${${RUN}}`,
  `<template><script>${RUN}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  "\u202etxet desrever\u202c and \u2066isolated\u2069",
  "\u0000\u001b[31mred\u001b[0m\u0007",
];

const BODY = PAYLOADS.join("\n\n");
const LONG_LINE = "a".repeat(1024 * 1024);

/** A file name may hold anything but a slash. */
const NAMES = PAYLOADS.map((text) => text.replaceAll("/", "∕").replaceAll("\u0000", "").slice(0, 80)).filter(
  (name) => !/[\n\u0000]/.test(name),
);

describeInBrowser("what others wrote", () => {
  test(`[18] ${PAYLOADS.length} payloads are shown as text in every view`, async () => {
    const world = createWorld();
    world.write({
      "home/.metier/skills/hostile/SKILL.md": skill(
        "hostile",
        `description: ${JSON.stringify(PAYLOADS.slice(0, 12).join(" "))}\nallowed-tools: Bash\nmetadata:\n  tags: ${JSON.stringify(PAYLOADS.slice(0, 5).join(", "))}`,
        `${BODY}\n\n${LONG_LINE}`,
      ),
      ...Object.fromEntries(NAMES.map((name) => [`home/.metier/skills/hostile/references/${name}`, BODY])),
    });
    const service = await inspect(world, {
      answer: ({ results }) =>
        results.length === 0
          ? { text: BODY, calls: [{ tool: "bash", input: { command: hostileCommand() } }] }
          : BODY,
    });
    const { page, context } = await service.open("/skills");
    const strange: string[] = [];
    page.on("dialog", (dialog) => {
      strange.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    context.on("request", (request) => {
      if (!request.url().startsWith(service.url) && !request.url().startsWith("data:,"))
        strange.push(request.url());
    });
    const start = (approve: "ask" | "allow"): Promise<{ readonly id: string }> =>
      service.call("POST", "/v1/runs", { skill: "hostile", message: BODY, approve });
    const { id } = await start("allow");
    await start("ask");
    await announceWorker(world, PAYLOADS.join(" "));
    await operateHostile(service);
    const addresses = [
      "/skills",
      "/skills?q=window",
      ...["", "manifest", "files", "problems", "trust", "clients", "runs", "cost"].map(
        (tab) => `/skill/user:hostile?tab=${tab}`,
      ),
      `/playground?q=${encodeURIComponent(PAYLOADS.slice(0, 3).join(" "))}&skill=hostile`,
      "/runs",
      ...["", "answer", "reach", "files", "log"].map((tab) => `/run/${id}?tab=${tab}`),
      "/approvals",
      "/statistics",
      "/routing",
      ...["/tenants", "/tenants/default", "/keys", "/workers", "/audit", "/audit?line=1"],
      ...["/quotas", "/quotas?by=skill", "/quotas?by=user", "/audit?actor=%3Cimg"],
      `/run/${encodeURIComponent(PAYLOADS[2] ?? "")}`,
    ];
    for (const address of addresses) {
      await page.goto(`${service.url}/#${address}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.waitForTimeout(150);
      const hacked = await page.evaluate("window.hacked");
      expect({ address, hacked, strange }).toEqual({ address, hacked: undefined, strange: [] });
    }
    await page.setViewportSize({ width: 400, height: 800 });
    for (const address of ["/tenants/default", "/workers", "/quotas?by=user", "/audit?actor=hacked"]) {
      await page.goto(`${service.url}/#${address}`);
      await page.getByText("window.hacked").first().waitFor();
      const width = await page.evaluate("document.documentElement.scrollWidth");
      expect({ address, width }).toEqual({ address, width: 400 });
    }
    await page.goto(`${service.url}/#/skill/user:hostile`);
    await page.getByText("<img src=x onerror=window.hacked=1>").first().waitFor();
    const links = await page.evaluate<readonly string[]>(
      "[...document.querySelectorAll('a')].map((link) => link.href)",
    );
    expect(links.filter((href) => !/^https?:/.test(href))).toEqual([]);
    const elements = await page.evaluate(
      "document.querySelectorAll('main img, main iframe, main script').length",
    );
    expect(elements).toBe(0);
  });
});

/** Keys and users with such names, who also do something that the audit log tells of. */
async function operateHostile(service: Inspected): Promise<void> {
  const users: Record<string, object> = {};
  for (const [index, text] of [...PAYLOADS, "w".repeat(256)].entries()) {
    const [name, userId] = [text.slice(0, 100), text.slice(0, 256)];
    users[userId] = { openRuns: 10 };
    const made = await service.call<{ readonly key: string }>("POST", "/v1/keys", {
      name,
      userId,
      role: "operator",
    });
    if (index % 6 === 0)
      await service.call("POST", "/v1/agents", { name: `agent-${index}`, instructions: text }, made.key);
    if (index % 10 === 2)
      await service.call("POST", "/v1/runs", { skill: "hostile", message: "x", approve: "allow" }, made.key);
  }
  await service.call("PUT", "/v1/quotas", { eachUser: {}, users });
}

/** Writes files with such names, and says all of it. */
function hostileCommand(): string {
  const names = NAMES.map((name) => `'${name.replaceAll("'", "'\\''")}'`).join(" ");
  return `cat <<'THE_END'\n${BODY.replaceAll("\u0000", "")}\nTHE_END\nfor name in ${names}; do echo x > "$name"; done; head -c 1000000 /dev/zero | tr '\\0' a`;
}
