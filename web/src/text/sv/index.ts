// Swedish, for the selection lab and what stands around it.
import { common } from './common';
import { shell } from './shell';

export const sv = { common, shell };
