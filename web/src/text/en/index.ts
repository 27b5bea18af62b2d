// English: one file for each part of the page. Every text of the page is here.
import { common } from './common';
import { conversation } from './conversation';
import { results } from './results';
import { shell } from './shell';

export const en = { common, conversation, results, shell };
