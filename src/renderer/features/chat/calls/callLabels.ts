import {
  AtSign,
  CircleDollarSign,
  FileText,
  Fingerprint,
  type LucideIcon,
  MessageSquare,
  Network,
  Plug,
  Server,
  SquareTerminal,
  Wrench,
} from 'lucide-react'
import type { ChatCall } from '#shared/contract/chatTools.ts'
import { parseServerName, serverNameSeparator } from '#shared/contract/toolServers.ts'
import { openRecord, toPlainWord } from '#shared/openRecord.ts'
import { revealHidden, sanitizeLine } from '#shared/untrustedText.ts'

export type CallArguments = Readonly<Record<string, unknown>>

/** @returns undefined unless the arguments are a JSON object */
export function parseArguments({ arguments: text }: Pick<ChatCall, 'arguments'>): CallArguments | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : undefined
  } catch {
    return undefined
  }
}

const titles: Readonly<Record<string, string>> = {
  sandbox_create: 'Create a sandbox',
  sandbox_delete: 'Delete a sandbox',
  sandbox_list: 'List sandboxes',
  sandbox_get: 'Read a sandbox',
  sandbox_exec: 'Run a command',
  sandbox_write_file: 'Write a file',
  sandbox_read_file: 'Read a file',
  sandbox_expose_port: 'Expose a port',
  sandbox_remove_port: 'Remove a port',
  sandbox_list_ports: 'List ports',
  sandbox_pty_create: 'Start a terminal',
  sandbox_pty_write: 'Type into a terminal',
  sandbox_pty_read: 'Read a terminal',
  sandbox_pty_close: 'End a terminal',
  sandbox_pty_list: 'List terminals',
  domain_search: 'Search domains',
  domain_check: 'Check domains',
  domain_pricing: 'Read domain prices',
  domain_list: 'List domains',
  domain_info: 'Read a domain',
  domain_register: 'Register a domain',
  domain_renew: 'Renew a domain',
  domain_dns_list: 'List DNS records',
  domain_dns_add: 'Add a DNS record',
  domain_dns_update: 'Change a DNS record',
  domain_dns_delete: 'Delete a DNS record',
  credits_balance: 'Read the balance',
  x402_fetch: 'Pay for a request',
}

const icons: readonly (readonly [prefix: string, icon: LucideIcon])[] = [
  ['sandbox_pty', SquareTerminal],
  ['sandbox_exec', SquareTerminal],
  ['sandbox_read_file', FileText],
  ['sandbox_write_file', FileText],
  ['sandbox_expose_port', Network],
  ['sandbox', Server],
  ['domain', AtSign],
  ['credits', CircleDollarSign],
  ['x402', CircleDollarSign],
  ['wallet', CircleDollarSign],
  ['identity', Fingerprint],
  ['chat', MessageSquare],
]

/** Tools of other servers share one icon, regardless of their names. */
export function getCallIcon(tool: string): LucideIcon {
  if (parseServerName(tool) !== undefined) return Plug
  return icons.find(([prefix]) => tool.startsWith(prefix))?.[1] ?? Wrench
}

export function getCallTitle(tool: string): string {
  const server = parseServerName(tool)
  if (server !== undefined) return sanitizeLine(tool.slice(server.length + serverNameSeparator.length), maxName)
  return (Object.hasOwn(titles, tool) ? titles[tool] : undefined) ?? sanitizeLine(tool, maxName)
}

const maxName = 100

export function describeCallSubject(args: CallArguments | undefined): string {
  const subject = [
    'command',
    'input',
    'file_path',
    'path',
    'domain',
    'domains',
    'query',
    'url',
    'port',
    'name',
    'sandbox_id',
  ]
    .map((name) => args?.[name])
    .find((value) => (typeof value === 'string' && value !== '') || typeof value === 'number')
  return subject === undefined ? '' : sanitizeLine(String(subject), 160)
}

export const stateLabels: Readonly<Record<ChatCall['state'], string>> = openRecord(
  {
    running: 'Running',
    waiting: 'Needs your approval',
    done: 'Done',
    failed: 'Failed',
    denied: 'Denied',
    stopped: 'Stopped',
    interrupted: 'Interrupted',
  },
  toPlainWord,
)

/** @returns the exit code of a failed command, or undefined for all other calls */
export function readExitCode({ state, result }: Pick<ChatCall, 'state' | 'result'>): number | undefined {
  const code = state === 'done' ? result?.exit_code : undefined
  return typeof code === 'number' && code !== 0 ? code : undefined
}

export function formatDuration({ started_at: from, ended_at: to }: Pick<ChatCall, 'started_at' | 'ended_at'>): string {
  if (to === null) return ''
  const seconds = Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000)
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

const [esc, bell] = ['\u001B', '\u0007']
const sequence = new RegExp(`${esc}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${bell}${esc}]*(?:${bell}|${esc}\\\\)|[@-_])`, 'g')

/** Removes control sequences, such as colors and cursor movements. */
export function stripControls(text: string): string {
  return text
    .replace(sequence, '')
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .map((line) => line.slice(line.lastIndexOf('\r') + 1).replace(/(?!\t)\p{Cc}/gu, ''))
    .map(revealHidden)
    .join('\n')
}

export type DnsLine = { sign: '+' | '−'; text: string }

/** Lists the changes of a DNS tool call. @returns undefined for other tools */
export function formatDnsLines(
  { tool, before }: Pick<ChatCall, 'tool' | 'before'>,
  args: CallArguments | undefined,
): DnsLine[] | undefined {
  if (!/^domain_dns_(add|update|delete)$/.test(tool) || !args) return undefined
  if (tool === 'domain_dns_add') return [{ sign: '+', text: formatRecord(args) }]
  // Record before the call, if known.
  const old = before === null ? `record ${sanitizeLine(String(args.record_id ?? ''), 60)}` : formatRecord(before)
  const removal: DnsLine = { sign: '−', text: old }
  return tool === 'domain_dns_delete' ? [removal] : [removal, { sign: '+', text: formatRecord({ ...before, ...args }) }]
}

/** Formats a record such as `A www 192.0.2.1 3600`. */
function formatRecord(record: CallArguments): string {
  return ['type', 'host', 'value', 'ttl', 'distance']
    .flatMap((name) => (record[name] == null ? [] : [sanitizeLine(String(record[name]), 300)]))
    .join('  ')
}
