import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import {
  type AutomatonRegistration,
  canonicalizeProfile,
  type previewRegistration,
  type RegistrationDraft,
  registerAutomaton,
} from '#shared/contract/automatons.ts'
import type { IntentRecord, Requester } from '#shared/contract/intents.ts'
import type { Output } from '#shared/contract/route.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Approvals } from '../approvals/approvals.ts'
import { steward } from '../base/actors.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { Signer } from '../signer/signer.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'
import { completeProfile, hashPayload } from './registrationDraft.ts'
import { requestRegistrationNonce } from './registrationNonce.ts'
import type { RegistrationRepository, StoredRegistration } from './registrationRepository.ts'
import { createRegistrationSending } from './registrationSending.ts'

/** Handles registrations: requests a signature, then sends it until the service responds. */
export type Registrations = {
  /** @throws AppError `wallet/absent`, `wallet/account-not-found`, `intent/invalid` */
  preview(draft: RegistrationDraft): Promise<Output<typeof previewRegistration>>
  /** @throws AppError same as `preview`, and `intent/too-many` */
  start(draft: RegistrationDraft, options: StartOptions): Promise<AutomatonRegistration>
  /** Returns the registration that requested this signature. @throws AppError `registration/not-found` */
  ofIntent(intentId: string): AutomatonRegistration
  /** Lists registrations, newest first. */
  list(): AutomatonRegistration[]
  /** @throws AppError `registration/not-found`, `registration/state` */
  send(id: string): Promise<AutomatonRegistration>
  close(): Promise<void>
}

/** Options of `start`. `onStored` runs in the transaction that stores the intent and the registration. */
type StartOptions = { requester: Requester; reason?: string | undefined; onStored?: (record: IntentRecord) => void }

type Options = {
  records: RegistrationRepository
  approvals: Pick<Approvals, 'submit' | 'get' | 'policy'>
  signer: Pick<Signer, 'prepare'>
  keys: Pick<WalletKeys, 'account'>
  client: Pick<ServiceClient, 'call'>
  events: LocalEvents
  recordActivity: RecordActivity
  /** Returns the error if the requester or wallet account of the intent has ended. */
  findEnd: (request: IntentRecord) => AppError | undefined
  newUuid: () => string
  /** Returns twelve random bytes as hexadecimal. */
  newId: () => string
  now: () => number
  log: Log
  pausesMs?: readonly number[]
}

const listed = 500

export function createRegistrations(options: Options): Registrations {
  const { records, approvals, client, events, recordActivity, log, pausesMs } = options

  const became = (registration: AutomatonRegistration): void => {
    events.publish({ type: 'registration.changed', registration })
    recordEnd(registration, recordActivity)
  }
  const findEnd = ({ intent_id }: AutomatonRegistration): AppError | undefined => {
    try {
      return options.findEnd(approvals.get(intent_id))
    } catch (error) {
      if (error instanceof AppError) return error
      throw error
    }
  }
  const sending = createRegistrationSending({ records, client, became, findEnd, log, ...(pausesMs && { pausesMs }) })

  /** Applies the state of an intent to its registration. */
  const follow = (registration: AutomatonRegistration, intent: IntentRecord): void => {
    const end = toEnd(intent)
    if (!end || registration.state !== 'waiting') return
    const { request, ...next } = end
    const changed = { ...registration, ...next }
    records.change(changed, request)
    became(changed)
    if (request) sending.begin(changed.id)
  }
  const reviewWaiting = (registration: AutomatonRegistration): void => {
    try {
      follow(registration, approvals.get(registration.intent_id))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const failed: AutomatonRegistration = { ...registration, state: 'failed', detail: error.message }
      records.change(failed)
      became(failed)
    }
  }

  const requireRegistration = (id: string): StoredRegistration => {
    const stored = records.find(id)
    if (!stored) throw new AppError('registration/not-found', `There is no registration \`${id.slice(0, 64)}\`.`)
    return stored
  }

  for (const waiting of records.inState('waiting')) reviewWaiting(waiting)
  const unsubscribe = events.subscribe((event) => {
    if (event.type === 'ready') sending.sendAll()
    const waiting = event.type === 'intent.changed' ? records.ofIntent(event.intent.id) : undefined
    if (waiting && event.type === 'intent.changed') follow(waiting, event.intent)
  })

  return {
    ...createRegistrationRequests(options, requireRegistration),
    ofIntent(intentId) {
      const registration = records.ofIntent(intentId)
      if (!registration) {
        throw new AppError('registration/not-found', `No registration belongs to the intent \`${intentId}\`.`)
      }
      return registration
    },
    list: () => records.list(listed),
    async send(id) {
      const { state } = requireRegistration(id).registration
      if (state === 'sending') return sending.send(id)
      throw new AppError('registration/state', `This registration is ${state}.`)
    },
    close() {
      unsubscribe()
      return sending.close()
    },
  }
}

