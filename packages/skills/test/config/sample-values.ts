/** For every key of the table a value that is not its default: tests that go through all rows use it. */
import type { ConfigField } from "../../src/config/config-field.ts";
import { CONFIG_FIELDS } from "../../src/config/config-fields.ts";

export interface SampleField {
  readonly field: ConfigField;
  /** Names filled in: `skills.mail.enabled`. */
  readonly segments: readonly string[];
  readonly raw: unknown;
}

const NAMES: Readonly<Record<string, string>> = {
  "<skill>": "mail",
  "<alias>": "fast",
  "<provider>": "mail",
  "<server>": "docs",
  "<tool>": "bash",
  "<VARIABLE>": "MAIL_TOKEN",
};

const RAW_VALUES: Readonly<Record<string, unknown>> = {
  "skills.paths": ["/team"],
  "skills.trusted-paths": ["/team"],
  "skills.preset": "mamba",
  "skills.disabled": ["gh"],
  "skills.allow": ["pdf-*"],
  "skills.deny": ["evil-*"],
  "skills.order": ["user", "project", "bundled", "integration", "installed", "custom"],
  "skills.auto-discover": false,
  "skills.bundled": false,
  "skills.disabled-bundled": ["gh"],
  "skills.enabled-bundled": ["gh"],
  "skills.nested": true,
  "skills.namespace-tools": false,
  "skills.default-execution": "isolated",
  "skills.dynamic-context": true,
  "skills.secret-env": "block",
  "skills.script-timeout-ms": 5,
  "skills.project-dirs": ["workspace/skills"],
  "skills.user-dir": "/mine",
  "skills.plugins-dir": "/plugins",
  "skills.plugins": [{ url: "https://example.com/a", enabled: true }],
  "skills.defaults.allow-chat-ids": ["1"],
  "skills.<skill>.enabled": false,
  "skills.<skill>.model": "fast",
  "skills.<skill>.allow-chat-ids": ["2"],
  "skills.<skill>.<VARIABLE>": "s3cret",
  "skills.<skill>.capability-provider.enabled": false,
  "skills.<skill>.capability-provider.namespace": "mail",
  "skills.<skill>.capability-provider.command": ["bridge"],
  "skills.<skill>.capability-provider.persistent": true,
  "skills.<skill>.capability-provider.mcp": "https://example.com/mcp",
  "skills.<skill>.capability-provider.timeout-seconds": 7,
  "skills.<skill>.capability-provider.env.<VARIABLE>": "s3cret",
  "models.<alias>.provider": "openai",
  "models.<alias>.model": "m",
  "models.<alias>.base-url": "https://example.com",
  "models.<alias>.api-key-env": "KEY",
  "models.<alias>.api-key": "s3cret",
  "models.<alias>.api-key-command": ["pass", "show"],
  "models.<alias>.input-price": 3,
  "models.<alias>.output-price": 15.5,
  "models.<alias>.lean": true,
  "models.<alias>.context-tokens": 16384,
  "models.<alias>.path": "/models/hello.gguf",
  "models.<alias>.package": "/opt/llama",
  "models.<alias>.program": "/usr/local/bin/claude",
  "models.<alias>.accepted-terms": "2026-11-16",
  "capabilities.providers.<provider>.enabled": false,
  "capabilities.providers.<provider>.namespace": "mail",
  "capabilities.providers.<provider>.command": ["bridge"],
  "capabilities.providers.<provider>.persistent": true,
  "capabilities.providers.<provider>.mcp": "https://example.com/mcp",
  "capabilities.providers.<provider>.timeout-seconds": 7,
  "capabilities.providers.<provider>.env.<VARIABLE>": "s3cret",
  "capabilities.rate-limit": 7,
  "mcp.servers.<server>.enabled": false,
  "mcp.servers.<server>.command": ["skill-server"],
  "mcp.servers.<server>.url": "https://example.com/mcp",
  "mcp.servers.<server>.bearer": "s3cret",
  "mcp.servers.<server>.timeout-seconds": 7,
  "mcp.servers.<server>.env.<VARIABLE>": "s3cret",
  "tools.<tool>": "deny",
  "sandbox.backend": "bubblewrap",
  "sandbox.network": ["example.com"],
  "sandbox.read": ["/data"],
  "sandbox.write": ["/out"],
  "sandbox.memory-mb": 512,
  "sandbox.processes": 32,
  "sandbox.work-mb": 64,
  "skills.<skill>.sandbox.network": ["example.org"],
  "skills.<skill>.sandbox.read": ["/letters"],
  "skills.<skill>.sandbox.write": ["/drafts"],
  "sandbox.programs": ["python3"],
  "scan.block": "high",
  "scan.ignore": ["tools.hooks"],
  "scan.baseline": ["/srv/accepted.json"],
  "install.private-hosts": ["git.corp.example"],
  "environments.build": false,
  "environments.python-index": "https://python.example.com/simple/",
  "environments.node-registry": "https://node.example.com/",
  "runs.max-iterations": 4,
  "runs.timeout-seconds": 30,
  "runs.max-tokens": 5000,
  "runs.max-cost": 0.5,
  "runs.max-cost-per-day": 5,
  "runs.max-output-bytes": 4096,
  "runs.max-depth": 2,
  "runs.output-filter": "block",
};

export const SAMPLE_FIELDS: readonly SampleField[] = CONFIG_FIELDS.map((field) => {
  if (!(field.path in RAW_VALUES)) throw new Error(`Add a sample value for the new key ${field.path}`);
  const segments = field.path.split(".").map((part) => NAMES[part] ?? part);
  return { field, segments, raw: RAW_VALUES[field.path] };
});

/** `["a", "b"], 1` → `{ a: { b: 1 } }` */
export function nest(segments: readonly string[], value: unknown): Record<string, unknown> {
  return segments.reduceRight((inner, key) => ({ [key]: inner }), value) as Record<string, unknown>;
}

/** A JSON config file that sets one key. */
export function fileText({ segments, raw }: Pick<SampleField, "segments" | "raw">): string {
  return JSON.stringify(nest(segments, raw), null, 2);
}
