import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toolProfiles } from '#shared/contract/toolClients.ts'
import { listToolsOfProfile } from '#shared/contract/tools/toolTable.ts'
import { createContractRoutes } from '../support/fixtures/contractRoutes.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'

/** Row format: `| what | `operation` | `test file`: part of the test name |` */
const row = /^\| (?<what>.+?) \| `(?<behind>\w+)` \| `(?<file>(?:test|src)\/\S+)`: (?<title>.+) \|$/
type Row = { what: string; behind: string; file: string; title: string }

const lines = readFileSync(join(projectFolder, 'docs/features.md'), 'utf8').split('\n')
const rows = lines.flatMap((line) => (line.match(row)?.groups as Row | undefined) ?? [])
const routes = await createContractRoutes()
const tools = toolProfiles.flatMap((profile) => [...listToolsOfProfile(profile)])

test('parses every table row', () => {
  const unread = lines.filter((line) => /^\|/.test(line) && !/^\|( Row |-)/.test(line) && !row.test(line))
  expect(unread).toEqual([])
  expect(rows.length).toBeGreaterThan(50)
})

test('every tool has a row', () => {
  const missing = tools.filter(({ name }) => !rows.some(({ behind }) => behind === name)).map(({ name }) => name)
  expect(missing).toEqual([])
})

test.each(rows)('$what exists and has a test', ({ what, behind, file, title }) => {
  const route = routes.find(({ operation }) => operation === behind)
  expect(route ?? tools.find(({ name }) => name === behind), behind).toBeDefined()
  const [, method, path] = what.match(/^`([A-Z]+) (\/\S+)`$/) ?? []
  if (route && method)
    expect([route.path, ...route.aliases].map((it) => `${route.method} ${it}`)).toContain(`${method} ${path}`)
  expect(readFileSync(join(projectFolder, file), 'utf8'), `${file} has no test of that name`).toContain(title)
})
