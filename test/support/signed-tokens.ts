/** Tokens made by hand, as an attacker or another issuer would make them. */
import { createHmac } from "node:crypto";

export type Part = Readonly<Record<string, unknown>>;

export function encodePart(value: unknown): string {
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
}

export function decodePart(token: string, index: 0 | 1): Part {
  return JSON.parse(Buffer.from(token.split(".")[index] ?? "", "base64url").toString()) as Part;
}

/** HS256, whatever the header says. `secret` in base64url. */
export function signToken(header: unknown, payload: unknown, secret: string): string {
  const text = `${encodePart(header)}.${encodePart(payload)}`;
  const signature = createHmac("sha256", Buffer.from(secret, "base64url")).update(text).digest("base64url");
  return `${text}.${signature}`;
}

/** The same signature over other claims. */
export function withClaims(token: string, claims: Part): string {
  const [header = "", , signature = ""] = token.split(".");
  return `${header}.${encodePart({ ...decodePart(token, 1), ...claims })}.${signature}`;
}
