import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { documentedCommands, findCommands, toScriptCommand } from '#scripts/documentedCommands.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'

const read = (path: string) => readFileSync(join(projectFolder, path), 'utf8')

/** `bench -- soak` is documented only in the program itself. */
const alsoListed = ['npm run bench -- soak']

function listDocumented(): Set<string> {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const documents = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: projectFolder })]
  return new Set([
    ...Object.keys(scripts).map(toScriptCommand),
    ...documents.flatMap((path) => findCommands(read(path))),
    ...alsoListed,
  ])
}

test('every script and documented command has a test or a reason for none', () => {
  expect(Object.keys(documentedCommands).toSorted()).toEqual([...listDocumented()].toSorted())
})

test('a test listed for a command runs it as documented', () => {
  for (const [command, trial] of Object.entries(documentedCommands)) {
    if ('reason' in trial) expect(trial.reason, command).toMatch(/^.{20,}[.]$/)
    if (!('test' in trial)) continue
    expect(existsSync(join(projectFolder, trial.test)), trial.test).toBe(true)
    const [beforeFolder = command] = command.split(' DIR')
    if (command.startsWith('npm')) expect(read(trial.test), command).toContain(beforeFolder.replace('npm run ', ''))
  }
})

test('finds commands in `sh` blocks only, without comments and variables', () => {
  const text =
    'npm run no\n```sh\n./setup && npm start   # both\nA=b C=d \\\n  npm run x -- --y\n```\n```json\nnpm no\n```\n'
  expect(findCommands(text)).toEqual(['./setup', 'npm start', 'npm run x -- --y'])
})
