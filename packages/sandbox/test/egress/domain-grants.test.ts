import { commonDomains } from "@metier/skills/config";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isGranted, readDomainGrant } from "../../src/egress/check-destination.ts";

/** Whether `grant` lets `url` be reached. */
function grants(grant: string, url: string): boolean {
  const { hostname, port, protocol } = new URL(url);
  const number = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  return isGranted({ host: hostname, port: number, isDefaultPort: port === "" }, [grant]);
}

describe("a granted domain", () => {
  test.each([
    ["example.com", "https://example.com/"],
    ["example.com", "http://example.com/"],
    ["Example.COM", "https://example.com/"],
    ["example.com.", "https://example.com/"],
    [" example.com ", "https://example.com/"],
    ["bücher.example", "https://xn--bcher-kva.example/"],
    ["xn--bcher-kva.example", "https://BÜCHER.example/"],
    ["example.com:8443", "https://example.com:8443/"],
    ["example.com:443", "https://example.com/"],
    ["*.example.com", "https://a.example.com/"],
    ["*.example.com", "https://a.b.example.com/"],
    ["*.example.com:8443", "https://a.example.com:8443/"],
    ["*", "https://anything.example/"],
    ["*", "https://[2606:4700::1]/"],
    ["*:8443", "https://anything.example:8443/"],
    ["1.1.1.1", "https://1.1.1.1/"],
    ["[2606:4700::1]", "https://[2606:4700::1]/"],
    ["[2606:4700::1]:8443", "https://[2606:4700::1]:8443/"],
  ])("%s covers %s", (grant, url) => {
    expect(grants(grant, url)).toBe(true);
  });

  test.each([
    ["example.com", "https://a.example.com/"],
    ["example.com", "https://example.com.evil.test/"],
    ["example.com", "https://notexample.com/"],
    ["example.com", "https://example.co/"],
    ["example.com", "https://example.com:8443/"],
    ["example.com", "http://example.com:443/"],
    ["example.com:8443", "https://example.com/"],
    ["*.example.com", "https://example.com/"],
    ["*.example.com", "https://badexample.com/"],
    ["*.example.com", "https://example.com.evil.test/"],
    ["*", "https://anything.example:8443/"],
    ["*.1.1.1", "https://1.1.1.1/"],
    ["bucher.example", "https://bücher.example/"],
  ])("%s does not cover %s", (grant, url) => {
    expect(grants(grant, url)).toBe(false);
  });

  test.each([
    "",
    "https://example.com",
    "example.com/path",
    "user@example.com",
    "exa mple.com",
    "*.*.example.com",
    "a.*.example.com",
    "*example.com",
    "**",
    "*.",
    "*.1.2.3.4",
    "example.com:0",
    "example.com:65536",
    "example.com:x",
    "2606:4700::1::",
    "1.2.3.4.5",
  ])("that is written %j grants nothing", (text) => {
    expect(readDomainGrant(text)).toBeUndefined();
  });
});

describe("what two lists have in common", () => {
  const host = fc.constantFrom("*", "*.a.org", "x.a.org", "*.x.a.org", "A.org", "1.1.1.1", "[2606:4700::1]");
  const port = fc.constantFrom("", ":443", ":8443");
  const list = fc.array(
    fc.tuple(host, port).map((parts) => parts.join("")),
    { maxLength: 3 },
  );
  const hosts = ["a.org", "x.a.org", "y.x.a.org", "b.org", "1.1.1.1", "[2606:4700::1]"];
  const urls = hosts.flatMap((name) =>
    ["http", "https"].flatMap((scheme) => ["", ":443", ":8443"].map((end) => `${scheme}://${name}${end}/`)),
  );

  test("reaches nothing that one of them does not", () => {
    fc.assert(
      fc.property(list, list, (a, b) => {
        for (const grant of commonDomains(a, b)) {
          for (const url of urls.filter((target) => grants(grant, target))) {
            for (const wide of [a, b]) expect(wide.some((other) => grants(other, url))).toBe(true);
          }
        }
      }),
    );
  });

  test("is every host on the ports that were granted, and no other port", () => {
    expect(commonDomains(["*"], ["a.org", "a.org:8443"])).toEqual(["a.org"]);
    expect(commonDomains(["*:8443"], ["a.org", "a.org:8443"])).toEqual(["a.org:8443"]);
  });
});
