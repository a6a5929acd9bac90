import { expect, it } from 'vitest'
import type { SelfTestResult } from '@stockade/contract/command-types/self-test.ts'
import { carriedOut } from './scenarios.ts'
import { onStage } from './stage.ts'

onStage('the self-test on a real kernel', [], scene => {
  const run = async (): Promise<SelfTestResult & { success: boolean }> => {
    const { success, output } = await carriedOut(scene(), 'self-test', {})
    return { success, ...(JSON.parse(output) as SelfTestResult) }
  }
  /** What the test may have left behind on the host. */
  const leftovers = async (): Promise<string> => {
    const { host } = scene()
    const links = await host.inside('ip', 'link')
    const routes = await host.inside('ip', 'route')
    const rules = await host.inside('nft', 'list', 'table', 'inet', 'stockade_shield')
    const found = /stockprobe|192\.0\.2\.\d+|2001:db8:ffff:.*/
    return [links, routes, rules].map(text => found.exec(text)?.[0] ?? '').join('')
  }

  it('proves that a packet of a banned address is dropped, on both families, and leaves nothing behind', async () => {
    const { success, result, steps } = await run()
    expect({ success, result, steps }).toMatchObject({ success: true, result: 'proved' })
    expect(steps.map(({ family, step, ok }) => `${family} ${step} ${ok}`)).toEqual(
      [4, 6].flatMap(family => ['control', 'ban', 'drop', 'lift'].map(step => `${family} ${step} true`)),
    )
    // The kernel's own counter of the ban, not ours.
    expect(steps.filter(({ step }) => step === 'drop').map(({ text }) => text)).toEqual(
      [4, 6].map(() => expect.stringMatching(/; the kernel dropped [1-9]/)),
    )
    expect(await leftovers()).toBe('')
    expect(scene().server.rows.filter(({ ip }) => ip.startsWith('192.0.2.'))).toEqual([])
  })

  it('does not claim more than it saw where the firewall of the host lets no test packet in', async () => {
    const { host } = scene()
    const closed = 'add table inet closed; add chain inet closed in { type filter hook input priority 0; policy drop; }'
    await host.inside('nft', `${closed}; add rule inet closed in iifname != "stockprobe" accept`)
    try {
      const { success, result, steps } = await run()
      expect({ success, result }).toEqual({ success: true, result: 'held' })
      expect(steps.filter(({ step }) => step === 'control')).toMatchObject([{ ok: null }, { ok: null }])
      expect(steps.some(({ step }) => step === 'drop')).toBe(false)
    } finally {
      await host.inside('nft', 'delete', 'table', 'inet', 'closed')
    }
  })

  it('says why where the whitelist covers its addresses', async () => {
    scene().server.whitelist(['192.0.2.0/24'])
    await expect
      .poll(async () => (await carriedOut(scene(), 'self-test', {})).output)
      .toContain('the whitelist covers the addresses of the test')
  })
})
