/**
 * Commands with granted domains: the same sandbox, and one way out of it. Talks to a server on loopback that the egress
 * gate of these tests takes for a public site; real clients inside, told by the usual variables alone.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { chooseSandbox, type Sandbox } from "@metier/sandbox";
import { openEgressProxy } from "@metier/sandbox/egress";
import { expect, onTestFinished, test } from "vitest";
import { addressBook, PUBLIC, startSite } from "../support/loopback-site.ts";
import { openProxy, type TestProxy } from "../support/proxy-client.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { commandConformance } from "../support/sandbox-conformance.ts";
import { isolationConformance } from "../support/sandbox-isolation.ts";
import { openShell, type Shell } from "../support/sandbox-shell.ts";

const BOOK = addressBook({ "site.test": [PUBLIC], "other.test": [PUBLIC] });
const VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];

async function bubblewrap(): Promise<Sandbox> {
  const { sandbox } = await chooseSandbox({ backend: "bubblewrap" });
  if (!sandbox) throw new Error("bubblewrap does not start here.");
  return sandbox;
}

/** Bubblewrap whose every command has a way out. */
async function openWith(socketPath: string): Promise<Sandbox> {
  const sandbox = await bubblewrap();
  return { ...sandbox, run: (command) => sandbox.run({ egressSocket: socketPath, ...command }) };
}

async function open(): Promise<Sandbox> {
  const proxy = await openEgressProxy({ network: [], addresses: BOOK });
  onTestFinished(() => proxy.close());
  return openWith(proxy.socketPath);
}

describeSandbox("a command with granted domains runs like any other", () => {
  commandConformance(open, [...VARIABLES, "NODE_USE_ENV_PROXY"]);
});

describeSandbox("a command with granted domains is isolated like any other", () => {
  isolationConformance(open);
});

interface Granted {
  readonly shell: Shell;
  readonly proxy: TestProxy;
  readonly port: number;
}

/** A shell that is granted `site.test`, where every path answers with itself. */
async function granted(): Promise<Granted> {
  const { port } = await startSite((request, response) => {
    if (request.url === "/away") response.writeHead(302, { location: `http://other.test:${port}/` });
    response.end(`${request.headers.host} ${request.url}`);
  });
  const proxy = await openProxy({ network: [`site.test:${port}`], addresses: BOOK });
  return { shell: await openShell(() => openWith(proxy.socketPath)), proxy, port };
}

/** Whether the Node that runs this has a `fetch` that does: since 24.5, and 22.21. */
const OBEYS_VARIABLES = process.allowedNodeEnvironmentFlags.has("--use-env-proxy");

/** The way a program of each language fetches a page: prints the status and the text, or the fault. */
const CLIENTS: Readonly<Record<string, (url: string) => readonly string[]>> = {
  "fetch of Node": (url) => [
    "node",
    "-e",
    `fetch("${url}").then(async (r) => console.log(r.status, await r.text()), (e) => console.log("fault", e.cause?.message))`,
  ],
  "urllib of Python": (url) => [
    "/usr/bin/python3",
    "-c",
    [
      "import urllib.request, urllib.error",
      `try: r = urllib.request.urlopen("${url}"); print(r.status, r.read().decode())`,
      "except urllib.error.HTTPError as e: print(e.code, e.read().decode())",
      "except Exception as e: print('fault', e)",
    ].join("\n"),
  ],
  curl: (url) => ["curl", "-sS", "-L", "-w", " %{http_code}", url],
};

const PROGRAMS: Readonly<Record<string, string>> = {
  "urllib of Python": "/usr/bin/python3",
  curl: "/usr/bin/curl",
};

