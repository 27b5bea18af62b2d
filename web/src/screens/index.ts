// The list of screens: address, permission, and the key that opens it (after g).
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
  /** Patterns of the router; the navigation leads to the first. */
  paths: string[];
  title: TextKey;
  icon: typeof IconHome;
  key?: string;
  /** Only admins see it. */
  admin?: boolean;
  /** It is not in the navigation. */
  hidden?: boolean;
  /** It changes data: it is missing where the store is read-only. */
  changes?: boolean;
  /** It needs the queue, which a read-only store does not have: no link leads there. */
  queue?: boolean;
  /** It starts runs: no link leads there for users without that permission. */
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
