/**
 * Sign-ins under way, on disk: they are begun by one process and completed by another. What a provider wants back at
 * completion is in the vault. Every change is made under the lock of its user, and one completion at a time has a flow.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { compareText } from "../../foundation/diagnostic.ts";
import { writeAtomic } from "../../host/write-atomic.ts";
import { withLock } from "../../trust/lock-file.ts";
import type { Vault } from "../broker-parts.ts";
import type { JsonObject } from "../capability.ts";
import type { ProviderVault } from "../capability-provider.ts";
import { CapabilityStateError } from "../state-error.ts";
import { listStateFiles, userFolder } from "../state-files.ts";
import { isClaimed, makeClaim } from "./flow-claim.ts";
import { type FlowRecord, readFlow } from "./flow-record.ts";

/** No provider has such a namespace, so none can open what is kept here. */
const VAULT_NAMESPACE = "metier:flows";
/** For so long it is told that a sign-in took too long; later on it is unknown. */
const REMEMBERED_MS = 24 * 60 * 60_000;
const FLOW_ID = /^caf_[0-9a-f]{24}$/;
const ENDING = ".json";

export type NewFlow = Omit<FlowRecord, "stateRef" | "claim">;
export type WantedFlow = Pick<FlowRecord, "capability" | "account" | "redirectUri">;

export interface FlowStore {
  /** Those that have not expired, newest first. What has long expired is removed. */
  pending(userId: string): Promise<readonly FlowRecord[]>;
  /** Also one that has expired. */
  find(userId: string, flowId: string): Promise<FlowRecord | undefined>;
  /** Unless another one came first for the same user, capability, account and address: then that one is given. */
  add(flow: NewFlow, flowState: JsonObject): Promise<FlowRecord>;
  /** `taken`: another call has it just now. `gone`: it was completed meanwhile. */
  claim(flow: FlowRecord): Promise<ClaimedFlow | "taken" | "gone">;
}

/** Whoever has it ends it or gives it back. */
export interface ClaimedFlow {
  /** As it is now. */
  readonly flow: FlowRecord;
  readonly flowState: JsonObject;
  /** It is done, or can never be. */
  end(): Promise<void>;
  /** It stays pending. */
  giveBack(change?: FlowChange): Promise<void>;
}

export interface FlowChange {
  readonly pollIntervalSeconds?: number;
  readonly nextPollAt?: number;
  readonly flowState?: JsonObject;
}

export interface FlowStoreOptions {
  /** `<home>/.metier/state/capabilities/flows` */
  readonly folder: string;
  readonly vault: Vault;
  now?(): number;
}

export function openFlows({ folder, vault, now = Date.now }: FlowStoreOptions): FlowStore {
  const fileOf = (userId: string, flowId: string): string =>
    join(userFolder(folder, userId), flowId + ENDING);
  const statesOf = (userId: string): ProviderVault => vault.open(VAULT_NAMESPACE, userId);
  const read = (userId: string, flowId: string): FlowRecord | undefined =>
    FLOW_ID.test(flowId) ? readFlow(fileOf(userId, flowId), { userId, flowId }) : undefined;
  const readAll = (userId: string): readonly FlowRecord[] =>
    listStateFiles(userFolder(folder, userId), ENDING).flatMap((flowId) => read(userId, flowId) ?? []);
  const write = (flow: FlowRecord, isHeld: () => boolean): void => {
    const file = fileOf(flow.userId, flow.flowId);
    if (writeAtomic(file, `${JSON.stringify(flow)}\n`, { onlyIf: isHeld })) return;
    throw new CapabilityStateError(`The lock of \`${file}\` was lost to another process.`, "Try again.");
  };
  const change = <Value>(userId: string, act: (isHeld: () => boolean) => Value): Value =>
    withLock(join(userFolder(folder, userId), "flows"), act);

  /** Its secret goes as soon as it has expired, the rest a day later. */
  const prune = async (flow: FlowRecord): Promise<void> => {
    await statesOf(flow.userId).delete(flow.stateRef);
    if (now() - flow.expiresAt > REMEMBERED_MS) rmSync(fileOf(flow.userId, flow.flowId), { force: true });
  };
  const giveBack = (claimed: FlowRecord, changes: Omit<FlowChange, "flowState">): void => {
    change(claimed.userId, (isHeld) => {
      const flow = read(claimed.userId, claimed.flowId);
      if (flow === undefined || flow.claim?.id !== claimed.claim?.id) return; // Someone took it over meanwhile.
      const { claim: _, ...free } = flow;
      write({ ...free, ...changes }, isHeld);
    });
  };
  const makeClaimed = (flow: FlowRecord, flowState: JsonObject): ClaimedFlow => ({
    flow,
    flowState,
    async end() {
      change(flow.userId, () => rmSync(fileOf(flow.userId, flow.flowId), { force: true }));
      await statesOf(flow.userId).delete(flow.stateRef);
    },
    async giveBack({ flowState: state, ...changes } = {}) {
      if (state) await statesOf(flow.userId).replace(flow.stateRef, state);
      giveBack(flow, changes);
    },
  });
  const openState = async (flow: FlowRecord): Promise<JsonObject | undefined> => {
    try {
      return await statesOf(flow.userId).get(flow.stateRef);
    } catch (error) {
      giveBack(flow, {}); // A keychain that is locked now may be open later.
      throw error;
    }
  };
  return {
    async pending(userId) {
      const flows = readAll(userId);
      const isOver = ({ expiresAt }: FlowRecord): boolean => expiresAt <= now();
      await Promise.all(flows.filter(isOver).map(prune));
      return flows
        .filter((flow) => !isOver(flow))
        .sort((a, b) => b.createdAt - a.createdAt || compareText(a.flowId, b.flowId));
    },
    async find(userId, flowId) {
      return read(userId, flowId);
    },
    async add(flow, flowState) {
      const states = statesOf(flow.userId);
      const added: FlowRecord = { ...flow, stateRef: await states.put(flowState) };
      const kept = change(flow.userId, (isHeld) => {
        const earlier = readAll(flow.userId).find(
          (other) => other.expiresAt > now() && answersTo(other, flow),
        );
        if (earlier === undefined) write(added, isHeld);
        return earlier ?? added;
      });
      if (kept !== added) await states.delete(added.stateRef);
      return kept;
    },
    async claim({ userId, flowId }) {
      const claimed = change(userId, (isHeld) => {
        const flow = read(userId, flowId);
        if (flow === undefined) return "gone";
        if (isClaimed(flow.claim, now())) return "taken";
        const own: FlowRecord = { ...flow, claim: makeClaim(now()) };
        write(own, isHeld);
        return own;
      });
      if (typeof claimed === "string") return claimed;
      const flowState = await openState(claimed);
      if (flowState !== undefined) return makeClaimed(claimed, flowState);
      await makeClaimed(claimed, {}).end(); // Nothing can come of it: the next one begins anew.
      return "gone";
    },
  };
}

/** Whether a sign-in can be taken up again instead of beginning another one. A device sends no browser anywhere. */
export function answersTo(flow: FlowRecord, wanted: WantedFlow): boolean {
  if (flow.capability !== wanted.capability || flow.account !== wanted.account) return false;
  return flow.flowType === "device_code" || flow.redirectUri === wanted.redirectUri;
}
