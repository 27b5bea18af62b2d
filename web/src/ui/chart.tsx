// Shared by charts: the horizontal lines with their values.

export type Level = { y: number; text: string };

/** Levels are lines across a chart, each with its value at the left. */
export function Levels({ of, left, right }: { of: Level[]; left: number; right: number }) {
  return of.map((l) => (
    <g key={l.text}>
      <line x1={left} x2={right} y1={l.y} y2={l.y} stroke="var(--cv-line)" />
      <text x={left - 8} y={l.y + 4} textAnchor="end" fill="var(--mantine-color-dimmed)">
        {l.text}
      </text>
    </g>
  ));
}
