import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { findReleasedProgram } from '../support/fixtures/findReleasedProgram.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { createRunningAgent } from '../support/processes/runningAgent.ts'
import type { Answer, Json, RequestFields } from '../support/processes/runningService.ts'
import { createServiceProcess } from '../support/processes/serviceProcess.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'

/** Runs processes of the last version against the current one, in both directions. */
const released = findReleasedProgram()
skipWhen(typeof released === 'string' ? released : null)
const releasedFolder = typeof released === 'string' ? '' : released.folder
/** In the words of this version, and of the previous one. */
const noPayments = ['This service does not accept payments.', 'This service takes no payments.']
const program = 'src/main/entries/service.ts'

type Service = { url: string; key: string; send(path: string, fields?: RequestFields): Promise<Answer> }

/** Creates an entry in every list that does not need a sandbox. */
async function fill({ send }: Service): Promise<void> {
  expect((await send('/v1/auth/api-keys', { body: { name: 'a script' } })).status).toBe(201)
  const makeSandbox = () => send('/v1/sandboxes', { body: { name: 'from one version' } })
  // A host of the last version starts slowly on a busy computer. Until then the service responds with 503.
  const created = await until('the sandbox host', async () => {
    const answer = await makeSandbox()
    return answer.status !== 503 && answer
  })
  expect(created.status).toBe(201)
  expect((await send('/v1/credits/grants', { body: { to_address: 'acct_x', amount_cents: 1 } })).status).toBe(404)
}

async function readAll(
  folder: string,
  { url, key }: Service,
): Promise<{ read: string[]; failed: Record<string, string> }> {
  const script = join(projectFolder, 'test/support/processes/readAllLists.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [script, folder, url, key])
  return JSON.parse(stdout)
}

test('this agent and window can use a service of the previous version', async () => {
  const service = await createServiceProcess({ folder: releasedFolder, program })
  try {
    await fill(service)
    const { read, failed } = await readAll(projectFolder, service)
    const isExpected = (message: string) =>
      message.startsWith('There is nothing at /v1/') || noPayments.includes(message)
    expect(Object.values(failed).filter((message) => !isExpected(message))).toEqual([])
    expect(read).toEqual(expect.arrayContaining(['sandboxList', 'accountActivityList', 'apiKeyList', 'creditsHistory']))
    const target = { url: service.url, key: service.key, certificate: undefined }
    const agent = await createRunningAgent({ dataFolder: temporaryFolder('agent'), target })
    try {
      const log = async (): Promise<Json[]> => (await agent.send('/local/activity?limit=100')).json.entries
      await until('the log of the service', async () => (await log()).some(({ kind }) => kind === 'sandbox.created'))
      expect((await log()).filter(({ kind }) => kind === 'service.unreadable')).toEqual([])
    } finally {
      await agent.close()
    }
  } finally {
    await service.close()
  }
})

test('an agent of the previous version reads every list and activity log', async () => {
  const service = await createServiceProcess()
  try {
    await fill(service)
    const { read, failed } = await readAll(releasedFolder, service)
    expect(failed).toEqual({ paymentsDiscovery: noPayments[0] })
    expect(read).toEqual(expect.arrayContaining(['sandboxList', 'accountActivityList', 'apiKeyList', 'creditsHistory']))
  } finally {
    await service.close()
  }
})
