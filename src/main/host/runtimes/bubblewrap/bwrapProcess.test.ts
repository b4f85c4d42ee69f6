import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporaryFolder.ts'
import { startBwrap } from './bwrapProcess.ts'
import type { HostTools } from './hostTools.ts'

test('waits for the number of PID 1, also when PID 1 is ready before bwrap has told it', async () => {
  const path = temporaryFolder('bwrap')
  const bwrap = join(path, 'bwrap')
  await mkdir(join(path, 'root'))
  await writeFile(bwrap, '#!/bin/sh\necho ready\nsleep 0.3\necho "{ \\"child-pid\\": $$ }" >&3\nexec sleep 1000\n')
  await chmod(bwrap, 0o755)
  const started = await startBwrap({
    tools: { perl: '/usr/bin/perl', bwrap } as HostTools, // all that starting uses
    folder: { uid: undefined, image: null, path, storage: { kind: 'folder', path } },
    entries: [],
    image: undefined,
    cgroupFiles: [],
    arguments: () => [],
    signal: new AbortController().signal,
  })
  expect(started.init).toBe(started.monitor)
  started.end()
  expect(await started.ended).toMatch(/ended|killed/)
})
