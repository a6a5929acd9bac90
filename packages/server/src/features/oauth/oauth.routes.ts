import { stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { auth, settings as settingsContract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import { setSessionCookie, visitor } from '../sessions/sessions.routes.ts'
import type { OauthService, RefusedSignIn } from './oauth.service.ts'
import type { ProviderSettings } from './providers.settings.ts'
import type { ProviderId } from './providers.ts'

const cookie = 'stockade_oauth'

export const mountOauth = (
  http: Http,
  oauth: OauthService,
  settings: ProviderSettings,
  baseUrl: () => string,
): void => {
  const page = (path: string) => `${baseUrl()}${path}`
  /** Ties the answer of the provider to the browser that asked; an empty value takes it away. */
  const setCookie = (reply: FastifyReply, value: string) =>
    reply.header(
      'set-cookie',
      stringifySetCookie({
        name: cookie,
        value,
        path: '/',
        httpOnly: true,
        sameSite: 'lax',
        secure: baseUrl().startsWith('https:'),
        maxAge: value ? 600 : 0,
      }),
    )

  const refusedPage = ({ error, seconds }: RefusedSignIn) => {
    const query = new URLSearchParams({ error, ...(seconds === null ? {} : { seconds: String(seconds) }) })
    return page(`/login?${query.toString()}`)
  }
  const begin = async (id: ProviderId, reply: FastifyReply) => {
    const begun = await oauth.begin(id)
    if ('error' in begun) return reply.redirect(refusedPage(begun), 302)
    return setCookie(reply, begun.browser).redirect(begun.location, 302)
  }
  const finish = async (id: ProviderId, request: FastifyRequest, reply: FastifyReply) => {
    const returned = new URL(request.url, 'http://localhost')
    const actor = await http.identify(request)
    const current = request.byCookie && actor.kind === 'user' ? actor : null
    const signIn = await oauth.finish(id, returned, http.cookiesOf(request)[cookie], visitor(request), current)
    setCookie(reply, '')
    if (signIn === 'proved') return reply.redirect(page('/'), 302)
    if ('error' in signIn) return reply.redirect(refusedPage(signIn), 302)
    setSessionCookie(reply, signIn.cookie, baseUrl())
    return reply.redirect(page('/'), 302)
  }
  http.serve(auth.startProviderA, ({ reply }) => begin('provider_a', reply))
  http.serve(auth.finishProviderA, ({ request, reply }) => finish('provider_a', request, reply))
  http.serve(auth.startProviderB, ({ reply }) => begin('provider_b', reply))
  http.serve(auth.finishProviderB, ({ request, reply }) => finish('provider_b', request, reply))
  http.serve(settingsContract.getOauth, settings.read)
  http.serve(settingsContract.updateOauth, async ({ actor, body }) => ({
    message: (await settings.update(actor, body)) ? 'The sign-in providers are changed.' : 'Nothing was changed.',
  }))
}
