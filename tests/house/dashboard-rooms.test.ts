import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/*
 * The rooms of the dashboard: app -> features -> kit -> api -> lib. A feature uses another one only through the files that
 * the other one offers here. A list instead of an `index.ts` in each feature: a barrel file would pull the styles of a
 * whole feature into every page that needs one function of it.
 */
const floors = ['lib', 'api', 'kit', 'features', 'app'] as const

const offered: Readonly<Record<string, readonly string[]>> = {
  'agent-address': ['address-panel.tsx', 'agent-address.texts.ts'],
  'add-server': ['rotate-key.tsx'],
  audit: ['audit.texts.ts', 'filter.ts'],
  bans: [
    'ban-dialog.tsx',
    'bans-list.ts',
    'bans-rows.tsx',
    'filter.ts',
    'load-over-time.ts',
    'narrowing.tsx',
    'part-value.tsx',
    'reason.tsx',
  ],
  commands: [
    'approve.tsx',
    'commands.tsx',
    'narrowing.tsx',
    'rows.ts',
    'run-dialog.tsx',
    'ssh-question.tsx',
    'table.tsx',
  ],
  fleet: [
    'bars.tsx',
    'batch.ts',
    'check-chain.tsx',
    'check-strip.tsx',
    'command-progress.tsx',
    'fleet-bans.ts',
    'fleet.module.css',
    'fleet.texts.ts',
    'health.ts',
    'held.module.css',
    'held.tsx',
    'palisade.tsx',
    'picks.tsx',
    'protection.tsx',
    'queries.ts',
    'receipt.ts',
    'receipts.tsx',
    'said-words.ts',
    'said.ts',
    'self-test.tsx',
    'server-states.tsx',
    'ssh-asked.ts',
    'sync.ts',
    'tag-words.ts',
    'tags-field.tsx',
    'target-choice.tsx',
    'targets.texts.ts',
    'took.ts',
    'undo.ts',
  ],
  'fleet-bans': ['fleet-bans.tsx', 'fleet-bans.texts.ts'],
  identity: [
    'add-passkey.tsx',
    'backup-codes.tsx',
    'browser-words.ts',
    'choices.tsx',
    'code-field.tsx',
    'dialogs.ts',
    'enrolment.tsx',
    'identity.module.css',
    'identity.texts.ts',
    'keys.tsx',
    'limits.texts.ts',
    'list-page.tsx',
    'new-password.tsx',
    'passkey-button.tsx',
    'passkeys.texts.ts',
    'passkeys.ts',
    'queries.ts',
    'role-choice.tsx',
    'sections.tsx',
    'server-choice.tsx',
    'sessions.tsx',
  ],
  ip: ['unban-address.tsx'],
  navigation: ['lone-pages.tsx', 'places.ts', 'shell.texts.ts'],
  server: ['guard.texts.ts'],
  servers: ['narrowing.tsx'],
  'set-up': ['password-rules.tsx', 'rules.ts'],
  settings: [
    'delivery-test.tsx',
    'notifications.texts.ts',
    'pro-needed.tsx',
    'save-file.ts',
    'settings.texts.ts',
    'typed.ts',
  ],
  siem: ['siem.texts.ts'],
  'sign-in': ['entry.module.css', 'entry.tsx', 'password-field.tsx'],
  templates: ['for-servers.ts', 'preview-dialog.tsx', 'preview.texts.ts'],
  whitelist: ['add-dialog.tsx', 'end-choice.tsx', 'ends.texts.ts', 'ends.ts', 'lines.ts', 'sync-panel.tsx'],
  blocklists: ['blocklists.tsx', 'blocklists.texts.ts'],
  'sharing-rules': ['rules.tsx', 'sharing-rules.texts.ts'],
}

const source = fileURLToPath(new URL('../../packages/dashboard/src/', import.meta.url))
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  path => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path),
)
const imports = files.flatMap(from =>
  [...readFileSync(join(source, from), 'utf8').matchAll(/(?:from|import|import\()\s*'(\.[^']+)'/g)].map(
    ([, target = '']) => ({ from, to: relative(source, resolve(dirname(join(source, from)), target)) }),
  ),
)
const floorOf = (path: string) => floors.findIndex(floor => path.startsWith(`${floor}/`))
const featureOf = (path: string) => /^features\/([\w-]+)\//.exec(path)?.[1]

test('every file stands in a room', () => {
  expect(imports.length).toBeGreaterThan(1000)
  expect(
    files.filter(path => floorOf(path) < 0),
    'Put it into app/, features/<noun>/, kit/, api/ or lib/.',
  ).toEqual([])
})

test('arrows point down', () => {
  expect(
    imports.filter(({ from, to }) => floorOf(to) > floorOf(from)).map(({ from, to }) => `${from} -> ${to}`),
    'Move what both need to the lower room, or hand it down as a property.',
  ).toEqual([])
})

test('a feature uses another one only through the files that it offers', () => {
  const crossing = imports.filter(({ from, to }) => {
    const [user, used] = [featureOf(from), featureOf(to)]
    return user !== undefined && used !== undefined && user !== used
  })
  expect(
    crossing
      .filter(({ to }) => !offered[featureOf(to) ?? '']?.includes(to.split('/').slice(2).join('/')))
      .map(({ from, to }) => `${from} -> ${to}`),
    'Offer the file in this test, or move what both need to kit/ or lib/.',
  ).toEqual([])
  const used = new Set(crossing.map(({ to }) => to))
  expect(
    Object.entries(offered).flatMap(([feature, names]) =>
      names.map(name => `features/${feature}/${name}`).filter(path => !used.has(path)),
    ),
    'No other feature uses it: take it from the list.',
  ).toEqual([])
})
