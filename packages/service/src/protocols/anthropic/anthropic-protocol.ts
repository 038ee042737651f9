/** Anthropic's Managed Agents and Skills, for clients whose base URL is `…/anthropic`. */
import type { ToldRefusal } from "../../http/refusal.ts";
import type { Protocol } from "../protocol.ts";
import { AGENT_ROUTES } from "./agents.ts";
import { EVENT_ROUTES } from "./events.ts";
import { SESSION_ROUTES } from "./sessions.ts";
import { SKILL_ROUTES } from "./skills.ts";

const TYPES: Readonly<Partial<Record<ToldRefusal["status"], string>>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  503: "overloaded_error",
};

export const ANTHROPIC: Protocol = {
  name: "Anthropic Managed Agents and Skills",
  prefix: "/anthropic",
  routes: [...AGENT_ROUTES, ...SESSION_ROUTES, ...EVENT_ROUTES, ...SKILL_ROUTES],
  tell({ status, message, hint, headers }) {
    const type = TYPES[status] ?? "invalid_request_error";
    const error = { type, message: `${message} ${hint}` };
    return { status: status === 422 ? 400 : status, body: { type: "error", error }, headers };
  },
};
