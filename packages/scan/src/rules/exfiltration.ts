/** Private data that leaves the machine. */
import { type Act, hasTaint, taintDetails, UNKNOWN } from "../code/code-part.ts";
import { hostKindOf, hostOf, secretKindOf } from "../code/known-secrets.ts";
import type { Hit, RuleTable, ScannedSkill } from "../scanned-skill.ts";
import { actHit, actsOf } from "./find-hits.ts";

function whereTo(act: Act): string {
  const address = (act.target ?? "").replaceAll(UNKNOWN, "…");
  return hostOf(address) ?? address.slice(0, 60);
}

/** What leaves the machine. */
function sending(skill: ScannedSkill): readonly Act[] {
  return actsOf(skill, "send").filter(({ target = "" }) => hostKindOf(hostOf(target) ?? "") !== "local");
}

/** The part of a variable's name that says whose it is: `STRIPE` in `STRIPE_API_KEY`. */
function ownerOf(variable: string): string {
  return /^[A-Z0-9]+/i.exec(variable)?.[0].toLowerCase() ?? "";
}

/** A service is used with its own key; the key's name in the address shows that it is the right one. */
function foreignVariables(act: Act): readonly string[] {
  const host = (hostOf(act.target ?? "") ?? "").replace(/[^a-z0-9]/g, "");
  return taintDetails(act.taints, "variable").filter((name) => !host.includes(ownerOf(name)));
}

/** Keys that open other people's services: they do not belong in a message to anyone else. */
const PRECIOUS =
  /^(?:AWS_SECRET|AWS_SESSION|AWS_ACCESS|ANTHROPIC_API|OPENAI_API|GITHUB_TOKEN|GH_TOKEN|NPM_TOKEN|GOOGLE_APPLICATION|AZURE_CLIENT_SECRET|DATABASE_URL|SSH_|STRIPE_SECRET|PRIVATE_KEY|MNEMONIC)/;

export const EXFILTRATION_RULES: RuleTable = {
  "exfiltration.secret": {
    severity: "block",
    title: "Reads credentials and sends them away",
    explanation:
      "The code sends the content of a credentials file, or the whole environment, in a request. No honest tool does this.",
    help: "Do not use the skill.",
    *find(skill) {
      for (const act of sending(skill)) {
        const isProject = taintDetails(act.taints, "secret").every(
          (path) => secretKindOf(path) === "project",
        );
        if (!hasTaint(act.taints, "secret", "environment")) continue;
        const what = taintDetails(act.taints, "secret")[0] ?? "the environment";
        const severity = isProject && !hasTaint(act.taints, "environment") ? "high" : "block";
        yield actHit(act, severity, `\`${what}\` to \`${whereTo(act)}\``);
      }
    },
  },
  "exfiltration.variables": {
    severity: "high",
    title: "Sends secret variables to a host they do not belong to",
    explanation:
      "A key belongs in a header to its own service. Sending it in a message body to another host gives it away: `high` for keys of well-known services or several at once, otherwise `medium`.",
    help: "Send a key only to its own service, as a header.",
    *find(skill) {
      for (const act of sending(skill)) {
        const foreign = foreignVariables(act);
        if (foreign.length === 0 || hostOf(act.target ?? "") === undefined) continue;
        const isClear = new Set(foreign.map(ownerOf)).size > 1 || foreign.some((name) => PRECIOUS.test(name));
        const what = foreign.slice(0, 3).join("`, `");
        yield actHit(act, isClear ? "high" : "medium", `\`${what}\` to \`${whereTo(act)}\``);
      }
    },
  },
  "exfiltration.drop-host": {
    severity: "high",
    title: "Sends data to a host where anyone can collect it anonymously",
    explanation:
      "Request catchers, paste services and tunnels pass data to whoever created the address a minute ago. They are for experiments, not for a skill that others use.",
    help: "Send to a service with an owner, and name it in `sandbox.network`.",
    *find(skill) {
      for (const act of [...sending(skill), ...actsOf(skill, "look-up")]) {
        const host = hostOf(act.target ?? "") ?? (act.kind === "look-up" ? (act.target ?? "") : "");
        if (host !== "" && hostKindOf(host.replaceAll(UNKNOWN, "x")) === "drop")
          yield actHit(act, "high", `\`${whereTo(act)}\``);
      }
    },
  },
  "exfiltration.dns": {
    severity: "high",
    title: "Puts data into hostnames it looks up",
    explanation:
      "A lookup reaches the domain's owner even where requests are blocked: the name itself carries the data.",
    help: "Look up only fixed names.",
    *find(skill) {
      for (const act of actsOf(skill, "look-up")) {
        const isData = hasTaint(act.taints, "secret", "environment", "variable", "decoded");
        const isBuilt = new RegExp(`^[^.]*${UNKNOWN}[^.]*\\..*\\.`).test(act.target ?? "");
        const encodes = /\b(?:base64|xxd|hex|b64encode|base32)\b/.test(act.seen);
        if (isData || (isBuilt && encodes)) yield actHit(act, "high", `\`${whereTo(act)}\``);
      }
    },
  },
  "exfiltration.image-address": {
    severity: "high",
    title: "An image URL is to be filled with data",
    explanation:
      "An image loads as soon as it is shown, so the data in its URL reaches the host without a click. URLs of badges and charts have no placeholder for what a model knows.",
    help: "Show the data as text.",
    find: findImageAddresses,
  },
  "exfiltration.reads-and-sends": {
    severity: "medium",
    title: "One script reads credentials and sends something",
    explanation:
      "No flow from one to the other is visible, but both are in one file, and data can move in ways that the scan does not follow.",
    help: "Check where the value that is read goes.",
    find: findReadsAndSends,
  },
};

