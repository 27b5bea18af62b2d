// The rules for the source of the page: npm run lint.
import importX, { createNodeResolver } from 'eslint-plugin-import-x';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'screenshots/', 'src/api/schema.d.ts'] },
  tseslint.configs.recommended,
  {
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      // Prettier breaks code; longer lines are only comments, and texts that cannot be broken.
      'max-len': [
        'error',
        { code: 120, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true },
      ],
    },
  },
  {
    files: ['src/**'],
    ...importX.flatConfigs.typescript,
    plugins: { 'import-x': importX, 'react-hooks': reactHooks },
    settings: {
      ...importX.flatConfigs.typescript.settings,
      'import-x/resolver-next': [createNodeResolver({ extensions: ['.ts', '.tsx'] })],
    },
    rules: {
      'import-x/no-cycle': 'error',
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
    },
  },
  {
    files: ['src/**'],
    ignores: ['src/api/queries.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...[
          'Property[key.name="queryKey"] > ArrayExpression',
          'Property[key.name="queryKey"] > TSAsExpression',
          'CallExpression[callee.property.name=/QueryData$/] > ArrayExpression',
          'CallExpression[callee.property.name=/^(invalidate|refetch|reset|remove|cancel)Queries$/]',
          'MemberExpression[property.name="queryKey"]',
        ].map((selector) => ({ selector, message: 'Keys of queries and invalidations are in src/api/queries.ts.' })),
      ],
    },
  },
);