function createRegistrationRequests(
  options: Options,
  requireRegistration: (id: string) => StoredRegistration,
): Pick<Registrations, 'preview' | 'start'> {
  const { records, approvals, signer, client, events, newId, newUuid, now } = options

  return {
    async preview(draft) {
      const intent = completeProfile(draft, options)
      const { raw } = await signer.prepare({ ...intent, nonce: newUuid() })
      const { profile, chain_type } = intent
      return {
        profile,
        chain_type,
        canonical_json: canonicalizeProfile(profile),
        payload_hash: await hashPayload(profile),
        signed_data: raw,
      }
    },
    async start(draft, { requester, reason, onStored: more }) {
      const intent = completeProfile(draft, options)
      const { profile, chain_type } = intent
      await signer.prepare({ ...intent, nonce: newUuid() }) // validates before requesting a nonce from the service
      const nonce = await requestRegistrationNonce(profile, { client, policy: approvals.policy, newUuid })
      const id = `reg_${newId()}`
      const payload_hash = await hashPayload(profile)
      const onStored = (record: IntentRecord): void => {
        const { id: intent_id } = record
        const fresh = { id, intent_id, profile, chain_type, nonce, payload_hash, created_at: toIsoTime(now()) }
        records.add({ ...fresh, state: 'waiting', detail: null, automaton: null })
        more?.(record)
      }
      await approvals.submit({ intent: { ...intent, nonce }, requester, reason, onStored })
      const { registration } = requireRegistration(id)
      // An intent that was decided immediately has already been published.
      if (registration.state === 'waiting') events.publish({ type: 'registration.changed', registration })
      return registration
    },
  }
}

type End = Pick<AutomatonRegistration, 'state' | 'detail'> & {
  request?: ReturnType<typeof registerAutomaton.body.parse>
}

/** @returns undefined until the intent is decided and signed */
function toEnd({ state, error, result }: IntentRecord): End | undefined {
  if (state === 'waiting' || state === 'approved') return undefined
  if (state === 'denied') return { state: 'refused', detail: error ?? 'You denied it.' }
  if (state === 'expired') return { state: 'refused', detail: error ?? 'The request expired without a decision.' }
  if (state === 'failed') return { state: 'failed', detail: error ?? 'Signing failed.' }
  const request = registerAutomaton.body.safeParse(result?.registration)
  if (request.success) return { state: 'sending', detail: null, request: request.data }
  return { state: 'failed', detail: 'The signed data is not a registration.' }
}

function recordEnd(
  { id, state, profile, detail, intent_id }: AutomatonRegistration,
  recordActivity: RecordActivity,
): void {
  if (state !== 'registered' && state !== 'failed') return
  recordActivity({
    kind: `registration.${state}`,
    actor: steward,
    subject: id,
    summary:
      state === 'registered'
        ? `Registered the automaton “${profile.name}”.`
        : `Could not register the automaton “${profile.name}”: ${detail ?? 'the service refused it.'}`,
    links: { registration: id, ...(intent_id !== null && { intent: intent_id }) },
    detail: { registration_id: id, intent_id, automaton_id: profile.automaton_id, address: profile.automaton_address },
  })
}
