// The code editor is a large library: it is loaded when the first editor is shown.
import { Box, Textarea } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { EditorProps } from './editor';
import common from './common.module.css';

const Editor = lazy(() => import('./editor'));

/** CodeEditor is an editor for JSON and YAML with marks of the linter. */
export function CodeEditor(p: EditorProps) {
  return (
    <Suspense fallback={<Textarea aria-label={p.label} value={p.value} readOnly rows={8} />}>
      <Box className={common.card} style={{ overflow: 'hidden' }}>
        <Editor {...p} />
      </Box>
    </Suspense>
  );
}
