import { AppError } from '#shared/appError.ts'
import type { ToolServerTransport } from '#shared/contract/toolServers.ts'

export function toSecretSlot(serverId: string, name: string): string {
  return `${serverId}.${name.toLowerCase()}`
}

const maxCharacters = 4_000
/** Headers that the protocol and the connection set themselves. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...['accept', 'connection', 'content-length', 'content-type', 'expect', 'host', 'keep-alive', 'last-event-id'],
  ...['proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'user-agent'],
])

/** @throws AppError `request/invalid` */
export function assertSecretNames(kind: ToolServerTransport['kind'], names: readonly string[]): void {
  for (const name of names) {
    const lower = name.toLowerCase()
    if (kind === 'http' && (ownHeaders.has(lower) || lower.startsWith('mcp-'))) {
      throw new AppError('request/invalid', `\`secret_names\` must not contain ${name}: Steward sets that header.`)
    }
    if (kind === 'sandbox' && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new AppError('request/invalid', `\`secret_names\`: ${name} is not a valid variable name.`)
    }
  }
  if (new Set(names.map((it) => it.toLowerCase())).size !== names.length) {
    throw new AppError('request/invalid', '`secret_names` must not contain duplicates.')
  }
}

/** @throws AppError `provider-key/invalid`; the error never contains the input */
export function validateSecret(secret: string): string {
  const value = secret.trim()
  if (value === '') throw new AppError('provider-key/invalid', 'Enter a value.')
  if (!/^[\x20-\x7e]+$/.test(value)) {
    throw new AppError('provider-key/invalid', 'The value must be on one line, without special characters.')
  }
  if (value.length > maxCharacters) {
    throw new AppError('provider-key/invalid', `The value must have at most ${maxCharacters} characters.`)
  }
  return value
}
