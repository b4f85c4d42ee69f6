import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import {
  type Automaton,
  type AutomatonProfile,
  type AutomatonRegistration,
  canonicalizeProfile,
  getAutomaton,
  registerAutomaton,
} from '#shared/contract/automatons.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { RegistrationRepository, SignedRequest } from './registrationRepository.ts'

export type RegistrationSending = {
  /** Sends a signed registration. Concurrent calls share one request. @returns the registration after the attempt */
  send(id: string): Promise<AutomatonRegistration>
  /** Starts sending without waiting for the result. */
  begin(id: string): void
  /** Sends all registrations that are not known to have arrived. */
  sendAll(): void
  close(): Promise<void>
}

type Options = {
  records: RegistrationRepository
  client: Pick<ServiceClient, 'call'>
  /** Called after a changed registration was stored. */
  became: (registration: AutomatonRegistration) => void
  /** Returns the error if the requester or wallet account has ended. */
  findEnd: (registration: AutomatonRegistration) => AppError | undefined
  log: Log
  /** Delays between attempts while the outcome is unknown. The last one repeats. */
  pausesMs?: readonly number[]
}

const defaultPausesMs = [2_000, 10_000, 60_000] as const

/**
 * Sends registrations. After an unknown outcome (no response, or "later"), the same bytes are sent again; if they had
 * arrived, the service returns the earlier record. Once the requester or its account has ended, nothing more is sent
 * and the service is only queried for an earlier attempt.
 */
export function createRegistrationSending(options: Options): RegistrationSending {
  const { records, client, became, findEnd, log, pausesMs = defaultPausesMs } = options
  const underWay = new Map<string, Promise<AutomatonRegistration>>()
  const closing = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let failures = 0

  const deliver = async (id: string): Promise<AutomatonRegistration> => {
    const stored = records.find(id)
    if (!stored?.request) throw new Error(`The registration ${id} was never signed.`)
    const { registration, request } = stored
    try {
      const end = findEnd(registration)
      const automaton = end ? await requireRegistered(registration, end) : await register(request)
      failures = 0
      return storeRegistration({ ...registration, state: 'registered', detail: null, automaton })
    } catch (error) {
      if (closing.signal.aborted) return registration
      if (!(error instanceof AppError)) log.error('failed to send a registration', { id, error })
      const detail = error instanceof AppError ? error.message : 'Something went wrong in Steward.'
      if (!isUnclear(error)) return storeRegistration({ ...registration, state: 'failed', detail })
      plan()
      return storeRegistration({ ...registration, detail })
    }
  }
  // No credential is sent: the signature authorizes the request, and automatons are public.
  const callOptions = { credential: null, signal: closing.signal }
  const register = async (request: SignedRequest): Promise<Automaton> =>
    (await client.call(registerAutomaton, request, callOptions)).automaton
  /** @throws AppError `end` if no earlier attempt reached the service */
  const requireRegistered = async ({ profile }: AutomatonRegistration, end: AppError): Promise<Automaton> => {
    const { automaton } = await client
      .call(getAutomaton, { id: profile.automaton_id }, callOptions)
      .catch((error: unknown) => {
        throw error instanceof AppError && error.code === 'identity/not-found' ? end : error
      })
    if (canonicalizeProfile(toProfile(automaton)) !== canonicalizeProfile(profile)) throw end
    return automaton
  }
  const storeRegistration = (registration: AutomatonRegistration): AutomatonRegistration => {
    records.change(registration)
    became(registration)
    return registration
  }
  const send: RegistrationSending['send'] = (id) => {
    const running = underWay.get(id) ?? deliver(id).finally(() => underWay.delete(id))
    underWay.set(id, running)
    return running
  }
  const begin = (id: string): void => {
    send(id).catch((error: unknown) => log.error('registration not sent', { id, error }))
  }
  const sendAll = (): void => {
    if (closing.signal.aborted) return
    clearTimeout(timer)
    timer = undefined
    for (const { id } of records.inState('sending')) begin(id)
  }
  const plan = (): void => {
    if (timer !== undefined) return
    timer = setTimeout(sendAll, pausesMs[Math.min(failures, pausesMs.length - 1)])
    timer.unref()
    failures += 1
  }

  return {
    send,
    begin,
    sendAll,
    async close() {
      closing.abort()
      clearTimeout(timer)
      await Promise.allSettled(underWay.values())
    },
  }
}

function toProfile({ genesis_prompt_hash: hash, ...automaton }: Automaton): AutomatonProfile {
  return { ...automaton, ...(hash !== null && { genesis_prompt_hash: hash }) }
}

function isUnclear(error: unknown): boolean {
  return !(error instanceof AppError) || error.status >= 500 || error.status === 429 || error.status === 408
}
