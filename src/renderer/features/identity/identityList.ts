import type { Automaton, AutomatonRegistration } from '#shared/contract/automatons.ts'
import type { ChainType } from '#shared/contract/wallet.ts'

/** Automaton that is registered, or that this Steward is registering or tried to register. */
export type Identity = {
  /** Identifier in the window's address. */
  key: string
  name: string
  address: string
  chainType: ChainType
  state: AutomatonRegistration['state']
  createdAt: string
  /** Registration started here. Automatons registered elsewhere have only the service's data. */
  registration: AutomatonRegistration | undefined
  automaton: Automaton | undefined
}

/**
 * Merges registrations and automatons, newest first. Each automaton is listed once, regardless of the number of
 * attempts.
 */
export function mergeIdentities(
  registrations: readonly AutomatonRegistration[],
  automatons: readonly Automaton[],
): Identity[] {
  const registered = new Set(
    registrations.filter(({ state }) => state === 'registered').map(({ profile }) => toIdKey(profile.automaton_id)),
  )
  const here = new Set(registrations.map(({ profile }) => toIdKey(profile.automaton_id)))
  const seen = new Set<string>()
  const tried = registrations.filter(({ state, profile }) => {
    const key = toIdKey(profile.automaton_id)
    if (seen.has(key) || (registered.has(key) && state !== 'registered')) return false
    seen.add(key)
    return true
  })
  const others = automatons.filter(({ automaton_id }) => !here.has(toIdKey(automaton_id)))
  return [...tried.map(fromRegistration), ...others.map(fromAutomaton)].sort((a, b) =>
    b.createdAt.localeCompare(a.createdAt),
  )
}

function fromRegistration(registration: AutomatonRegistration): Identity {
  const { id, profile, chain_type, state, created_at, automaton } = registration
  return {
    key: id,
    name: profile.name,
    address: profile.automaton_address,
    chainType: chain_type,
    state,
    createdAt: automaton?.created_at ?? created_at,
    registration,
    automaton: automaton ?? undefined,
  }
}

function fromAutomaton(automaton: Automaton): Identity {
  return {
    key: automaton.automaton_id,
    name: automaton.name,
    address: automaton.automaton_address,
    chainType: automaton.chain_type,
    state: 'registered',
    createdAt: automaton.created_at,
    registration: undefined,
    automaton,
  }
}

function toIdKey(id: string): string {
  return id.replaceAll('-', '').toLowerCase()
}

/** Applies an event of one registration. */
export function withRegistration(
  list: readonly AutomatonRegistration[],
  changed: AutomatonRegistration,
): AutomatonRegistration[] {
  const isListed = list.some(({ id }) => id === changed.id)
  return isListed ? list.map((item) => (item.id === changed.id ? changed : item)) : [changed, ...list]
}
