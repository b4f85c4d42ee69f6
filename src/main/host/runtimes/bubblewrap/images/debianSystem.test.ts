import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '#test/support/assertions/eventually.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { isStopped } from '../processTable.ts'
import { buildDebianSystem } from './debianSystem.ts'

test('package scripts do not run as root of this computer', async () => {
  const folder = temporaryFolder('debian-user')
  const mmdebstrap = join(folder, 'mmdebstrap')
  writeFileSync(mmdebstrap, '#!/bin/sh\ncat /proc/self/uid_map; touch "$TMPDIR/mine"; echo "$1"', { mode: 0o755 })
  chmodSync(folder, 0o755)
  const request = { mmdebstrap, packages: [], onProgress: () => {}, signal: new AbortController().signal }
  const distribution = { title: 'Debian', suite: 'stable', sources: '' }
  let said = ''
  await buildDebianSystem({ ...request, distribution }, async (tar) => {
    for await (const bytes of tar) said += bytes
  })
  const [line = '', mode] = said.trim().split('\n')
  expect(mode).toBe('--mode=unshare')
  const [, outside] = line.trim().split(/\s+/).map(Number)
  expect(process.getuid?.() === 0 ? outside : 1).toBeGreaterThan(0)
})

test('aborting a build ends every process that mmdebstrap started', async () => {
  const folder = temporaryFolder('debian')
  const mmdebstrap = join(folder, 'mmdebstrap')
  const pidFile = join(folder, 'pid')
  const script = ['#!/bin/sh', 'sleep 600 &', `echo $! > ${pidFile}`, 'echo I: running apt-get update >&2', 'wait']
  writeFileSync(mmdebstrap, script.join('\n'), { mode: 0o755 })
  chmodSync(folder, 0o777)
  const calledOff = new AbortController()
  const result = buildDebianSystem(
    {
      mmdebstrap,
      distribution: { title: 'Debian', suite: 'stable', sources: '' },
      packages: [],
      onProgress: () => calledOff.abort(new Error('called off')),
      signal: calledOff.signal,
    },
    async (tar) => void tar.resume(),
  )
  await expect(result).rejects.toThrow('called off')
  const started = Number(readFileSync(pidFile, 'utf8'))
  await until('what it has started to end', () => isStopped(started))
})
