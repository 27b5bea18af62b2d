// English: one file for each part of the page. Every text of the page is here.
import { common } from './common';
import { conversation } from './conversation';
import { lab } from './lab';
import { results } from './results';
import { shell } from './shell';

export const en = { common, conversation, lab, results, shell };
