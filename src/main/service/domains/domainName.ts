import { createRequire } from 'node:module'
import { domainToASCII, domainToUnicode } from 'node:url'
import { AppError } from '#shared/appError.ts'

/** A name that can be registered: one label before a public suffix. */
export type DomainName = {
  /** In ASCII and lower case, as registrars and DNS have it. */
  ascii: string
  /** As people read it. */
  unicode: string
  /** Public suffix in ASCII: `com`, `co.uk`. */
  tld: string
  /** Letters of several scripts look like another name. */
  mixesScripts: boolean
}

/** tldts has the public suffix list within it, 30 ms of loading, so that it is loaded with the first name. */
const load = createRequire(import.meta.url)

const length = { min: 3, max: 253 }
const notInNames = /[\s/?#\\@:%[\]]/u

/** @throws AppError `domain/name`, which says what is wrong with it */
export function parseDomainName(text: string): DomainName {
  const name = text.trim().replace(/\.$/, '')
  const label = JSON.stringify(name.slice(0, 80))
  if (name.length < length.min || name.length > length.max) {
    throw new AppError('domain/name', `A domain name has from ${length.min} to ${length.max} characters.`)
  }
  // Rejects URLs first, of which `domainToASCII` would read only the host.
  const ascii = notInNames.test(name) ? '' : domainToASCII(name)
  if (ascii === '' || ascii.length > length.max || !ascii.split('.').every(isLabel)) {
    throw new AppError('domain/name', `${label} is not a domain name.`)
  }
  const { parse } = load('tldts') as typeof import('tldts') // which is what it resolves to
  const { domain, publicSuffix, isIp, isIcann } = parse(ascii, { allowPrivateDomains: false })
  if (isIp || publicSuffix === null || isIcann !== true) {
    throw new AppError('domain/name', `${label} does not end with a public suffix such as .com.`)
  }
  if (domain === null) throw new AppError('domain/name', `${label} is a public suffix itself.`)
  if (domain !== ascii) throw new AppError('domain/name', `${label} is part of ${domain}. Use ${domain}.`)
  const unicode = domainToUnicode(ascii)
  return { ascii, unicode, tld: publicSuffix, mixesScripts: hasMixedScripts(unicode) }
}

/**
 * Reads the field `domain` of a request.
 * @throws AppError `domain/name`, which names the field
 */
export function requireDomainField(text: string): DomainName {
  try {
    return parseDomainName(text)
  } catch (cause) {
    throw cause instanceof AppError ? new AppError(cause.code, `\`domain\`: ${cause.message}`, { cause }) : cause
  }
}

/** Newer versions of Node pass labels through that begin with `xn--` and encode nothing. */
function isLabel(label: string): boolean {
  return /^(?!-)[a-z0-9-]{1,63}(?<!-)$/.test(label) && (!label.startsWith('xn--') || domainToUnicode(label) !== label)
}

/** Scripts with confusable letters. Chinese, Japanese and Korean mix several scripts by nature. */
const scripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u]
const othersOfOneScript =
  /^[\p{Script=Common}\p{Script=Inherited}\p{Script=Latin}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]*$/u

function hasMixedScripts(unicode: string): boolean {
  return unicode.split('.').some((label) => {
    const scriptCount = scripts.filter((script) => script.test(label)).length
    if (scriptCount > 1) return true
    return scriptCount === 1 && /\p{Script=Latin}/u.test(label) && !othersOfOneScript.test(label)
  })
}

/** The label that a search is for, of what a person typed: `My shop!` → `myshop`. Empty where nothing is left. */
export function toSearchLabel(query: string): string {
  const letters = query
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}-]+/gu, '')
    .replace(/^-+|-+$/g, '')
  const ascii = letters === '' ? '' : domainToASCII(letters)
  return isLabel(ascii) ? ascii : ''
}
