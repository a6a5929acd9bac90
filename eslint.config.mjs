import ts from 'typescript-eslint'
import { ownLines } from './scripts/lint/own-lines.mjs'

/* The bounds and places of this house. What holds for any TypeScript is in .oxlintrc.json: oxlint needs a hundredth of the time. */
export default ts.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      'packages/!(agent)/**/*.test.{ts,tsx}',
      'packages/dashboard/src/**/texts/**',
      '**/*.texts.ts',
    ],
  },
  {
    files: ['packages/*/src/**/*.{ts,tsx}', 'packages/agent/**/*.ts'],
    languageOptions: { parser: ts.parser },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { '@typescript-eslint': ts.plugin },
  },
  /*
   * Bounds. What is over one of them says why in a comment. `scripts/lint/places.mjs` says where the code belongs.
   */
  {
    files: ['packages/*/src/**/*.{ts,tsx}'],
    ignores: ['**/*.test.{ts,tsx}', 'packages/dashboard/src/**/texts/**', '**/*.texts.ts'],
    rules: {
      'max-lines': ['error', 400],
      complexity: ['error', 15],
    },
  },
  {
    files: ['packages/{contract,client,agent,cli,server,dashboard}/src/**/*.{ts,tsx}'],
    ignores: ['**/*.test.{ts,tsx}', 'packages/dashboard/src/**/*.texts.ts', 'packages/dashboard/src/**/texts/**'],
    plugins: { house: { rules: { 'own-lines': ownLines } } },
    rules: { 'house/own-lines': ['error', { max: 60 }] },
  },
  { files: ['packages/contract/src/**/*.ts'], rules: { 'max-lines': ['error', 600] } },
  {
    files: ['packages/server/src/{features,http,core,app,outgoing}/**/*.ts'],
    ignores: ['**/*.store.ts', '**/*.{sqlite,postgres}.ts', '**/*.test.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...[
          'MemberExpression[property.name=/^(selectFrom|insertInto|updateTable|deleteFrom|replaceInto|mergeInto)$/]',
          'ImportDeclaration[importKind="value"][source.value="kysely"]',
        ].map(selector => ({
          selector,
          message:
            'SQL belongs into the *.store.ts of its feature: routes call the service, the service calls the store (ARCHITECTURE.md, "A feature").',
        })),
      ],
    },
  },
  {
    files: ['packages/server/src/db/migrations/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              // The first schema is one migration in several files.
              regex: '^(@stockade/|\\.\\./|\\./(?!0001-schema/|column-types\\.ts))',
              allowTypeImports: true,
              message:
                'A migration is history and imports nothing that can change: copy the value into the migration. Live code belongs to a feature.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['packages/agent/**/*.ts'],
    rules: {
      'arrow-body-style': 'error',
      'max-lines': ['error', 400],
      'no-restricted-syntax': [
        'error',
        { selector: 'FunctionDeclaration', message: 'Write an arrow function.' },
        {
          selector: 'ImportDeclaration[importKind="value"] > ImportSpecifier[importKind="type"]',
          message: 'Write a separate "import type".',
        },
        {
          selector: 'VariableDeclaration:not([declare=true]) > VariableDeclarator[id.name=/^[A-Z][A-Z0-9_]+$/]',
          message: 'Write constants in camelCase.',
        },
        {
          selector: 'TSTypeAliasDeclaration > TSTypeReference[typeName.name="ReturnType"]',
          message: 'Name the interface.',
        },
      ],
    },
  },
)
