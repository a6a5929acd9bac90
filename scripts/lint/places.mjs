/**
 * Where code belongs that breaks a bound, by the rule; said once, below all messages.
 */
export const places = {
  'max-lines':
    'Split the file by subject: one noun a file, SQL into the *.store.ts, parts of a service beside it (ARCHITECTURE.md, "A feature").',
  complexity:
    'Turn a chain of cases into a table, and move each branch with a name of its own into a function beside it.',
  'own-lines':
    'Move each step with a name of its own into a function beside it, and a group of methods into a file of its own.',
}
