import { Enforced, Network, Region, SandboxStatus } from '#shared/contract/sandboxes.ts'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { defineTable, json, nullable, number, type Params, type RowOf, text } from '#storage/table.ts'

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

const selection = `SELECT ${sandboxes.selection()} FROM sandboxes`
export const sandboxStatements = {
  add: defineStatement<Params<keyof SandboxRecord>>(`${sandboxes.insert} ON CONFLICT (id) DO NOTHING`),
  find: defineStatement<Params<'id'>>(`${selection} WHERE id = @id`).withRows(sandboxes.fromRow),
  list: defineStatement<Params<'accountId'>>(
    `${selection} WHERE account_id = @accountId ORDER BY created_at_ms DESC, id DESC`,
  ).withRows(sandboxes.fromRow),
  updateStatus: defineStatement<Params<'id' | (typeof statusFields)[number]>>(
    `UPDATE sandboxes SET ${sandboxes.assignments(statusFields)} WHERE id = @id`,
  ),
  change: defineStatement<Params<'id' | (typeof settingFields)[number]>>(
    `UPDATE sandboxes SET ${sandboxes.assignments(settingFields)} WHERE id = @id`,
  ),
  remove: defineStatement<Params<'id'>>('DELETE FROM sandboxes WHERE id = @id'),
}
const listAll = defineStatement(selection).withRows(sandboxes.fromRow)
const countActive = defineStatement(
  `SELECT count(*) AS count FROM sandboxes WHERE status IN ('provisioning', 'running')`,
).withRows((row) => Number(row.count))
const countByImage = defineStatement<Params<'image'>>(
  'SELECT count(*) AS count FROM sandboxes WHERE image = @image',
).withRows((row) => Number(row.count))

export const sandboxRepository = {
  /** @returns false if the id exists */
  async add(tx: Transaction, record: SandboxRecord): Promise<boolean> {
    return (await tx.run(sandboxStatements.add, sandboxes.params(record))) === 1
  },
  find(query: Query, id: SandboxId): Promise<SandboxRecord | undefined> {
    return query.first(sandboxStatements.find, { id })
  },
  /** Newest first. */
  list(query: Query, accountId: AccountId): Promise<SandboxRecord[]> {
    return query.all(sandboxStatements.list, { accountId })
  },
  listAll(query: Query): Promise<SandboxRecord[]> {
    return query.all(listAll)
  },
  /** Counts sandboxes that are running or being provisioned. */
  async countActive(query: Query): Promise<number> {
    return (await query.first(countActive)) ?? 0
  },
  /** Writes the status with its reason, the start time and the enforced limits. */
  async updateStatus(tx: Transaction, record: SandboxRecord): Promise<void> {
    const { id, status, statusReason, startedAtMs, enforced } = record
    await tx.run(sandboxStatements.updateStatus, sandboxes.params({ id, status, statusReason, startedAtMs, enforced }))
  },
  /** Writes the settings that a user can change. */
  async change(
    tx: Transaction,
    { id, name, network, idleMinutes }: Pick<SandboxRecord, 'id' | (typeof settingFields)[number]>,
  ): Promise<void> {
    await tx.run(sandboxStatements.change, sandboxes.params({ id, name, network, idleMinutes }))
  },
  /** Counts sandboxes with this image. */
  async countByImage(query: Query, image: string): Promise<number> {
    return (await query.first(countByImage, { image })) ?? 0
  },
  /** @returns false if the sandbox does not exist */
  async remove(tx: Transaction, id: SandboxId): Promise<boolean> {
    return (await tx.run(sandboxStatements.remove, { id })) === 1
  },
}
