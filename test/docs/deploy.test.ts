/** The files for operators name commands, options and variables that exist, and agree with each other. */
import { COMMANDS } from "@metier/cli";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { filesUnder, readRepositoryFile, SOURCES } from "../support/repository.ts";

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly envFrom: readonly { readonly secretRef?: Named; readonly configMapRef?: Named }[];
  readonly securityContext: { readonly procMount?: string };
  readonly ports?: readonly { readonly containerPort: number }[];
}

interface Named {
  readonly name: string;
}

interface Manifest {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: Named & { readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly scaleTargetRef?: Named;
    readonly selector?: { readonly matchLabels?: Labels; readonly app?: string };
    readonly podSelector?: { readonly matchLabels?: Labels };
    readonly template?: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: {
        readonly containers: readonly Container[];
        readonly terminationGracePeriodSeconds?: number;
      };
    };
  };
}

type Labels = Readonly<Record<string, string>>;

const MANIFESTS: readonly Manifest[] = filesUnder(["deploy/kubernetes"], [".yaml"]).flatMap((path) =>
  parseAllDocuments(readRepositoryFile(path)).map((document) => {
    expect(document.errors, path).toEqual([]);
    return document.toJS() as Manifest;
  }),
);
const PODS = MANIFESTS.flatMap(({ metadata: { name }, spec }) =>
  spec?.template ? [{ name, ...spec.template }] : [],
);
const CONTAINERS = PODS.flatMap(({ name, spec }) =>
  spec.containers.map((container) => ({ pod: name, ...container })),
);
const SOURCE = filesUnder(SOURCES, [".ts"]).map(readRepositoryFile).join("\n");
const CONTAINERFILE = readRepositoryFile("deploy/Containerfile");
const DEFAULT_ARGS = JSON.parse(/^CMD (\[.*\])$/m.exec(CONTAINERFILE)?.[1] ?? "[]") as readonly string[];

function namesOf(kind: string): readonly string[] {
  return MANIFESTS.filter((manifest) => manifest.kind === kind).map(({ metadata }) => metadata.name);
}

function optionsOf(command: string): readonly string[] {
  const flags = COMMANDS.find(({ name }) => name === command)?.flags ?? {};
  return Object.keys(flags).map(
    (name) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  );
}

/** Options that it is given and that the command does not have. */
function unknownOptions([command = "", ...rest]: readonly string[]): readonly string[] {
  const known = optionsOf(command);
  return rest.filter((word) => word.startsWith("--") && !known.includes(word));
}

describe("the manifests for Kubernetes", () => {
  test("each has a kind, a version, a name, and stands in the one namespace", () => {
    expect(MANIFESTS.length).toBeGreaterThan(8);
    expect(namesOf("Namespace")).toEqual(["metier"]);
    for (const { kind, apiVersion, metadata } of MANIFESTS) {
      expect([kind, apiVersion, metadata.name].every((word) => /^[\w./-]+$/.test(word))).toBe(true);
      if (kind !== "Namespace") expect(`${kind} in ${metadata.namespace}`).toBe(`${kind} in metier`);
    }
  });

  test("they start commands that exist, with options that exist", () => {
    expect(CONTAINERS.map(({ args }) => args[0]).toSorted()).toEqual(["serve", "serve", "worker"]);
    expect(CONTAINERS.flatMap(({ args }) => unknownOptions(args))).toEqual([]);
  });

  test("every setting that they give is read by Metier", () => {
    const settings = MANIFESTS.filter(({ kind, metadata }) => {
      return kind === "Secret" || (kind === "ConfigMap" && metadata.name === "metier");
    });
    const names = settings.flatMap(({ data, stringData }) => Object.keys({ ...data, ...stringData }));
    const isNamed = (name: string) => SOURCE.includes(name);
    expect(names.filter((name) => !isNamed(name))).toEqual([]);
    const needed = [
      "METIER_DATABASE_URL",
      "METIER_DATABASE_ADMIN_URL",
      "METIER_OBJECT_STORE",
      "METIER_MASTER_KEY",
    ];
    expect(needed.filter((name) => !names.includes(name))).toEqual([]);
  });

  test("what they refer to is there, and only the migration has the owner's address", () => {
    const referred = CONTAINERS.flatMap(({ envFrom }) => envFrom);
    const missing = referred.filter(
      ({ secretRef, configMapRef }) =>
        (secretRef && !namesOf("Secret").includes(secretRef.name)) ||
        (configMapRef && !namesOf("ConfigMap").includes(configMapRef.name)),
    );
    expect(missing).toEqual([]);
    const admins = CONTAINERS.filter(({ envFrom }) =>
      envFrom.some(({ secretRef }) => secretRef?.name === "metier-admin"),
    );
    expect(admins.map(({ pod }) => pod)).toEqual(["metier-migrate"]);
  });

  test("what they select is there", () => {
    const apps = PODS.map(({ metadata }) => metadata.labels.app);
    const selected = MANIFESTS.map(
      ({ spec }) =>
        spec?.selector?.matchLabels?.app ?? spec?.selector?.app ?? spec?.podSelector?.matchLabels?.app,
    ).filter((app) => app !== undefined);
    expect(selected.filter((app) => !apps.includes(app))).toEqual([]);
    const scaled = MANIFESTS.flatMap(({ spec }) => spec?.scaleTargetRef?.name ?? []);
    expect(scaled.filter((name) => !namesOf("Deployment").includes(name))).toEqual([]);
  });

  test("all of them run one image, and give a process longer than it takes to end", () => {
    expect(new Set(CONTAINERS.map(({ image }) => image)).size).toBe(1);
    const { version } = JSON.parse(readRepositoryFile("packages/metier/package.json")) as { version: string };
    expect(CONTAINERS[0]?.image.split(":").at(-1)).toBe(version);
    for (const { name, spec } of PODS.filter(({ name }) => name !== "metier-migrate")) {
      expect(`${name} ${Number(spec.terminationGracePeriodSeconds) > 10}`).toBe(`${name} true`);
      expect(spec.containers.map(({ securityContext }) => securityContext.procMount)).toEqual(["Unmasked"]);
      const port = spec.containers[0]?.args[spec.containers[0].args.indexOf("--port") + 1];
      expect(spec.containers[0]?.ports?.map(({ containerPort }) => String(containerPort))).toEqual([port]);
    }
  });

  test("the metric that workers are scaled by is one of ours", () => {
    const metric = /^ +name: (metier_\w+)$/m.exec(readRepositoryFile("deploy/kubernetes/50-scale.yaml"))?.[1];
    expect([metric, SOURCE.includes(`"${metric}"`)]).toEqual([metric, true]);
  });
});

describe("the container file", () => {
  test("it starts a command that exists, and looks at the port on which that listens", () => {
    expect(unknownOptions(DEFAULT_ARGS)).toEqual([]);
    const port = DEFAULT_ARGS[DEFAULT_ARGS.indexOf("--port") + 1];
    expect(CONTAINERFILE).toContain(`EXPOSE ${port}\n`);
    expect(CONTAINERFILE).toContain(`http://127.0.0.1:${port}/livez`);
  });

  test("it runs as the same ordinary user as the manifests say", () => {
    const user = /^USER (\d+)$/m.exec(CONTAINERFILE)?.[1];
    expect(Number(user)).toBeGreaterThan(0);
    for (const { spec } of PODS) expect(spec).toMatchObject({ securityContext: { runAsUser: Number(user) } });
  });
});
