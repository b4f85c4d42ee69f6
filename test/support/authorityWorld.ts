import { createHash, randomBytes } from 'node:crypto'
import { signInRequesterId } from '#agent/connections/clientPresence.ts'
import type { ToolProfile } from '#shared/contract/toolClients.ts'
import { eventually, until } from './eventually.ts'
import { createMcpClient, type McpAnswer, type McpClient, toolClient } from './mcpClients.ts'
import { createInferenceOptions } from './models/inferenceOptions.ts'
import { createProviderServer, type ProviderServer } from './models/providerServer.ts'
import { plainUsage } from './models/scriptedAnswer.ts'
import { plantDomain } from './plantDomain.ts'
import { createRunningAgent, type RunningAgent } from './runningAgent.ts'
import { type Answer, exchange, type Json, runningService, type TestService } from './runningService.ts'
import { temporaryFolder } from './temporaryFolder.ts'
import { evmWallet } from './wallets.ts'

/**
 * Agent with a wallet, connected to a real service with sandboxes, models and test money. For tests of access
 * revocation.
 */
export type AuthorityWorld = {
  service: TestService
  agent: RunningAgent
  providers: ProviderServer
  /** Sandbox shared by the tests. */
  box: string
  /** Sends a request as the user's window. */
  send: RunningAgent['send']
  /** Runs a command in a sandbox as the owner. @returns the output */
  run(command: string, sandbox?: string): Promise<string>
  sandboxNames(): Promise<string[]>
  addToolClient(settings?: {
    name?: string
    profile?: ToolProfile
    daily_budget_micro_usd?: number
  }): Promise<TestClient>
  addChat(tools?: object): Promise<TestChat>
  addKey(): Promise<TestKey>
  /** Signs in with a wallet that is linked to the account. By default, access ends by unlinking the wallet. */
  addSignIn(end?: 'unlink' | 'sign-out'): Promise<TestKey>
  addAccount(): Promise<TestAccount>
  /** Adds a domain to the account. @returns the domain name */
  addDomain(): Promise<string>
  /** Waits for a pending request of this requester in the inbox. */
  waitingRequest(requesterId: string): Promise<Json>
  request(id: string): Promise<Json>
  decide(id: string, body: object): Promise<Answer>
  listGrants(requesterId: string): Promise<Json[]>
  /** Summaries of the activity log with their actors, newest first. */
  log(search: string): Promise<string[]>
  close(): Promise<void>
}

export type TestClient = {
  id: string
  call: McpClient['call']
  change(settings: object): Promise<Answer>
  end(): Promise<Answer>
}
export type TestChat = {
  id: string
  /**
   * Scripts the model to make these calls, one per step, and then reply "ok".
   * @returns the id of the assistant message
   */
  ask(...calls: [name: string, args: object][]): Promise<string>
  message(id: string): Promise<Json>
  change(tools: object): Promise<Answer>
  end(): Promise<Answer>
  restore(): Promise<Answer>
}
export type TestKey = { id: string; send: RunningAgent['send']; end(): Promise<Answer> }
export type TestAccount = { id: string; principal: string; makeDefault(): void; end(): Promise<void> }

export const passphrase = 'several plain words'

