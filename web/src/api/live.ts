// Events of the server: one WebSocket for the page, or server-sent events where a proxy blocks
// WebSockets. Events are numbered without gaps, so that a new connection continues after the last one.
//
//   connect ──► sync (running jobs) ──► events… ──► lost ──► wait, connect with since=last
import { useEffect, useSyncExternalStore } from 'react';

export type LiveEvent = { type: string; seq: number; at: string; job_id?: string } & Record<string, unknown>;
export type LiveState = 'connecting' | 'live' | 'lost' | 'off';

type Listener = (e: LiveEvent) => void;

export class Live {
  private state: LiveState = 'off';
  private last = -1;
  private socket: WebSocket | null = null;
  private stream: EventSource | null = null;
  private timer = 0;
  private failures = 0;
  private everOpen = false;
  private wanted = false;
  private listeners = new Set<Listener>();
  private watchers = new Set<() => void>();

  /** start connects, and connects again whenever the connection is lost, until stop. */
  start() {
    if (this.wanted) return;
    this.wanted = true;
    window.addEventListener('online', this.again);
    document.addEventListener('visibilitychange', this.again);
    this.connect();
  }

  stop() {
    this.wanted = false;
    window.removeEventListener('online', this.again);
    document.removeEventListener('visibilitychange', this.again);
    window.clearTimeout(this.timer);
    this.close();
    this.last = -1;
    this.set('off');
  }

  /** listen calls f with every event from now on, including events_skipped and sync. */
  listen(f: Listener): () => void {
    this.listeners.add(f);
    return () => this.listeners.delete(f);
  }

  watch = (f: () => void): (() => void) => {
    this.watchers.add(f);
    return () => this.watchers.delete(f);
  };

  get = (): LiveState => this.state;

  private again = () => {
    if (this.wanted && this.state === 'lost' && document.visibilityState === 'visible') {
      window.clearTimeout(this.timer);
      this.connect();
    }
  };

  private set(s: LiveState) {
    if (s === this.state) return;
    this.state = s;
    for (const w of this.watchers) w();
  }

  private close() {
    const { socket, stream } = this;
    this.socket = this.stream = null;
    socket?.close();
    stream?.close();
  }

  private connect() {
    this.close();
    this.set(this.failures === 0 ? 'connecting' : 'lost');
    const query = this.last >= 0 ? `?since=${this.last}` : '';
    // A proxy that blocks WebSockets ends the connection before it was open.
    if (this.failures >= 3 && !this.everOpen) return this.follow(query);
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const socket = new WebSocket(`${scheme}://${location.host}/ws${query}`);
    this.socket = socket;
    socket.onopen = () => {
      this.everOpen = true;
    };
    socket.onmessage = (m) => this.take(String(m.data));
    socket.onclose = () => {
      if (this.socket === socket) this.lost();
    };
  }

  private follow(query: string) {
    const stream = new EventSource(`/api/events${query}`);
    this.stream = stream;
    const take = (m: Event) => this.take(String((m as MessageEvent).data));
    for (const kind of eventKinds) stream.addEventListener(kind, take);
    stream.onerror = () => {
      if (this.stream === stream) this.lost();
    };
  }

  private lost() {
    this.close();
    if (!this.wanted) return;
    this.failures++;
    this.set('lost');
    const wait = Math.min(15_000, 250 * 2 ** Math.min(this.failures, 6));
    this.timer = window.setTimeout(() => this.connect(), wait);
  }

  private take(text: string) {
    let e: LiveEvent;
    try {
      e = JSON.parse(text) as LiveEvent;
    } catch {
      return;
    }
    this.failures = 0;
    this.set('live');
    // sync contains the newest number, too, but events up to it may still arrive.
    const seen = e.type === 'sync' ? e.since : e.type === 'events_skipped' ? e.to : e.seq;
    if (typeof seen === 'number' && seen > this.last) this.last = seen;
    for (const l of this.listeners) l(e);
  }
}

const eventKinds = [
  'sync',
  'events_skipped',
  'job_created',
  'job_started',
  'job_progress',
  'job_completed',
  'job_failed',
  'job_cancelled',
  'job_interrupted',
  'tool_eval_init',
  'tool_eval_progress',
  'tool_eval_result',
  'tool_eval_summary',
  'tool_eval_complete',
  'eval_warning',
  'judge_result',
  'gate_evidence',
  'tune_start',
  'combo_result',
  'tune_complete',
  'generation_start',
  'prompt_generated',
  'prompt_eval_start',
  'prompt_eval_result',
  'generation_complete',
  'generation_error',
  'eval_promoted',
];

/** The connection of the page. The shell starts it after a login. */
export const live = new Live();

/** useLive calls f with every event while the component is shown. f must be stable (useCallback). */
export function useLive(f: Listener) {
  useEffect(() => live.listen(f), [f]);
}

/** useLiveState returns the state of the connection. */
export function useLiveState(): LiveState {
  return useSyncExternalStore(live.watch, live.get);
}
