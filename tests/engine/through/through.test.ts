import { afterAll, beforeAll, it } from 'vitest'
import { onStage } from '../stage.ts'
import { play, settings, throughOn, type Through } from './scene.ts'

/* The commonest way in; `through.long.test.ts` has the table of all. */
onStage(
  'a banned address on its way in',
  [],
  scene => {
    let through: Through
    beforeAll(async () => {
      through = await throughOn(scene())
      await through.prepare()
    })
    afterAll(() => through.end())

    it('gets in by a rule that accepts its port before its ban is looked at, and the host says so', () =>
      play(through, {
        jail: 'ipt',
        does: 'iptables -w -I INPUT -p tcp --dport 8080 -j ACCEPT',
        mends: 'iptables -w -D INPUT -p tcp --dport 8080 -j ACCEPT',
        says: /^bans of jail ipt are not enforced: 198\.51\.100\.7 is banned, but \S+:8080 still answers its packets: the rule "INPUT -p tcp -m tcp --dport 8080 -j ACCEPT" stands in front$/,
      }))
  },
  settings,
)
