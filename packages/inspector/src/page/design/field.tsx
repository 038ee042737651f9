/** Form fields, each with a label; the label may be for screen readers only. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly isLabelHidden?: boolean;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
}

function Frame(props: FieldProps & { readonly id: string; readonly children: ComponentChildren }) {
  const { label, isLabelHidden, hint, error, id, children } = props;
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? "hidden" : undefined}>
        {label}
      </label>
      {children}
      {hint && (
        <p class="small soft" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="small error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

function describedBy(id: string, { hint, error }: FieldProps): string | undefined {
  const ids = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean);
  return ids.length === 0 ? undefined : ids.join(" ");
}

interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly placeholder?: string;
  readonly type?: "text" | "search" | "password" | "number" | "date";
  /** More than 1 makes a multi-line field. */
  readonly rows?: number;
  readonly isMono?: boolean;
  /** For the keyboard: `/` focuses the first field that has it. */
  readonly isSearch?: boolean;
  onInput(value: string): void;
}

export function TextField(props: TextFieldProps) {
  const { value, placeholder, type = "text", rows = 1, isMono, isSearch, onInput, ...field } = props;
  const id = useId();
  const shared = {
    id,
    value,
    placeholder,
    class: isMono ? "mono" : undefined,
    "aria-describedby": describedBy(id, field),
    "aria-invalid": field.error ? ("true" as const) : undefined,
    autocomplete: "off",
    spellcheck: false,
    "data-search": isSearch ? "" : undefined,
  };
  return (
    <Frame {...field} id={id}>
      {rows > 1 ? (
        <textarea {...shared} rows={rows} onInput={(event) => onInput(event.currentTarget.value)} />
      ) : (
        <input {...shared} type={type as "text"} onInput={(event) => onInput(event.currentTarget.value)} />
      )}
    </Frame>
  );
}

interface ChoiceProps extends FieldProps {
  readonly value: string;
  readonly options: readonly (string | readonly [value: string, shown: string])[];
  onChange(value: string): void;
}

export function ChoiceField({ value, options, onChange, ...field }: ChoiceProps) {
  const id = useId();
  return (
    <Frame {...field} id={id}>
      <select
        id={id}
        value={value}
        aria-describedby={describedBy(id, field)}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {options.map((option) => {
          const [name, shown] = typeof option === "string" ? [option, option] : option;
          return (
            <option key={name} value={name}>
              {shown}
            </option>
          );
        })}
      </select>
    </Frame>
  );
}

interface CheckProps {
  readonly label: string;
  readonly isChecked: boolean;
  onChange(isChecked: boolean): void;
}

export function CheckField({ label, isChecked, onChange }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isChecked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}

interface RangeProps extends FieldProps {
  readonly value: number;
  readonly least: number;
  readonly most: number;
  readonly step: number;
  /** With its unit. */
  readonly shown: string;
  onInput(value: number): void;
}

export function RangeField({ value, least, most, step, shown, onInput, ...field }: RangeProps) {
  const id = useId();
  return (
    <Frame {...field} id={id}>
      <div class="range">
        <input
          id={id}
          type="range"
          min={least}
          max={most}
          step={step}
          value={value}
          aria-valuetext={shown}
          onInput={(event) => onInput(Number(event.currentTarget.value))}
        />
        <output for={id}>{shown}</output>
      </div>
    </Frame>
  );
}
