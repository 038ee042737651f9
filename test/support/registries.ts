/** A registry for npm and an index for pip on loopback, with packages that are made here, and a log of what was asked. */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { crc32, gzipSync } from "node:zlib";
import type { AddressBook } from "@metier/sandbox/egress";
import { onTestFinished } from "vitest";

export interface LoopbackServer {
  /** By a public name; `addresses` lead it to loopback. */
  readonly url: string;
  readonly addresses: AddressBook;
  /** Paths, in the order they were asked for. */
  readonly asked: readonly string[];
}

export interface NodePackage {
  readonly name: string;
  readonly version: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Every name leads to loopback, and loopback counts as public: the gate is otherwise as it is. */
const LOOPBACK: AddressBook = { resolve: async () => ["127.0.0.1"], isPublic: () => true };

/** Serves fixed answers by path. */
async function serve(host: string, answers: ReadonlyMap<string, Buffer | string>): Promise<LoopbackServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "/");
    asked.push(path);
    const answer = answers.get(path);
    const isPage = typeof answer === "string" && answer.startsWith("<");
    const type = isPage
      ? "text/html"
      : typeof answer === "string"
        ? "application/json"
        : "application/octet-stream";
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": type });
    response.end(answer ?? "not found");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://${host}:${port}/`, addresses: LOOPBACK, asked };
}

export interface NpmRegistry extends LoopbackServer {
  /** `package.json` and `package-lock.json` of a skill that wants these packages. */
  readonly files: { readonly "package.json": string; readonly "package-lock.json": string };
}

export async function openNpmRegistry(packages: readonly NodePackage[]): Promise<NpmRegistry> {
  const answers = new Map<string, Buffer | string>();
  const server = await serve("npm.example.com", answers);
  const locked: Record<string, object> = {};
  for (const { name, version, files } of packages) {
    const manifest = JSON.stringify({ name, version, main: "index.js", ...parse(files["package.json"]) });
    const tarball = gzipSync(tar({ ...files, "package.json": manifest }));
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    const path = `/${name}/-/${name}-${version}.tgz`;
    const dist = { tarball: new URL(path, server.url).href, integrity };
    answers.set(path, tarball);
    answers.set(
      `/${name}`,
      JSON.stringify({
        name,
        "dist-tags": { latest: version },
        versions: { [version]: { name, version, dist } },
      }),
    );
    locked[`node_modules/${name}`] = { version, resolved: dist.tarball, integrity };
  }
  const dependencies = Object.fromEntries(packages.map(({ name, version }) => [name, version]));
  const root = { name: "skill", version: "1.0.0", dependencies };
  const lock = { name: "skill", version: "1.0.0", lockfileVersion: 3, requires: true };
  return {
    ...server,
    files: {
      "package.json": JSON.stringify({ ...root, private: true }),
      "package-lock.json": JSON.stringify({ ...lock, packages: { "": root, ...locked } }),
    },
  };
}

function parse(text: string | undefined): object {
  return text === undefined ? {} : (JSON.parse(text) as object);
}

/** An index with one wheel of pure Python that has one module. */
export async function openPythonIndex(
  name: string,
  version: string,
  module: string,
): Promise<LoopbackServer & { readonly requirement: string }> {
  const answers = new Map<string, Buffer | string>();
  const server = await serve("python.example.com", answers);
  const info = `${name}-${version}.dist-info`;
  const wheel = zip({
    [`${name}.py`]: module,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
    [`${info}/WHEEL`]: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    [`${info}/RECORD`]: `${name}.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`,
  });
  const file = `${name}-${version}-py3-none-any.whl`;
  const digest = createHash("sha256").update(wheel).digest("hex");
  answers.set(`/files/${file}`, wheel);
  answers.set(
    `/simple/${name}/`,
    `<!DOCTYPE html><html><body><a href="/files/${file}#sha256=${digest}">${file}</a></body></html>`,
  );
  return {
    ...server,
    url: new URL("simple/", server.url).href,
    requirement: `${name}==${version} --hash=sha256:${digest}\n`,
  };
}

/** A tar archive in the form npm packages have: everything below `package/`. */
function tar(files: Readonly<Record<string, string>>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const content = Buffer.from(text);
    const header = Buffer.alloc(512);
    header.write(`package/${name}`, 0);
    header.write("0000644\0", 100);
    header.write("0000000\0", 108);
    header.write("0000000\0", 116);
    header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write("00000000000\0", 136);
    header.write("        0", 148);
    header.write("ustar\0" + "00", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** A zip archive without compression. */
function zip(files: Readonly<Record<string, string>>): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const content = Buffer.from(text);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0); // Version.
    shared.writeUInt16LE(0x21, 8); // The first day that the format knows.
    shared.writeUInt32LE(crc32(content), 10);
    shared.writeUInt32LE(content.length, 14);
    shared.writeUInt32LE(content.length, 18);
    shared.writeUInt16LE(name.length, 22);
    const entry = Buffer.concat([Buffer.from("PK\x03\x04"), shared, Buffer.from(name), content]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    const made = Buffer.from([20, 0]);
    central.push(Buffer.concat([Buffer.from("PK\x01\x02"), made, shared, tail, Buffer.from(name)]));
    local.push(entry);
    offset += entry.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  end.writeUInt16LE(central.length, 8);
  end.writeUInt16LE(central.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directory, end]);
}
