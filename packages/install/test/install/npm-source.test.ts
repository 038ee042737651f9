import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { tarOf } from "../../../../test/support/archives.ts";
import { faultFrom, fetchedFrom, readFolder } from "../../../../test/support/git-fetching.ts";
import { type Site, startSite } from "../../../../test/support/loopback-site.ts";
import { skillText, temporaryFolder } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { findNpm, readPackageDocument } from "../../src/install/npm/npm-registry.ts";

const SKILL = skillText("name: pdf\ndescription: Reads PDF files.");

interface Published {
  readonly name: string;
  readonly version: string;
  /** What the registry announces, where it is not the truth. */
  readonly integrity?: string;
  readonly deprecated?: string;
}

interface TestRegistry {
  readonly site: Site;
  /** What `npm` of a test is set to. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

async function openRegistry(...packages: readonly Published[]): Promise<TestRegistry> {
  const site = await startSite((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1);
    const tarball = packages.find(({ name, version }) => path === `${name}/-/${version}.tgz`);
    const named = packages.filter(({ name }) => name === path);
    if (tarball !== undefined) response.end(pack(tarball));
    else if (named.length > 0)
      response.end(JSON.stringify(describePackage(named, `http://127.0.0.1:${site.port}/`)));
    else response.writeHead(404).end();
  });
  const registry = `http://127.0.0.1:${site.port}/`;
  return {
    site,
    environment: { PATH: process.env.PATH, HOME: temporaryFolder(), npm_config_registry: registry },
  };
}

function pack({ name, version }: Published): Buffer {
  const manifest = JSON.stringify({ name, version, scripts: { install: "exit 1" } });
  return gzipSync(
    tarOf(
      { name: "package/package.json", content: manifest },
      { name: "package/skills/pdf/SKILL.md", content: SKILL },
    ),
  );
}

function describePackage(versions: readonly Published[], registry: string): object {
  const entries = versions.map((entry) => {
    const { name, version, deprecated } = entry;
    const integrity =
      entry.integrity ?? `sha512-${createHash("sha512").update(pack(entry)).digest("base64")}`;
    return [
      version,
      { name, version, deprecated, dist: { tarball: `${registry}${name}/-/${version}.tgz`, integrity } },
    ];
  });
  return { "dist-tags": { latest: versions.at(-1)?.version }, versions: Object.fromEntries(entries) };
}

describe.skipIf(findNpm(process.env) === undefined)("an npm package (needs npm)", () => {
  verifies(
    192,
    "is fetched from the registry that npm is set to, and unpacked without running anything",
    async () => {
      const { environment, site } = await openRegistry(
        { name: "skills", version: "1.0.0" },
        { name: "skills", version: "1.2.0" },
      );
      const source = await fetchedFrom("npm:skills", { environment });
      expect(Object.keys(readFolder(source.folder)).sort()).toEqual(["package.json", "skills/pdf/SKILL.md"]);
      expect(source).toMatchObject({ ref: "latest", canonical: "npm:skills" });
      expect(source.resolved).toMatch(/^1\.2\.0 sha512-[A-Za-z0-9+/]{86}==$/);
      expect(site.requests).toEqual(["/skills", "/skills/-/1.2.0.tgz"]);
    },
  );

  verifies("case 104", "may be of a scope, at a version, and have a path", async () => {
    const { environment } = await openRegistry(
      { name: "@some/skills", version: "1.0.0" },
      { name: "@some/skills", version: "2.0.0" },
    );
    const source = await fetchedFrom("npm:@some/skills@^1/skills/pdf", { environment });
    expect(source).toMatchObject({ ref: "^1", paths: ["skills/pdf"] });
    expect(source.resolved).toMatch(/^1\.0\.0 /);
  });

  test("of a scope with a registry of its own comes from there", async () => {
    const { site, environment } = await openRegistry({ name: "@some/skills", version: "1.0.0" });
    const other = await openRegistry();
    writeFileSync(join(environment.HOME ?? "", ".npmrc"), `@some:registry=http://127.0.0.1:${site.port}/\n`);
    const { npm_config_registry } = other.environment;
    await fetchedFrom("npm:@some/skills", { environment: { ...environment, npm_config_registry } });
    expect([site.requests.length, other.site.requests.length]).toEqual([2, 0]);
  });

  test("that its author advises against is fetched, and it is said", async () => {
    const { environment } = await openRegistry({
      name: "skills",
      version: "1.0.0",
      deprecated: "Use `others`.",
    });
    const { diagnostics } = await fetchedFrom("npm:skills", { environment });
    expect(diagnostics).toMatchObject([{ code: "source.deprecated", severity: "warning" }]);
  });

  test("that does not match the registry is refused", async () => {
    const integrity = `sha512-${"A".repeat(86)}==`;
    const { environment } = await openRegistry({ name: "skills", version: "1.0.0", integrity });
    const fault = await faultFrom("npm:skills", { environment });
    expect(fault).toMatchObject({ code: "source.damaged" });
    expect(fault.message).toContain("does not match the registry");
  });

  test("without a SHA-512 digest is refused", async () => {
    const { environment } = await openRegistry({ name: "skills", version: "1.0.0", integrity: "sha1-AAAA" });
    expect(await faultFrom("npm:skills", { environment })).toMatchObject({ code: "source.unsafe" });
  });

  test("or version that is not there, and a range that is not supported, are explained", async () => {
    const { environment } = await openRegistry({ name: "skills", version: "1.0.0" });
    expect(await faultFrom("npm:other", { environment })).toMatchObject({ code: "source.not_found" });
    const version = await faultFrom("npm:skills@2.0.0", { environment });
    expect(version).toMatchObject({ code: "source.ref_not_found", hint: "It has `latest`, `1.0.0`." });
    expect(await faultFrom("npm:skills@>=1", { environment })).toMatchObject({ code: "source.invalid" });
  });

  test("is not asked of a registry with a password", async () => {
    const environment = {
      PATH: process.env.PATH,
      npm_config_registry: "https://user:secret@registry.example/",
    };
    const fault = await faultFrom("npm:skills", { environment });
    expect(fault).toMatchObject({ code: "source.refused" });
    expect(fault.message).not.toContain("secret");
  });
});

describe("what a registry says about a package", () => {
  test.each(["", "[]", "<html>", '{"versions":[]}', '{"error":"not found"}'])(
    "%j is no such document",
    (text) => {
      expect(readPackageDocument(text)).toBeUndefined();
    },
  );

  test("is read only as far as it is well-formed", () => {
    const sha512 = `sha512-${"A".repeat(86)}==`;
    const document = readPackageDocument(
      JSON.stringify({
        "dist-tags": { latest: "1.0.0", odd: 1 },
        versions: {
          "1.0.0": { dist: { tarball: "https://r.example/a.tgz", integrity: `sha1-x ${sha512}?opt` } },
          "1.0.1": { dist: { tarball: "no address", integrity: sha512 } },
          "1.0.2": { dist: { tarball: "https://r.example/a.tgz" } },
        },
      }),
    );
    expect(document).toMatchObject({ versions: ["1.0.0", "1.0.1", "1.0.2"], tags: { latest: "1.0.0" } });
    expect(document?.find("1.0.0")).toEqual({ tarball: "https://r.example/a.tgz", integrity: sha512 });
    expect(["1.0.1", "1.0.2", "toString"].map((version) => document?.find(version))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
