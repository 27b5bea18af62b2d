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
import serverApi from './server/api.json';
import serverLab from './server/lab.json';
import serverRun from './server/run.json';
import serverSuites from './server/suites.json';
import { traces } from './traces';
import { tune } from './tune';
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
  tune,
};

/** Sentences of the server in English, each with its Swedish translation. */
export const table: string[][] = [...serverLab, ...serverApi, ...serverSuites, ...serverRun];