const PLACEHOLDER =
  /\{\{[^}]*\}\}|\{[a-z_ ]*(?:data|secret|key|token|env|content|history|conversation|password|credential|user|info|summary|base64)[a-z_ ]*\}|\$\{?[A-Z_]*(?:DATA|SECRET|KEY|TOKEN|CONTENT|HISTORY)[A-Z_]*\}?|<[a-z _-]*(?:data|secret|key|token|content|history|conversation|encoded)[a-z _-]*>|\[[a-z _-]*(?:data|secret|content|history|encoded)[a-z _-]*\]/i;

function* findImageAddresses(skill: ScannedSkill): Iterable<Hit> {
  for (const { file, parts } of skill.documents) {
    if (!parts.whole.includes("![")) continue;
    for (const [index, line] of parts.prose.entries()) {
      if (!line.includes("![")) continue;
      for (const [, address = ""] of line
        .slice(0, 10_000)
        .matchAll(/!\[[^\]]{0,300}\]\(\s*(https?:\/\/[^)\n]{1,2000})\)/gi)) {
        const query = address.slice(address.search(/[?]/) + 1);
        if (address.includes("?") && PLACEHOLDER.test(query) && !/shields\.io|badge/i.test(address)) {
          yield { path: file.path, line: index + 1, seen: address, detail: `\`${hostOf(address) ?? ""}\`` };
        }
      }
    }
  }
}

/** In one script, or in two of a skill that can import each other. */
function* findReadsAndSends(skill: ScannedSkill): Iterable<Hit> {
  const sends = sending(skill).filter(({ target = "" }) => hostOf(target) !== undefined);
  const flows = new Set(
    sends.filter(({ taints }) => hasTaint(taints, "secret", "environment")).map(({ part }) => part.path),
  );
  for (const act of actsOf(skill, "read")) {
    const isTelling = !["project", undefined].includes(secretKindOf(act.target ?? ""));
    const sent = sends.find(
      ({ part }) =>
        part === act.part ||
        (part.kind === "script" && act.part.kind === "script" && part.language === act.part.language),
    );
    if (!isTelling || sent === undefined || flows.size > 0) continue;
    yield actHit(act, "medium", `\`${act.target}\`, and something is sent to \`${whereTo(sent)}\``);
  }
}
