import { Box } from '@mantine/core';
import type { ReactNode } from 'react';

/** Scroll is a place for something wide, such as a table, which the keyboard can move, too. */
export function Scroll({ label, height, children }: { label: string; height?: number; children: ReactNode }) {
  return (
    <Box className="scroll-x" mah={height} style={height ? { overflowY: 'auto' } : undefined} tabIndex={0} role="region" aria-label={label}>
      {children}
    </Box>
  );
}
