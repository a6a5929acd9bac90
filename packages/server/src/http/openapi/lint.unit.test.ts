import { fileURLToPath } from 'node:url'
import { lintFromString, loadConfig } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
import { endpoints } from '@stockade/contract'
import { openApiOf } from './document.ts'

const configPath = fileURLToPath(new URL('../../../../../redocly.yaml', import.meta.url))
const problemsOf = async (document: object): Promise<string[]> => {
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: 'openapi.json',
    config: await loadConfig({ configPath }),
  })
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`)
}

test('the linter has nothing to say of the OpenAPI document', async () => {
  const document = openApiOf(endpoints, '1.2.3', 'https://stockade.example')
  expect(await problemsOf(document)).toEqual([])
  // The same rules find what is wrong.
  expect((await problemsOf({ ...document, servers: [] })).join()).toContain('no-empty-servers')
})
