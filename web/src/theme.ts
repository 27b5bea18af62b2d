import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

// One accent. Its shade 6 has a contrast of 5.6 on white; shade 4 is the accent on dark ground.
const accent: MantineColorsTuple = [
  '#eef2ff',
  '#dfe6fd',
  '#bccbfa',
  '#94acf6',
  '#7390f3',
  '#5c7df0',
  '#3b5bdb',
  '#3350c4',
  '#2b44ab',
  '#1f3587',
];
// Cool greys for the dark theme, from text to ground.
const dark: MantineColorsTuple = [
  '#d5d9e0',
  '#b8bec9',
  '#949cab',
  '#6d7686',
  '#434b5a',
  '#343b48',
  '#262c37',
  '#1c212a',
  '#151920',
  '#0f1217',
];

export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: 6,
  colors: { accent, dark },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  defaultRadius: 'md',
  cursorType: 'pointer',
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.5rem', lineHeight: '1.25' },
      h2: { fontSize: '1.125rem', lineHeight: '1.35' },
      h3: { fontSize: '1rem', lineHeight: '1.4' },
    },
  },
  components: {
    Button: { defaultProps: { size: 'sm' } },
    Table: { defaultProps: { verticalSpacing: 6, horizontalSpacing: 'sm' } },
    Tooltip: { defaultProps: { openDelay: 350, withArrow: true } },
    Badge: {
      defaultProps: { radius: 'sm', variant: 'light' },
      styles: { root: { textTransform: 'none', fontWeight: 600, minWidth: 'max-content', flexShrink: 0 } },
    },
  },
});

/** Colours with a meaning, one set for each theme; every text colour has a contrast of 4.5 or more on its ground. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5c6470',
    '--cv-pass': '#187a3a',
    '--cv-pass-ground': '#e6f5ea',
    '--cv-fail': '#b3261e',
    '--cv-fail-ground': '#fdecea',
    '--cv-error': '#8a5a00',
    '--cv-error-ground': '#fdf3dc',
    '--cv-none': '#5c6470',
    '--cv-none-ground': '#eef0f3',
    '--cv-line': '#dfe3e8',
    '--cv-ground': '#f7f8fa',
    '--cv-card': '#ffffff',
    '--cv-mark': '#3b5bdb',
    '--cv-added': '#e6f5ea',
    '--cv-removed': '#fdecea',
  },
  dark: {
    '--mantine-color-dimmed': '#9aa3b2',
    '--mantine-color-body': '#12151b',
    '--mantine-color-anchor': '#94acf6',
    '--cv-pass': '#6ccf8c',
    '--cv-pass-ground': '#16301f',
    '--cv-fail': '#ff8f87',
    '--cv-fail-ground': '#3a1a19',
    '--cv-error': '#f0bd5b',
    '--cv-error-ground': '#35290f',
    '--cv-none': '#9aa3b2',
    '--cv-none-ground': '#232933',
    '--cv-line': '#2b323e',
    '--cv-ground': '#12151b',
    '--cv-card': '#191d25',
    '--cv-mark': '#94acf6',
    '--cv-added': '#16301f',
    '--cv-removed': '#3a1a19',
  },
});
