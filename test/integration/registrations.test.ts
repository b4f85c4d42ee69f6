import { randomBytes, randomUUID } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createLocalEvents } from '#agent/base/localEvents.ts'
import type { NewActivityEntry } from '#agent/base/recordActivity.ts'
import { createServiceClient } from '#agent/connections/serviceClient.ts'
import type { ServiceTarget } from '#agent/connections/serviceTarget.ts'
import { createRegistrationRepository } from '#agent/identity/registrationRepository.ts'
import { createRegistrations } from '#agent/identity/registrations.ts'
import { silentLog } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import { type AutomatonRegistration, RegistrationDraft, registerTypedData } from '#shared/contract/automatons.ts'
import type { IntentState } from '#shared/contract/intents.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import { until } from '../support/assertions/eventually.ts'
import { createLockableSigner } from '../support/fakes/lockableSigner.ts'
import { createMemoryKeys } from '../support/fakes/memoryKeys.ts'
import { agent, openApprovals, person, rule, withRules } from '../support/fixtures/approvals.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'

/** The agent's part of a registration, with its approvals, its signer and a service. */
let service: TestService
const keys = createMemoryKeys()

beforeAll(async () => {
  service = await runningService({ host: 'none' })
})
afterAll(() => service?.close())

const approve = { approve: true, confirmed: false }
const deny = { approve: false, confirmed: false }
const draft = (fields: object = {}) => RegistrationDraft.parse({ name: 'Ada', bio: 'Counts.', ...fields })
const ownTarget = (): ServiceTarget => ({ url: service.url, key: service.key, certificate: undefined })

/** Opens an agent on a file that another agent can open after it is closed. */
function openRegistrations(
  options: { file?: string; target?: ServiceTarget | null; onIntent?: (state: IntentState) => void } = {},
) {
  const { file = join(temporaryFolder('agent'), 'agent.sqlite'), target = ownTarget() } = options
  const targets = { target: target ?? undefined }
  const links = new Set<(event: LocalEvent) => void>()
  const events = createLocalEvents({
    subscribe(listener) {
      links.add(listener)
      return () => links.delete(listener)
    },
  })
  const { onIntent } = options
  events.subscribe((event) => event.type === 'intent.changed' && onIntent?.(event.intent.state))
  const published: AutomatonRegistration[] = []
  events.subscribe((event) => event.type === 'registration.changed' && void published.push(event.registration))
  const notes: NewActivityEntry[] = []
  const signer = createLockableSigner()
  const { approvals, database, close: closeApprovals } = openApprovals({ file, signer, publish: events.publish })
  const client = createServiceClient(() => targets.target)
  let end: AppError | undefined
  const all = createRegistrations({
    records: createRegistrationRepository(database),
    approvals,
    signer,
    keys,
    client,
    events,
    recordActivity: (entry) => void notes.push(entry),
    findEnd: ({ requester }) => (requester.id === agent.id ? end : undefined),
    newUuid: randomUUID,
    newId: () => randomBytes(12).toString('hex'),
    now: Date.now,
    log: silentLog,
    pausesMs: [60_000], // the clock alone triggers no retry
  })
  let open = true
  const close = async () => {
    if (!open) return
    open = false
    await all.close()
    await client.close()
    closeApprovals()
  }
  onTestFinished(close)
  const find = (id: string) => {
    const registration = all.list().find((it) => it.id === id)
    if (!registration) throw new Error(`There is no registration ${id}.`)
    return registration
  }
  return {
    registrations: all,
    approvals,
    database,
    notes,
    file,
    close,
    states: () => published.map(({ state }) => state),
    become: (id: string, state: AutomatonRegistration['state']) =>
      until(`it is ${state}`, () => (find(id).state === state ? find(id) : undefined)),
    find,
    /** Ends the requester `agent`. */
    endAgent() {
      end = new AppError('tool/revoked', 'The tool client was revoked.')
    },
    /** Makes the service reachable again. */
    reach(next: ServiceTarget | undefined) {
      targets.target = next
      for (const tell of links) tell({ type: 'ready' })
    },
  }
}

const read = async (id: string) => service.send(`/v1/automatons/${id}`, { key: null })

