import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { findSystemObstacle } from './bubblewrapImages.ts'
import { readDistribution, selectLines, selectStanzas } from './readDistribution.ts'

const addresses = new Set(['http://deb.debian.org/debian', 'http://deb.debian.org/debian-security'])
const lines = [
  'deb http://deb.debian.org/debian/ bookworm main',
  'deb-src http://deb.debian.org/debian bookworm main',
  'deb [signed-by=/etc/apt/keyrings/docker.asc] https://download.docker.com/linux/debian bookworm stable',
  'deb http://deb.debian.org/debian trixie main',
].join('\n')
const stanzas = `Types: deb
# a mirror
URIs: http://deb.debian.org/debian-security/
Suites: bookworm-security
Components: main

Types: deb
URIs: https://deb.nodesource.com/node_22.x
Suites: bookworm
Components: main
`

test('excludes third-party sources even if their suite has the same name', () => {
  const source = { suite: 'bookworm', addresses }
  expect(selectLines(lines, source)).toBe('deb http://deb.debian.org/debian/ bookworm main\n')
  expect(selectStanzas(stanzas, source)).toContain('debian-security')
  expect(selectStanzas(stanzas, source)).not.toContain('nodesource')
})

test('selects sources by suite only before apt has read any lists', () => {
  const source = { suite: 'bookworm', addresses: undefined }
  expect(selectLines(lines, source)).toContain('download.docker.com')
  expect(selectLines(lines, source)).not.toContain('trixie')
})

afterEach(() => {
  vi.unstubAllEnvs()
})

test('runs apt to build an image but not to describe the runtime', async () => {
  const folder = temporaryFolder('apt')
  const [program, marker] = [join(folder, 'apt-get'), join(folder, 'ran')]
  writeFileSync(program, `#!/bin/sh\n: > ${marker}\n`)
  chmodSync(program, 0o755)
  vi.stubEnv('PATH', folder)
  await findSystemObstacle()
  expect(existsSync(marker)).toBe(false)
  const distribution = await readDistribution()
  // Images are only built on Debian and its derivatives.
  expect(existsSync(marker)).toBe(typeof distribution !== 'string')
})
