import { exec, execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../support/assertions/eventually.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { postgresMissing, startPostgres, type TestPostgres } from '../support/processes/postgres.ts'
import { createServiceProcess, type ServiceProcess } from '../support/processes/serviceProcess.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'

/** `npm run service` on PostgreSQL. */
skipWhen(postgresMissing)
let server: TestPostgres

beforeAll(async () => {
  if (postgresMissing === undefined) server = await startPostgres()
})
afterAll(() => server?.stop())

/** Creates an empty database. @returns a file with its URL */
async function createUrlFile(): Promise<string> {
  const url = await server.createDatabase()
  const file = join(temporaryFolder('database-url'), 'url')
  writeFileSync(file, `${url.replace('steward@/', '/')}&user=steward\n`, { mode: 0o600 })
  return file
}

const onDatabase = (urlFile: string) => ({ service: { database: { url_file: urlFile } } })

async function startService(config?: object, dataDir?: string): Promise<ServiceProcess> {
  const service = await createServiceProcess(undefined, config, dataDir)
  onTestFinished(() => service.close())
  return service
}

const runCommand = (...parts: string[]) =>
  promisify(execFile)(process.execPath, ['src/main/entries/service.ts', ...parts], { cwd: projectFolder })

const createKey = (service: ServiceProcess, name: string) =>
  service.send('/v1/auth/api-keys', { method: 'POST', body: { name } })
const listKeys = async (service: ServiceProcess): Promise<string[]> =>
  (await service.send('/v1/auth/api-keys')).json.api_keys.map(({ name }: { name: string }) => name)

test('keeps its data across restarts and crashes', async () => {
  const service = await startService(onDatabase(await createUrlFile()))
  expect((await createKey(service, 'one')).status).toBe(201)
  await service.restart('SIGTERM')
  expect((await createKey(service, 'two')).status).toBe(201)
  await service.restart('SIGKILL')
  expect((await listKeys(service)).toSorted()).toEqual(expect.arrayContaining(['one', 'two']))
  const { json: balance } = await service.send('/v1/credits/balance')
  expect(balance).toMatchObject({ balance_cents: 1_000, held_cents: 0 })
  const { json: activity } = await service.send('/v1/activity?after=0&limit=10')
  expect(activity.activities.map(({ type }: { type: string }) => type)).toContain('key.created')
})

test('a second service on the same database is refused', async () => {
  const urlFile = await createUrlFile()
  await startService(onDatabase(urlFile))
  await expect(createServiceProcess(undefined, onDatabase(urlFile))).rejects.toThrow(
    'Another service uses this database',
  )
})

test('answers 503 while the database is down, and works again once it is back', async () => {
  const service = await startService(onDatabase(await createUrlFile()))
  await createKey(service, 'one')
  await server.kill()
  try {
    const { status, json } = await service.send('/v1/credits/balance')
    expect({ status, code: json.code }).toEqual({ status: 503, code: 'data/unavailable' })
  } finally {
    await server.start()
  }
  await eventually(async () => expect((await createKey(service, 'two')).status).toBe(201))
  expect(await listKeys(service)).toEqual(expect.arrayContaining(['one', 'two']))
})

test('continues with the data of SQLite that was copied to it', async () => {
  const before = await startService()
  const { json: created } = await createKey(before, 'copied')
  const { dataDir, key } = before
  await before.close()
  const urlFile = await createUrlFile()
  const copy = `npm run service -- database copy --data ${dataDir} --to-url-file ${urlFile}`
  const { stdout } = await promisify(exec)(copy, { cwd: projectFolder })
  expect(stdout).toMatch(/Copied \d+ rows of \d+ tables, and compared all of them\./)
  const service = await startService(onDatabase(urlFile), dataDir)
  expect(service.key).toBe(key)
  expect((await service.send('/v1/credits/balance', { key: created.key })).json).toMatchObject({ balance_cents: 1_000 })
  expect(await listKeys(service)).toContain('copied')
  expect((await createKey(service, 'new')).status).toBe(201)
})

test('the copy is refused while a service runs, and into a database with data', async () => {
  const service = await startService()
  const urlFile = await createUrlFile()
  const copy = () => runCommand('database', 'copy', '--to-url-file', urlFile, '--data', service.dataDir)
  await expect(copy()).rejects.toThrow('is already using the data folder')
  await service.close()
  await copy()
  await expect(copy()).rejects.toThrow('already contains data')
  await expect(runCommand('database', 'move')).rejects.toThrow('database copy --to-url-file FILE')
})
