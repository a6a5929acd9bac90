import { Type } from 'typebox'
import { authOptions, me } from './auth.ts'
import { endpoint } from './endpoint.ts'
import { summariseServers } from './servers.ts'
import { getLicense } from './settings.ts'
import { field, nullable, resource, shape } from './shapes.ts'
import { getPreferences } from './users.ts'

export const bootstrap = endpoint('GET /bootstrap', {
  tag: 'Auth',
  summary: 'What a page of the dashboard needs at first',
  description: 'Replies of other endpoints in one, each in its own shape.',
  access: 'session-before-mfa',
  reply: shape({
    me: field(resource('OwnAccount', me.reply.properties), 'As `GET /auth/me`.'),
    options: field(resource('SignInOptions', authOptions.reply.properties), 'As `GET /auth/options`.'),
    preferences: field(
      nullable(resource('OwnPreferences', getPreferences.reply.properties)),
      'As `GET /users/me/preferences`; null before required 2FA is set up.',
    ),
    summary: field(
      nullable(resource('ServersSummary', summariseServers.reply.properties)),
      'As `GET /servers/summary`; null before required 2FA is set up.',
    ),
    license: field(
      nullable(resource('License', getLicense.reply.properties)),
      'As `GET /settings/license`; null unless the user is an administrator.',
    ),
    live_position: field(
      Type.String(),
      'Position of the live feed before these replies were read. A feed that is opened with it begins with what was missed since.',
    ),
  }),
})
