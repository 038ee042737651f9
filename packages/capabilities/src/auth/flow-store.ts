/**
 * Pending sign-ins on disk: one process starts them, another may complete them. What a provider needs back at
 * completion is in the vault. Every change holds the user's lock, and only one completion at a time owns a flow.
 */
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { removeFolder, writeAtomic } from "@metier/base/files";
import { type JsonObject, presentFields } from "@metier/base/json";
import { isAlive } from "@metier/base/programs";
import { choiceShape, fitShape, recordShape, testedShape, textShape } from "@metier/base/shape";
import { compareText } from "@metier/base/text";
import { withLock } from "@metier/base/turns";
import type { FlowType, ProviderVault } from "../capability.ts";
import type { AuthFlow } from "../capability-broker.ts";
import {
  CapabilityStateError,
  damagedFile,
  listStateFiles,
  listStateFolders,
  readStateFile,
  readStateFileIfSound,
  userFolder,
} from "../state-files.ts";
import type { Vault } from "../vault/open-vault.ts";

export interface FlowStore {
  /** Flows that have not expired, newest first. Removes those that expired long ago. */
  pending(userId: string): Promise<readonly FlowRecord[]>;
  /** Including an expired one. */
  find(userId: string, flowId: string): Promise<FlowRecord | undefined>;
  /** Unless there already is one for the same user, capability, account and address; then returns that one. */
  add(flow: NewFlow, flowState: JsonObject): Promise<FlowRecord>;
  /** `taken`: another call owns it right now. `gone`: it was completed in the meantime. */
  claim(flow: FlowRecord): Promise<ClaimedFlow | "taken" | "gone">;
  /** Flows of all users, including expired ones. Unreadable files are left out. */
  listAll(): readonly FlowRecord[];
  /** Removes everything of this user, including vault secrets. */
  forget(userId: string): void;
}

/** The owner must end it or release it. */
export interface ClaimedFlow {
  /** Its current state. */
  readonly flow: FlowRecord;
  readonly flowState: JsonObject;
  /** It is complete, or can never be. */
  end(): Promise<void>;
  /** It stays pending. */
  giveBack(change?: FlowChange): Promise<void>;
}

export interface FlowChange {
  readonly pollIntervalSeconds?: number | undefined;
  readonly nextPollAt?: number | undefined;
  readonly flowState?: JsonObject | undefined;
}

export type NewFlow = Omit<FlowRecord, "stateRef" | "claim">;

interface FlowStoreOptions {
  /** `<home>/.metier/state/capabilities/flows` */
  readonly folder: string;
  readonly vault: Vault;
  now?(): number;
}

/** No provider can have this namespace, so none can open what is stored here. */
const VAULT_NAMESPACE = "metier:flows";
/** For this long, a sign-in is reported as expired; later as unknown. */
const REMEMBERED_MS = 24 * 60 * 60_000;

