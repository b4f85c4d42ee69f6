import { plainWord } from '../openRecord.ts'
import { shortAddress } from '../shortAddress.ts'
import type { AccountActivity, ActivityBy } from './activity.ts'

type Told = Pick<AccountActivity, 'type' | 'by' | 'sandbox_name' | 'description' | 'command'>

/** A command in the middle of a sentence; all of it stands beside. */
const shownCharacters = 120

/** What follows the verb: `You opened a terminal | in atlas`. */
const places: Partial<Record<Told['type'], 'in' | 'of'>> = {
  'terminal.opened': 'in',
  'file.written': 'in',
  'snapshot.created': 'of',
  'snapshot.restored': 'of',
  'snapshot.deleted': 'of',
  'domain.added': 'of',
  'domain.removed': 'of',
}
/** The verb alone is told, and the sandbox comes right after it: `You created atlas from a snapshot of web`. */
const ofTheWhole: readonly Told['type'][] = ['sandbox.created', 'sandbox.started', 'sandbox.stopped']
const standsAlone: readonly Told['type'][] = [
  'sandbox.renamed',
  'key.created',
  'key.revoked',
  'wallet.linked',
  'wallet.unlinked',
  'account.allowed',
  'account.denied',
  'credits.sent',
  'credits.granted',
  'credits.adjusted',
  'credits.refunded',
  'credits.bought',
  'name.registered',
  'name.renewed',
  'name.changed',
  'dns.changed',
  'models.used',
]

/** Who did what to what, in one sentence: `research-agent ran “npm test” in atlas: exit code 0 after 1.2 s.` */
export function activitySentence(told: Told, service: string): string {
  const words = sentenceWords(told, service)
  return /[.!?]$/.test(words) ? words : `${words}.`
}

function sentenceWords(told: Told, service: string): string {
  const { type, by, sandbox_name: sandbox, command } = told
  const words = told.description.replace(/\.$/, '')
  const lower = lowerFirst(words)
  const who = by.kind === 'service' ? undefined : whoDid(by)
  if (standsAlone.includes(type)) return `${who ?? service} ${lower}`
  if (sandbox === null) return words
  if (ofTheWhole.includes(type)) {
    const [verb = '', ...rest] = lower.split(' ')
    return who === undefined ? `${sandbox} ${lower}` : `${[who, verb, sandbox, ...rest].join(' ')}`
  }
  if (type === 'sandbox.deleted' && lower === 'deleted') return `${who ?? service} deleted ${sandbox}`
  if (who === undefined) return `${sandbox}: ${lower}`
  if (type === 'sandbox.changed') return `${who} changed ${sandbox}: ${lower}`
  if (type === 'command.run' && command !== null) {
    return `${who} ran “${shortened(command)}” in ${sandbox}: ${lower.replace(/^ran a command: /, '')}`
  }
  const place = places[type]
  if (place === undefined) return `${sandbox}: ${lower}`
  // The window's own terminals run a shell, which goes without saying.
  const what =
    type === 'terminal.opened' && command !== null && by.kind !== 'owner'
      ? `${lower} with “${shortened(command)}”`
      : lower
  return `${who} ${what} ${place} ${sandbox}`
}

export function whoDid({ kind, name }: ActivityBy): string {
  switch (kind) {
    case 'owner':
      return 'You'
    case 'key':
      return name === null ? 'A deleted key' : programName(name)
    case 'wallet':
      return name === null ? 'A wallet' : shortAddress(name)
    case 'link':
      return `Someone with a terminal link${name === null ? '' : ` of ${programName(name)}`}`
    case 'service':
      return 'Steward'
    case 'agent':
    case 'chat':
    case 'program':
    case 'steward':
      return programName(name ?? 'A program')
    default:
      return programName(name ?? plainWord(kind))
  }
}

/** Distinguishes a program named “You” from the user. */
function programName(name: string): string {
  return /^\s*you\s*$/i.test(name) ? `The program “${name.trim()}”` : name
}

/** `Wrote /root/big.bin (30 MB).` */
export function wroteWords(path: string, bytes: number): string {
  return `Wrote ${path} (${sizeWords(bytes)}).`
}

function sizeWords(bytes: number): string {
  const [size, unit] =
    bytes < 1000
      ? [bytes, 'bytes']
      : bytes < 1e6
        ? [bytes / 1e3, 'kB']
        : bytes < 1e9
          ? [bytes / 1e6, 'MB']
          : [bytes / 1e9, 'GB']
  return `${size < 10 && unit !== 'bytes' ? Number(size.toFixed(1)) : Math.round(size)} ${unit}`
}

function shortened(command: string): string {
  const characters = [...command.replace(/\s+/g, ' ').trim()] // never half of one
  return characters.length > shownCharacters
    ? `${characters.slice(0, shownCharacters - 1).join('')}…`
    : characters.join('')
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}
