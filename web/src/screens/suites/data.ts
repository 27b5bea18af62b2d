// The edited suite: one copy of it, and one write after the other.
//
//   write ─► waits for the write before it ─► If-Match: the version in the copy ─► the answer goes into the copy
//
// The copy is never fetched again automatically: then the next write would overwrite a version of another user that
// this user has not seen. It is fetched only on request of the user.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { $api, api, unwrap, problemOf, type Schemas } from '../../api/client';
import { queryKeys, useInvalidate } from '../../api/queries';
import { usePermission, useCurrentUser } from '../../user';
import { translate } from '../../text/translate';
import type { Mark } from '../../ui/editor';

export type Suite = Schemas['Suite'];
export type Case = Schemas['Case'];
export type Remark = Schemas['Remark'];
export type Tool = Record<string, unknown>;

/** Write sends a change: send makes the request for a version, merge returns the changed suite. */
export type Write = <A>(
  send: (ifMatch: string, now: Suite) => Promise<A>,
  merge: (was: Suite, answer: A) => Suite,
) => Promise<A>;

/** Editing has the state that the parts of the editor share. */
export type Editing = {
  suite: Suite;
  may: boolean;
  write: Write;
  load: () => Promise<Suite>;
  hidden: Set<string>;
  hide: (id: string, gone: boolean) => void;
};

export function useEditing(id: string) {
  const client = useQueryClient();
  const invalidate = useInvalidate();
  const me = useCurrentUser();
  const mayWrite = usePermission('write');
  const init = useMemo(() => ({ params: { path: { id } } }), [id]);
  const key = queryKeys.suite(id);
  const query = $api.useQuery('get', '/api/tool-suites/{id}', init, {
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    refetchOnMount: 'always',
  });
  const [hidden, setHidden] = useState<Set<string>>(new Set());
  const tail = useRef<Promise<unknown>>(Promise.resolve());

  const write: Write = (send, merge) => {
    const mine = tail.current
      .catch(() => {})
      .then(async () => {
        const now = client.getQueryData<Suite>(key);
        if (!now) throw new Error('the suite is not there yet');
        const answer = await send(`"${now.version}"`, now);
        client.setQueryData<Suite>(key, (was) => was && merge(was, answer));
        invalidate.suites();
        return answer;
      });
    tail.current = mine;
    return mine as never;
  };
  const load = async () => {
    const { data, error } = await query.refetch();
    if (!data) throw problemOf(error);
    return data;
  };
  const hide = useCallback(
    (one: string, gone: boolean) =>
      setHidden((was) => {
        const next = new Set(was);
        if (gone) next.add(one);
        else next.delete(one);
        return next;
      }),
    [],
  );
  const suite = query.data;
  const own = suite !== undefined && (suite.owner === me.user_id || me.role === 'admin');
  return {
    query,
    suite,
    editing: suite && { suite, may: own && mayWrite, write, load, hidden, hide },
  };
}

/** withCases puts the cases of an answer into the suite: each replaces the case with its id, or is added at the end. */
export function withCases(was: Suite, answer: Schemas['CasesWritten']): Suite {
  const list = [...was.test_cases];
  for (const c of answer.test_cases) {
    const at = list.findIndex((x) => x.id === c.id);
    if (at < 0) list.push(c);
    else list[at] = c;
  }
  return { ...was, version: answer.version, test_cases: list, test_case_count: list.length };
}

/** useSource returns the text of a version of a suite in callvet's own form. */
export function useSource(id: string, version: number, yaml: boolean) {
  return useQuery({
    queryKey: queryKeys.suiteSource(id, version, yaml),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    queryFn: async ({ signal }) =>
      unwrap(
        await api.GET('/api/tool-suites/{id}/export', {
          params: { path: { id }, query: { format: 'callvet', yaml, version } },
          parseAs: 'text',
          signal,
        }),
      ) as unknown as string,
  });
}

export type Lint = { problems: Remark[]; busy: boolean; form: string; cases: number; ok: boolean; of: string };

const unlinted: Lint = { problems: [], busy: false, form: '', cases: 0, ok: true, of: '' };

/** maxSourceBytes is the longest text that the linter of the server accepts. */
export const maxSourceBytes = 8_000_000;

/** useLint lints a text at a pause in the typing. null is not linted. */
export function useLint(text: string | null, format = ''): Lint {
  const [lint, set] = useState(unlinted);
  useEffect(() => {
    if (text === null || text.trim() === '' || text.length > maxSourceBytes) return set(unlinted);
    const stop = new AbortController();
    set((was) => ({ ...was, busy: true }));
    const timer = window.setTimeout(async () => {
      try {
        const a = unwrap(
          await api.POST('/api/lint', { body: { text, ...(format ? { format } : {}) }, signal: stop.signal }),
        );
        set({ problems: a.problems, busy: false, form: a.form, cases: a.test_case_count, ok: a.ok, of: text });
      } catch (e) {
        if (stop.signal.aborted) return;
        set({
          ...unlinted,
          ok: false,
          of: text,
          problems: [{ code: 'unreachable', message: problemOf(e).message, warning: false }],
        });
      }
    }, 250);
    return () => {
      window.clearTimeout(timer);
      stop.abort();
    };
  }, [text, format]);
  return lint;
}

