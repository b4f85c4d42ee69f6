import { Enforced, Network, Region, SandboxStatus } from '#shared/contract/sandboxes.ts'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, json, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const sandboxes = defineTable('sandboxes', {
  id: text<SandboxId>(),
  accountId: text<AccountId>(),
  name: text(),
  vcpu: number(),
  memoryMb: number(),
  diskGb: number(),
  region: text(Region.parse),
  runtime: text(),
  /** Null for the base image of the runtime. */
  image: nullable(text()),
  network: text(Network.parse),
  /** Null to never stop. */
  idleMinutes: nullable(number()),
  /** Enforced limits. */
  enforced: json(Enforced.parse),
  status: text(SandboxStatus.parse),
  statusReason: nullable(text()),
  createdAtMs: number(),
  /** Null unless running. */
  startedAtMs: nullable(number()),
})
export type SandboxRecord = RowOf<typeof sandboxes>

const statusFields = ['status', 'statusReason', 'startedAtMs', 'enforced'] as const
const settingFields = ['name', 'network', 'idleMinutes'] as const

export type SandboxRepository = {
  add(record: SandboxRecord): void
  find(id: SandboxId): SandboxRecord | undefined
  /** Newest first. */
  list(accountId: AccountId): SandboxRecord[]
  all(): SandboxRecord[]
  /** Counts sandboxes that are running or being provisioned. */
  countActive(): number
  /** Writes the status with its reason, the start time and the enforced limits. */
  updateStatus(record: SandboxRecord): void
  /** Writes the settings that a user can change. */
  change(record: Pick<SandboxRecord, 'id' | (typeof settingFields)[number]>): void
  /** Counts sandboxes with this image. */
  countByImage(image: string): number
  remove(id: SandboxId): void
}

export function createSandboxRepository(database: Database): SandboxRepository {
  const selection = `SELECT ${sandboxes.selection()} FROM sandboxes`
  const add = database.prepare<[Params<keyof SandboxRecord>]>(sandboxes.insert)
  const find = database.prepare<[Params<'id'>], StoredRow>(`${selection} WHERE id = @id`)
  const list = database.prepare<[Params<'accountId'>], StoredRow>(
    `${selection} WHERE account_id = @accountId ORDER BY created_at_ms DESC, rowid DESC`,
  )
  const all = database.prepare<[], StoredRow>(selection)
  const countActive = database.prepare<[], { count: number }>(
    `SELECT count(*) AS count FROM sandboxes WHERE status IN ('provisioning', 'running')`,
  )
  const updateStatus = database.prepare<[Params<'id' | (typeof statusFields)[number]>]>(
    `UPDATE sandboxes SET ${sandboxes.assignments(statusFields)} WHERE id = @id`,
  )
  const change = database.prepare<[Params<'id' | (typeof settingFields)[number]>]>(
    `UPDATE sandboxes SET ${sandboxes.assignments(settingFields)} WHERE id = @id`,
  )
  const countOf = database.prepare<[Params<'image'>], { count: number }>(
    'SELECT count(*) AS count FROM sandboxes WHERE image = @image',
  )
  const remove = database.prepare<[Params<'id'>]>('DELETE FROM sandboxes WHERE id = @id')

  return {
    add: (record) => void add.run(sandboxes.params(record)),
    find(id) {
      const row = find.get({ id })
      return row && sandboxes.fromRow(row)
    },
    list: (accountId) => list.all({ accountId }).map(sandboxes.fromRow),
    all: () => all.all().map(sandboxes.fromRow),
    countActive: () => countActive.get()?.count ?? 0,
    updateStatus: ({ id, status, statusReason, startedAtMs, enforced }) =>
      void updateStatus.run(sandboxes.params({ id, status, statusReason, startedAtMs, enforced })),
    change: ({ id, name, network, idleMinutes }) =>
      void change.run(sandboxes.params({ id, name, network, idleMinutes })),
    countByImage: (image) => countOf.get({ image })?.count ?? 0,
    remove: (id) => void remove.run({ id }),
  }
}
