// The code editor is a large library: it is loaded when the first one is shown.
import { Box, Textarea } from '@mantine/core';
import { lazy, Suspense } from 'react';

/** A mark in a text: line and column count from 1; both are 0 where the place is not known. */
export type Mark = { line: number; column: number; severity: 'error' | 'warning'; text: string };

export type CodeProps = {
  label: string;
  value: string;
  onChange?: (text: string) => void;
  language?: 'json' | 'yaml' | 'text';
  marks?: Mark[];
  height?: number | string;
  readOnly?: boolean;
  /** Words that are offered while typing, with what they mean. */
  words?: { label: string; detail?: string }[];
  /** Where the cursor goes; another object goes there again. */
  at?: { line: number; column: number };
};

const Editor = lazy(() => import('./editor'));

/** Code is an editor for JSON and YAML with marks of the linter. */
export function Code(p: CodeProps) {
  return (
    <Suspense fallback={<Textarea aria-label={p.label} value={p.value} readOnly rows={8} />}>
      <Box className="card" style={{ overflow: 'hidden' }}>
        <Editor {...p} />
      </Box>
    </Suspense>
  );
}
