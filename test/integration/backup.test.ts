import { execFile } from 'node:child_process'
import { cpSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { exchange } from '../support/processes/runningService.ts'
import { type Steward, startSteward } from '../support/processes/steward.ts'

/** Backups and plain copies of a data folder that is in use. */
const open: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

type Outcome = { code: number; stdout: string; stderr: string }

/** `npm start -- PARTS` */
async function start(...parts: string[]): Promise<Outcome> {
  const run = promisify(execFile)(process.execPath, ['scripts/start.js', ...parts], { cwd: projectFolder })
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Outcome) => ({ code, stdout, stderr }),
  )
}

async function running(dataFolder: string): Promise<Steward> {
  const steward = await startSteward({ dataFolder })
  open.push(steward.close)
  return steward
}

/** Creates a running sandbox with a recently written file. */
async function sandboxWithFile(steward: Steward): Promise<string> {
  const send = sender(steward)
  const created = await send('/v1/sandboxes', { body: { name: 'atlas' } })
  expect(created.status, created.text).toBe(201)
  const path = `/v1/sandboxes/${created.json.id}`
  const written = await send(`${path}/files`, { body: { path: '/root/work.txt', content: 'acknowledged' } })
  expect(written.status, written.text).toBe(201)
  return path
}

const sender =
  (steward: Steward) =>
  (path: string, fields = {}) =>
    exchange(steward.serviceUrl, path, { key: steward.ownerKey, ...fields })

test('backs up a running Steward completely and preserves the previous folder on restore', async () => {
  const steward = await running(temporaryFolder('data'))
  const sandbox = await sandboxWithFile(steward)
  const folders = temporaryFolder('backup')
  const backup = join(folders, 'monday')
  const result = await start('backup', backup, '--data', steward.dataFolder, '--json')
  expect(result, result.stderr).toMatchObject({ code: 0 })
  expect(JSON.parse(result.stdout)).toEqual({ event: 'backup', folder: backup, left_out: [] })
  expect(statSync(backup).mode & 0o777).toBe(0o700)
  expect(statSync(join(backup, 'owner.key')).mode & 0o777).toBe(0o600)
  expect(readdirSync(backup).filter((name) => /lock|-wal|-shm|logs/.test(name))).toEqual([])
  expect((await sender(steward)(sandbox)).json.status).toBe('running')
  expect((await sender(steward)(`${sandbox}/snapshots`)).json.count).toBe(0)

  const again = await start('backup', backup, '--data', steward.dataFolder)
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('is not empty')])
  const inUse = await start('restore', backup, '--data', steward.dataFolder)
  expect([inUse.code, inUse.stderr]).toEqual([3, expect.stringContaining('is using the data folder')])

  const restored = join(folders, 'data')
  cpSync(join(backup, 'owner.key'), join(restored, 'earlier'), { recursive: true })
  const back = await start('restore', backup, '--data', restored)
  expect(back, back.stderr).toMatchObject({ code: 0 })
  const aside = readdirSync(folders).find((name) => name.startsWith('data.before-restore-'))
  expect(existsSync(join(folders, aside ?? '', 'earlier'))).toBe(true)
  const copy = await running(restored)
  expect(copy.ownerKey).toBe(steward.ownerKey)
  const send = sender(copy)
  expect((await send(`${sandbox}/start`, { method: 'POST' })).json.status).toBe('running')
  expect((await send(`${sandbox}/files/read?path=/root/work.txt`)).json.content).toBe('acknowledged')
})

test('refuses to restore a folder that is not a backup', async () => {
  const folder = temporaryFolder('backup')
  writeFileSync(join(folder, 'backup.json'), '{"kind":"another"}')
  const data = join(temporaryFolder('data'), 'data')
  const refused = await start('restore', folder, '--data', data)
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('is not a Steward backup')])
  expect(existsSync(data)).toBe(false)
})

test('a copied data folder starts with a notice and its `stop` leaves the original running', async () => {
  const original = await running(temporaryFolder('data'))
  const copy = join(temporaryFolder('copy'), 'data')
  await promisify(execFile)('/bin/cp', ['-a', original.dataFolder, copy])
  const stopped = await start('stop', '--data', copy)
  expect(stopped).toMatchObject({ code: 0, stdout: `Nothing is running in ${copy}.\n` })
  expect((await sender(original)('/v1/sandboxes')).status).toBe(200)
  const beside = await running(copy)
  expect(beside.output()).toContain(`The data folder ${copy} is a copy made while Steward was running.`)
  expect((await sender(original)('/v1/sandboxes')).status).toBe(200)
})
