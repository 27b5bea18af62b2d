// English: one file for each part of the page. Every text of the page is here.
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
import { traces } from './traces';
import { tune } from './tune';

export const en = {
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
