// What the form of a search space holds, and the request that it makes.
export type Range = { min: number | ''; max: number | ''; step: number | '' };
export type Dimension = { name: string; range: boolean; values: string[]; between: Range };

/** The parameters that the server knows, with usual values. */
export const parameters: Record<string, string[]> = {
  temperature: ['0', '0.5', '1'],
  top_p: ['0.5', '0.8', '1'],
  reasoning_effort: ['low', 'medium', 'high'],
  tool_choice: ['auto', 'required'],
  max_tokens: ['256', '1024', '4096'],
  parallel_calls: ['true', 'false'],
  seed: ['1', '2'],
};

export const dimension = (name = ''): Dimension => ({
  name,
  range: false,
  values: parameters[name] ?? [],
  between: { min: 0, max: 1, step: 0.25 },
});

/** valueOf reads a value as it is typed: a number, true, false or null, else a text. */
export function valueOf(text: string): unknown {
  try {
    const v: unknown = JSON.parse(text);
    return v;
  } catch {
    return text;
  }
}

/** isComplete tells whether a dimension can be sent. */
export function isComplete(d: Dimension): boolean {
  const { min, max, step } = d.between;
  return d.name.trim() !== '' && (d.range ? min !== '' && max !== '' && step !== '' : d.values.length > 0);
}

/** spaceOf is the search space of a request. */
export function spaceOf(list: Dimension[]): Record<string, unknown> {
  return Object.fromEntries(
    list.filter(isComplete).map((d) => [d.name.trim(), d.range ? d.between : d.values.map(valueOf)]),
  );
}

/** shown is a value of a parameter in a table or a chart. */
export function shown(v: unknown): string {
  if (v === null || v === undefined) return '∅';
  return typeof v === 'string' ? v : JSON.stringify(v);
}