test('previews the exact bytes to sign without requesting a signature', async () => {
  const { registrations, approvals } = openRegistrations()
  const automaton_id = randomUUID()
  const preview = await registrations.preview(draft({ automaton_id, genesis_prompt_hash: `0x${'a'.repeat(64)}` }))
  expect(preview).toMatchObject({
    chain_type: 'evm',
    profile: { automaton_id, automaton_address: keys.evm.address, creator_address: keys.evm.address, name: 'Ada' },
  })
  expect(JSON.parse(preview.canonical_json)).toEqual(preview.profile)
  expect(JSON.parse(preview.signed_data)).toMatchObject({
    domain: { name: registerTypedData.defaultDomainName, version: '1', chainId: 8453 },
    primaryType: 'Register',
    message: { automatonId: automaton_id, payloadHash: preview.payload_hash },
  })
  expect(approvals.list({ limit: 10 }).intents).toEqual([])
  expect(registrations.list()).toEqual([])
})

test('requests approval, sends the approved registration and stores the record', async () => {
  const { registrations, approvals, become, states, notes } = openRegistrations()
  const started = await registrations.start(draft(), { requester: person, reason: 'A new one.' })
  expect(started).toMatchObject({ state: 'waiting', detail: null, automaton: null })
  expect(approvals.get(started.intent_id)).toMatchObject({ state: 'waiting', reason: 'A new one.', requester: person })

  await approvals.decide(started.intent_id, approve)
  const { automaton, profile } = await become(started.id, 'registered')
  expect(automaton).toMatchObject({ ...profile, chain_type: 'evm', status: 'registered' })
  expect((await read(profile.automaton_id)).json).toEqual({ automaton })
  expect(states()).toEqual(['waiting', 'sending', 'registered'])
  expect(notes.map(({ kind }) => kind)).toEqual(['registration.registered'])
  expect(registrations.list()).toHaveLength(1)
})

test('registers with any account of either chain for any creator', async () => {
  const { registrations, approvals, become } = openRegistrations()
  approvals.changePolicy(withRules([rule({ effect: 'allow', kind: 'identity.register' })]))
  const creator_address = `0x${'2'.repeat(40)}`
  const cases = [
    {
      input: { account_id: keys.otherEvm.id, creator_address },
      address: keys.otherEvm.address,
      creator: creator_address,
    },
    { input: { chain_type: 'solana' }, address: keys.solana.address, creator: keys.solana.address },
  ]
  for (const { input, address, creator } of cases) {
    const { id } = await registrations.start(draft(input), { requester: agent })
    const { automaton } = await become(id, 'registered')
    expect(automaton).toMatchObject({ automaton_address: address, creator_address: creator })
  }
})

test.each([
  ['the person', deny, 'You denied it.'],
  ['the policy', undefined, 'Denied by your rule “Nobody may register an identity”.'],
])('does not send a registration that %s refused', async (_, decision, detail) => {
  const { registrations, approvals, become } = openRegistrations()
  if (!decision) approvals.changePolicy(withRules([rule({ effect: 'deny', kind: 'identity.register' })]))
  const started = await registrations.start(draft(), { requester: person })
  if (decision) await approvals.decide(started.intent_id, decision)
  const refused = await become(started.id, 'refused')
  expect(refused.detail).toContain(detail)
  expect((await read(started.profile.automaton_id)).status).toBe(404)
  await expect(registrations.send(started.id)).rejects.toMatchObject({ code: 'registration/state' })
})

test('fails a registration that the service refuses, with the message of the service', async () => {
  const { registrations, approvals, become } = openRegistrations()
  approvals.changePolicy(withRules([rule({ effect: 'allow' })]))
  const first = await registrations.start(draft(), { requester: person })
  const { profile } = await become(first.id, 'registered')
  const otherDraft = draft({ automaton_id: profile.automaton_id, name: 'Eve' })
  const second = await registrations.start(otherDraft, { requester: person })
  const failed = await become(second.id, 'failed')
  expect(failed.detail).toBe('Profile name is immutable after registration')
  await expect(registrations.send(second.id)).rejects.toMatchObject({ code: 'registration/state' })
  await expect(registrations.send('reg_none')).rejects.toMatchObject({ code: 'registration/not-found' })
})

test('stores a signed registration while the service is unavailable and sends it afterwards', async () => {
  const { registrations, approvals, find, reach, become } = openRegistrations({ target: null })
  const started = await registrations.start(draft(), { requester: person })
  await approvals.decide(started.intent_id, approve)
  await until('it was tried', () => find(started.id).detail)
  expect(find(started.id)).toMatchObject({ state: 'sending', detail: "The service isn't responding." })
  reach(ownTarget())
  await become(started.id, 'registered')
})

