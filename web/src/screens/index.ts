// The list of screens: where each is, who sees it, and the key that goes to it (g, then the key).
import {
  IconAdjustments,
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
import type { ComponentType } from 'react';
import { matchPath } from 'react-router';
import type { TextKey } from '../text';
import { lazyScreen } from './lazy';
import { caseScreen } from './runs/casescreen';

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

export const screens: ScreenEntry[] = [
  { paths: ['/'], title: 'shell.home', icon: IconHome, key: 'h', ...lazyScreen(() => import('./home')) },
  {
    paths: ['/new'],
    title: 'shell.newRun',
    icon: IconPlayerPlay,
    key: 'n',
    changes: true,
    runs: true,
    ...lazyScreen(() => import('./newrun')),
  },
  { paths: ['/runs'], title: 'shell.runs', icon: IconHistory, key: 'r', ...lazyScreen(() => import('./runs')) },
  {
    paths: ['/runs/:id'],
    title: 'shell.runs',
    icon: IconHistory,
    hidden: true,
    ...lazyScreen(() => import('./runs/run')),
  },
  {
    paths: ['/runs/:id/case'],
    title: 'shell.runs',
    icon: IconHistory,
    hidden: true,
    ...caseScreen,
  },
  {
    paths: ['/compare'],
    title: 'shell.compare',
    icon: IconArrowsDiff,
    key: 'c',
    ...lazyScreen(() => import('./compare')),
  },
  {
    paths: ['/suites', '/suites/import', '/suites/:id'],
    title: 'shell.suites',
    icon: IconTools,
    key: 's',
    ...lazyScreen(() => import('./suites')),
  },
  {
    paths: ['/experiments', '/experiments/:id'],
    title: 'shell.experiments',
    icon: IconFlask,
    key: 'e',
    ...lazyScreen(() => import('./experiments')),
  },
  {
    paths: ['/tune', '/tune/new', '/tune/:id'],
    title: 'shell.tune',
    icon: IconAdjustments,
    key: 'u',
    ...lazyScreen(() => import('./tune')),
  },
  {
    paths: ['/judges', '/label', '/gold'],
    title: 'shell.judges',
    icon: IconGavel,
    key: 'l',
    ...lazyScreen(() => import('./judges')),
  },
  {
    paths: ['/lab', '/admin/tools/eval'],
    title: 'shell.lab',
    icon: IconListSearch,
    key: 'b',
    admin: true,
    changes: true,
    ...lazyScreen(() => import('./lab')),
  },
  {
    paths: ['/safety'],
    title: 'shell.safety',
    icon: IconShieldCheck,
    key: 'y',
    ...lazyScreen(() => import('./safety')),
  },
  {
    paths: ['/gates', '/gates/:id'],
    title: 'shell.gates',
    icon: IconGitPullRequest,
    key: 't',
    ...lazyScreen(() => import('./gates')),
  },
  {
    paths: ['/traces', '/traces/:id'],
    title: 'shell.traces',
    icon: IconRoute,
    key: 'x',
    ...lazyScreen(() => import('./traces')),
  },
  {
    paths: ['/jobs', '/jobs/:id'],
    title: 'shell.jobs',
    icon: IconListCheck,
    key: 'j',
    queue: true,
    ...lazyScreen(() => import('./jobs')),
  },
  {
    paths: ['/settings', '/settings/:tab'],
    title: 'shell.settings',
    icon: IconSettings,
    key: ',',
    changes: true,
    ...lazyScreen(() => import('./settings')),
  },
  {
    paths: ['/audit'],
    title: 'shell.audit',
    icon: IconListDetails,
    key: 'a',
    admin: true,
    changes: true,
    ...lazyScreen(() => import('./audit')),
  },
];

/** prefetchScreen loads the code of the screen at an address. */
export function prefetchScreen(pathname: string) {
  void screens
    .find((s) => s.paths.some((p) => matchPath(p, pathname)))
    ?.load()
    .catch(() => {}); // the screen itself shows the error
}
