// A gold sheet: tasks with their recorded calls, and the calls that an expert calls right. The draft stays in the
// browser until it is discarded or its user logs out; the server checks it and writes the file.
import { api, unwrap, type Schemas } from '../../api/client';
import type { Subject } from './labels';

export type Call = { tool: string | null; args_json: string; check: string | null };
export type Turn = { called?: string[]; needed: boolean | null; calls: Call[] };
export type Task = {
  task: string;
  attempt?: number;
  target?: string;
  stratum?: string;
  of?: number;
  edge?: string;
  goal?: string;
  checked?: boolean;
  turns: Turn[];
  answer?: string;
  budget?: number | 'any' | null;
  safety_rules?: string[] | null;
  note?: string;
};
export type Sheet = Omit<Schemas['GoldSheet'], 'tasks'> & { tasks: Task[] };
export type Tool = Schemas['AppGoldTool'];
export type Drawn = { n: number; edge: number; by: string; blank: boolean };

/**
 * sheetText writes the sheet for the server. The text of arguments stays as it is: parsing would round large numbers.
 */
export function sheetText(tasks: Task[]): string {
  const call = (c: Call) =>
    `{"tool":${JSON.stringify(c.tool)},"args":${readArgs(c.args_json).problem ? 'null' : c.args_json.trim() || 'null'},"check":${JSON.stringify(c.check)}}`;
  const turn = (t: Turn) =>
    `{${t.called ? `"called":${JSON.stringify(t.called)},` : ''}"needed":${JSON.stringify(t.needed)},"calls":[${t.calls.map(call).join(',')}]}`;
  const task = ({ turns, ...rest }: Task) =>
    `${JSON.stringify(rest).slice(0, -1)},"turns":[${turns.map(turn).join(',')}]}`;
  return `{"callvet_gold":1,"tasks":[${tasks.map(task).join(',')}]}`;
}

export const anyArgs = '"any"';

/**
 * readArgs reads the arguments of a call. exact: no number loses digits, so that each argument can be edited.
 */
export function readArgs(text: string): { value: Record<string, unknown> | null; exact: boolean; problem?: string } {
  if (text.trim() === '' || text === anyArgs) return { value: null, exact: true };
  try {
    const value: unknown = JSON.parse(text);
    if (value && typeof value === 'object' && !Array.isArray(value))
      return { value: value as Record<string, unknown>, exact: !/\d{16}|\d[eE]/.test(text) };
    return { value: null, exact: false, problem: '{ … }' };
  } catch (e) {
    return { value: null, exact: false, problem: (e as Error).message };
  }
}

/** open: no person has confirmed the task yet. */
export const isOpen = (t: Task) => t.checked !== true;

export async function drawSheet(of: Subject, query: Drawn): Promise<Sheet> {
  const params = { path: { id: of.id }, query };
  return unwrap(
    of.kind === 'run'
      ? await api.GET('/api/runs/{id}/gold', { params })
      : await api.GET('/api/traces/{id}/gold', { params }),
  ) as Sheet;
}

const sent = (text: string) => ({
  body: text as never,
  bodySerializer: (b: unknown) => b as string,
  headers: { 'Content-Type': 'application/octet-stream' },
});

/** checkSheet sends a sheet to the server, and returns its problems and the sheet as a file. */
export async function checkSheet(of: Subject, text: string, tools: boolean): Promise<Sheet> {
  const how = { params: { path: { id: of.id }, query: { tools } }, ...sent(text) };
  return unwrap(
    of.kind === 'run' ? await api.POST('/api/runs/{id}/gold', how) : await api.POST('/api/traces/{id}/gold', how),
  ) as Sheet;
}

export async function makeFromSheet(of: Subject, text: string, to: 'suite' | 'traces'): Promise<Schemas['GoldMade']> {
  const how = { params: { path: { id: of.id }, query: { to } }, ...sent(text) };
  return unwrap(
    of.kind === 'run'
      ? await api.POST('/api/runs/{id}/gold/apply', how)
      : await api.POST('/api/traces/{id}/gold/apply', how),
  );
}

const place = (user: string, of: Subject) => `callvet.gold.${user}.${of.kind}.${of.id}`;

export function readDraft(user: string, of: Subject): Task[] | null {
  try {
    return JSON.parse(localStorage.getItem(place(user, of)) ?? 'null') as Task[] | null;
  } catch {
    return null;
  }
}

/** onDraftChange calls listen with the draft when another tab of the browser changes it. */
export function onDraftChange(user: string, of: Subject, listen: (tasks: Task[] | null) => void): () => void {
  const onStorage = (e: StorageEvent) => e.key === place(user, of) && listen(readDraft(user, of));
  window.addEventListener('storage', onStorage);
  return () => window.removeEventListener('storage', onStorage);
}

/** storeDraft stores the draft in the browser; it returns false if there is no space. */
export function storeDraft(user: string, of: Subject, tasks: Task[] | null): boolean {
  try {
    if (tasks) localStorage.setItem(place(user, of), JSON.stringify(tasks));
    else localStorage.removeItem(place(user, of));
    return true;
  } catch {
    return false;
  }
}
