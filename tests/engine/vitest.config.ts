import { defineConfig } from 'vitest/config'

/** Real hosts are slow to ban (fail2ban looks about once a second), and each test file has its own. */
export default defineConfig({
  test: { include: ['*.test.ts'], dir: import.meta.dirname, testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 3 },
})