export function openFlows({ folder, vault, now = Date.now }: FlowStoreOptions): FlowStore {
  const files = openFlowFiles(folder);
  const statesOf = (userId: string): ProviderVault => vault.open(VAULT_NAMESPACE, userId);
  const isOver = ({ expiresAt }: FlowRecord): boolean => expiresAt <= now();
  /** Deletes its secret when it expires, the rest a day later. */
  const prune = async (flow: FlowRecord): Promise<void> => {
    await statesOf(flow.userId).delete(flow.stateRef);
    if (now() - flow.expiresAt > REMEMBERED_MS) files.remove(flow);
  };
  return {
    async pending(userId) {
      const flows = files.readAll(userId);
      await Promise.all(flows.filter(isOver).map(prune));
      return flows
        .filter((flow) => !isOver(flow))
        .sort((a, b) => b.createdAt - a.createdAt || compareText(a.flowId, b.flowId));
    },
    async find(userId, flowId) {
      return files.read(userId, flowId);
    },
    async add(flow, flowState) {
      const states = statesOf(flow.userId);
      const added: FlowRecord = { ...flow, stateRef: await states.put(flowState) };
      const kept = files.change(flow.userId, (isHeld) => {
        const earlier = files.readAll(flow.userId).find((other) => !isOver(other) && answersTo(other, flow));
        if (earlier === undefined) files.write(added, isHeld);
        return earlier ?? added;
      });
      if (kept !== added) await states.delete(added.stateRef);
      return kept;
    },
    async claim({ userId, flowId }) {
      const claimed = files.change(userId, (isHeld) => {
        const flow = files.read(userId, flowId);
        if (flow === undefined) return "gone";
        if (isClaimed(flow.claim, now())) return "taken";
        const claim = { id: randomUUID(), pid: process.pid, host: hostname(), at: now() };
        const own: FlowRecord = { ...flow, claim };
        files.write(own, isHeld);
        return own;
      });
      if (typeof claimed === "string") return claimed;
      const states = statesOf(userId);
      const flowState = await openState(files, states, claimed);
      if (flowState !== undefined) return makeClaimed(files, states, claimed, flowState);
      await makeClaimed(files, states, claimed, {}).end(); // It can no longer succeed: the next one starts fresh.
      return "gone";
    },
    listAll: files.listAll,
    forget(userId) {
      vault.clear(VAULT_NAMESPACE, userId);
      files.forget(userId);
    },
  };
}

async function openState(
  files: FlowFiles,
  states: ProviderVault,
  flow: FlowRecord,
): Promise<JsonObject | undefined> {
  try {
    return await states.get(flow.stateRef);
  } catch (error) {
    giveBack(files, flow, {}); // A locked keychain may be unlocked later.
    throw error;
  }
}

function makeClaimed(
  files: FlowFiles,
  states: ProviderVault,
  flow: FlowRecord,
  flowState: JsonObject,
): ClaimedFlow {
  return {
    flow,
    flowState,
    async end() {
      files.change(flow.userId, () => files.remove(flow));
      await states.delete(flow.stateRef);
    },
    async giveBack({ flowState: state, ...changes } = {}) {
      if (state) await states.replace(flow.stateRef, state);
      giveBack(files, flow, changes);
    },
  };
}

function giveBack(files: FlowFiles, claimed: FlowRecord, changes: Omit<FlowChange, "flowState">): void {
  files.change(claimed.userId, (isHeld) => {
    const flow = files.read(claimed.userId, claimed.flowId);
    if (flow === undefined || flow.claim?.id !== claimed.claim?.id) return; // Someone took it over in the meantime.
    const { claim: _, ...free } = flow;
    files.write({ ...free, ...changes }, isHeld);
  });
}

// A sign-in as stored in its file, the part its user sees, and its owner while the provider is asked.

export interface FlowRecord {
  readonly version: 1;
  readonly flowId: string;
  readonly userId: string;
  readonly capability: string;
  readonly account?: string | undefined;
  readonly authUrl: string;
  readonly flowType: FlowType;
  /** Milliseconds since 1970, like all times here. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly userCode?: string | undefined;
  readonly pollIntervalSeconds?: number | undefined;
  /** The provider is not asked earlier. */
  readonly nextPollAt?: number | undefined;
  /** What the browser's answer must contain. */
  readonly expectedState?: string | undefined;
  readonly redirectUri?: string | undefined;
  /** Where the vault stores what the provider needs back. */
  readonly stateRef: string;
  readonly claim?: FlowClaim | undefined;
}

export type WantedFlow = Pick<FlowRecord, "capability" | "account" | "redirectUri">;

/** Whether a sign-in can be resumed instead of starting another. A device sends no browser anywhere. */
export function answersTo(flow: FlowRecord, wanted: WantedFlow): boolean {
  if (flow.capability !== wanted.capability || flow.account !== wanted.account) return false;
  return flow.flowType === "device_code" || flow.redirectUri === wanted.redirectUri;
}

