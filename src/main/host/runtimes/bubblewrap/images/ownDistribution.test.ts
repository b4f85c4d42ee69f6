import { expect, test } from 'vitest'
import { ownLines, ownStanzas } from './ownDistribution.ts'

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

test('sources of others are left out, also where their suite has the same name', () => {
  const source = { suite: 'bookworm', addresses }
  expect(ownLines(lines, source)).toBe('deb http://deb.debian.org/debian/ bookworm main\n')
  expect(ownStanzas(stanzas, source)).toContain('debian-security')
  expect(ownStanzas(stanzas, source)).not.toContain('nodesource')
})

test('the suite alone decides where apt has read no list', () => {
  const source = { suite: 'bookworm', addresses: undefined }
  expect(ownLines(lines, source)).toContain('download.docker.com')
  expect(ownLines(lines, source)).not.toContain('trixie')
})
