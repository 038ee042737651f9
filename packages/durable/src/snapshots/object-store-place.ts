/**
 * Where blobs are stored, as an operator configures it: `s3://bucket/prefix?endpoint=…&region=…` for an object store
 * with the S3 API, `file:///folder` for a folder that all processes share. Credentials only come from the environment:
 * URLs appear in process lists, logs and shell histories.
 */
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import type { Environment } from "@metier/base/programs";
import { done, type Result, refused } from "@metier/base/result";
import { showValue } from "@metier/base/text";

export interface S3Place {
  readonly kind: "s3";
  readonly bucket: string;
  /** Ends with `/`, or empty. */
  readonly prefix: string;
  /** Without the bucket and without a trailing `/`. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

interface FolderPlace {
  readonly kind: "folder";
  readonly folder: string;
}

export type ObjectStorePlace = S3Place | FolderPlace;

const FORM = "s3://<bucket>/<prefix>?endpoint=<url>&region=<region>";
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^(?:[\w.-]+(?:\/[\w.-]+)*)?$/;
const REGION = /^[a-z0-9-]{1,64}$/i;
const PARAMETERS = ["endpoint", "region"];
/** What self-hosted stores accept if no region was set. */
const USUAL_REGION = "us-east-1";
const OWN = ["METIER_OBJECT_STORE_KEY", "METIER_OBJECT_STORE_SECRET"] as const;
const USUAL = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] as const;

/** Never shows anything that could be a credential. */
export function readObjectStore(text: string, environment: Environment): Result<ObjectStorePlace> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "file:") return readFolder(url);
  if (url?.protocol !== "s3:") {
    const said = url === undefined ? "is not a URL" : `starts with ${showValue(url.protocol)}`;
    return refuse(`The object store ${said}.`, `Write \`${FORM}\`, or \`file:///<folder>\`.`);
  }
  if (url.username !== "" || url.password !== "") return refuseCredentials();
  const bucket = url.host;
  if (!BUCKET.test(bucket)) {
    const hint = "A bucket name has 3 to 63 lowercase letters, digits, `.` and `-`.";
    return refuse(`${showValue(bucket)} in the object store's URL is not a bucket name.`, hint);
  }
  const prefix = url.pathname.replace(/^\/|\/$/g, "");
  if (url.hash !== "" || !PREFIX.test(prefix) || prefix.split("/").some((part) => /^\.+$/.test(part))) {
    const hint =
      "A prefix has letters, digits, `.`, `_` and `-`, with `/` between its parts, and nothing follows `?…`.";
    return refuse(`The object store's URL has the invalid prefix ${showValue(prefix + url.hash)}.`, hint);
  }
  const wrong = findWrongParameter(url.searchParams);
  if (wrong !== undefined) return wrong;
  return readS3({ bucket, prefix: prefix === "" ? "" : `${prefix}/` }, url.searchParams, environment);
}

function readFolder(url: URL): Result<FolderPlace> {
  if (url.host !== "" || url.search !== "" || url.hash !== "") {
    return refuse(
      "The object store's `file:` URL has more than a folder.",
      "Write `file:///<folder>`, with three slashes and nothing after the folder.",
    );
  }
  // The path may contain what no path can, such as `%2F`.
  const folder = tryToRead(() => fileURLToPath(url));
  if (folder !== undefined && isAbsolute(folder) && folder !== "/") return done({ kind: "folder", folder });
  return refuse(`The object store ${showValue(url.href)} is not a folder.`, "Write `file:///<folder>`.");
}

function readS3(
  place: Pick<S3Place, "bucket" | "prefix">,
  parameters: URLSearchParams,
  environment: Environment,
): Result<S3Place> {
  const region = parameters.get("region") ?? environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION;
  if (region !== undefined && !REGION.test(region)) {
    return refuse(
      `The object store's URL has the invalid region ${showValue(region)}.`,
      "A region is a word such as `eu-central-1`.",
    );
  }
  const endpoint = readEndpoint(parameters.get("endpoint"), region);
  if (!endpoint.ok) return endpoint;
  const credentials = readCredentials(environment);
  if (!credentials.ok) return credentials;
  return done({
    kind: "s3",
    ...place,
    endpoint: endpoint.value,
    region: region ?? USUAL_REGION,
    ...credentials.value,
  });
}

function findWrongParameter(parameters: URLSearchParams): Result<never> | undefined {
  for (const name of parameters.keys()) {
    if (/key|secret|token|password|credential/i.test(name)) return refuseCredentials();
    if (PARAMETERS.includes(name) && parameters.getAll(name).length === 1) continue;
    const said = PARAMETERS.includes(name)
      ? `has \`${name}\` twice`
      : `has the unknown part ${showValue(name)}`;
    return refuse(`The object store ${said}.`, `Write \`${FORM}\`.`);
  }
  return undefined;
}

function readEndpoint(text: string | null, region: string | undefined): Result<string> {
  if (text === null) {
    if (region !== undefined) return done(`https://s3.${region}.amazonaws.com`);
    return refuse(
      "The object store's URL has neither an endpoint nor a region.",
      "For Amazon S3 add `?region=<region>`; for any other store `?endpoint=<url>`, such as `?endpoint=http://127.0.0.1:9000`.",
    );
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.username !== "" || url.password !== "")) return refuseCredentials();
  const isPlain = url && url.search === "" && url.hash === "" && /^https?:$/.test(url.protocol);
  if (isPlain) return done(`${url.origin}${url.pathname.replace(/\/+$/, "")}`);
  const hint = "Set it to the store's address, such as `https://s3.example.com` or `http://127.0.0.1:9000`.";
  return refuse("The object store's endpoint is not an http or https URL.", hint);
}

function readCredentials(environment: Environment): Result<Pick<S3Place, "accessKey" | "secretKey">> {
  for (const [keyName, secretName] of [OWN, USUAL]) {
    const [accessKey = "", secretKey = ""] = [environment[keyName], environment[secretName]];
    if (accessKey === "" && secretKey === "") continue;
    if (accessKey === "" || secretKey === "") {
      const [there, missing] = accessKey === "" ? [secretName, keyName] : [keyName, secretName];
      return refuse(
        `\`${there}\` is set for the object store, but \`${missing}\` is not.`,
        "Set both, or none of the two.",
      );
    }
    if (keyName === USUAL[0] && environment.AWS_SESSION_TOKEN) {
      const message = "`AWS_SESSION_TOKEN` is set, but the object store does not work with temporary keys.";
      return refuse(message, `Set \`${OWN[0]}\` and \`${OWN[1]}\` to a key that stays.`);
    }
    return done({ accessKey, secretKey });
  }
  const hint = `Set \`${OWN[0]}\` and \`${OWN[1]}\`, or \`${USUAL[0]}\` and \`${USUAL[1]}\`.`;
  return refuse("The object store needs a key, but the environment has none.", hint);
}

function refuseCredentials(): Result<never> {
  return refuse(
    "The object store's URL contains credentials, which others can read there.",
    `Remove them and set \`${OWN[0]}\` and \`${OWN[1]}\`. If others may have seen them, create new ones.`,
  );
}

function refuse(message: string, hint: string): Result<never> {
  return refused({ message, hint });
}

function tryToRead<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined; // The caller reports it.
  }
}
