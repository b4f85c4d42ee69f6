import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { startCommand } from '../support/processes/program.ts'

/** Creates a copy of the project whose sources may be edited and built while other tests use the build. */
function copyOfProject(): string {
  const folder = temporaryFolder('project')
  for (const name of readdirSync(projectFolder)) {
    if (['.git', 'node_modules', 'dist', 'test', 'docs'].includes(name)) continue
    cpSync(join(projectFolder, name), join(folder, name), { recursive: true, preserveTimestamps: true })
  }
  symlinkSync(join(projectFolder, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

test('`npm run dev` starts Steward, rebuilds after an edit and ends on Ctrl-C', async () => {
  const folder = copyOfProject()
  const person = { HOME: temporaryFolder('home') }
  onTestFinished(() => {
    execFileSync('npm', ['start', '--', 'stop'], { cwd: folder, env: { ...process.env, ...person }, stdio: 'ignore' })
  })
  const program = startCommand('npm run dev', person, folder)
  const url = await until('the start address', () => /http:\S+#token=\S+/.exec(program.stdout())?.[0], 300_000)
  expect((await fetch(new URL(url).origin)).status).toBe(200)

  const assets = join(folder, 'out/renderer/assets')
  const isBuilt = (text: string) =>
    readdirSync(assets).some((name) => name.endsWith('.js') && readFileSync(join(assets, name), 'utf8').includes(text))
  expect(isBuilt('edited by the test')).toBe(false)
  appendFileSync(join(folder, 'src/renderer/app/main.ts'), "\ndocument.title = 'edited by the test'\n")
  await until('the interface with the edit', () => isBuilt('edited by the test'), 120_000)
  program.interrupt()
  await program.ended
  await expect(fetch(new URL(url).origin)).rejects.toThrow()
})
