/** The fields of a form made from a schema, each with its faults. */
import { Button } from "../design/button.tsx";
import { ChoiceField, TextField } from "../design/field.tsx";
import { showUnseen } from "../design/text.tsx";
import type { Draft, FormField, GroupField, ListField } from "./input-form.ts";
import { startDraft } from "./input-form.ts";
import { draftOf } from "./read-draft.ts";

interface FieldsProps<Field extends FormField = FormField> {
  readonly field: Field;
  readonly draft: Draft;
  /** As faults name it. */
  readonly path: string;
  /** By path. */
  readonly faults: ReadonlyMap<string, string>;
  onChange(draft: Draft): void;
}

/** At this length, a text gets several lines. */
const LONG = 200;

export function InputFields({ field, ...rest }: FieldsProps) {
  if (field.kind === "group") return <GroupFields field={field} {...rest} />;
  if (field.kind === "list") return <ListFields field={field} {...rest} />;
  return <LeafField field={field} {...rest} />;
}

function LeafField({ field, draft, path, faults, onChange }: FieldsProps) {
  const shared = {
    label: labelOf(field),
    hint: field.about === undefined ? undefined : showUnseen(field.about),
    error: faults.get(path),
    value: typeof draft === "string" ? draft : "",
  };
  switch (field.kind) {
    case "boolean":
      return (
        <ChoiceField
          {...shared}
          options={[...(field.isRequired ? [] : [NOT_GIVEN]), ["true", "yes"], ["false", "no"]]}
          onChange={onChange}
        />
      );
    case "choice":
      return (
        <ChoiceField
          {...shared}
          options={[
            NOT_GIVEN,
            ...field.options.map((option, index) => [String(index), showOption(option)] as const),
          ]}
          onChange={onChange}
        />
      );
    case "json":
      return <TextField {...shared} rows={4} isMono placeholder="JSON" onInput={onChange} />;
    case "text":
      return (
        <TextField
          {...shared}
          rows={Number.isFinite(field.most) && field.most > LONG ? 3 : 1}
          onInput={onChange}
        />
      );
    default:
      return <TextField {...shared} onInput={onChange} />;
  }
}

const NOT_GIVEN = ["", "–"] as const;

function showOption(option: unknown): string {
  return showUnseen(typeof option === "string" ? option : JSON.stringify(option));
}

function labelOf({ label, isRequired }: FormField): string {
  return isRequired ? `${showUnseen(label)} (required)` : showUnseen(label);
}

function GroupFields({ field, draft, path, faults, onChange }: FieldsProps<GroupField>) {
  const inner = field.fields.map(({ name, field: one }) => (
    <InputFields
      key={name}
      field={one}
      draft={draftOf(draft, name)}
      path={path === "" ? name : `${path}.${name}`}
      faults={faults}
      onChange={(changed) => onChange({ ...(draft as Readonly<Record<string, Draft>>), [name]: changed })}
    />
  ));
  if (path === "") return <div class="stack">{inner}</div>;
  return (
    <fieldset class="stack input-group">
      <legend>{labelOf(field)}</legend>
      {field.about && <p class="small soft">{showUnseen(field.about)}</p>}
      {inner}
    </fieldset>
  );
}

function ListFields({ field, draft, path, faults, onChange }: FieldsProps<ListField>) {
  const items = Array.isArray(draft) ? (draft as readonly Draft[]) : [];
  const error = faults.get(path);
  return (
    <fieldset class="stack input-group">
      <legend>{labelOf(field)}</legend>
      {field.about && <p class="small soft">{showUnseen(field.about)}</p>}
      {items.map((item, index) => (
        <div key={`${index}`} class="input-item">
          <InputFields
            field={{
              ...field.item,
              label: `${field.label} ${index + 1}`,
              about: undefined,
              isRequired: false,
            }}
            draft={item}
            path={`${path}[${index}]`}
            faults={faults}
            onChange={(changed) => onChange(items.with(index, changed))}
          />
          <Button onPress={() => onChange(items.toSpliced(index, 1))}>
            Remove<span class="hidden"> number {index + 1}</span>
          </Button>
        </div>
      ))}
      {error && (
        <p class="small input-fault" role="alert">
          {error}
        </p>
      )}
      <div class="row">
        <Button
          isDisabled={items.length >= field.most}
          onPress={() => onChange([...items, startDraft(field.item)])}
        >
          Add
        </Button>
      </div>
    </fieldset>
  );
}
