import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { engine, spawnServer } from '../src/testing/index.ts'

test.runIf(engine === 'sqlite')(
  'a data folder is used by one server at a time, until it ends, however it ends',
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'stockade-folder-'))
    const first = await spawnServer({ dataDir })
    try {
      await expect(spawnServer({ dataDir })).rejects.toThrow(/another server already uses the data folder/)
      expect((await fetch(`${first.url}/ready`)).status).toBe(200)
      await first.kill()
      const second = await spawnServer({ dataDir })
      await second.stop()
      const third = await spawnServer({ dataDir })
      await third.close()
    } finally {
      await first.close()
      rmSync(dataDir, { recursive: true, force: true })
    }
  },
)
