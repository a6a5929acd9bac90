import { Fragment } from 'react'
import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { summaryQuery } from '../../api/queries.ts'
import fleet from '../fleet/fleet.module.css'
import type { CommandRow } from '../fleet/queries.ts'
import { tookOf, tookWords } from '../fleet/took.ts'
import { CopyButton } from '../../kit/copy.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Lines, Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { commandsTexts } from './commands.texts.ts'
import { CommandValue } from './narrowing.tsx'
import { wordOf } from './rows.ts'

/** `38 ms`, `1.4 s`. */
export const ServerLink = ({ row }: { row: CommandRow }) => (
  <CommandValue
    field="server"
    value={row.server.hostname}
    shown={nameOf(row.server.hostname)}
    link={
      <Link to="/servers/$serverId" params={{ serverId: row.server.id }} className={parts.link}>
        <Stranger text={row.server.hostname} most={60} />
      </Link>
    }
  />
)
export const By = ({ row }: { row: CommandRow }) => (
  <CommandValue field="by" value={row.initiated_by} shown={clip(row.initiated_by, 60).shown}>
    <Stranger text={row.initiated_by} most={40} />
  </CommandValue>
)

/** Names and values; what is not known yet is left out. */
const factsOf = (row: CommandRow): readonly (readonly [string, ReactNode])[] => {
  const t = textsOf(commandsTexts).detail
  const took = tookOf(row)
  const facts: readonly (readonly [string, ReactNode])[] = [
    [t.server, <ServerLink key="server" row={row} />],
    [t.by, <By key="by" row={row} />],
    [t.created, <Time key="created" at={row.created_at} />],
    [t.started, row.started_at && <Time key="started" at={row.started_at} />],
    [t.completed, row.completed_at && <Time key="completed" at={row.completed_at} />],
    [t.took, took === null ? null : tookWords(took)],
    [t.exit, row.result?.exit_code ?? null],
    [
      t.retryOf,
      row.retry_of && (
        <Link key="earlier" to="/commands/$commandId" params={{ commandId: row.retry_of }}>
          {t.earlier}
        </Link>
      ),
    ],
    [
      t.batch,
      row.batch_id && (
        <Link key="batch" to="/batches/$batchId" params={{ batchId: row.batch_id }}>
          {t.wholeBatch}
        </Link>
      ),
    ],
  ]
  return facts.filter(([, value]) => value !== null)
}

/** All that is known of a command: where it is, what was asked, what came back. */
export const Facts = ({ row }: { row: CommandRow }) => {
  const t = textsOf(commandsTexts).detail
  const server = useQuery(summaryQuery).data?.servers.find(({ id }) => id === row.server.id)
  const away = row.status === 'pending' && server !== undefined && server.status !== 'online'
  const parameters = Object.entries(row.params).filter(([, value]) => value !== '' && value !== null)
  return (
    <>
      <div className={parts.row}>
        <State is={wordOf(row)} tinted />
        {away && (
          <span className={parts.muted}>
            {nameOf(row.server.hostname)} {t.away}
          </span>
        )}
        {row.cancelled && <span className={parts.muted}>{t.cancelled}</span>}
        {row.status === 'timeout' && <span className={parts.muted}>{t.timeout}</span>}
      </div>
      <div className={fleet.columns}>
        <Panel>
          <dl className={parts.details}>
            {factsOf(row).map(([name, value]) => (
              <Fragment key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </Fragment>
            ))}
          </dl>
        </Panel>
        {parameters.length > 0 && (
          <Panel title={t.asked}>
            <dl className={parts.details}>
              {parameters.map(([name, value]) => (
                <div key={name} style={{ display: 'contents' }}>
                  <dt>{name}</dt>
                  <dd className={parts.mono}>
                    <Asked value={value} />
                  </dd>
                </div>
              ))}
            </dl>
          </Panel>
        )}
      </div>
      <Output row={row} />
    </>
  )
}

const Asked = ({ value }: { value: unknown }) =>
  typeof value === 'object' && value !== null ? (
    <>
      {Object.entries(value).map(([name, each]) => (
        <span key={name} style={{ display: 'block' }}>
          {name} = <Stranger text={String(each)} most={200} />
        </span>
      ))}
    </>
  ) : (
    <Stranger text={String(value)} most={500} />
  )

export const Output = ({ row }: { row: CommandRow }) => {
  const t = textsOf(commandsTexts).detail
  if (!row.result) return row.cancelled ? null : <p className={parts.muted}>{t.waitingOutput}</p>
  if (row.result.output === '') return <p className={parts.muted}>{t.noOutput}</p>
  return (
    <>
      <div className={parts.row}>
        <h2 className={parts.panelTitle} style={{ margin: 0 }}>
          {t.output}
        </h2>
        <CopyButton text={clip(row.result.output, 65_536).shown} label={t.copy} />
      </div>
      <div>
        <Lines text={row.result.output} label={t.output} />
      </div>
    </>
  )
}
