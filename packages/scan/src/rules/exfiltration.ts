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

/** Of a variable's name what says whose it is: `STRIPE` of `STRIPE_API_KEY`. */
function ownerOf(variable: string): string {
  return /^[A-Z0-9]+/i.exec(variable)?.[0].toLowerCase() ?? "";
}

/** A service is used with its own key; that its address has the key's name tells that it is the one. */
function foreignVariables(act: Act): readonly string[] {
  const host = (hostOf(act.target ?? "") ?? "").replace(/[^a-z0-9]/g, "");
  return taintDetails(act.taints, "variable").filter((name) => !host.includes(ownerOf(name)));
}

/** Keys of these open other people's services: they have no business in a message to anyone else. */
const PRECIOUS =
  /^(?:AWS_SECRET|AWS_SESSION|AWS_ACCESS|ANTHROPIC_API|OPENAI_API|GITHUB_TOKEN|GH_TOKEN|NPM_TOKEN|GOOGLE_APPLICATION|AZURE_CLIENT_SECRET|DATABASE_URL|SSH_|STRIPE_SECRET|PRIVATE_KEY|MNEMONIC)/;

export const EXFILTRATION_RULES: RuleTable = {
  "exfiltration.secret": {
    severity: "block",
    title: "Credentials are read and sent away",
    explanation:
      "The content of a file with credentials, or the whole environment, reaches a request: the flow is visible in the code. No honest tool does this.",
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
    title: "Secret variables are sent to someone they do not belong to",
    explanation:
      "A key is sent in a header to the service it is for. In the text of a message to another host it is given away: `high` for keys of well-known services or several at once, otherwise `medium`.",
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
    title: "Data is sent to a host where anyone can collect it without a name",
    explanation:
      "Request catchers, paste services and tunnels receive data for whoever made the address a minute ago. They are for trying things out, not for a skill that others use.",
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
    title: "Data is put into the names of hosts that are looked up",
    explanation:
      "A look-up reaches the owner of the domain even where requests are not allowed: the name itself carries the data.",
    help: "Look up only names that are written down.",
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
    title: "The address of an image is to be filled with data",
    explanation:
      "An image is fetched as soon as it is shown; what stands in its address reaches the host without anyone clicking. Addresses of badges and charts have no placeholder for what a model knows.",
    help: "Show the data as text.",
    find: findImageAddresses,
  },
  "exfiltration.reads-and-sends": {
    severity: "medium",
    title: "One script reads credentials and sends something",
    explanation:
      "No flow from one to the other is visible, but both stand in one file, and data can take ways that are not followed here.",
    help: "Look where the value goes that is read.",
    find: findReadsAndSends,
  },
};

const PLACEHOLDER =
  /\{\{[^}]*\}\}|\{[a-z_ ]*(?:data|secret|key|token|env|content|history|conversation|password|credential|user|info|summary|base64)[a-z_ ]*\}|\$\{?[A-Z_]*(?:DATA|SECRET|KEY|TOKEN|CONTENT|HISTORY)[A-Z_]*\}?|<[a-z _-]*(?:data|secret|key|token|content|history|conversation|encoded)[a-z _-]*>|\[[a-z _-]*(?:data|secret|content|history|encoded)[a-z _-]*\]/i;

function* findImageAddresses(skill: ScannedSkill): Iterable<Hit> {
  for (const { file, parts } of skill.documents) {
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
    yield actHit(act, "medium", `\`${act.target}\`, and something goes to \`${whereTo(sent)}\``);
  }
}