/** marksOf converts problems to marks in a text that begins after skip lines of the linted text. */
export function marksOf(problems: Remark[], skip = 0, lines = Number.POSITIVE_INFINITY): Mark[] {
  return problems
    .filter((p) => p.line !== undefined && p.line > skip && p.line - skip <= lines)
    .map((p) => ({
      line: p.line! - skip,
      column: p.column ?? 1,
      severity: p.warning ? 'warning' : 'error',
      text: remarkText(p),
    }));
}

/** remarkText writes a problem with its fix, in the language of the page. */
export function remarkText(p: Remark): string {
  return p.fix ? `${translate(p.message)} (${translate(p.fix)})` : translate(p.message);
}

/**
 * useFraming returns the text before and after a case or tools, so that the linter reads a part of the suite like the
 * whole.
 */
export function useFraming({ suite }: Editing) {
  const own = suite.form === 'callvet';
  const source = useSource(suite.id, suite.version, false);
  return useMemo(() => {
    if (!source.data) return null;
    const whole = JSON.parse(source.data) as Record<string, unknown>;
    const { cases: _, tools: __, foreign: ___, dialect: ____, ...rest } = whole;
    const head = JSON.stringify(own ? rest : { name: suite.name, system_prompt: suite.system_prompt });
    const open = head === '{}' ? '{' : `${head.slice(0, -1)},`;
    const list = own ? 'cases' : 'test_cases';
    const asOwn = JSON.stringify(rest);
    return {
      /** A case with the suite's tools. form: the form of the case, if it would change the suite to callvet's own. */
      ofCase: (text: string, inOwn: boolean) => {
        if (inOwn && !own)
          return `${asOwn.slice(0, -1)},"tools":${JSON.stringify(whole.tools ?? [])},"cases":[\n${text}\n]}`;
        return `${open}"tools":${JSON.stringify(own ? (whole.tools ?? []) : suite.tools)},"${list}":[\n${text}\n]}`;
      },
      /** Tools with the suite's cases; in callvet's own form, since its linter shows where in a tool the fault is. */
      ofTools: (text: string) =>
        `${asOwn === '{}' ? '{' : `${asOwn.slice(0, -1)},`}"tools":\n${text}\n,"cases":${JSON.stringify(whole.cases ?? [])}}`,
    };
  }, [source.data, suite, own]);
}

/** plainCase returns a case without the members that only answers have. */
export function plainCase(c: Case): Case {
  const { not_carried: _, case: __, ...rest } = c;
  return rest;
}

/** functionOf returns the parts of a tool in the form of OpenAI. */
export function functionOf(tool: Tool): { name: string; description: string; parameters: Record<string, unknown> } {
  const f = (tool.function ?? tool) as Record<string, unknown>;
  const text = (v: unknown) => (typeof v === 'string' ? v : '');
  return {
    name: text(f.name),
    description: text(f.description),
    parameters: (f.parameters ?? {}) as Record<string, unknown>,
  };
}

/** propertiesOf returns the names of all arguments of a tool, and of the required ones. */
export function propertiesOf(tool: Tool): { names: string[]; required: string[] } {
  const p = functionOf(tool).parameters;
  return {
    names: Object.keys((p.properties ?? {}) as object),
    required: Array.isArray(p.required) ? p.required.map(String) : [],
  };
}

/** namesOf returns the tools that a case expects: any one of them is right. */
export function namesOf(c: Case): string[] {
  const e = c.expected_tool as string | string[] | null | undefined;
  return e === null || e === undefined ? [] : Array.isArray(e) ? e : [e];
}

/** useSchemaCompletions returns the names of all fields of a file format with their descriptions, for completion. */
export function useSchemaCompletions(name: string) {
  const { data } = useQuery({
    queryKey: queryKeys.schema(name),
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () =>
      JSON.parse(
        unwrap(
          await api.GET('/api/schemas/{name}', { params: { path: { name } }, parseAs: 'text' }),
        ) as unknown as string,
      ) as unknown,
  });
  return useMemo(() => {
    const words = new Map<string, string>();
    const walk = (v: unknown) => {
      if (Array.isArray(v)) return v.forEach(walk);
      if (!v || typeof v !== 'object') return;
      const o = v as Record<string, unknown>;
      const props = o.properties;
      if (props && typeof props === 'object') {
        for (const [k, d] of Object.entries(props)) {
          const text = d && typeof d === 'object' ? (d as { description?: unknown }).description : undefined;
          if (!words.get(k)) words.set(k, typeof text === 'string' ? text : '');
        }
      }
      if (Array.isArray(o.enum)) for (const e of o.enum) if (typeof e === 'string' && !words.has(e)) words.set(e, '');
      Object.values(o).forEach(walk);
    };
    walk(data);
    return [...words].map(([label, detail]) => ({ label, detail: detail || undefined }));
  }, [data]);
}
