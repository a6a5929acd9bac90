import { stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { auth, bounds, times } from '@stockade/contract'
import { isTimeZone, webAddress } from '../../core/checks.ts'
import { invalid } from '../../core/problem.ts'
import { cookieNames } from '../../http/identity.ts'
import { addressOf } from '../../http/request.ts'
import type { Http } from '../../http/http.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { Me } from './me.ts'
import type { SignInOptions } from './options.ts'
import type { Proofs } from './proof.ts'
import type { HalfSignIn, SessionsService, SignIn } from './sessions.model.ts'

/** Where a request comes from, for the session that it begins. */
export const visitor = (request: FastifyRequest) => ({
  ip: addressOf(request),
  userAgent: request.headers['user-agent'] ?? '',
})

/** Under https the `__Host-` prefix keeps sibling hosts from planting a cookie of that name. An empty value takes it away. */
export const setSessionCookie = (reply: FastifyReply, value: string, baseUrl: string): void => {
  const secure = baseUrl.startsWith('https:')
  const name = secure ? cookieNames.secure : cookieNames.plain
  const maxAge = value ? times.sessionMaximum : 0
  reply.header(
    'set-cookie',
    stringifySetCookie({ name, value, path: '/', httpOnly: true, sameSite: 'lax', secure, maxAge }),
  )
}

export const mountSessions = (
  http: Http,
  sessions: SessionsService,
  proofs: Pick<Proofs, 'prove'>,
  settings: Pick<SettingsService, 'get'>,
  about: {
    baseUrl: () => string
    me: Me
    options: SignInOptions
  },
): void => {
  const welcome = <S extends SignIn | HalfSignIn>(reply: FastifyReply, signIn: S): S['reply'] => {
    if ('cookie' in signIn) setSessionCookie(reply, signIn.cookie, about.baseUrl())
    return signIn.reply
  }

  http.serve(auth.authOptions, () => about.options())
  http.serve(auth.getSetup, async () => ({ required: await sessions.setupRequired() }))
  http.serve(auth.setUp, async ({ body, request, reply }) => {
    if (body.site_url !== undefined && webAddress(body.site_url) === null)
      throw invalid('site_url', 'site_url must be an address that begins with http:// or https://.')
    if (body.timezone !== undefined && !isTimeZone(body.timezone))
      throw invalid('timezone', 'timezone must be an IANA time zone, such as Europe/Berlin.')
    return welcome(reply, await sessions.setUp(body, visitor(request)))
  })
  http.serve(auth.getInvite, async ({ query }) => {
    if (query.code === undefined) throw invalid('code', 'code is required.')
    return {
      ...(await sessions.invited(query.code)),
      password_rules: {
        min_length: settings.get('security.password_min_length'),
        max_length: bounds.password.maximum,
        upper: true,
        lower: true,
        digit: true,
      },
    }
  })
  http.serve(auth.acceptInvite, async ({ body, request, reply }) =>
    welcome(reply, await sessions.acceptInvite(body, visitor(request))),
  )
  http.serve(auth.login, async ({ body, request, reply }) =>
    welcome(reply, await sessions.login(body, visitor(request))),
  )
  http.serve(auth.verifyMfa, async ({ body, request, reply }) =>
    welcome(reply, await sessions.verifyMfa(body, visitor(request))),
  )
  http.serve(auth.stepUp, async ({ actor, body }) => ({
    ...(await proofs.prove(actor, body)),
    message: 'It is proved who you are.',
  }))
  http.serve(auth.changePassword, async ({ actor, body }) => {
    await sessions.changePassword(actor, body)
    return { message: 'The password is changed. Your other sessions have ended.' }
  })
  http.serve(auth.refresh, ({ body }) => sessions.refresh(body.refresh_token))
  http.serve(auth.logout, async ({ actor, reply }) => {
    await sessions.logout(actor)
    setSessionCookie(reply, '', about.baseUrl())
    return { message: 'Signed out.' }
  })
  http.serve(auth.me, ({ actor }) => about.me(actor))
}
