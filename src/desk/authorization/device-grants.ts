/** Sign-ins by device code that are under way (RFC 8628): in memory, short-lived, each answered once. */
import { randomBytes, randomInt } from "node:crypto";
import type { DeskAccount } from "../desk-accounts.ts";

export interface DeviceGrant {
  readonly deviceCode: string;
  /** `WDJB-MJHT` */
  readonly userCode: string;
  readonly expiresInSeconds: number;
  readonly intervalSeconds: number;
}

export type GrantPoll =
  | { readonly state: "approved"; readonly account: DeskAccount }
  | {
      readonly state:
        | "authorization_pending"
        | "slow_down"
        | "access_denied"
        | "expired_token"
        | "invalid_grant";
    };

export interface DeviceGrants {
  /** `undefined`: too many are under way. */
  begin(): DeviceGrant | undefined;
  isPending(userCode: string): boolean;
  /** `false`: no such code is pending. Without an account the user said no. */
  decide(userCode: string, account: DeskAccount | undefined): boolean;
  poll(deviceCode: string): GrantPoll;
}

export interface DeviceGrantsOptions {
  readonly lifetimeSeconds: number;
  readonly intervalSeconds: number;
  clock(): number;
}

interface Pending {
  readonly grant: DeviceGrant;
  readonly endsAt: number;
  intervalMs: number;
  /** No earlier poll is answered. */
  nextPollAt: number;
  decision?: DeskAccount | "denied";
}

/** No vowels, so that no word is spelled, and nothing that is taken for something else. */
const USER_CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const MOST_PENDING = 1_000;
/** RFC 8628, 3.5: so much longer after every poll that came too early. */
const SLOW_DOWN_MS = 5_000;

export function createDeviceGrants({
  lifetimeSeconds,
  intervalSeconds,
  clock,
}: DeviceGrantsOptions): DeviceGrants {
  const byDeviceCode = new Map<string, Pending>();
  const isOver = ({ endsAt }: Pending): boolean => clock() >= endsAt;
  const findUndecided = (userCode: string): Pending | undefined => {
    const wanted = normalise(userCode);
    return [...byDeviceCode.values()].find(
      (pending) =>
        normalise(pending.grant.userCode) === wanted && pending.decision === undefined && !isOver(pending),
    );
  };
  /** One that has ended is kept as long again, so that who asks is told why. */
  const forgetOld = (): void => {
    for (const [code, { endsAt }] of byDeviceCode)
      if (clock() > endsAt + lifetimeSeconds * 1000) byDeviceCode.delete(code);
  };
  return {
    begin() {
      forgetOld();
      if (byDeviceCode.size >= MOST_PENDING) return undefined;
      const grant = {
        deviceCode: randomBytes(32).toString("base64url"),
        userCode: makeUserCode(),
        expiresInSeconds: lifetimeSeconds,
        intervalSeconds,
      };
      const endsAt = clock() + lifetimeSeconds * 1000;
      byDeviceCode.set(grant.deviceCode, {
        grant,
        endsAt,
        intervalMs: intervalSeconds * 1000,
        nextPollAt: 0,
      });
      return grant;
    },
    isPending: (userCode) => findUndecided(userCode) !== undefined,
    decide(userCode, account) {
      const pending = findUndecided(userCode);
      if (pending) pending.decision = account ?? "denied";
      return pending !== undefined;
    },
    poll(deviceCode) {
      const pending = byDeviceCode.get(deviceCode);
      if (!pending) return { state: "invalid_grant" };
      const { decision } = pending;
      if (isOver(pending)) return { state: "expired_token" };
      if (decision === undefined) return { state: takeTurn(pending, clock()) };
      byDeviceCode.delete(deviceCode);
      return decision === "denied" ? { state: "access_denied" } : { state: "approved", account: decision };
    },
  };
}

function takeTurn(pending: Pending, now: number): "authorization_pending" | "slow_down" {
  const isEarly = now < pending.nextPollAt;
  if (isEarly) pending.intervalMs += SLOW_DOWN_MS;
  pending.nextPollAt = now + pending.intervalMs;
  return isEarly ? "slow_down" : "authorization_pending";
}

function makeUserCode(): string {
  const letter = (): string => USER_CODE_LETTERS[randomInt(USER_CODE_LETTERS.length)] ?? "";
  const four = (): string => Array.from({ length: 4 }, letter).join("");
  return `${four()}-${four()}`;
}

/** However it was typed. */
function normalise(userCode: string): string {
  return userCode.toUpperCase().replace(/[^A-Z]/g, "");
}
