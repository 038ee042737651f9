/** Repositories over HTTP on loopback: servers that change, disappear, hang, redirect, break off or want a sign-in. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { createCommandFinder } from "@metier/base/programs";
import { expect, test } from "vitest";
import {
  faultFrom,
  fetchedFrom,
  fetchIt,
  gitAddress,
  readFolder,
} from "../../../../../test/support/git-fetching.ts";
import { createRepository } from "../../../../../test/support/git-repository.ts";
import { startGitServer } from "../../../../../test/support/git-server.ts";
import { addressBook } from "../../../../../test/support/loopback-site.ts";
import { processesWith, until } from "../../../../../test/support/processes.ts";
import { temporaryFolder } from "../../../../../test/support/temporary.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { skill } from "../../../../../test/support/world.ts";

verifies([186, "case 100"], "a repository over HTTP is fetched, whole and by path", async () => {
  const repository = createRepository({ "skills/a/SKILL.md": skill("a"), "skills/b/SKILL.md": skill("b") });
  const { origin } = await startGitServer(dirname(repository.folder));
  const whole = await fetchedFrom(`${origin}/repo`);
  expect(Object.keys(readFolder(whole.folder)).sort()).toEqual(["skills/a/SKILL.md", "skills/b/SKILL.md"]);
  const part = await fetchedFrom(`${origin}/repo#:skills/b`);
  expect(readFolder(part.folder)).toEqual({ "skills/b/SKILL.md": skill("b") });
});

test("progress is told as git tells it, and the main branch is asked for once", async () => {
  const repository = createRepository({ "SKILL.md": skill("a") });
  const { origin, requests } = await startGitServer(dirname(repository.folder));
  const steps: string[] = [];
  const source = await fetchedFrom(`${origin}/repo`, { onProgress: ({ what }) => steps.push(what) });
  expect(source.resolved).toBe(repository.git("rev-parse", "HEAD"));
  expect(steps[0]).toBe("Resolving the reference");
  expect(steps).toContain("Receiving objects");
  expect(requests.filter((line) => line.startsWith("GET"))).toHaveLength(1);
});

test("a server of the old protocol gives out what it lists: tags, and paths with everything else", async () => {
  const repository = createRepository({ "skills/a/SKILL.md": skill("a"), "skills/b/SKILL.md": skill("b") });
  repository.git("tag", "--annotate", "v1", "--message", "one");
  const tagged = repository.git("rev-parse", "HEAD");
  repository.commit({ "skills/a/SKILL.md": skill("newer") });
  const { origin } = await startGitServer(dirname(repository.folder), { speaksOld: true });
  const source = await fetchedFrom(`${origin}/repo#v1:skills/a`);
  expect(source.resolved).toBe(tagged);
  expect(readFolder(source.folder)).toEqual({ "skills/a/SKILL.md": skill("a") });
  expect((await faultFrom(`${origin}/repo#${tagged}`)).code).toBe("source.ref_not_found");
});

test("a repository that changes between resolving and fetching gives the commit that was resolved", async () => {
  const repository = createRepository({ "SKILL.md": skill("before") });
  const before = repository.git("rev-parse", "HEAD");
  let after: string | undefined;
  const { origin, requests } = await startGitServer(dirname(repository.folder), {
    spoil() {
      // The references were listed by the first of them.
      const asked = requests.filter((line) => line.startsWith("POST")).length;
      if (asked > 1) after ??= repository.commit({ "SKILL.md": skill("after") });
      return false;
    },
  });
  const source = await fetchedFrom(`${origin}/repo#main`);
  expect(source.resolved).toBe(before);
  expect(readFolder(source.folder)).toEqual({ "SKILL.md": skill("before") });
  expect(repository.git("rev-parse", "HEAD")).toBe(after);
});

test.each([1, 2, 3])(
  "one that changes while it is asked and fetched at once gives the commit that it listed (request %i)",
  async (at) => {
    const repository = createRepository({ "SKILL.md": skill("before") });
    const before = repository.git("rev-parse", "HEAD");
    let after: string | undefined;
    const { origin, requests } = await startGitServer(dirname(repository.folder), {
      spoil() {
        const asked = requests.filter((line) => line.startsWith("POST")).length;
        if (asked >= at) after ??= repository.commit({ "SKILL.md": skill("after") });
        return false;
      },
    });
    const source = await fetchedFrom(`${origin}/repo`);
    expect([before, after]).toContain(source.resolved);
    const written = source.resolved === before ? "before" : "after";
    expect(readFolder(source.folder)).toEqual({ "SKILL.md": skill(written) });
  },
);

verifies(
  189,
  "a repository that disappears while it is fetched is a fault, and nothing of it stays",
  async () => {
    const repository = createRepository({ "SKILL.md": skill("a") });
    const { origin, requests } = await startGitServer(dirname(repository.folder), {
      spoil({ method }) {
        if (method === "POST" && requests.filter((line) => line.startsWith("POST")).length > 1) {
          rmSync(repository.folder, { recursive: true, force: true });
        }
        return false;
      },
    });
    const into = temporaryFolder();
    const fault = await faultFrom(`${origin}/repo`, { into });
    expect(fault.code).toBe("source.not_found");
    expect(readdirSync(into)).toEqual([]);
  },
);

for (const method of ["GET", "POST"]) {
  test(`a server that hangs at ${method} is given up, and git with it`, async () => {
    const repository = createRepository({ "SKILL.md": skill("a") });
    const held: ServerResponse[] = [];
    const { origin, port } = await startGitServer(dirname(repository.folder), {
      spoil(request, response) {
        if (request.method !== method) return false;
        held.push(response);
        return true;
      },
    });
    const into = temporaryFolder();
    const fault = await faultFrom(`${origin}/repo`, { into, limits: { idleMs: 2_000 } });
    expect(fault).toMatchObject({ code: "source.limited" });
    expect(fault.message).toContain("sent nothing");
    expect(held.length).toBeGreaterThan(0);
    expect(readdirSync(into)).toEqual([]);
    await until("git has ended", () => processesWith(`127.0.0.1:${port}/repo`).length === 0);
  });
}

test("a server that sends a byte now and then is given up when the whole time is over", async () => {
  const { origin } = await startGitServer(temporaryFolder(), {
    spoil(_, response) {
      response.writeHead(200, { "content-type": "application/x-git-upload-pack-advertisement" });
      const timer = setInterval(() => response.write("0"), 50);
      response.once("close", () => clearInterval(timer));
      return true;
    },
  });
  const fault = await faultFrom(`${origin}/repo`, { limits: { totalMs: 700, idleMs: 60_000 } });
  expect(fault).toMatchObject({ code: "source.limited" });
  expect(fault.message).toContain("took longer than");
});

test("cancelling ends git and everything it started", async () => {
  const { origin, port, requests } = await startGitServer(temporaryFolder(), { spoil: () => true });
  const stop = new AbortController();
  const running = fetchIt(`${origin}/repo`, { signal: stop.signal });
  await until("git asks", () => requests.length > 0);
  stop.abort();
  expect(await running).toMatchObject({ ok: false, refusal: { code: "cancelled" } });
  await until("git has ended", () => processesWith(`127.0.0.1:${port}/repo`).length === 0);
});

for (const bytes of [0, 60, 300]) {
  verifies(
    189,
    `a pack that breaks off after ${bytes} bytes is a fault, and nothing of it stays`,
    async () => {
      const noise = Buffer.from(Array.from({ length: 4000 }, (_, index) => (index * 7919) % 251));
      const repository = createRepository({ "SKILL.md": skill("a"), "noise.bin": noise });
      const commit = repository.git("rev-parse", "HEAD");
      const { origin } = await startGitServer(dirname(repository.folder), { cutPackAfter: bytes });
      const into = temporaryFolder();
      const fault = await faultFrom(`${origin}/repo#${commit}`, { into });
      expect(["source.damaged", "source.unreachable"]).toContain(fault.code);
      expect(readdirSync(into)).toEqual([]);
    },
  );
}

test("a redirect to a private address is refused, wherever the server's own name leads", async () => {
  let reached = 0;
  const inside = createServer((_, response) => {
    reached += 1;
    response.end();
  });
  await new Promise<void>((resolve) => inside.listen(0, "127.0.0.2", resolve));
  try {
    const { port } = inside.address() as { port: number };
    for (const location of [
      `http://127.0.0.2:${port}/repo`,
      "http://10.0.0.1/repo",
      "http://metadata.internal/repo",
    ]) {
      const server = await startGitServer(temporaryFolder(), {
        spoil({ url = "" }, response) {
          response.writeHead(302, { location: location + url.slice("/repo".length) }).end();
          return true;
        },
      });
      // As a public site, through the gate: such an address cannot be typed, only `https://` can.
      const address = gitAddress(
        "https://git.example.com/repo",
        `http://git.example.com:${server.port}/repo`,
      );
      const addresses = addressBook({ "git.example.com": ["127.0.0.1"] });
      const fault = await faultFrom(address, { addresses });
      expect(fault.code).toBe("source.refused");
      expect(fault.message).toContain("redirects to a refused address");
      // Typed as a server of this machine.
      const typed = await faultFrom(`${server.origin}/repo`);
      expect(typed.code).toBe("source.refused");
      expect(typed.message).toContain("redirects");
    }
    expect(reached).toBe(0);
  } finally {
    inside.close();
  }
});

test("a redirect to another public host is followed, by addresses that were checked", async () => {
  const repository = createRepository({ "SKILL.md": skill("moved") });
  const server = await startGitServer(dirname(repository.folder), {
    spoil({ url = "", headers }, response) {
      if (headers.host?.startsWith("new.example.com")) return false;
      response.writeHead(301, { location: `http://new.example.com:${server.port}${url}` }).end();
      return true;
    },
  });
  const url = `http://old.example.com:${server.port}/repo`;
  const addresses = addressBook({ "old.example.com": ["127.0.0.1"], "new.example.com": ["127.0.0.1"] });
  const source = await fetchedFrom(gitAddress("https://old.example.com/repo", url), { addresses });
  expect(readFolder(source.folder)).toEqual({ "SKILL.md": skill("moved") });
});

test("a host that leads to a private address is refused before anything is asked", async () => {
  const addresses = addressBook({ "git.example.com": ["10.1.2.3"] });
  const fault = await faultFrom("https://git.example.com/owner/repo.git", { addresses });
  expect(fault).toMatchObject({ code: "source.refused" });
  expect(fault.message).toContain("`10.1.2.3`, a private address");
  expect(fault.hint).toContain("ssh");
  for (const url of ["https://10.0.0.1/x.git", "https://[fd00::1]/x.git", "https://169.254.169.254/x.git"]) {
    expect((await faultFrom(url, { addresses })).code).toBe("source.refused");
  }
});

const openssl = createCommandFinder(process.env)("openssl");

test.skipIf(openssl === undefined)(
  "over https the name is resolved by us alone, and the certificate is checked",
  async () => {
    const folder = temporaryFolder();
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const name = ["-subj", "/CN=git.example.com", "-addext", "subjectAltName=DNS:git.example.com"];
    const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...name];
    execFileSync(openssl ?? "", made, { stdio: "ignore" });
    const certificate = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
    const repository = createRepository({ "SKILL.md": skill("a") });
    const { port } = await startGitServer(dirname(repository.folder), { certificate });
    const addresses = addressBook({ "git.example.com": ["127.0.0.1"] });
    const address = `https://git.example.com:${port}/repo`;

    const unknown = await faultFrom(address, { addresses });
    expect(unknown).toMatchObject({ code: "source.unreachable" });
    expect(unknown.message).toContain("certificate");

    const environment = { PATH: process.env.PATH, GIT_SSL_CAINFO: cert };
    const source = await fetchedFrom(address, { addresses, environment });
    expect(readFolder(source.folder)).toEqual({ "SKILL.md": skill("a") });
  },
);

test("over ssh nothing is asked and nothing is forwarded, and the host is never an option", async () => {
  const repository = createRepository({ "SKILL.md": skill("a") });
  const bin = temporaryFolder();
  const log = join(bin, "log");
  // In place of ssh: runs what the server would be told to run.
  writeFileSync(
    join(bin, "ssh"),
    `#!/bin/sh\nprintf '%s\\n' "$@" > '${log}'\nfor last; do :; done\nexec sh -c "$last"\n`,
  );
  chmodSync(join(bin, "ssh"), 0o755);
  const environment = { PATH: `${bin}:${process.env.PATH}`, SSH_ASKPASS: "/nowhere", DISPLAY: ":0" };
  for (const address of [
    `git@git.example.com:${repository.folder}`,
    `ssh://git@git.example.com${repository.folder}`,
  ]) {
    const source = await fetchedFrom(address, { environment });
    expect(readFolder(source.folder)).toEqual({ "SKILL.md": skill("a") });
    const args = readFileSync(log, "utf8").split("\n");
    expect(args).toEqual(
      expect.arrayContaining(["BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no"]),
    );
    expect(args).toContain("git@git.example.com");
  }
});

test("a repository that requires a sign-in says so; a helper of the user's own config answers, and no other", async () => {
  const repository = createRepository({ "SKILL.md": skill("private") });
  const expected = `Basic ${Buffer.from("someone:secret").toString("base64")}`;
  const { origin } = await startGitServer(dirname(repository.folder), {
    spoil({ headers }, response) {
      if (headers.authorization === expected) return false;
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
      return true;
    },
  });
  const fault = await faultFrom(`${origin}/repo`);
  expect(fault).toMatchObject({ code: "source.unauthorized" });
  expect(fault.message).toContain("does not exist, or is private");
  expect(fault.hint).toContain("credential helper");

  const home = temporaryFolder();
  const helper = join(home, "helper");
  writeFileSync(helper, "#!/bin/sh\necho username=someone\necho password=secret\n");
  chmodSync(helper, 0o755);
  const canary = join(home, "canary");
  const config = `[credential "${origin}"]\n\thelper = ${helper}\n[core]\n\tfsmonitor = touch ${canary}\n\tsshCommand = touch ${canary}\n`;
  writeFileSync(join(home, ".gitconfig"), config);
  const environment = { PATH: process.env.PATH, HOME: home };
  const source = await fetchedFrom(`${origin}/repo`, { environment });
  expect(readFolder(source.folder)).toEqual({ "SKILL.md": skill("private") });
  expect(source.canonical).toBe(`${origin}/repo`);
  expect(existsSync(canary)).toBe(false);
});

test("the user's git config is read only for a server that asks for a sign-in", async () => {
  const repository = createRepository({ "SKILL.md": skill("public") });
  let isPrivate = false;
  const { origin } = await startGitServer(dirname(repository.folder), {
    spoil(_, response) {
      if (isPrivate) response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
      return isPrivate;
    },
  });
  const folder = temporaryFolder();
  const [calls, program] = [join(folder, "calls"), join(folder, "git")];
  const real = createCommandFinder(process.env)("git");
  writeFileSync(program, `#!/bin/sh\necho "$*" >> ${calls}\nexec ${real} "$@"\n`);
  chmodSync(program, 0o755);
  const environment = { PATH: `${folder}:${process.env.PATH}`, HOME: folder };
  const configCalls = (): number =>
    readFileSync(calls, "utf8").split("config --null --get-regexp").length - 1;
  await fetchedFrom(`${origin}/repo`, { environment });
  expect(configCalls()).toBe(0);
  isPrivate = true;
  expect(await faultFrom(`${origin}/repo`, { environment })).toMatchObject({ code: "source.unauthorized" });
  expect(configCalls()).toBe(1);
});

for (const [what, status, code] of [
  ["is not there", 404, "source.not_found"],
  ["is gone", 410, "source.not_found"],
  ["is forbidden", 403, "source.unauthorized"],
  ["is broken", 500, "source.unreachable"],
] as const) {
  test(`a repository that ${what} gives ${code}`, async () => {
    const { origin } = await startGitServer(temporaryFolder(), {
      spoil(_, response) {
        response.writeHead(status).end();
        return true;
      },
    });
    const fault = await faultFrom(`${origin}/repo`);
    expect(fault.code).toBe(code);
    expect(fault.hint).not.toBe("");
  });
}

test("a web page is not taken for a repository", async () => {
  const { origin } = await startGitServer(temporaryFolder(), {
    spoil(_, response) {
      response
        .writeHead(200, { "content-type": "text/html" })
        .end("<!doctype html>\n<html>\n<p>Hello</p>\n</html>\n");
      return true;
    },
  });
  expect((await faultFrom(`${origin}/some/page`)).code).toBe("source.not_found");
});

test("a server that is not there is unreachable", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  expect((await faultFrom(`http://127.0.0.1:${port}/repo`)).code).toBe("source.unreachable");
});
