// Swedish, for the selection lab and what stands around it.
import { common } from './common';
import { lab } from './lab';
import { shell } from './shell';

export const sv = {
  common,
  lab,
  shell,
};
