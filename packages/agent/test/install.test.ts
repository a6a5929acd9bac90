import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/* The installer as it is. It runs as root only, and each of these calls ends before it changes anything. */

const script = join(import.meta.dirname, '../install.sh')
/** What it refuses first. `--pin` is refused over any plain http, once the URL is accepted. */
const refusal = (url: string): string =>
  spawnSync('sh', [script, '--base-url', url, '--pin', 'sha256//x'], { encoding: 'utf8' }).stderr

describe.skipIf(process.getuid?.() !== 0)('the installer over plain http', () => {
  it.each([
    'http://127.1evil.example',
    'http://127.0.0.1.evil.example',
    'http://127.0.0.1evil.example:8420',
    'http://127.0.0.1@evil.example',
    'http://127.0.0.1:8420@evil.example/',
    'http://localhost:x@evil.example',
    'http://localhost.evil.example',
    'http://[::1].evil.example',
    'http://[::1]@evil.example',
    'http://127.0.0.1\\@evil.example',
    'http://127.0.0.1/\\@evil.example',
    'http://127.0.0.1?@evil.example',
    'http://127.0.0.1#@evil.example',
    'http://127.0.0.1\nhttp://evil.example',
    'http://evil.example\nhttp://127.0.0.1',
    'http://xlocalhost',
    'http://127.0.0',
    'http://stockade.example',
  ])('refuses %j, which is another machine', url => {
    expect(refusal(url)).toContain('is plain http: anybody on the way could change what is installed here')
  })

  it.each([
    'http://127.0.0.1:8420',
    'http://127.0.0.53/',
    'http://localhost',
    'http://LOCALHOST:8420/below/',
    'http://stockade.localhost:8420',
    'http://[::1]:8420',
  ])('takes %j, which is this machine', url => {
    expect(refusal(url)).toContain('--pin needs an https base URL')
  })
})
