import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { toolTable } from '#shared/contract/tools/toolTable.ts'
import { until } from '../support/assertions/eventually.ts'
import { openPersonSession } from '../support/clients/personSession.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { type Command, startCommand } from '../support/processes/program.ts'

/** Environment for the commands in README and docs/, run with npm and a shell in the data folder of a new user. */
type Person = { HOME: string }

const newPerson = (): Person => ({ HOME: temporaryFolder('home') })

async function run(command: string, environment: NodeJS.ProcessEnv) {
  const program = startCommand(command, environment)
  const { code } = await program.ended
  return { code, stdout: program.stdout(), stderr: program.stderr() }
}

/** Waits for the one-time address. */
async function started(command: string, person: Person) {
  const program = startCommand(command, person)
  const url = await until('the start address', () => /http:\S+#token=\S+/.exec(program.stdout())?.[0], 150_000)
  const { origin, hash } = new URL(url)
  return { program, origin, session: await openPersonSession(origin, hash.replace('#token=', '')) }
}

/** npm exits on the signal. The locks show that Steward shut down in order. */
async function interrupt(program: Command, data: string): Promise<void> {
  program.interrupt()
  await program.ended
  expect(readdirSync(data).filter((name) => /^(app|steward|service)\.lock/.test(name))).toEqual([])
}

test('--help of both programs starts nothing', async () => {
  const person = newPerson()
  const start = await run('npm start -- --help', person)
  expect([start.code, start.stdout]).toEqual([0, expect.stringContaining('--data DIR')])
  const service = await run('npm run -s service -- --help', person)
  expect([service.code, service.stdout]).toEqual([0, expect.stringContaining('--listen')])
  expect(service.stdout).not.toContain('> steward@')
})

test('`npm start` can be backed up and verified while running, then stopped and restored', async () => {
  const person = newPerson()
  const first = await started('npm start', person)
  const exported = await fetch(`${first.origin}/local/activity/export`, { headers: first.session })
  expect(exported.status).toBe(200)
  const file = join(person.HOME, 'steward-activity.jsonl')
  writeFileSync(file, await exported.text())
  expect(await run(`npm start -- verify ${file}`, person)).toMatchObject({ code: 0 })

  const again = await run('npm start -- --browser', person)
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('Steward is already running.')])

  const backup = join(temporaryFolder('backup'), 'monday')
  const copied = await run(`npm start -- backup ${backup}`, person)
  expect(copied.code, copied.stderr).toBe(0)
  expect(existsSync(join(backup, 'owner.key'))).toBe(true)
  const early = await run(`npm start -- restore ${backup}`, person)
  expect([early.code === 0, early.stderr]).toEqual([false, expect.stringContaining('npm start -- stop')])

  const doctor = await run('npm start -- doctor', person)
  expect([doctor.code, doctor.stdout]).toEqual([0, expect.stringContaining('Sandboxes')])
  const stopped = await run('npm start -- stop', person)
  expect([stopped.code, stopped.stdout]).toEqual([0, expect.stringContaining('Stopped')])
  await first.program.ended
  const restored = await run(`npm start -- restore ${backup}`, person)
  expect(restored.code, restored.stderr).toBe(0)
  expect((await run('npm start -- stop', person)).code).toBe(0)
})

test('accepts a data folder as an option', async () => {
  const person = newPerson()
  const data = join(person.HOME, 'elsewhere')
  const { program } = await started(`npm start -- --data ${data}`, person)
  expect(readFileSync(join(data, 'owner.key'), 'utf8').trim()).not.toBe('')
  await interrupt(program, data)
  expect((await run(`npm start -- stop --data ${data}`, person)).code).toBe(0)
})

test('the service runs without the application until Ctrl-C', async () => {
  const data = temporaryFolder('data')
  const program = startCommand(`npm run -s service -- --listen 127.0.0.1:0 --json --data ${data}`)
  const { url } = await program.ready<{ url: string }>()
  expect(((await (await fetch(`${url}/health`)).json()) as { status: string }).status).toBe('ok')
  await interrupt(program, data)
  expect((await run(`npm start -- stop --data ${data}`, newPerson())).code).toBe(0)
})

const initialize = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

test('`npm run -s mcp` prints only JSON-RPC', async () => {
  const data = temporaryFolder('data')
  const program = startCommand(`npm run -s mcp -- --data ${data}`)
  const say = (message: object) => program.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  say(initialize)
  expect(await program.ready()).toMatchObject({ jsonrpc: '2.0', id: 1, result: { serverInfo: { name: 'steward' } } })
  say({ method: 'notifications/initialized' })
  say({ id: 2, method: 'tools/list' })
  const line = await until('the tools', () => program.stdout().split('\n').slice(0, -1)[1])
  const { result } = JSON.parse(line) as { result: { tools: { name: string }[] } }
  expect(result.tools.map(({ name }) => name)).toEqual(toolTable.map(({ name }) => name))
  program.endInput()
  expect((await program.ended).code).toBe(0)
  expect((await run(`npm start -- stop --data ${data}`, newPerson())).code).toBe(0)
})

/** Finds a Node.js on this computer that `setup` accepts but that cannot run Steward. */
function findOlderNode(): string | undefined {
  const candidates = (process.env.PATH ?? '').split(':').map((folder) => join(folder, 'node'))
  return candidates.filter(existsSync).find((path) => {
    const major = Number(/^v(\d+)/.exec(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout)?.[1])
    return major >= 20 && major < 24
  })
}

test('an older Node.js names the version to use and runs npm scripts', async ({ skip }) => {
  const older = findOlderNode()
  if (older === undefined) return skip('No Node.js from 20 to 23 is on the PATH.')
  const sentence =
    /^steward: Node\.js 24 or newer is required, found 2[0-3]\.\S+ Use the version .*node_modules\/\.bin\/node\.\n$/
  for (const script of ['scripts/mcp.js', 'scripts/start.js']) {
    const outcome = await run(`${older} ${script} --help`, {})
    expect(outcome).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(sentence) })
  }
  const byNpm = await run('npm run -s service -- --help', { PATH: `${dirname(older)}:/usr/bin:/bin` })
  expect([byNpm.code, byNpm.stdout]).toEqual([0, expect.stringContaining('--listen')])
})
