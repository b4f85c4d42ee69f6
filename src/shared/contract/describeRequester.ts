import type { Requester } from './intents.ts'

/** Returns the name and kind of a requester. The name is self-chosen, or that of its key. */
export function describeRequester({ kind, name }: Requester): { name: string; what: string } {
  switch (kind) {
    case 'person':
      return { name: 'You', what: 'in this window' }
    case 'client':
      return { name, what: 'a program with an API key of yours' }
    case 'tool':
      return { name, what: 'a program that uses tools' }
    case 'agent':
      return { name, what: 'Steward itself' }
    default:
      return { name, what: 'a requester unknown to this version of Steward' }
  }
}

/** Formats name and kind on one line, so that a key cannot impersonate the user by its name. */
export function formatRequester(requester: Requester): string {
  const { name, what } = describeRequester(requester)
  return requester.kind === 'person' ? `${name}, ${what}` : `${what}, named “${name}”`
}
