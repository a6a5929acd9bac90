import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { isOver } from './command-progress.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import fleet from './fleet.module.css'
import { protectionTexts } from './protection.texts.ts'
import { commandsQuery } from './queries.ts'
import type { CommandRow } from './queries.ts'
import { readSelfTest } from './self-test.ts'
import type { SelfTest } from './self-test.ts'

type ServerDetail = Reply<'GET /servers/{serverId}'>
type LastSelfTest = NonNullable<ServerDetail['last_self_test']>

const tones = { proved: 'ok', held: 'warn', failed: 'danger', untried: 'warn' } as const

/** The last self-test of a host, and the button for the next one. Only a test that was asked for here is read step by step. */
export const SelfTestPanel = ({ server }: { server: Pick<ServerDetail, 'id' | 'last_self_test'> }) => {
  const t = textsOf(protectionTexts).test
  const { may, reason } = useMay('write')
  const run = useMutation({
    mutationFn: (params: { level?: 'engine' }) =>
      api.call('POST /servers/{serverId}/commands', {
        params: { serverId: server.id },
        body: { type: 'self-test', params },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['commands'] }),
  })
  const lastCommand = useQuery({
    ...commandsQuery({ server_id: server.id, type: 'self-test', limit: 1 }),
    enabled: run.isSuccess,
  }).data?.commands[0]
  const isRunning = lastCommand !== undefined && !isOver(lastCommand)
  return (
    <Panel title={t.title}>
      <div className={fleet.stack}>
        <p className={parts.help}>{t.help}</p>
        {lastCommand ? (
          <AskedTest command={lastCommand} />
        ) : (
          server.last_self_test && <LastTest test={server.last_self_test} />
        )}
        <Refusal error={run.error} />
        {may ? (
          <div className={parts.row}>
            <Button variant="default" loading={run.isPending || isRunning} onClick={() => run.mutate({})}>
              {t.run}
            </Button>
            <Button
              variant="default"
              loading={run.isPending || isRunning}
              title={t.engineHelp}
              onClick={() => run.mutate({ level: 'engine' })}
            >
              {t.runEngine}
            </Button>
          </div>
        ) : (
          reason && <p className={parts.help}>{reason}</p>
        )}
      </div>
    </Panel>
  )
}

const LastTest = ({ test: { result, at, command_id } }: { test: LastSelfTest }) => {
  const t = textsOf(protectionTexts).test
  return (
    <p>
      <Mark tone={tones[result]}>{t.results[result]}</Mark>{' '}
      <span className={parts.muted}>
        <Time at={at} />
      </span>{' '}
      <Link to="/commands/$commandId" params={{ commandId: command_id }} className={parts.link}>
        {t.showSteps}
      </Link>
    </p>
  )
}

const AskedTest = ({ command }: { command: CommandRow }) => {
  const t = textsOf(protectionTexts).test
  if (!isOver(command)) return <p role="status">{t.running}</p>
  const output = command.result?.output ?? ''
  const test = readSelfTest(output)
  return (
    <>
      <p>
        <Mark tone={tones[test?.result ?? 'failed']}>{t.results[test?.result ?? 'failed']}</Mark>{' '}
        <span className={parts.muted}>
          <Time at={command.completed_at ?? command.created_at} />
        </span>
      </p>
      {test ? (
        <Steps
          of={test}
          arrivedAfter={Date.parse(command.started_at ?? command.created_at) - Date.parse(command.created_at)}
        />
      ) : (
        <p>{output ? <Stranger text={output} most={500} /> : t.silent}</p>
      )}
    </>
  )
}

const Steps = ({ of, arrivedAfter }: { of: SelfTest; arrivedAfter: number }) => {
  const t = textsOf(protectionTexts).test
  return (
    <ol className={fleet.lines} aria-label={t.steps}>
      <li>
        <span>
          <strong>{t.arrived}</strong>
        </span>
        <span className={parts.muted}>{t.milliseconds(arrivedAfter)}</span>
      </li>
      {of.steps.map(({ step, family, ok, ms, text }, index) => (
        <li key={index}>
          <span>
            <strong>{`IPv${family}: ${t.hops[step]}`}</strong>
            <p className={parts.help}>
              <Stranger text={text} most={300} />
            </p>
          </span>
          <span className={parts.muted}>{t.milliseconds(ms)}</span>
          <Mark tone={ok === null ? 'warn' : ok ? 'ok' : 'danger'}>
            {ok === null ? t.untried : ok ? t.ok : t.failed}
          </Mark>
        </li>
      ))}
    </ol>
  )
}
