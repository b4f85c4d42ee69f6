import { toPlainWord } from '../openRecord.ts'
import { shortenAddress } from '../shortAddress.ts'
import type { AccountActivity, ActivityBy } from './activity.ts'

type SentenceInput = Pick<AccountActivity, 'type' | 'by' | 'sandbox_name' | 'description' | 'command'>

/** Maximum length of a command within a sentence. The full command is shown next to it. */
const maxCharacters = 120

/** Preposition after the verb: `You opened a terminal | in atlas`. */
const prepositions: Partial<Record<SentenceInput['type'], 'in' | 'of'>> = {
  'terminal.opened': 'in',
  'file.written': 'in',
  'snapshot.created': 'of',
  'snapshot.restored': 'of',
  'snapshot.deleted': 'of',
  'domain.added': 'of',
  'domain.removed': 'of',
}
/** Types whose verb is followed by the sandbox's name: `You created atlas from a snapshot of web`. */
const ofTheWhole: readonly SentenceInput['type'][] = ['sandbox.created', 'sandbox.started', 'sandbox.stopped']
const standsAlone: readonly SentenceInput['type'][] = [
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

/** Formats an activity as one sentence: `research-agent ran “npm test” in atlas: exit code 0 after 1.2 s.` */
export function describeActivity(activity: SentenceInput, service: string): string {
  const words = formatSentence(activity, service)
  return /[.!?]$/.test(words) ? words : `${words}.`
}

function formatSentence(activity: SentenceInput, service: string): string {
  const { type, by, sandbox_name: sandbox, command } = activity
  const words = activity.description.replace(/\.$/, '')
  const lower = lowerFirst(words)
  const actor = by.kind === 'service' ? undefined : formatActor(by)
  if (standsAlone.includes(type)) return `${actor ?? service} ${lower}`
  if (sandbox === null) return words
  if (ofTheWhole.includes(type)) {
    const [verb = '', ...rest] = lower.split(' ')
    return actor === undefined ? `${sandbox} ${lower}` : `${[actor, verb, sandbox, ...rest].join(' ')}`
  }
  if (type === 'sandbox.deleted' && lower === 'deleted') return `${actor ?? service} deleted ${sandbox}`
  if (actor === undefined) return `${sandbox}: ${lower}`
  if (type === 'sandbox.changed') return `${actor} changed ${sandbox}: ${lower}`
  if (type === 'command.run' && command !== null) {
    return `${actor} ran “${shorten(command)}” in ${sandbox}: ${lower.replace(/^ran a command: /, '')}`
  }
  const preposition = prepositions[type]
  if (preposition === undefined) return `${sandbox}: ${lower}`
  // Omits the command for terminals of the window, which run a shell.
  const object =
    type === 'terminal.opened' && command !== null && by.kind !== 'owner'
      ? `${lower} with “${shorten(command)}”`
      : lower
  return `${actor} ${object} ${preposition} ${sandbox}`
}

/** Returns the actor as the subject of a sentence, such as `You` or `A deleted key`. */
export function formatActor({ kind, name }: ActivityBy): string {
  switch (kind) {
    case 'owner':
      return 'You'
    case 'key':
      return name === null ? 'A deleted key' : getProgramName(name)
    case 'wallet':
      return name === null ? 'A wallet' : shortenAddress(name)
    case 'link':
      return `Someone with a terminal link${name === null ? '' : ` of ${getProgramName(name)}`}`
    case 'service':
      return 'Steward'
    case 'agent':
    case 'chat':
    case 'program':
    case 'steward':
      return getProgramName(name ?? 'A program')
    default:
      return getProgramName(name ?? toPlainWord(kind))
  }
}

/** Distinguishes a program named “You” from the user. */
function getProgramName(name: string): string {
  return /^\s*you\s*$/i.test(name) ? `The program “${name.trim()}”` : name
}

/** Formats `Wrote /root/big.bin (30 MB).` */
export function describeWrite(path: string, bytes: number): string {
  return `Wrote ${path} (${formatSize(bytes)}).`
}

function formatSize(bytes: number): string {
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

function shorten(command: string): string {
  const characters = [...command.replace(/\s+/g, ' ').trim()] // avoids splitting surrogate pairs
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters - 1).join('')}…` : characters.join('')
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}
