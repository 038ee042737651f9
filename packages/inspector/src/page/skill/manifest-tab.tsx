/** Every field of the manifest with the value that counts, and what became of what is written. */
import type { ApiManifestField, ApiSkill } from "@metier/service/api";
import { Badge, type Tone } from "../design/badge.tsx";
import { CheckField } from "../design/field.tsx";
import { Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
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
      <Empty title="Its fields cannot be read.">
        <p>The problems say why.</p>
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
    <div class="scrolls" tabIndex={0} role="region" aria-label="Fields of the manifest">
      <table class="plain-table skill-fields">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Verdict</th>
            <th scope="col">Value and remarks</th>
          </tr>
        </thead>
        <tbody>
          {fields.map((field, index) => (
            <tr key={`${index}`}>
              <th scope="row">
                <code>{showUnseen(field.field)}</code>
              </th>
              <td>
                <Badge tone={TONES[field.verdict]}>{field.verdict}</Badge>
              </td>
              <td>
                <FieldValue value={field.value} />
                {field.remarks.map((remark) => (
                  <p key={remark} class="soft">
                    <Message text={remark} />
                  </p>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
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
      <table class="plain-table">
        <thead>
          <tr>
            <th scope="col">Capability</th>
            <th scope="col">Provider</th>
          </tr>
        </thead>
        <tbody>
          {capabilities.map(({ id, provider }) => (
            <tr key={id}>
              <th scope="row">
                <code>{showUnseen(id)}</code>
              </th>
              <td>{provider ? showUnseen(provider) : <Badge tone="warn">none is wired</Badge>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
