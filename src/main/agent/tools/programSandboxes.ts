import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import { createSandbox, deleteSandbox, listSandboxes } from '#shared/contract/sandboxes.ts'
import type { ToolContext } from '#shared/contract/tools/tool.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { ProgramSandboxRepository } from './programSandboxRepository.ts'

/** Sandboxes for a single program. They are deleted with it. */
export type ProgramSandboxes = {
  create(work: Pick<ToolContext, 'call' | 'callToEnd'>): Promise<{ id: SandboxId; remove(): Promise<void> }>
  /** Deletes sandboxes that remained from an earlier run, based on their marks in the database. */
  sweep(): Promise<void>
}

type Options = {
  rows: ProgramSandboxRepository
  client: Pick<ServiceClient, 'call'>
  /** Returns random hexadecimal digits. */
  newId: () => string
  now: () => number
  log: Log
}

/** Idle time after which a sandbox stops if its deletion was interrupted. */
const idleMinutes = 10
/** Time after which the mark of an unlisted sandbox is removed. */
const forgetMs = 24 * 60 * 60 * 1000

export function createProgramSandboxes({ rows, client, newId, now, log }: Options): ProgramSandboxes {
  /** Sandbox names of running programs. */
  const running = new Set<string>()

  const removeStale = async (): Promise<void> => {
    const stale = rows.all().filter(({ name }) => !running.has(name))
    if (stale.length === 0) return
    const { sandboxes } = await client.call(listSandboxes, {})
    for (const { name, sandboxId, createdAtMs } of stale) {
      const match = sandboxes.find((sandbox) => (sandboxId === null ? sandbox.name === name : sandbox.id === sandboxId))
      if (match) await client.call(deleteSandbox, { id: match.id })
      if (match || createdAtMs < now() - forgetMs) rows.remove(name)
    }
  }

  return {
    async create({ call, callToEnd }) {
      const name = `program-${newId().slice(0, 8)}`
      running.add(name)
      rows.add(name, now())
      try {
        const { id } = await callToEnd(createSandbox, { name, idle_minutes: idleMinutes })
        rows.created(name, id)
        return {
          id,
          async remove() {
            try {
              await call(deleteSandbox, { id })
              rows.remove(name)
            } catch (error) {
              if (!(error instanceof AppError)) throw error
              if (error.code === 'sandbox/not-found') rows.remove(name)
            } finally {
              running.delete(name)
            }
          },
        }
      } catch (error) {
        running.delete(name)
        if (error instanceof AppError && error.status < 500) rows.remove(name) // rejected: no sandbox was created
        throw error
      }
    },
    async sweep() {
      await removeStale().catch((error: unknown) => log.warn('failed to delete sandboxes of ended programs', { error }))
    },
  }
}
