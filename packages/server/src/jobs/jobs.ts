import type { Kysely } from 'kysely'
import type { Clock } from '../core/clock.ts'
import type { Database } from '../db/database.ts'
import type { Schema } from '../db/schema.ts'

export interface Job {
  readonly name: string
  /** Milliseconds between runs. */
  readonly every: number
  /** True where each process does it for itself; else one process does it for all. */
  readonly everywhere?: boolean
  run(): Promise<void>
}

export interface Jobs {
  add(job: Job): void
  start(): void
  /**
   * Whether this process is the one that does for all what one should do, by what is stored and not by what it remembers:
   * for work that must not go on after the lease has passed on. In a transaction the lease stays until its end.
   */
  leads(sql?: Kysely<Schema>): Promise<boolean>
  /** Lets what runs finish and starts nothing new. */
  stop(): Promise<void>
}

/** One lease for all jobs that one process does for all. Another process takes it over when its holder is silent. */
const lease = { name: 'jobs', time: 15_000 }

/** The one list of everything that is done at intervals. */
export const createJobs = (
  db: Database,
  holder: string,
  clock: Clock,
  log: (error: unknown, job: string) => void,
): Jobs => {
  const jobs: Job[] = []
  const timers: NodeJS.Timeout[] = []
  const running = new Set<Promise<void>>()
  const busy = new Set<string>()
  let stopped = false
  let leads = db.engine === 'sqlite'

  const renew = async () => {
    const now = clock()
    const until = now + lease.time
    const row = await db.write
      .insertInto('leases')
      .values({ name: lease.name, holder, fence: 1, until })
      .onConflict(on =>
        on
          .column('name')
          .doUpdateSet(({ ref, eb }) => ({
            holder,
            until,
            fence: eb
              .case()
              .when(ref('leases.holder'), '=', holder)
              .then(ref('leases.fence'))
              .else(eb(ref('leases.fence'), '+', 1))
              .end(),
          }))
          .where(({ or, eb }) => or([eb('leases.holder', '=', holder), eb('leases.until', '<', now)])),
      )
      .returning('holder')
      .executeTakeFirst()
    leads = row?.holder === holder
  }
  const once = (job: Job) => {
    if (stopped || busy.has(job.name) || (!job.everywhere && !leads)) return
    busy.add(job.name)
    const done = job
      .run()
      // A failed run is tried again at the next interval.
      .catch(error => log(error, job.name))
      .finally(() => {
        busy.delete(job.name)
        running.delete(done)
      })
    running.add(done)
  }
  return {
    async leads(sql = db.read) {
      if (db.engine === 'sqlite') return true
      // An expired lease that nobody else claimed is still ours.
      const query = sql.selectFrom('leases').select('fence').where('name', '=', lease.name).where('holder', '=', holder)
      const row = await (sql.isTransaction ? query.forShare() : query).executeTakeFirst()
      return row !== undefined
    },
    add: job => void jobs.push(job),
    start() {
      if (db.engine === 'postgres')
        jobs.unshift({
          name: 'lead',
          every: 5000,
          everywhere: true,
          // Not knowing whether we still lead means that we don't.
          run: () =>
            renew().catch(error => {
              leads = false
              throw error
            }),
        })
      for (const job of jobs) timers.push(setInterval(() => once(job), job.every))
      let before = clock()
      clock.onMove?.(() => {
        const passed = clock() - before
        before = clock()
        for (const job of jobs) if (job.every <= passed) once(job)
      })
      const lead = jobs.find(job => job.name === 'lead')
      if (lead) once(lead)
    },
    async stop() {
      stopped = true
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running)
      if (db.engine === 'postgres' && leads)
        await db.write
          .deleteFrom('leases')
          .where('name', '=', lease.name)
          .where('holder', '=', holder)
          .execute()
          .catch(() => {})
    },
  }
}