test.each([408, 429, 500])(
  'a response of %i keeps the signed registration for later without exposing a credential',
  async (status) => {
    const credentials: unknown[] = []
    const url = await listening((request, response) => {
      if (request.url === '/v1/automatons/register') {
        credentials.push(request.headers.authorization ?? request.headers['x-api-key'])
      }
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":"Later.","code":"request/rate"}')
    })
    const { registrations, approvals, find, reach, become } = openRegistrations({ target: { ...ownTarget(), url } })
    const started = await registrations.start(draft(), { requester: person })
    await approvals.decide(started.intent_id, approve)
    await until('it was tried', () => find(started.id).detail)
    expect(find(started.id).state).toBe('sending')
    expect(credentials).toEqual([undefined])
    reach(ownTarget())
    await become(started.id, 'registered')
  },
)

test('resends the same bytes after a lost response, even after a restart', async () => {
  const requests: string[] = []
  const first = openRegistrations({ target: { ...ownTarget(), url: await losingProxy(requests) } })
  const started = await first.registrations.start(draft(), { requester: person })
  await first.approvals.decide(started.intent_id, approve)
  await until('it was tried', () => first.find(started.id).detail)
  const arrived = (await read(started.profile.automaton_id)).json
  expect(arrived.automaton).toMatchObject({ name: 'Ada' })
  expect((await first.registrations.send(started.id)).state).toBe('sending')
  await first.close()

  const second = openRegistrations({ file: first.file })
  expect(second.find(started.id).state).toBe('sending')
  second.reach(ownTarget())
  expect((await second.become(started.id, 'registered')).automaton).toEqual(arrived.automaton)
  expect(requests).toHaveLength(2)
  expect(new Set(requests).size).toBe(1)
})

test('does not send a registration whose requester ended before sending', async () => {
  const { registrations, approvals, find, reach, become, endAgent } = openRegistrations({ target: null })
  const started = await registrations.start(draft(), { requester: agent })
  await approvals.decide(started.intent_id, approve)
  await until('it was tried', () => find(started.id).detail)
  endAgent()
  expect((await registrations.send(started.id)).state).toBe('sending') // unknown while the service is unreachable
  reach(ownTarget())
  expect((await become(started.id, 'failed')).detail).toBe('The tool client was revoked.')
  expect((await read(started.profile.automaton_id)).status).toBe(404)
})

test('finds a registration that arrived before its requester ended without sending it again', async () => {
  const requests: string[] = []
  const opened = openRegistrations({ target: { ...ownTarget(), url: await losingProxy(requests) } })
  const hash = `0x${'c'.repeat(64)}`
  const started = await opened.registrations.start(draft({ genesis_prompt_hash: hash }), { requester: agent })
  await opened.approvals.decide(started.intent_id, approve)
  await until('it was tried', () => opened.find(started.id).detail)
  opened.endAgent()
  opened.reach(ownTarget())
  const { automaton } = await opened.become(started.id, 'registered')
  expect(automaton).toEqual((await read(started.profile.automaton_id)).json.automaton)
  expect(requests).toHaveLength(1)
})

test('rejects an automaton registered by another account under the same id', async () => {
  const another = openRegistrations()
  const automaton_id = randomUUID()
  const other = await another.registrations.start(draft({ automaton_id, name: 'Eve' }), { requester: person })
  await another.approvals.decide(other.intent_id, approve)
  await another.become(other.id, 'registered')
  const { registrations, approvals, find, reach, become, endAgent } = openRegistrations({ target: null })
  const started = await registrations.start(draft({ automaton_id }), { requester: agent })
  await approvals.decide(started.intent_id, approve)
  await until('it was tried', () => find(started.id).detail)
  endAgent()
  reach(ownTarget())
  expect((await become(started.id, 'failed')).automaton).toBeNull()
})

/** Forwards each body to the service, and disconnects instead of responding. */
function losingProxy(requests: string[]): Promise<string> {
  return listening(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    if (request.url === '/v1/automatons/register') requests.push(body)
    await service.send(request.url ?? '/', { method: 'POST', body })
    response.destroy()
  })
}

/** Starts a server for this test only. @returns its address */
async function listening(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // listens on TCP
}

