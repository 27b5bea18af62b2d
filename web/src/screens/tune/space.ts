// The state of the form of a search space, and its request.
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

/** renamed returns a dimension with another name, without the usual values of the earlier parameter. */
export const renamed = (d: Dimension, name: string): Dimension => ({
  ...d,
  name,
  values: parameters[name] ?? (d.values === parameters[d.name] ? [] : d.values),
});

/** valueOf reads a typed value: a number, true, false or null, else a text. */
export function valueOf(text: string): unknown {
  try {
    const v: unknown = JSON.parse(text);
    return v;
  } catch {
    return text;
  }
}

/** isComplete reports whether a dimension can be sent. */
export function isComplete(d: Dimension): boolean {
  const { min, max, step } = d.between;
  return d.name.trim() !== '' && (d.range ? min !== '' && max !== '' && step !== '' : d.values.length > 0);
}

/** spaceOf returns the search space of a request. */
export function spaceOf(list: Dimension[]): Record<string, unknown> {
  return Object.fromEntries(
    list.filter(isComplete).map((d) => [d.name.trim(), d.range ? d.between : d.values.map(valueOf)]),
  );
}

/** Spaces are the dimensions for all models, and those of single models in place of them. */
export type Spaces = { shared: Dimension[]; own: Record<string, Dimension[]> };

/** fileOf returns the file of a space: parameters unknown to the server are under extra. */
export function fileOf(of: Spaces): Record<string, unknown> {
  const part = (list: Dimension[]) => {
    const all = Object.entries(spaceOf(list));
    const [params, extra] = [true, false].map((known) => all.filter(([name]) => isKnown(name) === known)) as [
      typeof all,
      typeof all,
    ];
    return {
      ...(params.length > 0 && { params: Object.fromEntries(params) }),
      ...(extra.length > 0 && { extra: Object.fromEntries(extra) }),
    };
  };
  const models = Object.entries(of.own).map(([model, list]) => [model, part(list)] as const);
  return { ...part(of.shared), ...(models.length > 0 && { models: Object.fromEntries(models) }) };
}

const isKnown = (name: string) => name in parameters || name === 'stop';

type Part = { params?: Record<string, unknown> | null; extra?: Record<string, unknown> | null };

/** spacesOf returns the state of the form for a space file in JSON. */
export function spacesOf(file: unknown): Spaces {
  const list = (p: Part) =>
    Object.entries({ ...p.params, ...p.extra }).map(([name, v]): Dimension => {
      if (v !== null && typeof v === 'object' && !Array.isArray(v))
        return { ...dimension(name), range: true, between: { min: '', max: '', step: '', ...v } };
      return { ...dimension(name), values: (Array.isArray(v) ? v : [v]).map(textOf) };
    });
  const of = (file ?? {}) as Part & { models?: Record<string, Part> | null };
  const own = Object.entries(of.models ?? {}).map(([model, p]) => [model, list(p)] as const);
  return { shared: list(of), own: Object.fromEntries(own) };
}

/** textOf writes a value as a user types it; valueOf reads it back. */
function textOf(v: unknown): string {
  return typeof v === 'string' && valueOf(v) === v ? v : JSON.stringify(v);
}

/** shown writes a value of a parameter for a table or a chart. */
export function shown(v: unknown): string {
  if (v === null || v === undefined) return '∅';
  return typeof v === 'string' ? v : JSON.stringify(v);
}
