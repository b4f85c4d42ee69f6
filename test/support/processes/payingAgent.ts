import { createPaymentBudgetRepository } from '#agent/budgets/paymentBudgetRepository.ts'
import type { Log } from '#platform/logging/log.ts'
import type { TimeSource } from '#platform/time/timeSource.ts'
import type { InferenceOptions } from '#service/inference/providers/providerSettings.ts'
import type { PolicyRule } from '#shared/contract/intents.ts'
import { temporaryFolder } from '../fixtures/temporaryFolder.ts'
import { createRunningAgent, type RunningAgent } from './runningAgent.ts'
import { type Answer, type Json, runningService, type TestService } from './runningService.ts'

export const passphrase = 'several plain words'

/** Agent with a funded test wallet, connected to a real service that sells to it. */
export type PayingAgent = {
  service: TestService
  readonly agent: RunningAgent
  address: string
  dataFolder: string
  /** Test USDC of the wallet, in millionths. */
  money(): Promise<number>
  credits(): Promise<number>
  /** Sets the rules, with an extra confirmation only above $100. */
  setPolicy(rules: PolicyRule[]): void
  /** Approves the request of a payment as the user. */
  approve(payment: Json): Promise<Answer>
  post(path: string, body: object, headers?: Record<string, string>): Promise<Answer>
  payment(id: string, waitMs?: number): Promise<Json>
  budgets(change?: object): Promise<Answer>
  /** Allows programs to reach these servers on this computer, on the user's behalf. */
  nameServers(...hosts: string[]): void
  /** Stops the agent and starts it on the same folder, unlocked. */
  restart(): Promise<void>
  close(): Promise<void>
}

export async function createPayingAgent(
  options: { now?: () => number; time?: TimeSource; inference?: InferenceOptions; host?: 'own'; log?: Log } = {},
): Promise<PayingAgent> {
  const service = await runningService({
    host: 'none',
    payments: { facilitator: { kind: 'test-ledger' } },
    ...options,
  })
  const dataFolder = temporaryFolder('agent')
  const open = () =>
    createRunningAgent({
      dataFolder,
      target: { url: service.url, key: service.key, certificate: undefined },
      tellService(order) {
        if (order.event === 'models-stopped') service.models.setStopped(order.stopped)
      },
      ...options,
    })
  let agent = await open()
  const keyring = await agent.wallet.addPhrase({
    phrase: await agent.wallet.makePhrase(12),
    writtenDown: true,
    passphrase,
  })
  const address = keyring.accounts.find((it) => it.chain_type === 'evm')?.address ?? ''
  for (let times = 0; times < 5; times += 1) await service.send('/v1/payments/faucet', { body: { address } })
  const post = (path: string, body: object, headers = {}) => agent.send(path, { body, headers })
  return {
    service,
    get agent() {
      return agent
    },
    address,
    dataFolder,
    money: async () => Number((await service.send(`/v1/payments/balance/${address}`)).json.balance),
    credits: async () => (await service.send('/v1/credits/balance')).json.balance_cents,
    setPolicy: (rules) =>
      void agent.approvals.changePolicy({ rules, confirm_above_micro_usd: '100000000', expiry_minutes: 15 }),
    approve: (payment) => post(`/local/intents/${payment.intent_id}/decision`, { approve: true }),
    post,
    payment: async (id, waitMs = 0) => (await agent.send(`/local/payments/${id}?wait_ms=${waitMs}`)).json,
    budgets: (change) =>
      change === undefined
        ? agent.send('/local/payments/budgets')
        : agent.send('/local/payments/budgets', { method: 'PUT', body: change }),
    nameServers(...local_servers) {
      const records = createPaymentBudgetRepository(agent.database)
      records.setLimits({ ...(records.limits() ?? noLimits), local_servers })
    },
    async restart() {
      await agent.close()
      agent = await open()
      await agent.wallet.unlock(passphrase)
    },
    async close() {
      await agent.close()
      await service.close()
    },
  }
}

export const noLimits = {
  payment_micro_usd: null,
  day_micro_usd: null,
  month_micro_usd: null,
  hosts: [],
  payees: [],
  local_servers: [] as string[],
  ask_first_payee: true,
}
