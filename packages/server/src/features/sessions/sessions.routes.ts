import type { FastifyReply, FastifyRequest } from 'fastify'
import { auth, times } from '@stockade/contract'
import { iso } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { invalid } from '../../core/problem.ts'
import { addressOf, cookieNames } from '../../http/http.ts'
import type { Http } from '../../http/http.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { SessionsService, SignIn } from './sessions.service.ts'

const visitor = (request: FastifyRequest) => ({
  ip: addressOf(request),
  userAgent: request.headers['user-agent'] ?? '',
})

export const mountSessions = (
  http: Http,
  sessions: SessionsService,
  settings: Pick<SettingsService, 'get'>,
  about: { version: string; baseUrl: () => string; clock: Clock },
): void => {
  /** Under https the `__Host-` prefix keeps sibling hosts from planting a cookie of that name. */
  const setCookie = (reply: FastifyReply, value: string, maxAge: number) => {
    const secure = about.baseUrl().startsWith('https:')
    reply.setCookie(secure ? cookieNames.secure : cookieNames.plain, value, {
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure,
      maxAge,
    })
  }
  const welcome = (reply: FastifyReply, signIn: SignIn) => {
    setCookie(reply, signIn.cookie, times.sessionMaximum)
    return signIn.reply
  }

  http.serve(auth.authOptions, async () => ({
    site_name: settings.get('service.site_name'),
    base_url: about.baseUrl(),
    timezone: settings.get('service.timezone'),
    providers: [],
    local_login_disabled: false,
    setup_required: await sessions.setupRequired(),
    server_time: iso(about.clock()),
  }))
  http.serve(auth.getSetup, async () => ({ required: await sessions.setupRequired() }))
  http.serve(auth.setUp, async ({ body, request, reply }) => {
    const url = body.site_url === undefined ? null : URL.parse(body.site_url)
    if (
      body.site_url !== undefined &&
      (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username)
    )
      throw invalid('site_url', 'site_url must be an address that begins with http:// or https://.')
    if (body.timezone !== undefined && !isTimeZone(body.timezone))
      throw invalid('timezone', 'timezone must be an IANA time zone, such as Europe/Berlin.')
    return welcome(reply, await sessions.setUp(body, visitor(request)))
  })
  http.serve(auth.login, async ({ body, request, reply }) =>
    welcome(reply, await sessions.login(body, visitor(request))),
  )
  http.serve(auth.refresh, ({ body }) => sessions.refresh(body.refresh_token))
  http.serve(auth.logout, async ({ actor, reply }) => {
    await sessions.logout(actor)
    setCookie(reply, '', 0)
    return { message: 'Signed out.' }
  })
  http.serve(auth.me, async ({ actor }) => (await sessions.me(actor, about.version)) as never)
  http.serve(auth.currentUser, async ({ actor }) => (await sessions.me(actor, about.version)) as never)
}

const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
