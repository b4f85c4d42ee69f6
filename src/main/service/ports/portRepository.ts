import { Visibility } from '#shared/contract/ports.ts'
import type { SandboxId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { defineTable, nullable, number, type Params, type RowOf, text } from '#storage/table.ts'

const ports = defineTable('ports', {
  sandboxId: text<SandboxId>(),
  port: number(),
  visibility: text(Visibility.parse),
  subdomain: nullable(text()),
})
export type PortRecord = RowOf<typeof ports>

const selection = `SELECT ${ports.selection()} FROM ports`

export const portStatements = {
  save: defineStatement<Params<keyof PortRecord>>(
    `${ports.insertWith({
      sequence: '(SELECT coalesce(max(sequence), 0) + 1 FROM ports WHERE sandbox_id = @sandboxId)',
    })}
     ON CONFLICT (sandbox_id, port) DO UPDATE SET visibility = excluded.visibility, subdomain = excluded.subdomain`,
  ),
  find: defineStatement<Params<'sandboxId' | 'port'>>(
    `${selection} WHERE sandbox_id = @sandboxId AND port = @port`,
  ).withRows(ports.fromRow),
  findNamed: defineStatement<Params<'subdomain'>>(`${selection} WHERE subdomain = @subdomain`).withRows(ports.fromRow),
  list: defineStatement<Params<'sandboxId'>>(`${selection} WHERE sandbox_id = @sandboxId ORDER BY port`).withRows(
    ports.fromRow,
  ),
  findFirst: defineStatement<Params<'sandboxId'>>(
    `${selection} WHERE sandbox_id = @sandboxId ORDER BY sequence LIMIT 1`,
  ).withRows(ports.fromRow),
  remove: defineStatement<Params<'sandboxId' | 'port'>>(
    'DELETE FROM ports WHERE sandbox_id = @sandboxId AND port = @port',
  ),
}

export const portRepository = {
  /** Inserts or updates a port. */
  async save(tx: Transaction, record: PortRecord): Promise<void> {
    await tx.run(portStatements.save, ports.params(record))
  },
  find: (query: Query, sandboxId: string, port: number): Promise<PortRecord | undefined> =>
    query.first(portStatements.find, { sandboxId, port }),
  findNamed: (query: Query, subdomain: string): Promise<PortRecord | undefined> =>
    query.first(portStatements.findNamed, { subdomain }),
  /** Finds the port that was added first. */
  findFirst: (query: Query, sandboxId: SandboxId): Promise<PortRecord | undefined> =>
    query.first(portStatements.findFirst, { sandboxId }),
  /** Sorted by port. */
  list: (query: Query, sandboxId: SandboxId): Promise<PortRecord[]> => query.all(portStatements.list, { sandboxId }),
  /** @returns whether the port was exposed */
  remove: async (tx: Transaction, sandboxId: SandboxId, port: number): Promise<boolean> =>
    (await tx.run(portStatements.remove, { sandboxId, port })) > 0,
}