test('a waiting registration survives a restart and is sent after approval', async () => {
  const first = openRegistrations()
  const waiting = await first.registrations.start(draft(), { requester: person })
  await first.close()
  const second = openRegistrations({ file: first.file })
  expect(second.find(waiting.id)).toEqual(waiting)
  await second.approvals.decide(waiting.intent_id, approve)
  await second.become(waiting.id, 'registered')
})

test('a crash at any point leaves no unsent signature and no unknown registration', async () => {
  const remaining: { file: string; state: string }[] = []
  const first = openRegistrations({
    target: null,
    // Copy of the state that a kill at this point would leave.
    onIntent(state) {
      const file = join(temporaryFolder('agent'), 'agent.sqlite')
      for (const part of ['', '-wal']) copyFileSync(first.file + part, file + part)
      remaining.push({ file, state })
    },
  })
  first.approvals.changePolicy(withRules([rule({ effect: 'allow' })]))
  const started = await first.registrations.start(draft(), { requester: person })
  expect(started.state).toBe('sending')
  await first.close()
  expect(remaining.map(({ state }) => state)).toEqual(['approved', 'signed'])

  for (const { file, state } of remaining) {
    const next = openRegistrations({ file })
    expect(next.registrations.list().map(({ id }) => id)).toEqual([started.id])
    next.reach(ownTarget())
    await next.become(started.id, state === 'signed' ? 'registered' : 'failed')
  }
})

test('submits no intent if the registration cannot be stored', async () => {
  const { registrations, approvals, database } = openRegistrations()
  database.exec('DROP TABLE registrations')
  approvals.changePolicy(withRules([rule({ effect: 'allow' })]))
  await expect(registrations.start(draft(), { requester: person })).rejects.toThrow('no such table')
  expect(approvals.list({ limit: 10 }).intents).toEqual([])
})

test('fails a registration whose intent no longer exists', async () => {
  const first = openRegistrations()
  const { id } = await first.registrations.start(draft(), { requester: person })
  await first.close()
  const { database, close } = openApprovals({ file: first.file })
  database.prepare('DELETE FROM intents').run()
  close()
  const second = openRegistrations({ file: first.file })
  expect(second.find(id)).toMatchObject({ state: 'failed', detail: expect.stringContaining('There is no request') })
})

test('rejects immediately a registration that the signer refuses', async () => {
  const { registrations, approvals } = openRegistrations()
  const input = draft({ name: 'a\u0000b' })
  await expect(registrations.preview(input)).rejects.toMatchObject({ code: 'intent/invalid' })
  await expect(registrations.start(input, { requester: person })).rejects.toMatchObject({ code: 'intent/invalid' })
  expect(approvals.list({ limit: 10 }).intents).toEqual([])
  expect(registrations.list()).toEqual([])
})

test('uses a service nonce bound to the creator if it outlives the approval', async () => {
  const { registrations, approvals, become } = openRegistrations()
  const message = await signInMessage()
  expect((await service.send('/v1/auth/wallets', { body: message })).status).toBe(201)
  approvals.changePolicy({ ...withRules([rule({ effect: 'allow' })]), expiry_minutes: 15 })
  const bound = await registrations.start(draft(), { requester: person })
  expect(bound.nonce).toMatch(/^bound_/)
  await become(bound.id, 'registered')

  const another = await registrations.start(draft({ creator_address: keys.otherEvm.address }), { requester: person })
  expect(another.nonce).not.toMatch(/^bound_/)
  await become(another.id, 'registered')
  approvals.changePolicy({ ...withRules([rule({ effect: 'allow' })]), expiry_minutes: 60 })
  const slow = await registrations.start(draft(), { requester: person })
  expect(slow.nonce).not.toMatch(/^bound_/)
  await become(slow.id, 'registered')
})

/** Signs a message with the agent's first account. */
async function signInMessage(): Promise<{ message: string; signature: string }> {
  const { nonce } = (await service.send('/v1/auth/nonce', { method: 'POST', key: null })).json
  const signer = createLockableSigner()
  const prepared = await signer.prepare({
    kind: 'siwe',
    account_id: keys.evm.id,
    domain: new URL(service.url).host,
    uri: `${service.url}/v1/auth/verify`,
    nonce,
    chain_id: 8453,
  })
  const { message = '', signature } = await signer.sign(prepared)
  return { message, signature }
}
