import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** GitHub as far as a sign-in's browser sees it: one person, who agrees or does not. */
export const startGithub = async () => {
  const person = { id: 7, login: 'gina', agrees: true }
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const json = (body: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (url.pathname === '/login/oauth/authorize') {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '')
      back.searchParams.set('state', url.searchParams.get('state') ?? '')
      if (person.agrees) back.searchParams.set('code', randomUUID())
      else back.searchParams.set('error', 'access_denied')
      response.writeHead(302, { location: back.href }).end()
    } else if (url.pathname === '/login/oauth/access_token')
      json({ access_token: 'gh-token', token_type: 'bearer', scope: '' })
    else if (url.pathname === '/api/user/emails')
      json([{ email: `${person.login}@stockade.example`, primary: true, verified: true }])
    else json({ id: person.id, login: person.login })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    person,
    close: () => new Promise(resolve => server.close(resolve)),
  }
}
