import { domainToUnicode } from 'node:url'
import { createInvalidIntentError, type IntentField } from './parsedIntent.ts'

/** Site of a payment or sign-in, parsed from its URL. */
export type Site = {
  /** Host in lower case, with a non-default port. Used as `PreparedIntent.host`. */
  host: string
  warnings: IntentField[]
}

/** Characters that RFC 3986 allows unescaped in a URL. */
const plainAddress = /^[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/

/**
 * @param name field name for the error
 * @throws AppError `intent/invalid`
 */
export function toSite(name: string, address: string): Site {
  if (!plainAddress.test(address)) {
    throw createInvalidIntentError(
      `${name} must be an ASCII URL without spaces or quotes, not ${JSON.stringify(address)}.`,
    )
  }
  const url = URL.parse(address)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.host === '') {
    throw createInvalidIntentError(`${name} must begin with https:// or http://, not ${JSON.stringify(address)}.`)
  }
  if (url.username !== '' || url.password !== '') {
    throw createInvalidIntentError(
      `${name} must not have a user name before the host, as in ${JSON.stringify(address)}.`,
    )
  }
  return { host: url.host, warnings: [...listNameWarnings(url.hostname), ...listTransportWarnings(url)] }
}

function listNameWarnings(hostname: string): IntentField[] {
  if (!hostname.split('.').some((label) => label.startsWith('xn--'))) return []
  const displayName = domainToUnicode(hostname)
  const mixed = displayName.split('.').some((label) => listScripts(label).length > 1)
  const reason = mixed ? 'it mixes letters of several scripts' : 'letters of other scripts can imitate a known name'
  return [{ label: 'Site name', value: `${hostname} is shown as “${displayName}”: ${reason}.`, kind: 'warning' }]
}

function listTransportWarnings({ protocol, hostname }: URL): IntentField[] {
  if (protocol === 'https:' || isLoopback(hostname)) return []
  return [{ label: 'Connection', value: `The connection to ${hostname} is not encrypted.`, kind: 'warning' }]
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}

/** Scripts with letters that are most easily confused. */
const scripts = {
  Latin: /\p{Script=Latin}/u,
  Cyrillic: /\p{Script=Cyrillic}/u,
  Greek: /\p{Script=Greek}/u,
  Armenian: /\p{Script=Armenian}/u,
  Cherokee: /\p{Script=Cherokee}/u,
  Han: /\p{Script=Han}/u,
  Arabic: /\p{Script=Arabic}/u,
  Hebrew: /\p{Script=Hebrew}/u,
}

function listScripts(label: string): string[] {
  return Object.entries(scripts).flatMap(([name, letters]) => (letters.test(label) ? [name] : []))
}