export function showFlow(flow: FlowRecord): AuthFlow {
  const { flowId, capability, account, authUrl, flowType, expiresAt, userCode, pollIntervalSeconds } = flow;
  return presentFields({
    flowId,
    capability,
    account,
    authUrl,
    flowType,
    expiresAt: new Date(expiresAt).toISOString(),
    userCode,
    pollIntervalSeconds,
  });
}

type FlowFiles = ReturnType<typeof openFlowFiles>;

const FLOW_ID = /^caf_[0-9a-f]{24}$/;
const ENDING = ".json";

/** The files of all users, in one folder per user. */
function openFlowFiles(folder: string) {
  const fileOf = (userId: string, flowId: string): string =>
    join(userFolder(folder, userId), flowId + ENDING);
  /** `undefined` if there is none. Throws `CapabilityStateError` for an invalid flow or another user's. */
  const read = (userId: string, flowId: string): FlowRecord | undefined =>
    FLOW_ID.test(flowId) ? readFlow(fileOf(userId, flowId), { userId, flowId }) : undefined;
  return {
    read,
    readAll: (userId: string): readonly FlowRecord[] =>
      listStateFiles(userFolder(folder, userId), ENDING).flatMap((flowId) => read(userId, flowId) ?? []),
    listAll: (): readonly FlowRecord[] =>
      listStateFolders(folder).flatMap((own) =>
        listStateFiles(own, ENDING).flatMap(
          (flowId) => fitShape(flowShape, readStateFileIfSound(join(own, flowId + ENDING))) ?? [],
        ),
      ),
    forget: (userId: string): void => removeFolder(userFolder(folder, userId)),
    write(flow: FlowRecord, isHeld: () => boolean): void {
      const file = fileOf(flow.userId, flow.flowId);
      if (writeAtomic(file, `${JSON.stringify(flow)}\n`, { onlyIf: isHeld })) return;
      throw new CapabilityStateError(`Another process took the lock of \`${file}\`.`, "Try again.");
    },
    remove: ({ userId, flowId }: FlowRecord): void => rmSync(fileOf(userId, flowId), { force: true }),
    /** While holding the user's lock. */
    change: <Value>(userId: string, act: (isHeld: () => boolean) => Value): Value =>
      withLock(join(userFolder(folder, userId), "flows"), act),
  };
}

function readFlow(file: string, owner: Pick<FlowRecord, "userId" | "flowId">): FlowRecord | undefined {
  const value = readStateFile(file);
  if (value === undefined) return undefined;
  const flow = fitShape(flowShape, value);
  if (flow === undefined) throw damagedFile(file, "it is not a sign-in");
  if (flow.userId === owner.userId && flow.flowId === owner.flowId) return flow;
  throw damagedFile(file, "it belongs to another user or sign-in");
}

const numberShape = testedShape((value) => typeof value === "number", "a number");
const flowShape = recordShape<FlowRecord>(
  {
    version: testedShape((value): value is 1 => value === 1, "1"),
    flowId: textShape,
    userId: textShape,
    capability: textShape,
    account: textShape,
    authUrl: textShape,
    flowType: choiceShape("authorization_code", "device_code"),
    createdAt: numberShape,
    expiresAt: numberShape,
    userCode: textShape,
    pollIntervalSeconds: numberShape,
    nextPollAt: numberShape,
    expectedState: textShape,
    redirectUri: textShape,
    stateRef: textShape,
    claim: testedShape(
      (value): value is FlowClaim => typeof value === "object" && value !== null,
      "an object",
    ),
  },
  ["account", "userCode", "pollIntervalSeconds", "nextPollAt", "expectedState", "redirectUri", "claim"],
);

/** A claim by a process that died or hangs does not count. */
interface FlowClaim {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** No provider may take this long to answer. */
const ABANDONED_AFTER_MS = 10 * 60_000;

function isClaimed(claim: FlowClaim | undefined, now: number): boolean {
  if (claim === undefined || now - claim.at > ABANDONED_AFTER_MS) return false;
  return claim.host !== hostname() || isAlive(claim.pid);
}
