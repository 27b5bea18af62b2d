// Tasks and their labels. The browser stores a label until the server has it: it survives a lost connection, a
// killed server and a closed tab, and is sent when the server answers again.
//
//   put/drop ──► outbox (localStorage) ──► sent one by one, in order ──► gone from the outbox
//                       ▲                            │
//                       └──── no answer: wait ◄──────┘
import { useMemo, useSyncExternalStore } from 'react';
import { api, unwrap, type Problem, problemOf } from '../../api/client';
import type { Turn } from '../../ui/conversation';
import { useParam } from '../../ui/params';

/** The object of labels: a run, or a collection of traces. */
export type Subject = { kind: 'run' | 'traces'; id: string };

/** useSubject reads the subject from the address; null if it names none. */
export function useSubject() {
  const [run, setRun] = useParam('run');
  const [traces] = useParam('traces');
  const of = useMemo<Subject | null>(
    () => (traces ? { kind: 'traces', id: traces } : run ? { kind: 'run', id: run } : null),
    [run, traces],
  );
  return { of, run, setRun, traces };
}

/** The part of an attempt that a label is about. */
export type Key = {
  target?: string;
  task_id: string;
  attempt?: number;
  unit?: 'task' | 'turn' | 'call';
  call_id?: string;
  turn?: number;
};

/** A task as the server draws it, without verdicts of judges. */
export type Task = Key & {
  goal?: string;
  steps?: string[];
  answer?: string;
  turns?: Turn[];
  pass: boolean | null;
  note: string;
  by?: string;
  role: string;
  drawn: string;
};

export type Answer = { pass: boolean; note: string };

type Entry = { does: 'put'; key: Key; task: Task } | { does: 'drop'; key: Key };

export const keyText = (k: Key) =>
  JSON.stringify([k.target ?? '', k.task_id, k.attempt ?? 0, k.unit ?? 'task', k.call_id ?? '', k.turn ?? 0]);
const keyOf = ({ target, task_id, attempt, unit, call_id, turn }: Key): Key => ({
  target,
  task_id,
  attempt,
  unit,
  call_id,
  turn,
});

export type NextQuery = {
  n?: number;
  strategy?: 'random' | 'neyman' | 'disagree';
  judge?: string;
  role?: 'calibration' | 'validation' | 'test' | 'design';
  double?: number;
  seed?: number;
};

export async function nextTasks(of: Subject, query: NextQuery): Promise<Task[]> {
  const params = { path: { id: of.id }, query };
  const answer =
    of.kind === 'run'
      ? await api.GET('/api/runs/{id}/labels/next', { params })
      : await api.GET('/api/traces/{id}/labels/next', { params });
  return unwrap(answer).items as Task[];
}

/** The labels that count, as the server exports them. */
export async function labelsOf(of: Subject): Promise<(Key & { by?: string; pass?: boolean })[]> {
  const how = { params: { path: { id: of.id } }, parseAs: 'text' as const };
  const answer =
    of.kind === 'run' ? await api.GET('/api/runs/{id}/labels', how) : await api.GET('/api/traces/{id}/labels', how);
  const text = String(unwrap(answer as { data?: unknown; error?: unknown; response: Response }) ?? '');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

async function send(of: Subject, e: Entry) {
  if (e.does === 'put') {
    const params = { path: { id: of.id } };
    unwrap(
      of.kind === 'run'
        ? await api.POST('/api/runs/{id}/labels', { params, body: e.task })
        : await api.POST('/api/traces/{id}/labels', { params, body: e.task }),
    );
  } else {
    const params = { path: { id: of.id }, query: e.key };
    unwrap(
      of.kind === 'run'
        ? await api.DELETE('/api/runs/{id}/labels', { params })
        : await api.DELETE('/api/traces/{id}/labels', { params }),
    );
  }
}

export type OutboxState = { waiting: number; refused: Problem | null; lost: boolean };

export class Outbox {
  private entries: Entry[];
  private busy = false;
  private timer = 0;
  private failures = 0;
  private watchers = new Set<() => void>();
  private state: OutboxState;
  private readonly place: string;
  private readonly of: Subject;

  constructor(user: string, of: Subject) {
    this.of = of;
    this.place = `callvet.labels.${user}.${of.kind}.${of.id}`;
    this.entries = JSON.parse(localStorage.getItem(this.place) ?? '[]') as Entry[];
    this.state = { waiting: this.entries.length, refused: null, lost: false };
  }

  /** open continues with unsent labels of an earlier visit; the returned function ends the work. */
  open = (): (() => void) => {
    window.addEventListener('online', this.retry);
    void this.flush();
    return () => {
      window.removeEventListener('online', this.retry);
      window.clearTimeout(this.timer);
    };
  };

  watch = (f: () => void): (() => void) => {
    this.watchers.add(f);
    return () => this.watchers.delete(f);
  };
  get = (): OutboxState => this.state;

  put(task: Task, answer: Answer) {
    const { turns: _, ...label } = task; // the server already has the conversation
    this.add({ does: 'put', key: keyOf(task), task: { ...label, ...answer } });
  }
  drop(task: Task) {
    this.add({ does: 'drop', key: keyOf(task) });
  }

  /** unsent contains the changes that the server does not have yet: null for a label to remove. */
  unsent(): Map<string, Answer | null> {
    return new Map(
      this.entries.map((e) => [
        keyText(e.key),
        e.does === 'put' ? { pass: e.task.pass === true, note: e.task.note } : null,
      ]),
    );
  }

  retry = () => {
    window.clearTimeout(this.timer);
    this.failures = 0;
    void this.flush();
  };

  /** discard drops the label that the server refused. */
  discard = () => {
    this.entries.shift();
    this.keep({ refused: null });
    void this.flush();
  };

  private add(e: Entry) {
    this.entries.push(e);
    this.keep({});
    if (!this.state.lost) void this.flush();
  }

  private keep(change: Partial<OutboxState>) {
    if (this.entries.length > 0) localStorage.setItem(this.place, JSON.stringify(this.entries));
    else localStorage.removeItem(this.place);
    this.state = { ...this.state, ...change, waiting: this.entries.length };
    for (const w of this.watchers) w();
  }

  /** flush sends the waiting changes one after the other, so that the last label counts. */
  private async flush() {
    if (this.busy) return;
    this.busy = true;
    try {
      for (let e = this.entries[0]; e; e = this.entries[0]) {
        await send(this.of, e);
        this.entries.shift();
        this.failures = 0;
        this.keep({ lost: false, refused: null });
      }
    } catch (x) {
      const p = problemOf(x);
      const later = p.status === 0 || p.status >= 500 || [401, 408, 429].includes(p.status);
      this.keep(later ? { lost: true } : { refused: p });
      if (later) {
        this.failures++;
        window.clearTimeout(this.timer);
        this.timer = window.setTimeout(
          () => void this.flush(),
          Math.min(15_000, 250 * 2 ** Math.min(this.failures, 6)),
        );
      }
    } finally {
      this.busy = false;
    }
  }
}

export function useOutbox(box: Outbox): OutboxState {
  return useSyncExternalStore(box.watch, box.get);
}
