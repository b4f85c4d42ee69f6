import { expect, onTestFinished, test } from 'vitest'
import { SandboxId } from '#shared/ids.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import type { NewActivityEntry } from '../base/recordActivity.ts'
import { createToolCatalog } from './toolCatalog.ts'
import { createToolServerRepository } from './toolServerRepository.ts'
import { createToolServers } from './toolServers.ts'

const sandboxId = SandboxId.parse('a'.repeat(32))
const otherId = SandboxId.parse('b'.repeat(32))

function openServers() {
  const database = openDatabase(':memory:')
  onTestFinished(() => void database.close())
  migrate(database, agentMigrations)
  const repository = createToolServerRepository(database)
  const secrets = new Map<string, string>()
  const [ended, entries]: [string[], NewActivityEntry[]] = [[], []]
  const shared = {
    events: { publish: () => {} },
    recordActivity: (entry: NewActivityEntry) => void entries.push(entry),
    now: () => 1,
  }
  const connections = { open: () => expect.unreachable('No server is spoken with.') }
  let ids = 0
  const servers = createToolServers({
    ...{ repository, ...shared, listing: createToolCatalog({ repository, connections, ...shared }) },
    keyStore: {
      about: () => null,
      store: async (slot, value) => void secrets.set(slot, value),
      remove: async (slot) => secrets.delete(slot),
    },
    end: async (id) => void ended.push(id),
    newId: () => (ids++).toString(16).padStart(24, '0'),
  })
  const add = (name: string, id: SandboxId) =>
    servers.add({ name, transport: { kind: 'sandbox', sandbox_id: id, command: 'cat' }, secrets: ['TOKEN'] })
  return { servers, add, secrets, ended, entries }
}

test('removes the secrets of a server with it', async () => {
  const { servers, add, secrets } = openServers()
  const [removed, remaining] = [add('box', sandboxId), add('other', sandboxId)]
  await servers.setSecret(removed.id, 'TOKEN', 'removed secret')
  await servers.setSecret(remaining.id, 'TOKEN', 'other secret')
  await servers.remove(removed.id)
  expect([...secrets.values()]).toEqual(['other secret'])
})

test('a deleted sandbox disables only the servers in it, once', async () => {
  const { servers, add, ended, entries } = openServers()
  const [inside, elsewhere] = [add('box', sandboxId), add('other', otherId)]
  for (const { id } of [inside, elsewhere]) await servers.setEnabled(id, true)
  const before = entries.length
  servers.disableForSandbox({ id: sandboxId, name: 'atlas' })
  servers.disableForSandbox({ id: sandboxId, name: 'atlas' })
  const fault = 'Its sandbox “atlas” was deleted. Remove this server, or add it again in another sandbox.'
  expect(servers.get(inside.id)).toMatchObject({ enabled: false, fault })
  expect(servers.get(elsewhere.id)).toMatchObject({ enabled: true, fault: null })
  expect(ended).toEqual([inside.id])
  expect(entries.slice(before).map(({ summary }) => summary)).toEqual([
    'The tool server “box” was turned off: its sandbox “atlas” was deleted.',
  ])
})