export async function openAuthorityWorld(): Promise<AuthorityWorld> {
  const providers = await createProviderServer()
  const service = await runningService({
    payments: { facilitator: { kind: 'test-ledger' } },
    inference: createInferenceOptions(providers),
  })
  const agent = await createRunningAgent({
    dataFolder: temporaryFolder('agent'),
    target: { url: service.url, key: service.key, certificate: undefined },
    tellService(order) {
      if (order.event === 'models-stopped') service.models.setStopped(order.stopped)
    },
  })
  await eventually(() => expectConnected(agent))
  const clients: McpClient[] = []
  const addPhrase = async () =>
    agent.wallet.addPhrase({ phrase: await agent.wallet.makePhrase(12), writtenDown: true, passphrase })
  await addPhrase()
  agent.approvals.changePolicy({
    rules: [{ id: 'ask', effect: 'ask', kind: '*', requester: '*', host: '*', max_amount_micro_usd: null }],
    confirm_above_micro_usd: '100000000',
    expiry_minutes: 15,
  })
  const { send } = agent
  const box = (await service.send('/v1/sandboxes', { body: { name: 'shared' } })).json.id
  const listByName = async (path: string, name: string): Promise<Json[]> => (await send(path)).json[name]

  return {
    ...{ service, agent, providers, box, send },
    run: async (command, sandbox = box) =>
      (await service.send(`/v1/sandboxes/${sandbox}/exec`, { body: { command } })).json.stdout,
    sandboxNames: async () =>
      (await service.send('/v1/sandboxes')).json.sandboxes.map(({ name }: Json): string => name),
    async addDomain() {
      const name = `authority-${randomBytes(4).toString('hex')}.com`
      const { id: accountId } = (await service.send('/v1/auth/me')).json
      plantDomain(service.dataDir, { accountId, name })
      return name
    },
    async addToolClient(settings = {}) {
      const { client, key } = await toolClient(agent, settings)
      const opened = await createMcpClient({ url: `${agent.origin}/mcp`, key })
      clients.push(opened)
      const path = `/local/tools/clients/${client.id}`
      return {
        id: client.id,
        call: opened.call,
        change: (body) => send(path, { method: 'PATCH', body }),
        end: () => send(path, { method: 'DELETE' }),
      }
    },
    async addChat(tools = {}) {
      const body = { models: ['kimi-k2.5'], tools: { enabled: true, ...tools } }
      const { id } = (await send('/local/chat/conversations', { body })).json
      const path = `/local/chat/conversations/${id}`
      return {
        id,
        async ask(...calls) {
          providers.clear()
          for (const [name, args] of calls) {
            providers.play({ parts: [{ call: name, id: 'c', args: JSON.stringify(args) }], usage: plainUsage })
          }
          providers.play({ parts: [{ text: 'ok' }], usage: plainUsage })
          const { json } = await send(`${path}/messages`, { body: { parent_id: null, text: 'Do it' } })
          return json.answers[0].id
        },
        message: async (message) => (await send(`/local/chat/messages/${message}`)).json.message,
        change: (changed) => send(path, { method: 'PATCH', body: { tools: changed } }),
        end: () => send(path, { method: 'DELETE' }),
        restore: () => send(`${path}/restore`, { body: {} }),
      }
    },
    async addKey() {
      const key = (await service.send('/v1/auth/api-keys', { body: { name: 'script' } })).json
      return {
        id: `key:${key.id}`,
        send: (path, request = {}) =>
          exchange(agent.origin, path, {
            ...request,
            key: null,
            headers: { 'x-api-key': key.key, ...request.headers },
          }),
        end: () => service.send(`/v1/auth/api-keys/${key.id}`, { method: 'DELETE' }),
      }
    },
    async addSignIn(end = 'unlink') {
      const wallet = evmWallet()
      await service.send('/v1/auth/wallets', { body: await wallet.signedMessage(service.url) })
      const { access_token: token, refresh_token: refreshToken } = (await wallet.signIn(service.url)).json
      return {
        id: signInRequesterId(wallet.address),
        send: (path, request = {}) =>
          exchange(agent.origin, path, {
            ...request,
            key: null,
            headers: { authorization: `Bearer ${token}`, ...request.headers },
          }),
        end: () =>
          end === 'unlink'
            ? service.send(`/v1/auth/wallets/${wallet.address}`, { method: 'DELETE' })
            : service.send('/v1/auth/logout', { body: { refresh_token: refreshToken } }),
      }
    },
    async addAccount() {
      const keyring = await addPhrase()
      const account = keyring.accounts.find(({ chain_type }) => chain_type === 'evm')
      if (!account) throw new Error('A phrase has an EVM account.')
      return {
        id: account.id,
        principal: `wallet:${account.id}`,
        makeDefault: () => agent.wallet.setDefault(account.id),
        end: () => agent.wallet.remove(keyring.id, { typedLabel: keyring.label, passphrase }),
      }
    },
    waitingRequest: (requesterId) =>
      until(`a request of ${requesterId} waits`, async () =>
        (await listByName('/local/intents?state=waiting', 'intents')).find(
          ({ requester }) => requester.id === requesterId,
        ),
      ),
    request: async (id) => (await send(`/local/intents/${id}`)).json,
    decide: (id, body) => send(`/local/intents/${id}/decision`, { body }),
    listGrants: async (requesterId) =>
      (await listByName('/local/grants', 'grants')).filter(({ requester }) => requester.id === requesterId),
    log: async (search) =>
      (await listByName(`/local/activity?limit=50&search=${encodeURIComponent(search)}`, 'entries')).map(
        ({ actor, summary }) => `${actor.name}: ${summary}`,
      ),
    async close() {
      for (const { client } of clients) await client.close()
      await agent.close()
      await service.close()
      await providers.close()
    },
  }
}

function expectConnected(agent: RunningAgent): void {
  if (agent.connection().state !== 'connected') throw new Error('The agent is not connected.')
}

/** Creates an intent to pay 5 USDC to a unique address, so that no two requests are equal. */
export function paymentIntent(name: string, account_id?: string) {
  return {
    kind: 'x402.authorize',
    network: 'base',
    pay_to: `0x${createHash('sha256').update(name).digest('hex').slice(0, 40)}`,
    amount: '5000000',
    resource: `https://${name}.example/report`,
    ...(account_id !== undefined && { account_id }),
  }
}

export type { McpAnswer }
