/** Every field of the manifest with its effective value, and what happened to the written one. */

import type { ApiManifestField, ApiSkill } from "@metier/service/api";
import { Badge, type Tone } from "../design/badge.tsx";
import { CheckField } from "../design/field.tsx";
import { Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { JsonText, Message, showUnseen } from "../design/text.tsx";
import { address, changeQuery } from "../state/address.ts";

const TONES: Readonly<Record<ApiManifestField["verdict"], Tone>> = {
  given: "good",
  default: "plain",
  ignored: "warn",
  warning: "warn",
  error: "bad",
};

export function ManifestTab({ skill: { manifest, capabilities } }: { readonly skill: ApiSkill }) {
  const wantsDefaults = address.value.query.get("defaults") === "yes";
  const isWritten = ({ verdict }: ApiManifestField): boolean => verdict !== "default";
  const shown = wantsDefaults ? manifest : manifest.filter(isWritten);
  const hasDefaults = !manifest.every(isWritten);
  if (manifest.length === 0) {
    return (
      <Empty title="Its fields can't be read.">
        <p>The problems show why.</p>
      </Empty>
    );
  }
  return (
    <>
      <Section
        title="Manifest"
        actions={
          hasDefaults && (
            <CheckField
              label="Show defaults"
              isChecked={wantsDefaults}
              onChange={(isChecked) => changeQuery({ defaults: isChecked ? "yes" : undefined })}
            />
          )
        }
      >
        <FieldTable fields={shown} />
      </Section>
      {capabilities.length > 0 && <Capabilities capabilities={capabilities} />}
    </>
  );
}

function FieldTable({ fields }: { readonly fields: readonly ApiManifestField[] }) {
  return (
    <PlainTable
      label="Fields of the manifest"
      kind="skill-fields"
      rows={fields}
      columns={[
        { title: "Field", isName: true, render: ({ field }) => <code>{showUnseen(field)}</code> },
        { title: "Verdict", render: ({ verdict }) => <Badge tone={TONES[verdict]}>{verdict}</Badge> },
        {
          title: "Value and remarks",
          render: (field) => (
            <>
              <FieldValue value={field.value} />
              {field.remarks.map((remark) => (
                <p key={remark} class="soft">
                  <Message text={remark} />
                </p>
              ))}
            </>
          ),
        },
      ]}
    />
  );
}

const SHORT = 80;

function FieldValue({ value }: Pick<ApiManifestField, "value">) {
  if (value === null) return <span class="soft">none</span>;
  if (typeof value === "string" && value.length <= 2_000) return <>{showUnseen(value)}</>;
  const text = JSON.stringify(value);
  return text.length <= SHORT ? <code>{showUnseen(text)}</code> : <JsonText value={value} label="Value" />;
}

function Capabilities({ capabilities }: Pick<ApiSkill, "capabilities">) {
  return (
    <Section title="Capabilities it asks for">
      <PlainTable
        label="Capabilities"
        rows={capabilities}
        columns={[
          { title: "Capability", isName: true, render: ({ id }) => <code>{showUnseen(id)}</code> },
          {
            title: "Provider",
            render: ({ provider }) =>
              provider ? showUnseen(provider) : <Badge tone="warn">none configured</Badge>,
          },
        ]}
      />
    </Section>
  );
}
