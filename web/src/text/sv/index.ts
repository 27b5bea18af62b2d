// Swedish: one file for each part of the page, and the sentences of the server.
import { audit } from './audit';
import { common } from './common';
import { conversation } from './conversation';
import { experiments } from './experiments';
import { gates } from './gates';
import { gold } from './gold';
import { home } from './home';
import { jobs } from './jobs';
import { judges } from './judges';
import { lab } from './lab';
import { newrun } from './newrun';
import { results } from './results';
import { safety } from './safety';
import { settings } from './settings';
import { shell } from './shell';
import { suites } from './suites';
import toldApi from './told/api.json';
import toldLab from './told/lab.json';
import toldRun from './told/run.json';
import toldSuites from './told/suites.json';
import { traces } from './traces';
import type { en } from '../en';

export const sv: typeof en = {
  audit,
  common,
  conversation,
  experiments,
  gates,
  gold,
  home,
  jobs,
  judges,
  lab,
  newrun,
  results,
  safety,
  settings,
  shell,
  suites,
  traces,
};

/** What the server says in English, with the Swedish for it. */
export const table: string[][] = [...toldLab, ...toldApi, ...toldSuites, ...toldRun];
