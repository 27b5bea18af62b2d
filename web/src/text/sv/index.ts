// Swedish: the selection lab and what stands around it, and the sentences of the server.
import { common } from './common';
import { lab } from './lab';
import { shell } from './shell';
import toldApi from './told/api.json';
import toldLab from './told/lab.json';
import toldRun from './told/run.json';
import toldSuites from './told/suites.json';

export const sv = {
  common,
  lab,
  shell,
};

/** What the server says in English, with the Swedish for it. */
export const table: string[][] = [...toldLab, ...toldApi, ...toldSuites, ...toldRun];
