import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readConfig } from '../config.ts'
import { certificateFindings } from './doctor-stock.ts'

const folder = mkdtempSync(join(tmpdir(), 'stockade-doctor-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('the doctor tells of a certificate that ends soon, has ended, or cannot be read', () => {
  const [cert, key] = [join(folder, 'tls.pem'), join(folder, 'tls.key')]
  const request =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 90 -subj /CN=stockade.example'
  execFileSync('openssl', [...request.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const config = readConfig({ STOCKADE_TLS_CERT: cert, STOCKADE_TLS_KEY: key })
  const saidIn = (days: number) => [...certificateFindings(config, Date.now() + days * 86_400_000)]
  expect(saidIn(1)).toMatchObject([{ state: 'ok', text: expect.stringMatching(/ends on \d{4}-\d\d-\d\d$/) }])
  expect(saidIn(77)).toMatchObject([{ state: 'warn', text: expect.stringContaining('renew it') }])
  expect(saidIn(91)).toMatchObject([{ state: 'fail', text: expect.stringContaining('it has ended') }])
  writeFileSync(cert, 'nothing')
  expect(saidIn(1)).toMatchObject([{ state: 'fail', text: expect.stringContaining("can't be read") }])
  expect([...certificateFindings(readConfig({}), Date.now())]).toEqual([])
})

test('the doctor tells why no certificate was fetched', () => {
  const dataDir = mkdtempSync(join(folder, 'acme-'))
  const env = { STOCKADE_TLS: 'acme', STOCKADE_BASE_URL: 'https://stockade.example', STOCKADE_DATA_DIR: dataDir }
  const findings = () => [...certificateFindings(readConfig(env), 7_200_000)]
  const missing = { state: 'warn', text: `${join(dataDir, 'acme.pem')} is not there yet; the server fetches it` }
  expect(findings()).toEqual([missing])
  const state = {
    directory: 'https://ca.example/dir',
    account: null,
    triedAt: 3_600_000,
    failures: 2,
    error: 'no name',
  }
  writeFileSync(join(dataDir, 'acme.json'), JSON.stringify(state))
  const failed = { state: 'warn', text: 'no certificate was fetched 1 h ago, the 2. try in a row: no name' }
  expect(findings()).toEqual([failed, missing])
  // What is no state of ours counts as none.
  writeFileSync(join(dataDir, 'acme.json'), '{"failures":"many"')
  expect(findings()).toEqual([missing])
})
