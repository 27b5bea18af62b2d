// One client of the API, typed by its OpenAPI description. Every error is a Problem.
import createFetch from 'openapi-fetch';
import createQuery from 'openapi-react-query';
import { translate } from '../text/translate';
import type { components, paths } from './schema';

export type Schemas = components['schemas'];

/** A field of a request that the server refused, with its place, such as body.test_cases[3].prompt. */
export type FieldProblem = { place: string; text: string };

/** The error of a request, in the language of the page. status is 0 without a response. */
export class Problem extends Error {
  readonly status: number;
  readonly #text: string;
  readonly #fields: FieldProblem[];
  constructor(status: number, text: string, fields: FieldProblem[] = []) {
    super();
    this.name = 'Problem';
    this.status = status;
    this.#text = text;
    this.#fields = fields;
  }
  override get message(): string {
    return translate(this.#text);
  }
  get fields(): FieldProblem[] {
    return this.#fields.map((f) => ({ place: f.place, text: translate(f.text) }));
  }
}

/** problemOf converts the error of a request, of any type, to a Problem. */
export function problemOf(e: unknown): Problem {
  if (e instanceof Problem) return e;
  if (e && typeof e === 'object' && 'status' in e) {
    const m = e as Schemas['ErrorModel'];
    const fields = (m.errors ?? []).map((d) => ({ place: d.location ?? '', text: d.message ?? '' }));
    return new Problem(m.status ?? 500, m.detail || m.title || 'The server refused the request.', fields);
  }
  if (e instanceof TypeError) return new Problem(0, 'The server does not answer. Is it still running?');
  return new Problem(500, e instanceof Error ? e.message : String(e));
}

// The number of logins so far, and that number at the time of each request: a late 401 for an earlier session must
// not end the session of a newer login.
let logins = 0;
const sentAfter = new WeakMap<Request, number>();
const isLogin = (r: Request) => r.method === 'POST' && new URL(r.url).pathname.startsWith('/api/session');

/** onStatus calls listen with the status of every response of this session: 401 means that it has ended. */
const listeners = new Set<(status: number) => void>();
export function onStatus(listen: (status: number) => void): () => void {
  listeners.add(listen);
  return () => listeners.delete(listen);
}

// A request that is sent while the user leaves the page (a deletion that was not undone) must survive the page. The
// browser refuses that for bodies above 64 kB, so they are sent normally.
let leaving = false;
window.addEventListener('pagehide', () => (leaving = true));
window.addEventListener('pageshow', () => (leaving = false));

export const api = createFetch<paths>({
  baseUrl: '/',
  fetch: (r: Request) => (leaving ? fetch(r.clone(), { keepalive: true }).catch(() => fetch(r)) : fetch(r)),
  querySerializer: { array: { style: 'form', explode: false } },
});
api.use({
  onRequest({ request }) {
    sentAfter.set(request, logins);
  },
  async onResponse({ request, response }) {
    if (isLogin(request) && response.ok) logins++;
    else if (response.status !== 401 || sentAfter.get(request) === logins)
      for (const l of listeners) l(response.status);
    const type = response.headers.get('Content-Type') ?? '';
    if (!response.ok && !type.includes('json')) {
      return new Response(
        JSON.stringify({ status: response.status, detail: (await response.text()).trim() || response.statusText }),
        {
          status: response.status,
          headers: { 'Content-Type': 'application/problem+json' },
        },
      );
    }
    return response;
  },
});

/** Queries and mutations of the API for components: $api.useQuery('get', '/api/jobs', {…}). */
export const $api = createQuery(api);

/** unwrap returns the data of a response, or throws its Problem: unwrap(await api.GET(…)). */
export function unwrap<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.error !== undefined) throw problemOf(answer.error);
  if (!answer.response.ok) throw new Problem(answer.response.status, answer.response.statusText);
  return answer.data as T;
}
