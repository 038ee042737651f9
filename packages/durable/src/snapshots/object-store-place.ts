/**
 * Where blobs are to lie, as an operator says it: `s3://bucket/prefix?endpoint=…&region=…` for an object store that speaks the
 * S3 API, `file:///folder` for a folder that all processes share. Credentials come from the environment and from nowhere else:
 * an address stands in process lists, logs and shell histories.
 */
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import type { Environment } from "@metier/base/programs";
import { done, type Result, refused } from "@metier/base/result";
import { showValue } from "@metier/base/text";

export interface S3Place {
  readonly kind: "s3";
  readonly bucket: string;
  /** With `/` at its end, or empty. */
  readonly prefix: string;
  /** Without the bucket, without `/` at its end. */
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
/** What stores on one's own machines take when nobody named a region. */
const USUAL_REGION = "us-east-1";
const OWN = ["METIER_OBJECT_STORE_KEY", "METIER_OBJECT_STORE_SECRET"] as const;
const USUAL = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] as const;

/** Never shows what stands where a credential could stand. */
export function readObjectStore(text: string, environment: Environment): Result<ObjectStorePlace> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "file:") return readFolder(url);
  if (url?.protocol !== "s3:") {
    const said = url === undefined ? "is not an address" : `begins with ${showValue(url.protocol)}`;
    return refuse(`The object store ${said}.`, `Write \`${FORM}\`, or \`file:///<folder>\`.`);
  }
  if (url.username !== "" || url.password !== "") return refuseCredentials();
  const bucket = url.host;
  if (!BUCKET.test(bucket)) {
    const hint = "A bucket has 3 to 63 lower-case letters, digits, `.` and `-`.";
    return refuse(`The object store has the bucket ${showValue(bucket)}, which is no name of one.`, hint);
  }
  const prefix = url.pathname.replace(/^\/|\/$/g, "");
  if (url.hash !== "" || !PREFIX.test(prefix) || prefix.split("/").some((part) => /^\.+$/.test(part))) {
    const hint =
      "A prefix consists of letters, digits, `.`, `_` and `-`, with `/` between its parts, and nothing comes after `?…`.";
    return refuse(`The object store has the prefix ${showValue(prefix + url.hash)}.`, hint);
  }
  const wrong = findWrongParameter(url.searchParams);
  if (wrong !== undefined) return wrong;
  return readS3({ bucket, prefix: prefix === "" ? "" : `${prefix}/` }, url.searchParams, environment);
}

function readFolder(url: URL): Result<FolderPlace> {
  if (url.host !== "" || url.search !== "" || url.hash !== "") {
    return refuse(
      "The object store is a `file:` address with more than a folder in it.",
      "Write `file:///<folder>`, with three slashes and nothing after the folder.",
    );
  }
  // The path may hold what no path can, such as `%2F`.
  const folder = tryToRead(() => fileURLToPath(url));
  if (folder !== undefined && isAbsolute(folder) && folder !== "/") return done({ kind: "folder", folder });
  return refuse(`The object store ${showValue(url.href)} is no folder.`, "Write `file:///<folder>`.");
}

function readS3(
  place: Pick<S3Place, "bucket" | "prefix">,
  parameters: URLSearchParams,
  environment: Environment,
): Result<S3Place> {
  const region = parameters.get("region") ?? environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION;
  if (region !== undefined && !REGION.test(region)) {
    return refuse(
      `The object store has the region ${showValue(region)}.`,
      "A region is a word like `eu-central-1`.",
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
    const said = PARAMETERS.includes(name) ? `says \`${name}\` twice` : `has the part ${showValue(name)}`;
    return refuse(`The object store ${said}.`, `Write \`${FORM}\`.`);
  }
  return undefined;
}

function readEndpoint(text: string | null, region: string | undefined): Result<string> {
  if (text === null) {
    if (region !== undefined) return done(`https://s3.${region}.amazonaws.com`);
    return refuse(
      "The object store has neither an endpoint nor a region.",
      "For Amazon S3 add `?region=<region>`; for any other store `?endpoint=<url>`, such as `?endpoint=http://127.0.0.1:9000`.",
    );
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.username !== "" || url.password !== "")) return refuseCredentials();
  const isPlain = url && url.search === "" && url.hash === "" && /^https?:$/.test(url.protocol);
  if (isPlain) return done(`${url.origin}${url.pathname.replace(/\/+$/, "")}`);
  const hint = "It is the address of the store, such as `https://s3.example.com` or `http://127.0.0.1:9000`.";
  return refuse("The endpoint of the object store is no http or https address.", hint);
}

function readCredentials(environment: Environment): Result<Pick<S3Place, "accessKey" | "secretKey">> {
  for (const [keyName, secretName] of [OWN, USUAL]) {
    const [accessKey = "", secretKey = ""] = [environment[keyName], environment[secretName]];
    if (accessKey === "" && secretKey === "") continue;
    if (accessKey === "" || secretKey === "") {
      const [there, missing] = accessKey === "" ? [secretName, keyName] : [keyName, secretName];
      return refuse(
        `The object store has \`${there}\` and no \`${missing}\`.`,
        "Set both, or none of the two.",
      );
    }
    if (keyName === USUAL[0] && environment.AWS_SESSION_TOKEN) {
      const message =
        "`AWS_SESSION_TOKEN` is set: keys that end after a while cannot be used for the object store.";
      return refuse(message, `Set \`${OWN[0]}\` and \`${OWN[1]}\` to a key that stays.`);
    }
    return done({ accessKey, secretKey });
  }
  const hint = `Set \`${OWN[0]}\` and \`${OWN[1]}\`, or \`${USUAL[0]}\` and \`${USUAL[1]}\`.`;
  return refuse("The object store needs a key, and the environment has none.", hint);
}

function refuseCredentials(): Result<never> {
  return refuse(
    "The address of the object store holds credentials, which others can read there.",
    `Take them out of it and set \`${OWN[0]}\` and \`${OWN[1]}\`. If others may have seen them, make new ones.`,
  );
}

function refuse(message: string, hint: string): Result<never> {
  return refused({ message, hint });
}

function tryToRead<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined; // Told by the caller.
  }
}
