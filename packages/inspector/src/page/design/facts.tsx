/** Names with values in a list; and highlighted numbers. */
import type { ComponentChildren } from "preact";

export type Fact = readonly [name: string, value: ComponentChildren];

/** A value that is `undefined` or `null` is left out with its name. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Figures({ figures }: { readonly figures: readonly Fact[] }) {
  return (
    <dl class="figures">
      {figures
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
