/** How well the column's skill matches the words of the row's skill; 1 is as well as that skill itself. */
import { showUnseen } from "../design/text.tsx";

interface MatrixProps {
  readonly names: readonly string[];
  readonly matrix: readonly (readonly number[])[];
}

export function ConfusionMatrix({ names, matrix }: MatrixProps) {
  return (
    <div class="scrolls" role="region" aria-label="Confusion matrix" tabIndex={0}>
      <table class="matrix">
        <caption>
          How well the column’s skill matches the words of the row’s skill. 1 is as well as that skill itself.
        </caption>
        <thead>
          <tr>
            <td />
            {names.map((name) => (
              <th key={name} scope="col" title={name}>
                <span>{showUnseen(name)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name, row) => (
            <tr key={name}>
              <th scope="row">{showUnseen(name)}</th>
              {names.map((other, column) => (
                <Cell key={other} value={matrix[row]?.[column] ?? 0} isSelf={row === column} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ value, isSelf }: { readonly value: number; readonly isSelf: boolean }) {
  if (isSelf) return <td class="soft">–</td>;
  // In steps, so that colors come from the tokens.
  const heat = Math.min(4, Math.floor(Math.max(0, value) * 5));
  return <td class={`heat-${heat}`}>{value.toFixed(2)}</td>;
}
