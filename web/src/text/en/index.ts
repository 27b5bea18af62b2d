// English: one file for each part of the page. Every text of the page is here.
import { common } from './common';
import { conversation } from './conversation';
import { experiments } from './experiments';
import { gates } from './gates';
import { home } from './home';
import { jobs } from './jobs';
import { judges } from './judges';
import { lab } from './lab';
import { newrun } from './newrun';
import { results } from './results';
import { shell } from './shell';

export const en = {
  common,
  conversation,
  experiments,
  gates,
  home,
  jobs,
  judges,
  lab,
  newrun,
  results,
  shell,
};
