import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { count, timestamp, uuid } from './common.ts'
import { field, nullable, resource, shape } from './shapes.ts'

/** Seconds between two points of the history, and the hours that it reaches back. */
export const metricsHistory = { step: 300, hours: 24 } as const

const percent = (of: string) =>
  field(
    Type.Array(nullable(Type.Number())),
    `${of} in percent at each step, oldest first; null where nothing was reported.`,
  )
const peak = (of: string) => field(nullable(Type.Number()), `Highest value of ${of} in the time shown.`)

export const serverMetricsHistory = endpoint('GET /servers/{serverId}/metrics', {
  tag: 'Servers',
  summary: 'History of the load of a server',
  description:
    'Of the last 24 hours at most, in steps of 5 minutes. A point is the mean of the heartbeats of its step, `banned` is the last count of it. The last point is the running step.',
  access: 'read',
  params: shape({ serverId: uuid }),
  query: shape({
    hours: field(
      Type.Optional(Type.Integer({ minimum: 1, maximum: metricsHistory.hours, default: metricsHistory.hours })),
      'How many hours to look back.',
    ),
  }),
  reply: shape({
    step_seconds: field(count, 'Seconds between two points.'),
    from: field(timestamp, 'Start of the first step.'),
    points: field(
      resource('MetricsPoints', {
        cpu: percent('CPU use'),
        memory: percent('Memory use'),
        disk: percent('Disk use'),
        banned: field(
          Type.Array(nullable(count)),
          'Number of bans in the jails of the server at each step; null where nothing was reported.',
        ),
      }),
      'One list of values for each figure, all of the same length.',
    ),
    peaks: field(
      resource('MetricsPeaks', {
        cpu: peak('the CPU use'),
        memory: peak('the memory use'),
        disk: peak('the disk use'),
        banned: field(nullable(count), 'Highest number of bans in the time shown.'),
      }),
      'The highest single values that were reported; null where nothing was reported.',
    ),
  }),
  refusals: [404],
})
