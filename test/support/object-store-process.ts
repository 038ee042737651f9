/**
 * A real S3 API on loopback, in a process of its own: `object-store-process.ts <folder> <bucket>`; prints its port. s3rver does
 * not look at signatures of version 4, so they are checked here first; and its lists of several pages need the old ciphers
 * (`--openssl-legacy-provider`).
 */
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";

interface S3Server {
  configureBuckets(): Promise<unknown>;
  callback(): RequestListener;
}

/** It brings no types. */
const S3rver = createRequire(import.meta.url)("s3rver") as new (options: object) => S3Server;
const [directory, bucket] = process.argv.slice(2);
/** The only key that s3rver knows. */
const KEY = "S3RVER";

const store = new S3rver({
  silent: true,
  directory,
  vhostBuckets: false,
  configureBuckets: [{ name: bucket }],
});
await store.configureBuckets();
const answer = store.callback();
const server = createServer((request, response) => {
  if (isSigned(request)) return answer(request, response);
  request.resume();
  response.writeHead(403, { "content-type": "application/xml" });
  return response.end("<Error><Code>SignatureDoesNotMatch</Code></Error>");
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.on("disconnect", () => process.exit());

/** With the secret of the one key; whoever names another key is told so by s3rver. */
function isSigned({ method = "", url = "", headers }: IncomingMessage): boolean {
  const given =
    /Credential=([^/]+)\/(\d+)\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)/.exec(
      headers.authorization ?? "",
    );
  if (given === null) return false;
  const [, key, date = "", region = "", names = "", signature] = given;
  if (key !== KEY) return true;
  const [path = "", query = ""] = url.split("?");
  const signed = names.split(";").map((name) => `${name}:${headers[name]}\n`);
  const canonical = [method, path, query, signed.join(""), names, headers["x-amz-content-sha256"]].join("\n");
  const digest = createHash("sha256").update(canonical).digest("hex");
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], `${date}/${region}/s3/aws4_request`, digest].join(
    "\n",
  );
  const made = [date, region, "s3", "aws4_request", text].reduce(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    Buffer.from(`AWS4${KEY}`),
  );
  return made.toString("hex") === signature;
}
