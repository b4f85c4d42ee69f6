import { expect, test } from 'vitest'
import { AccountId, SandboxId } from '#shared/ids.ts'
import { createOrphanedDomains } from './orphanedDomains.ts'
import type { RegistrarRecord } from './registrars/registrar.ts'

const accountId = AccountId.parse('acc_ada')
const zone = { accountId, name: 'ada.dev' }
const record = (id: string, host: string): RegistrarRecord => ({
  ...{ id, type: 'A', host, value: '192.0.2.1', ttl: 300, distance: null },
})

/** Creates orphaned names in one zone, each with a record. `onRemoved` is called on each removal at the registrar. */
function openOrphans(onRemoved: (names: string[], id: string) => void) {
  const names = ['a.ada.dev', 'b.ada.dev']
  const sandboxId = SandboxId.parse('0'.repeat(32))
  const list = () => names.map((domain) => ({ domain, accountId, sandboxId, sandboxName: 'atlas' }))
  const atRegistrar = [record('1', 'a'), record('2', 'b'), record('3', 'c')]
  const orphans = createOrphanedDomains({
    records: {
      list,
      ofSandbox: () => [],
      remove: (domain) => void names.splice(names.indexOf(domain), 1),
    },
    zones: {
      list: async () => ({ records: [...atRegistrar] }) as never,
      async remove(_, id) {
        onRemoved(names, id)
        return atRegistrar.splice(
          atRegistrar.findIndex((it) => it.id === id),
          1,
        )[0] as RegistrarRecord
      },
    },
    addresses: async () => [{ type: 'A', value: '192.0.2.1' }],
    sandboxHost: undefined,
    ownsDomain: () => true,
    recordForAccount: () => undefined,
    onChanged: () => undefined,
  })
  return { orphans, names, left: () => atRegistrar.map(({ host }) => host) }
}

test('keeps records of a domain added to another sandbox during removal', async () => {
  const { orphans, left } = openOrphans((names, id) => {
    if (id === '1') names.splice(names.indexOf('b.ada.dev'), 1)
  })
  expect((await orphans.removeRecords(zone)).map(({ host }) => host)).toEqual(['a'])
  expect(left()).toEqual(['b', 'c'])
})

test('keeps a domain listed that is orphaned during removal', async () => {
  const { orphans, names } = openOrphans((present, id) => {
    if (id === '1') present.push('c.ada.dev')
  })
  expect((await orphans.removeRecords(zone)).map(({ host }) => host)).toEqual(['a', 'b'])
  expect(names).toEqual(['c.ada.dev'])
})
