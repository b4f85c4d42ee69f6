import { Enforced, Network, Region, SandboxStatus } from '../../../shared/contract/sandboxes.ts'
import { AccountId, SandboxId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type SandboxRecord = {
  id: SandboxId
  accountId: AccountId
  name: string
  vcpu: number
  memoryMb: number
  diskGb: number
  region: Region
  runtime: string
  /** Null is the base of the runtime. */
  image: string | null
  network: Network
  /** Null is never. */
  idleMinutes: number | null
  enforced: Enforced
  status: SandboxStatus
  statusReason: string | null
  createdAtMs: number
  /** Null unless running. */
  startedAtMs: number | null
}

export type SandboxRepository = {
  add(record: SandboxRecord): void
  find(id: SandboxId): SandboxRecord | undefined
  /** Newest first. */
  list(accountId: AccountId): SandboxRecord[]
  all(): SandboxRecord[]
  /** How many run, or are on their way to. */
  countActive(): number
  /** Writes what changes in a sandbox's life: status, reason, start and which limits hold. */
  updateStatus(record: SandboxRecord): void
  /** Writes what a person may change. */
  change(record: Pick<SandboxRecord, 'id' | 'name' | 'network' | 'idleMinutes'>): void
  /** Sandboxes that were made from this image. */
  countOf(image: string): number
  remove(id: SandboxId): void
}

type Row = Record<keyof SandboxRecord, string | number | null>

const columns = `id, account_id AS accountId, name, vcpu, memory_mb AS memoryMb, disk_gb AS diskGb, region, runtime,
  image, network, idle_minutes AS idleMinutes, enforced, status, status_reason AS statusReason, created_at_ms AS createdAtMs, started_at_ms AS startedAtMs`

export function sandboxRepository(database: Database): SandboxRepository {
  const add = database.prepare(
    `INSERT INTO sandboxes (id, account_id, name, vcpu, memory_mb, disk_gb, region, runtime, image, network,
       idle_minutes, enforced, status, status_reason, created_at_ms, started_at_ms)
     VALUES (:id, :accountId, :name, :vcpu, :memoryMb, :diskGb, :region, :runtime, :image, :network,
       :idleMinutes, :enforced, :status, :statusReason, :createdAtMs, :startedAtMs)`,
  )
  const find = database.prepare<[string], Row>(`SELECT ${columns} FROM sandboxes WHERE id = ?`)
  const list = database.prepare<[string], Row>(
    `SELECT ${columns} FROM sandboxes WHERE account_id = ? ORDER BY created_at_ms DESC, rowid DESC`,
  )
  const all = database.prepare<[], Row>(`SELECT ${columns} FROM sandboxes`)
  const countActive = database.prepare<[], { active: number }>(
    `SELECT count(*) AS active FROM sandboxes WHERE status IN ('provisioning', 'running')`,
  )
  const updateStatus = database.prepare(
    `UPDATE sandboxes SET status = :status, status_reason = :statusReason, started_at_ms = :startedAtMs,
       enforced = :enforced WHERE id = :id`,
  )
  const change = database.prepare(
    'UPDATE sandboxes SET name = :name, network = :network, idle_minutes = :idleMinutes WHERE id = :id',
  )
  const countOf = database.prepare<[string], { made: number }>('SELECT count(*) AS made FROM sandboxes WHERE image = ?')
  const remove = database.prepare<[string]>('DELETE FROM sandboxes WHERE id = ?')
  const bound = (record: SandboxRecord) => ({ ...record, enforced: JSON.stringify(record.enforced) })

  return {
    add(record) {
      add.run(bound(record))
    },
    find(id) {
      const row = find.get(id)
      return row && recordOf(row)
    },
    list: (accountId) => list.all(accountId).map(recordOf),
    all: () => all.all().map(recordOf),
    countActive: () => countActive.get()?.active ?? 0,
    updateStatus({ id, status, statusReason, startedAtMs, enforced }) {
      updateStatus.run({ id, status, statusReason, startedAtMs, enforced: JSON.stringify(enforced) })
    },
    change({ id, name, network, idleMinutes }) {
      change.run({ id, name, network, idleMinutes })
    },
    countOf: (image) => countOf.get(image)?.made ?? 0,
    remove(id) {
      remove.run(id)
    },
  }
}

function recordOf(row: Row): SandboxRecord {
  return {
    id: SandboxId.parse(row.id),
    accountId: AccountId.parse(row.accountId),
    name: String(row.name),
    vcpu: Number(row.vcpu),
    memoryMb: Number(row.memoryMb),
    diskGb: Number(row.diskGb),
    region: Region.parse(row.region),
    runtime: String(row.runtime),
    image: row.image === null ? null : String(row.image),
    network: Network.parse(row.network),
    idleMinutes: row.idleMinutes === null ? null : Number(row.idleMinutes),
    enforced: Enforced.parse(JSON.parse(String(row.enforced))),
    status: SandboxStatus.parse(row.status),
    statusReason: row.statusReason === null ? null : String(row.statusReason),
    createdAtMs: Number(row.createdAtMs),
    startedAtMs: row.startedAtMs === null ? null : Number(row.startedAtMs),
  }
}
