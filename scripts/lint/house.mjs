import { ownLines } from './own-lines.mjs'

/** A rule that refuses each node that one of the selectors names. */
const refuse = (message, ...selectors) => ({
  create: context =>
    Object.fromEntries(selectors.map(selector => [selector, node => context.report({ node, message })])),
})

/* The rules of this house that oxlint does not bring: a plugin of it (.oxlintrc.json). */
export default {
  meta: { name: 'house' },
  rules: {
    'own-lines': ownLines,
    'sql-in-stores': refuse(
      'SQL belongs into the *.store.ts of its feature: routes call the service, the service calls the store (ARCHITECTURE.md, "A feature").',
      'MemberExpression[property.name=/^(selectFrom|insertInto|updateTable|deleteFrom|replaceInto|mergeInto)$/]',
      'ImportDeclaration[importKind="value"][source.value="kysely"]',
    ),
    'frozen-migrations': refuse(
      'A migration is history and imports nothing that can change: copy the value into the migration. Live code belongs to a feature.',
      // The first schema is one migration in several files.
      ...[
        'ImportDeclaration[importKind="value"]',
        'ExportNamedDeclaration[exportKind="value"]',
        'ExportAllDeclaration',
      ].map(kind => `${kind}[source.value=/^(@stockade\\/|\\.\\.\\/|\\.\\/(?!0001-schema\\/|column-types\\.ts))/]`),
    ),
    'arrow-functions': refuse('Write an arrow function.', 'FunctionDeclaration'),
    'type-imports': refuse(
      'Write a separate "import type".',
      'ImportDeclaration[importKind="value"] > ImportSpecifier[importKind="type"]',
    ),
    'camel-case': refuse(
      'Write constants in camelCase.',
      'VariableDeclaration:not([declare=true]) > VariableDeclarator[id.name=/^[A-Z][A-Z0-9_]+$/]',
    ),
    'noun-names': refuse(
      'Name what the value is: a participle alone says what was done (docs/STYLE.md, rule 8).',
      'VariableDeclarator[id.name=/^(found|known|told|made|said|asked|given|kept|held|seen|shown|wanted|taken|named)$/]',
    ),
    'named-interfaces': refuse(
      'Name the interface.',
      'TSTypeAliasDeclaration > TSTypeReference[typeName.name="ReturnType"]',
    ),
  },
}
