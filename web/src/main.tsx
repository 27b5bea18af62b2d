import '@mantine/core/styles.layer.css';
import '@mantine/notifications/styles.layer.css';
import '@mantine/spotlight/styles.layer.css';
import './ui/base.css';

import { createRoot } from 'react-dom/client';
import { setNonce } from 'get-nonce';
import { App, initialLanguage } from './app';
import { nonce } from './nonce';
import { prefetchScreen } from './screens';
import { loadTexts } from './text';

setNonce(nonce()); // for the styles that open dialogs set

prefetchScreen(location.pathname);
const root = document.getElementById('root');
if (!root) throw new Error('the page has no root');
void loadTexts(initialLanguage())
  .catch(() => {}) // without them the texts are English
  .finally(() => createRoot(root).render(<App />));
