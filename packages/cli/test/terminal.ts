import { spawn } from 'node:child_process'

/** Runs a program on a terminal, where somebody answers its question. */
export const onTerminal = (
  program: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  answer: string,
): Promise<{ code: number | null; out: string }> =>
  new Promise((resolve, reject) => {
    const command = program.map(word => `'${word}'`).join(' ')
    const child = spawn('script', ['-qec', command, '/dev/null'], { env: { ...env, NO_COLOR: '1', TERM: 'dumb' } })
    let text = answer
    let out = ''
    child.stdout.on('data', (data: Buffer) => {
      out += data.toString()
      if (out.includes('[y/N]') && text) child.stdin.write(text)
      if (out.includes('[y/N]')) text = ''
    })
    child.on('error', reject)
    child.on('close', code => resolve({ code, out }))
  })
