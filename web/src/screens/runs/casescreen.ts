import { lazyScreen } from '../lazy';

/** The screen of a case. The list of attempts loads it before a row is opened. */
export const caseScreen = lazyScreen(() => import('./case'));
