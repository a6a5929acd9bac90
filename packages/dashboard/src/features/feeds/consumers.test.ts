import { expect, test } from 'vitest'
import { consumerNames, consumers, snippetOf } from './consumers.ts'

const url = 'https://stockade.example/api/v1/feeds/feed_abc'

test('each program has lines that fetch the feed in its own format', () => {
  for (const consumer of consumers.filter(name => name !== 'bouncer')) {
    const format = consumer === 'curl' ? 'plain' : consumer
    const text = snippetOf(consumer, url)
    expect(text, consumer).toContain(`${url}?format=${format}`)
    expect(consumerNames[consumer]).not.toBe('')
  }
})

test('a shell gets the URL in quotes, because it holds an ampersand', () => {
  for (const consumer of consumers.filter(name => name !== 'mikrotik' && name !== 'bouncer'))
    expect(snippetOf(consumer, url), consumer).toMatch(/'https:\/\/stockade\.example\/api\/v1\/feeds\/feed_abc\?[^']+'/)
})

test('a bouncer gets the base of the protocol and the token', () => {
  expect(snippetOf('bouncer', url)).toBe('api_url: https://stockade.example/api/v1/crowdsec/\napi_key: feed_abc')
  expect(snippetOf('bouncer', 'FEED')).toContain('api_key: TOKEN')
})
