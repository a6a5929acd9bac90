import type { EngineConfig } from '../../engine/config.ts'
import { sharedAge } from '../../engine/engine.ts'
import type { Engine } from '../../engine/engine.ts'
import { ownJail } from '../../engine/own-files.ts'
import { bad, ok } from '../model.ts'
import type { Check } from '../model.ts'

/** Whether each jail runs that the configuration enables. A jail that an operator disabled is disabled there too. */
export const jailCheck = (needs: { engine: Pick<Engine, 'jails'>; config: Pick<EngineConfig, 'jails'> }): Check => {
  let expected: readonly string[] = []
  return {
    id: 'jail',
    every: 5000,
    badAfter: 15_000,
    looks: 3,
    needsEngine: true,
    async look() {
      const running = await needs.engine.jails(sharedAge)
      // A configuration that cannot be read is the finding of another check.
      const configured = await needs.config.jails().catch(() => null)
      if (configured !== null) expected = configured.filter(({ enabled }) => enabled).map(({ name }) => name)
      const missing = expected.filter(name => !running.includes(name))
      const isWatching = running.some(name => name !== ownJail)
      return [
        isWatching ? ok(null) : bad(null, 'no jail runs: fail2ban watches no log of this server'),
        ...running.map(ok),
        ...missing.map(name => bad(name, `jail ${name} is enabled in the configuration but does not run`)),
      ]
    },
  }
}
