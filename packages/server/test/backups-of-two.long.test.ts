import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { engine, eventually, freshDatabase, spawnServer } from '../src/testing/index.ts'

test.runIf(engine === 'postgres')('of two processes one makes the backup, and both know of it', async () => {
  const database = await freshDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'stockade-scheduled-'))
  const backups = join(folder, 'backups')
  const options = {
    dataDir: join(folder, 'data'),
    databaseUrl: database?.url ?? '',
    env: { STOCKADE_BACKUP_DIR: backups },
  }
  const one = await spawnServer(options)
  const { client } = await one.setUp()
  const two = await spawnServer(options)
  try {
    const entries = async (action: string) => (await client.call('GET /settings/audit', { query: { action } })).entries
    // A process of low priority does the work: on a busy machine it takes its time.
    await eventually(async () => expect(await entries('backup.verify')).toHaveLength(1))
    for (const { url } of [one, two])
      await eventually(async () => {
        const text = await (await fetch(`${url}/metrics`)).text()
        expect(Number(/^stockade_backup_verified_timestamp_seconds (\S+)$/m.exec(text)?.[1])).toBeGreaterThan(0)
      })
    expect(await entries('backup.create')).toHaveLength(1)
    expect(readdirSync(backups)).toHaveLength(1)
  } finally {
    await one.close()
    await two.close()
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  }
})
