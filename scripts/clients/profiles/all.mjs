/** The known clients, each in the version its profile was written for. */
import { claudeCode } from "./claude-code.mjs";
import { codex } from "./codex.mjs";
import { geminiCli } from "./gemini-cli.mjs";
import { opencode } from "./opencode.mjs";
import { pi } from "./pi.mjs";
import { qwenCode } from "./qwen-code.mjs";

/** @type {readonly import("../profile.mjs").Profile[]} */
export const PROFILES = [claudeCode, opencode, codex, geminiCli, qwenCode, pi];
