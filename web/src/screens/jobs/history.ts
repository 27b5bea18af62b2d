// The history of a job: the newest stored events, then the events of the connection.
import { useCallback, useEffect, useRef, useState } from 'react';
import { api, unwrap } from '../../api/client';
import { hasEnded, type Job } from '../../api/jobs';
import { type LiveEvent, useLive } from '../../api/live';
import type { EvidencePoint } from '../../ui/evidence';
import type { Interval } from '../../ui/interval';

/** How many results are kept in the page, the newest. */
export const mostResults = 500;

export type ModelCount = { model: string; done: number; total: number; passed: number; failed: number; errors: number };
export type Call = { tools: string[]; arguments?: unknown; arguments_raw?: string; cut?: boolean };
export type Result = {
  seq: number;
  model: string;
  test_case: string;
  repeat: number;
  verdict: 'pass' | 'fail' | 'error' | 'not_run';
  outcome: string;
  latency_ms?: number;
  class?: string;
  reason?: string;
  error?: string;
  expected: Call[];
  actual: Call[];
};
export type Judged = { seq: number; judging_id: string; judge: string; pass: number; fail: number; unscored: number };
/** The evidence of a gate of a target, from task to task. */
export type Evidence = {
  target: string;
  gate: string;
  slice?: string;
  verdict: string;
  needed: number;
  of: number;
  curve: EvidencePoint[];
};
type EvidenceEvent = {
  target: string;
  of: number;
  gates: {
    gate: string;
    slice?: string;
    tasks: number;
    log_evidence_pass: number;
    log_evidence_fail: number;
    log_evidence_needed: number;
    verdict: string;
  }[];
};
export type JobHistory = {
  last: number;
  models: ModelCount[];
  results: Result[];
  judged: Judged[];
  warnings: string[];
  evidence: Evidence[];
  complete: { avg_interval?: Interval; baseline_interval?: Interval; delta?: number } | null;
};

const nothing: JobHistory = {
  last: 0,
  models: [],
  results: [],
  judged: [],
  warnings: [],
  evidence: [],
  complete: null,
};

/** The most points of a curve. Above it, every second point is dropped. */
const mostPoints = 400;

/** withEvidence adds the points of an event to the curves of the gates. */
function withEvidence(known: Evidence[], e: EvidenceEvent): Evidence[] {
  const next = [...known];
  for (const g of e.gates) {
    const at = next.findIndex((k) => k.target === e.target && k.gate === g.gate && k.slice === g.slice);
    // A resumed run checks some tasks again.
    let curve = (next[at]?.curve ?? []).filter((p) => p[0] < g.tasks);
    if (curve.length >= mostPoints) curve = curve.filter((_, i) => i % 2 === 1);
    const of: Evidence = {
      target: e.target,
      gate: g.gate,
      slice: g.slice,
      verdict: g.verdict,
      needed: g.log_evidence_needed,
      of: e.of,
      curve: [...curve, [g.tasks, g.log_evidence_pass, g.log_evidence_fail]],
    };
    if (at < 0) next.push(of);
    else next[at] = of;
  }
  return next;
}

/** withEvents adds events to the history. Known events change nothing. */
export function withEvents(known: JobHistory, events: LiveEvent[]): JobHistory {
  const news = events.filter((e) => e.seq > known.last);
  if (news.length === 0) return known;
  const next = { ...known };
  const results: Result[] = [];
  for (const e of news) {
    next.last = e.seq;
    if (e.type === 'tool_eval_init' && next.models.length === 0) {
      const targets = e.targets as { display_name: string }[];
      next.models = targets.map((m) => ({
        model: m.display_name,
        done: 0,
        total: Number(e.total) / targets.length,
        passed: 0,
        failed: 0,
        errors: 0,
      }));
    } else if (e.type === 'tool_eval_progress' && e.targets) {
      next.models = e.targets as ModelCount[];
    } else if (e.type === 'tool_eval_result') {
      results.push(e as unknown as Result);
    } else if (e.type === 'judge_result') {
      next.judged = [...next.judged, e as unknown as Judged];
    } else if (e.type === 'eval_warning') {
      const text = String(e.detail);
      if (!next.warnings.includes(text)) next.warnings = [...next.warnings, text];
    } else if (e.type === 'gate_evidence') {
      next.evidence = withEvidence(next.evidence, e as unknown as EvidenceEvent);
    } else if (e.type === 'tool_eval_complete') {
      next.complete = e as unknown as JobHistory['complete'];
    }
  }
  if (results.length > 0) {
    // An attempt that ended in an error may be repeated: the newer result counts.
    const place = (r: Result) => `${r.model}\n${r.test_case}\n${r.repeat}`;
    const again = new Set(results.map(place));
    next.results = [...results.reverse(), ...next.results.filter((r) => !again.has(place(r)))].slice(0, mostResults);
  }
  return next;
}

/**
 * useJobHistory follows a job. The socket has no events of another user's job: they are polled every two seconds.
 */
export function useJobHistory(job: Job, mine: boolean): JobHistory {
  const id = job.job_id;
  const over = hasEnded(job);
  const [known, setKnown] = useState(nothing);
  const waiting = useRef<LiveEvent[]>([]);
  const frame = useRef(0);

  const take = useCallback((events: LiveEvent[]) => {
    waiting.current.push(...events);
    // Many events may arrive at once: the page is drawn once for all of them.
    frame.current ||= window.setTimeout(() => {
      frame.current = 0;
      const list = waiting.current.sort((a, b) => a.seq - b.seq);
      waiting.current = [];
      setKnown((k) => withEvents(k, list));
    }, 50);
  }, []);
  useEffect(() => () => window.clearTimeout(frame.current), []);

  // New events wait until older events were read.
  const early = useRef<LiveEvent[] | null>([]);
  const [gaps, setGaps] = useState(0);
  const hear = useCallback(
    (e: LiveEvent) => {
      if (e.type === 'events_skipped') {
        early.current ??= [];
        setGaps((n) => n + 1);
      } else if (e.job_id === id) {
        if (early.current) early.current.push(e);
        else take([e]);
      }
    },
    [id, take],
  );
  useLive(hear);
  const poll = !mine && !over;
  useEffect(() => {
    let stop = false;
    let timer = 0;
    const read = async () => {
      try {
        const { events } = unwrap(
          await api.GET('/api/jobs/{id}/events', { params: { path: { id }, query: { limit: mostResults } } }),
        );
        if (stop) return;
        take([...(events as LiveEvent[]), ...(early.current ?? [])]);
        early.current = null;
        if (!poll) return;
      } catch {
        if (stop) return; // otherwise the server does not answer now
      }
      timer = window.setTimeout(read, 2000);
    };
    void read();
    return () => {
      stop = true;
      window.clearTimeout(timer);
    };
  }, [id, take, poll, gaps]);
  return known;
}
