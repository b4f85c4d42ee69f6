import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { toRequesterPrincipal } from '#agent/base/agentPrincipals.ts'
import type { PrincipalId } from '#platform/access/principals.ts'
import { silentLog } from '#platform/logging/log.ts'
import { createApiKeys } from '#service/accounts/apiKeys.ts'
import { ensureOwner } from '#service/accounts/ownerAccount.ts'
import { refreshTokenRepository } from '#service/auth/refreshTokenRepository.ts'
import { walletRepository } from '#service/auth/walletRepository.ts'
import { createServicePrincipals } from '#service/base/principals.ts'
import { createProviderLeases } from '#service/inference/providers/providerLeases.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import { chatCaller, createToolCaller } from '../../support/clients/mcpClients.ts'
import { temporaryFolder } from '../../support/fixtures/temporaryFolder.ts'
import { createRunningAgent } from '../../support/processes/runningAgent.ts'

/** Processor time per request, in microseconds. */
export type LeaseFigures = { keyMicros: number; signInMicros: number; providerMicros: number; open: number }
export type AgentLeaseFigures = { toolMicros: number; chatMicros: number; open: number }

/** Number of open streams during the measurement. */
const open = 1_000

/**
 * Measures the processor time that leases add to a request, for its principal, and to a model request, for its
 * provider.
 */
export async function leaseFigures(count: number): Promise<LeaseFigures> {
  const folder = temporaryFolder('bench-leases')
  const database = openDatabase(join(folder, 'service.sqlite'))
  const principals = createServicePrincipals({ now: Date.now, log: silentLog })
  try {
    migrate(database, serviceMigrations)
    const store = createSqliteStore(database)
    const keyFile = join(folder, 'owner.key')
    const accountId = await ensureOwner({ store, keyFile, now: Date.now, randomBytes })
    const keys = createApiKeys({ store, now: Date.now, randomBytes })
    const { id } = await keys.create(accountId, 'bench')
    const wallet = { type: 'evm', address: `0x${'1'.repeat(40)}` } as const
    const nowMs = Date.now()
    const times = { createdAtMs: nowMs, expiresAtMs: nowMs + 3_600_000 }
    await store.write(async (tx) => {
      await walletRepository.add(tx, { ...wallet, accountId, linkedAtMs: nowMs, linkedBy: null })
      const token = { hash: randomBytes(32), familyId: 'fam_1', accountId, wallet, ...times }
      await refreshTokenRepository.add(tx, token)
    })
    principals.add('key', keys.getRules)
    principals.add('sign-in', (familyId) => refreshTokenRepository.findRights(store.read, familyId))
    const provider = { baseUrl: 'http://127.0.0.1:1/v1', apiKey: undefined }
    const providers = createProviderLeases({ findProvider: () => provider })
    const streams = await Promise.all(
      Array.from({ length: open }, () => principals.lease(`key:${id}`, 'completion', { onEnd: abort })),
    )

    const request = (principal: PrincipalId) => async () => {
      const lease = await principals.lease(principal, 'request', { onEnd: abort })
      if (lease.error) throw lease.error
      lease.release()
    }
    const figures = {
      keyMicros: await processorMicros(count, request(`key:${id}`)),
      signInMicros: await processorMicros(count, request('sign-in:fam_1')),
      providerMicros: await processorMicros(count, () => providers.begin('local:shed', provider, abort)()),
      open,
    }
    for (const stream of streams) stream.release()
    return figures
  } finally {
    principals.close()
    database.close()
  }
}

/** Measures the processor time that leases add to a tool call at the local agent. */
export async function agentLeaseFigures(count: number): Promise<AgentLeaseFigures> {
  const agent = await createRunningAgent({ dataFolder: temporaryFolder('bench-agent-leases') })
  try {
    const { principals } = agent
    const [tool, chat] = [await createToolCaller(agent), await chatCaller(agent)].map(({ requester }) =>
      toRequesterPrincipal(requester),
    ) as [PrincipalId, PrincipalId]
    const calls = Array.from({ length: open }, () => principals.lease(tool, 'tool-call', { onEnd: abort }))
    const call = (principal: PrincipalId) => () => {
      const lease = principals.lease(principal, 'tool-call', { onEnd: abort })
      lease.may()
      lease.release()
    }
    const figures = {
      toolMicros: await processorMicros(count, call(tool)),
      chatMicros: await processorMicros(count, call(chat)),
      open,
    }
    for (const lease of calls) lease.release()
    return figures
  } finally {
    await agent.close()
  }
}

function abort(): void {}

async function processorMicros(count: number, work: () => void | Promise<void>): Promise<number> {
  const repeat = async (times: number): Promise<void> => {
    for (let index = 0; index < times; index += 1) {
      const pending = work()
      if (pending) await pending
    }
  }
  await repeat(count / 10)
  const before = process.cpuUsage()
  await repeat(count)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}
