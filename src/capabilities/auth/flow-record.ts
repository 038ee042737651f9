/** A sign-in under way as it is kept on disk, and what of it its user is shown. */
import type { AuthFlow } from "../capability-broker.ts";
import type { FlowType } from "../capability-provider.ts";
import { isJsonObject } from "../json-object.ts";
import { damagedFile, readStateFile } from "../state-files.ts";
import type { FlowClaim } from "./flow-claim.ts";

export interface FlowRecord {
  readonly version: 1;
  readonly flowId: string;
  readonly userId: string;
  readonly capability: string;
  readonly account?: string;
  readonly authUrl: string;
  readonly flowType: FlowType;
  /** Milliseconds since 1970, as all times here. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly userCode?: string;
  readonly pollIntervalSeconds?: number;
  /** The provider is not asked before. */
  readonly nextPollAt?: number;
  /** What the answer of the browser must carry. */
  readonly expectedState?: string;
  readonly redirectUri?: string;
  /** Where the vault keeps what the provider wants back. */
  readonly stateRef: string;
  readonly claim?: FlowClaim;
}

type FieldKinds = { readonly [Field in keyof FlowRecord]-?: "string" | "number" | "object" };

const KINDS: FieldKinds = {
  version: "number",
  flowId: "string",
  userId: "string",
  capability: "string",
  account: "string",
  authUrl: "string",
  flowType: "string",
  createdAt: "number",
  expiresAt: "number",
  userCode: "string",
  pollIntervalSeconds: "number",
  nextPollAt: "number",
  expectedState: "string",
  redirectUri: "string",
  stateRef: "string",
  claim: "object",
};
const OPTIONAL: ReadonlySet<string> = new Set([
  "account",
  "userCode",
  "pollIntervalSeconds",
  "nextPollAt",
  "expectedState",
  "redirectUri",
  "claim",
]);

/** `undefined` when there is none. Throws `CapabilityStateError` for what is no flow, or that of someone else. */
export function readFlow(file: string, owner: Pick<FlowRecord, "userId" | "flowId">): FlowRecord | undefined {
  const value = readStateFile(file);
  if (value === undefined) return undefined;
  if (!isFlow(value)) throw damagedFile(file, "it does not hold a sign-in");
  if (value.userId === owner.userId && value.flowId === owner.flowId) return value;
  throw damagedFile(file, "it belongs to another user or sign-in");
}

function isFlow(value: unknown): value is FlowRecord {
  if (!isJsonObject(value) || value.version !== 1) return false;
  if (value.flowType !== "authorization_code" && value.flowType !== "device_code") return false;
  return Object.entries(KINDS).every(([field, kind]) => {
    const given = value[field];
    return given === undefined ? OPTIONAL.has(field) : typeof given === kind && given !== null;
  });
}

export function showFlow(flow: FlowRecord): AuthFlow {
  const { flowId, capability, account, authUrl, flowType, expiresAt, userCode, pollIntervalSeconds } = flow;
  return {
    flowId,
    capability,
    ...(account !== undefined && { account }),
    authUrl,
    flowType,
    expiresAt: new Date(expiresAt).toISOString(),
    ...(userCode !== undefined && { userCode }),
    ...(pollIntervalSeconds !== undefined && { pollIntervalSeconds }),
  };
}
