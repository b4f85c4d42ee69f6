import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../../../../../../test/support/eventually.ts'
import { temporaryFolder } from '../../../../../../test/support/temporaryFolder.ts'
import { isStopped } from '../processTable.ts'
import { debianSystem } from './debianSystem.ts'

test('What mmdebstrap has started ends with it when it is called off', async () => {
  const folder = temporaryFolder('debian')
  const mmdebstrap = join(folder, 'mmdebstrap')
  const pidFile = join(folder, 'pid')
  const script = ['#!/bin/sh', 'sleep 600 &', `echo $! > ${pidFile}`, 'echo I: running apt-get update >&2', 'wait']
  writeFileSync(mmdebstrap, script.join('\n'), { mode: 0o755 })
  const calledOff = new AbortController()
  const made = debianSystem(
    {
      mmdebstrap,
      distribution: { title: 'Debian', suite: 'stable', sources: '' },
      packages: [],
      onProgress: () => calledOff.abort(new Error('called off')),
      signal: calledOff.signal,
    },
    async (tar) => void tar.resume(),
  )
  await expect(made).rejects.toThrow('called off')
  const started = Number(readFileSync(pidFile, 'utf8'))
  await until('what it has started to end', () => isStopped(started))
})
