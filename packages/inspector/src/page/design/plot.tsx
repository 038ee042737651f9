/** Plots as inline SVG, drawn from numbers. Each also has its numbers as a table for those who can't see it. */
import type { ComponentChildren } from "preact";

interface PlotPoint {
  readonly label: string;
  readonly value: number;
  /** The uncertainty, drawn as a band. */
  readonly noise?: number | undefined;
}

interface PlotProps {
  readonly title: string;
  readonly points: readonly PlotPoint[];
  /** A second measure of the same points, such as failures among runs. */
  readonly second?: { readonly title: string; readonly values: readonly number[] } | undefined;
  readonly form?: "bars" | "line";
  /** Default: the largest value. */
  readonly most?: number;
  show(value: number): string;
}

const WIDTH = 640;
const HEIGHT = 160;
const LEFT = 8;
const BOTTOM = 4;

export function Plot({ title, points, second, form = "bars", most, show }: PlotProps) {
  const top = Math.max(most ?? 0, ...points.map(({ value, noise = 0 }) => value + noise), Number.MIN_VALUE);
  const step = (WIDTH - LEFT) / Math.max(1, points.length);
  const y = (value: number): number => HEIGHT - BOTTOM - (Math.max(0, value) / top) * (HEIGHT - BOTTOM - 8);
  const x = (index: number): number => LEFT + index * step + step / 2;
  return (
    <figure class="plot">
      <figcaption>
        <strong>{title}</strong>
        {second && <span class="plot-second">{second.title}</span>}
        <span class="soft">up to {show(top)}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <line class="axis" x1={LEFT} x2={WIDTH} y1={HEIGHT - BOTTOM} y2={HEIGHT - BOTTOM} />
        {form === "bars" ? (
          points.map(({ label, value }, index) => (
            <Bar
              key={label}
              x={x(index)}
              width={step * 0.7}
              y={y}
              value={value}
              second={second?.values[index]}
            >
              {`${label}: ${show(value)}`}
            </Bar>
          ))
        ) : (
          <Line points={points} x={x} y={y} show={show} />
        )}
      </svg>
      <div class="plot-ends small soft">
        <span>{points[0]?.label}</span>
        <span>{points.at(-1)?.label}</span>
      </div>
      {/* A table ignores a height that is too small, so a box around it sets it. */}
      <div class="hidden">
        <table>
          <caption>{title}</caption>
          <tbody>
            {points.map(({ label, value }, index) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td>{show(value)}</td>
                {second && <td>{show(second.values[index] ?? 0)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

interface BarProps {
  readonly x: number;
  readonly width: number;
  readonly value: number;
  readonly second: number | undefined;
  readonly children: ComponentChildren;
  y(value: number): number;
}

function Bar({ x, width, value, second = 0, children, y }: BarProps) {
  const bottom = y(0);
  return (
    <g>
      <title>{children}</title>
      <rect
        class="bar"
        x={x - width / 2}
        width={width}
        y={y(value)}
        height={Math.max(0, bottom - y(value))}
      />
      {second > 0 && (
        <rect
          class="bar second"
          x={x - width / 2}
          width={width}
          y={y(second)}
          height={Math.max(1, bottom - y(second))}
        />
      )}
    </g>
  );
}

interface LineProps extends Pick<PlotProps, "points" | "show"> {
  x(index: number): number;
  y(value: number): number;
}

function Line({ points, x, y, show }: LineProps) {
  const path = points.map(({ value }, index) => `${index === 0 ? "M" : "L"}${x(index)},${y(value)}`).join("");
  const upper = points.map(({ value, noise = 0 }, index) => `${x(index)},${y(value + noise)}`);
  const lower = points.map(({ value, noise = 0 }, index) => `${x(index)},${y(value - noise)}`).reverse();
  return (
    <g>
      {points.some(({ noise }) => noise) && <polygon class="band" points={[...upper, ...lower].join(" ")} />}
      <path class="line" d={path} />
      {points.map(({ label, value, noise }, index) => (
        <path key={label} class="dot" d={`M${x(index)},${y(value)}h0`}>
          <title>{`${label}: ${show(value)}${noise ? ` ± ${show(noise)}` : ""}`}</title>
        </path>
      ))}
    </g>
  );
}