describeSandbox("a command with granted domains", () => {
  for (const [name, argv] of Object.entries(CLIENTS)) {
    const program = PROGRAMS[name];
    const isMissing = program === undefined ? !OBEYS_VARIABLES : !existsSync(program);
    test.skipIf(isMissing)(`reaches them with ${name}, and nothing else`, async () => {
      const { shell, proxy, port } = await granted();
      const fetched = async (url: string): Promise<string> => {
        const { stdout, stderr } = await shell.run("", { argv: argv(url) });
        return stdout + stderr;
      };
      const page = await fetched(`http://site.test:${port}/page`);
      expect(page).toContain("200");
      expect(page).toContain(`site.test:${port} /page`);
      for (const url of [`http://other.test:${port}/`, `http://site.test:${port}/away`]) {
        const refused = await fetched(url);
        expect(refused).toContain("403");
        expect(refused).toContain(`\`other.test:${port}\` is not granted`);
      }
      expect(await fetched("https://other.test/")).toMatch(/403|fault/);
      expect(new Set(proxy.reached)).toEqual(new Set(["site.test"]));
      expect(new Set(proxy.refused)).toEqual(new Set(["other.test"]));
    });
  }

  test("has no other way out: no address, no name, no datagram", async () => {
    const { shell, port } = await granted();
    const direct = await shell.run(`exec 3<>/dev/tcp/${PUBLIC}/${port} && echo connected`);
    expect(direct.stdout).toBe("");
    const program = `
      const say = (what) => (fault) => console.log(what, fault ? "failed" : "worked");
      require("dns").lookup("site.test", say("lookup"));
      const { Resolver } = require("dns");
      const resolver = new Resolver({ timeout: 200, tries: 1 });
      resolver.setServers(["192.0.2.1"]);
      resolver.resolve4("site.test", say("dns"));
      const socket = require("dgram").createSocket("udp4");
      socket.send("x", 53, "192.0.2.1", (fault) => { say("udp")(fault); socket.close(); });
      const tcp = require("net").connect({ host: "192.0.2.1", port: 80 });
      tcp.on("error", say("tcp")).on("connect", () => say("tcp")());
    `;
    const { stdout } = await shell.run("", { argv: ["node", "-e", program] });
    expect(stdout.trim().split("\n").sort()).toEqual([
      "dns failed",
      "lookup failed",
      "tcp failed",
      "udp failed",
    ]);
  });

  test("still serves itself on its own loopback, without the proxy", async () => {
    const { shell, proxy } = await granted();
    const program = `
      const server = require("http").createServer((_, response) => response.end("own"));
      server.listen(0, "127.0.0.1", async () => {
        const answer = await fetch("http://127.0.0.1:" + server.address().port);
        console.log(await answer.text());
        server.close();
      });
    `;
    const { stdout } = await shell.run("", { argv: ["node", "-e", program] });
    expect(stdout).toBe("own\n");
    expect(proxy.refused).toEqual([]);
  });

  test("sees the socket of the proxy, and can do no more with it than send to it", async () => {
    const { shell, proxy } = await granted();
    const { stdout } = await shell.run(
      "ls -A /run/metier; rm -f /run/metier/egress.sock; test -S /run/metier/egress.sock && echo still",
    );
    expect(stdout).toBe("bin\negress.sock\ninside\nstill\n");
    expect((await shell.run(`ls ${dirname(proxy.socketPath)}`)).exitCode).not.toBe(0);
    expect(existsSync(proxy.socketPath)).toBe(true);
  });

  test("does not start when the proxy is closed already", async () => {
    const { shell, proxy } = await granted();
    await proxy.close();
    expect(await shell.run("echo ran")).toMatchObject({ ended: "refused", stdout: "" });
  });

  test("carries many connections at once, and large bodies both ways", async () => {
    const site = await startSite((request, response) => request.pipe(response));
    const proxy = await openProxy({ network: [`site.test:${site.port}`], addresses: BOOK });
    const shell = await openShell(() => openWith(proxy.socketPath));
    const program = `
      const { text } = require("stream/consumers");
      const { port } = new URL(process.env.HTTP_PROXY);
      const body = "x".repeat(1_000_000);
      const options = { host: "127.0.0.1", port, path: "http://site.test:${site.port}/", method: "POST" };
      const send = () => new Promise((resolve) => {
        require("http").request(options, (answer) => resolve(text(answer))).end(body);
      });
      Promise.all(Array.from({ length: 20 }, send)).then((all) => console.log(all.every((text) => text === body)));
    `;
    expect((await shell.run("", { argv: ["node", "-e", program] })).stdout).toBe("true\n");
  });
});

describeSandbox("a command without granted domains", () => {
  test("has no socket and no proxy, and a relay of its own leads nowhere", async () => {
    const shell = await openShell(bubblewrap);
    const { stdout } = await shell.run("ls -A /run/metier; env | grep -ci proxy");
    expect(stdout).toBe("bin\ninside\n0\n");
    const program = `fetch("http://site.test/").then(() => console.log("reached"), () => console.log("failed"))`;
    const relayed = await shell.run("", { argv: ["metier-sb", "relay", "--", "node", "-e", program] });
    expect(relayed.stdout).toBe("failed\n");
  });
});

describeSandbox("`metier-sb`", () => {
  test("says what it can do when it is asked for anything else", async () => {
    const shell = await openShell(bubblewrap);
    for (const command of ["metier-sb", "metier-sb nothing", "metier-sb constructor"]) {
      const { exitCode, stderr } = await shell.run(command);
      expect(exitCode).toBe(2);
      expect(stderr).toContain("relay");
    }
    expect(await shell.run("metier-sb relay ls")).toMatchObject({ exitCode: 2, stdout: "" });
  });

  test("ends as its command does, and passes on what it is told", async () => {
    const shell = await openShell(bubblewrap);
    const ends = async (command: string): Promise<number | undefined> =>
      (await shell.run(`metier-sb relay -- ${command}; exit $?`)).exitCode;
    expect(await ends("true")).toBe(0);
    expect(await ends("sh -c 'exit 7'")).toBe(7);
    expect(await ends("sh -c 'kill -INT $$'")).toBe(130);
    expect(await ends("no-such-program")).toBe(127);
    expect(await ends("/usr")).toBe(126);
    const told = await shell.run(
      "metier-sb relay -- sh -c 'trap \"echo told; exit 5\" TERM; echo ready; while :; do sleep 0.05; done' > out & " +
        "until grep -q ready out 2>/dev/null; do sleep 0.05; done; kill -TERM $!; wait $!; echo $?; cat out",
      { cwd: shell.folders.work },
    );
    expect(told.stdout).toBe("5\nready\ntold\n");
  });
});
