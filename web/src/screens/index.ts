// The list of screens: where each is, who sees it, and the key that goes to it (g, then the key).
import {
  IconArrowsDiff,
  IconFlask,
  IconGavel,
  IconGitPullRequest,
  IconHistory,
  IconHome,
  IconListCheck,
  IconListDetails,
  IconListSearch,
  IconPlayerPlay,
  IconRoute,
  IconSettings,
  IconShieldCheck,
  IconTools,
} from '@tabler/icons-react';
import { type ComponentType, createElement, lazy, useState } from 'react';
import { matchPath } from 'react-router';
import type { TextKey } from '../text';

export type ScreenEntry = {
  /** Patterns of the router; the first is where the navigation leads. */
  paths: string[];
  title: TextKey;
  icon: typeof IconHome;
  key?: string;
  /** Admins alone see it. */
  admin?: boolean;
  /** It is not in the navigation. */
  hidden?: boolean;
  /** It changes things: it is left out where the store is only read. */
  changes?: boolean;
  /** It is of the queue, which a store that is only read has not: nothing leads there. */
  queue?: boolean;
  /** It starts runs: nothing leads there for who may not run. */
  runs?: boolean;
  view: ComponentType;
  load: () => Promise<unknown>;
};

/**
 * screen is a screen whose code is loaded when it is needed. One that is loaded already is drawn at once: a lazy component would show
 * that it waits first, and React then keeps that for 300 ms.
 */
function screen(load: () => Promise<{ default: ComponentType }>) {
  let loaded: ComponentType | undefined;
  const get = () => load().then((m) => ((loaded = m.default), m));
  const Later = lazy(get);
  const view = () => createElement(useState(() => loaded ?? Later)[0]);
  return { view, load: get };
}

export const screens: ScreenEntry[] = [
  { paths: ['/'], title: 'shell.home', icon: IconHome, key: 'h', ...screen(() => import('./home')) },
  {
    paths: ['/new'],
    title: 'shell.newRun',
    icon: IconPlayerPlay,
    key: 'n',
    changes: true,
    runs: true,
    ...screen(() => import('./newrun')),
  },
  { paths: ['/runs'], title: 'shell.runs', icon: IconHistory, key: 'r', ...screen(() => import('./runs')) },
  { paths: ['/runs/:id'], title: 'shell.runs', icon: IconHistory, hidden: true, ...screen(() => import('./runs/run')) },
  {
    paths: ['/runs/:id/case'],
    title: 'shell.runs',
    icon: IconHistory,
    hidden: true,
    ...screen(() => import('./runs/case')),
  },
  { paths: ['/compare'], title: 'shell.compare', icon: IconArrowsDiff, key: 'c', ...screen(() => import('./compare')) },
  {
    paths: ['/suites', '/suites/import', '/suites/:id'],
    title: 'shell.suites',
    icon: IconTools,
    key: 's',
    ...screen(() => import('./suites')),
  },
  {
    paths: ['/experiments', '/experiments/:id'],
    title: 'shell.experiments',
    icon: IconFlask,
    key: 'e',
    ...screen(() => import('./experiments')),
  },
  {
    paths: ['/judges', '/label', '/gold'],
    title: 'shell.judges',
    icon: IconGavel,
    key: 'l',
    ...screen(() => import('./judges')),
  },
  {
    paths: ['/lab', '/admin/tools/eval'],
    title: 'shell.lab',
    icon: IconListSearch,
    key: 'b',
    admin: true,
    changes: true,
    ...screen(() => import('./lab')),
  },
  { paths: ['/safety'], title: 'shell.safety', icon: IconShieldCheck, key: 'y', ...screen(() => import('./safety')) },
  {
    paths: ['/gates', '/gates/:id'],
    title: 'shell.gates',
    icon: IconGitPullRequest,
    key: 't',
    ...screen(() => import('./gates')),
  },
  {
    paths: ['/traces', '/traces/:id'],
    title: 'shell.traces',
    icon: IconRoute,
    key: 'x',
    ...screen(() => import('./traces')),
  },
  {
    paths: ['/jobs', '/jobs/:id'],
    title: 'shell.jobs',
    icon: IconListCheck,
    key: 'j',
    queue: true,
    ...screen(() => import('./jobs')),
  },
  {
    paths: ['/settings', '/settings/:tab'],
    title: 'shell.settings',
    icon: IconSettings,
    key: ',',
    changes: true,
    ...screen(() => import('./settings')),
  },
  {
    paths: ['/audit'],
    title: 'shell.audit',
    icon: IconListDetails,
    key: 'a',
    admin: true,
    changes: true,
    ...screen(() => import('./audit')),
  },
];

/** ahead begins to load the screen of an address, before it is known who is there. */
export function ahead(pathname: string) {
  void screens
    .find((s) => s.paths.some((p) => matchPath(p, pathname)))
    ?.load()
    .catch(() => {}); // the screen itself tells of it
}
