import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { eventsPath } from '#shared/contract/events.ts'
import { localEventsPath } from '#shared/contract/localApi.ts'
import { routeTable } from '#shared/contract/routeTable.ts'
import { terminalStreamPath } from '#shared/contract/terminalStream.ts'
import { createContractRoutes } from '../support/fixtures/contractRoutes.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'

const pages = [
  ...readdirSync(projectFolder).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(projectFolder, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]
const scripts = Object.keys(
  (JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as { scripts: Record<string, string> })
    .scripts,
)
const routes = [...routeTable, ...(await createContractRoutes()).filter(({ path }) => path.startsWith('/local/'))]
const documentedPaths = [
  ...routes.flatMap(({ method, path, aliases }) => [path, ...aliases].map((it) => `${method} ${it}`)),
  `GET ${eventsPath}`,
  `GET ${localEventsPath}`,
  `GET ${terminalStreamPath}`,
].map(describeShape)

describe.each(pages)('%s', (page) => {
  const text = readFileSync(join(projectFolder, page), 'utf8')

  test('links only to existing targets', () => {
    const links = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target = '']) => target)
    const local = links.filter((target) => !/^[a-z]+:/.test(target))
    expect(local.filter((target) => !existsSync(join(projectFolder, dirname(page), target)))).toEqual([])
  })

  test('names only existing files', () => {
    const named = [...text.matchAll(/`((?:src|test|scripts|resources|docs|\.ci)\/[\w./-]*)`/g)].map(
      ([, path = '']) => path,
    )
    expect(named.filter((path) => !existsSync(join(projectFolder, path)))).toEqual([])
  })

  test('names only existing commands', () => {
    const named = [...text.matchAll(/\bnpm (?:-s )?(?:run (?:-s )?)?([a-z]+)/g)].map(([, name = '']) => name)
    const commands = [...scripts, 'ci', 'install']
    expect(named.filter((name) => !commands.includes(name))).toEqual([])
  })

  test('names only existing operations', () => {
    const named = [...text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/(?:v1|local)\/[\w/:.{}$-]*)/g)]
    const unknown = named.filter(
      ([, method = '', path = '']) => !documentedPaths.includes(describeShape(`${method} ${path.replace(/\.$/, '')}`)),
    )
    expect(unknown.map(([operation]) => operation)).toEqual([])
  })
})

/** `:id`, `{id}` and `$ID` each stand for one path segment. */
function describeShape(operation: string): string {
  return operation.replace(/\/(?::\w+|\{\w+\}|\$\w+)/g, '/*')
}
