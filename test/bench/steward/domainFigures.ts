import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { createDomainRepository } from '#service/domains/domainRepository.ts'
import { AccountId } from '#shared/ids.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import { eventually } from '../../support/assertions/eventually.ts'
import { temporaryFolder } from '../../support/fixtures/temporaryFolder.ts'
import { createRunningAgent } from '../../support/processes/runningAgent.ts'
import { runningService } from '../../support/processes/runningService.ts'
import { measureEach, type Samples } from '../figures.ts'

const names = 200
const domains = 5_000
const yearMs = 365 * 24 * 60 * 60_000

/** Measures name checks at the test registry, and a long list that the agent shows with and without its service. */
export async function domainFigures(
  tries: (count: number) => number,
): Promise<{ checked: Samples; listed: Samples; offline: Samples }> {
  const service = await runningService({ host: 'none' })
  const { json } = await service.send('/v1/auth/me')
  await seedDomains(service.dataDir, AccountId.parse(json.id))
  const target = { url: service.url, key: service.key, certificate: undefined }
  const agent = await createRunningAgent({ dataFolder: temporaryFolder('bench-agent'), target })
  const connections = new Agent({ keepAlive: true })
  let isServed = true
  try {
    const all = Array.from({ length: names }, (_, index) => `name-${index}.com`).join(',')
    const key = { authorization: `Bearer ${service.key}` } // checks without a key have a daily limit
    const check = () => read(connections, `${service.url}/domains/check?domains=${all}`, key)
    const checked = await measureEach(tries(200), check)
    const list = () => read(connections, `${agent.origin}/local/domains`, agent.session)
    await eventually(async () => expectMany(await list()))
    const listed = await measureEach(tries(100), async () => expectMany(await list()))
    await service.close()
    isServed = false
    await eventually(async () => {
      if (!(await list()).includes('"source":"offline"')) throw new Error('It is not offline yet.')
    })
    const offline = await measureEach(tries(100), async () => expectMany(await list()))
    return { checked, listed, offline }
  } finally {
    connections.destroy()
    await agent.close()
    if (isServed) await service.close()
  }
}

async function seedDomains(dataDir: string, accountId: AccountId): Promise<void> {
  const database = openDatabase(join(dataDir, 'service.sqlite'))
  const records = createDomainRepository('local')
  const atMs = Date.now()
  await createSqliteStore(database).write(async (tx) => {
    for (let index = 0; index < domains; index += 1) {
      await records.save(tx, {
        ...{
          name: `domain-${index}.com`,
          accountId,
          status: 'active',
          registeredAtMs: atMs,
          expiresAtMs: atMs + yearMs,
        },
        ...{ autoRenew: false, privacy: true, locked: true, readAtMs: atMs },
        nameservers: ['ns1.registry.steward.test', 'ns2.registry.steward.test'],
      })
    }
  })
  database.close()
}

function expectMany(text: string): void {
  if (text.length < domains * 100) throw new Error('The list is not whole.')
}

function read(agent: Agent, url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, { agent, headers }, (answer) => void readText(answer).then(resolve, reject))
      .on('error', reject)
      .end()
  })
}

async function readText(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of answer as AsyncIterable<Buffer>) pieces.push(piece)
  if (answer.statusCode !== 200) throw new Error(`It answered ${answer.statusCode}.`)
  return Buffer.concat(pieces).toString('utf8')
}
