import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { afterEach, expect, test, vi } from 'vitest'
import { begins, curlOf, noting, requestsOf } from './requests.ts'

afterEach(() => vi.unstubAllGlobals())

test('the requests of what is on screen are known, of the latest reading, and no others', async () => {
  vi.stubGlobal('fetch', async () => new Response('{}'))
  const queries = new QueryClient()
  queries.getQueryCache().subscribe(event => {
    if (event.type === 'updated' && event.action.type === 'fetch') begins(event.query)
  })
  const get = (url: string) => noting(url).then(reply => reply.json() as Promise<object>)
  let page = 1
  const observe = (key: string, queryFn: () => Promise<object>) => {
    const observer = new QueryObserver(queries, { queryKey: [key], queryFn })
    return observer.subscribe(() => {})
  }
  const all = () => requestsOf(queries.getQueryCache().getAll())
  observe('bans', () => get(`https://stockade.example/api/v1/bans?page=${page}`))
  observe('me', () => get('https://stockade.example/api/v1/auth/me'))
  const leave = observe('servers', () => get('https://stockade.example/api/v1/servers'))
  await expect.poll(all).toHaveLength(2)
  // Not read for a query, and not a reading.
  await get('https://stockade.example/api/v1/health')
  await noting('https://stockade.example/api/v1/whitelist', { method: 'POST' })
  leave()
  expect(all()).toEqual(['https://stockade.example/api/v1/bans?page=1'])
  page = 2
  await queries.refetchQueries({ queryKey: ['bans'] })
  expect(all()).toEqual(['https://stockade.example/api/v1/bans?page=2'])
})

test('a line for a shell holds nothing that ends its quotes', () => {
  expect(curlOf("https://stockade.example/api/v1/bans?q=a'b")).toBe(
    `curl -sS -H "Authorization: Bearer $STOCKADE_API_KEY" 'https://stockade.example/api/v1/bans?q=a%27b'`,
  )
})
