import { createRequire } from 'node:module'
import { domainToASCII, domainToUnicode } from 'node:url'
import { AppError } from '#shared/appError.ts'

/** A registrable name: one label before a public suffix. */
export type DomainName = {
  /** ASCII in lower case, as registrars and DNS use it. */
  ascii: string
  /** Unicode form for display. */
  unicode: string
  /** Public suffix in ASCII: `com`, `co.uk`. */
  tld: string
  /** Whether the letters belong to several scripts, so that the name may imitate another one. */
  mixesScripts: boolean
}

const load = createRequire(import.meta.url)
/** Loads tldts with the first name. Its list of public suffixes takes 30 ms and 4 MB. */
const loadTldts = () => load('tldts') as typeof import('tldts') // the type that `load` resolves to

const length = { min: 3, max: 253 }
const notInNames = /[\s/?#\\@:%[\]]/u

/** @throws AppError `domain/name` with the reason */
export function parseDomainName(text: string): DomainName {
  const name = text.trim().replace(/\.$/, '')
  const label = JSON.stringify(name.slice(0, 80))
  if (name.length < length.min || name.length > length.max) {
    throw new AppError('domain/name', `A domain name must have ${length.min} to ${length.max} characters.`)
  }
  // Rejects URLs first, because `domainToASCII` would use only their host.
  const ascii = notInNames.test(name) ? '' : domainToASCII(name)
  if (ascii === '' || ascii.length > length.max || !ascii.split('.').every(isLabel)) {
    throw new AppError('domain/name', `${label} is not a domain name.`)
  }
  const { parse } = loadTldts()
  const { domain, publicSuffix, isIp, isIcann } = parse(ascii, { allowPrivateDomains: false })
  if (isIp || publicSuffix === null || isIcann !== true) {
    throw new AppError('domain/name', `${label} does not end with a public suffix such as .com.`)
  }
  if (domain === null) throw new AppError('domain/name', `${label} is a public suffix itself.`)
  if (domain !== ascii) throw new AppError('domain/name', `${label} is part of ${domain}. Use ${domain}.`)
  const unicode = domainToUnicode(ascii)
  return { ascii, unicode, tld: publicSuffix, mixesScripts: hasMixedScripts(unicode) }
}

/** Returns the registrable domain of a host name: `example.com` for `shop.example.com`. */
export function findRegistrableDomain(hostName: string): string | undefined {
  return loadTldts().parse(hostName, { allowPrivateDomains: false }).domain ?? undefined
}

/** Reads the field `domain` of a request. @throws AppError `domain/name` with the name of the field */
export function requireDomainField(text: string): DomainName {
  try {
    return parseDomainName(text)
  } catch (cause) {
    throw cause instanceof AppError ? new AppError(cause.code, `\`domain\`: ${cause.message}`, { cause }) : cause
  }
}

/** Newer versions of Node accept labels that begin with `xn--` but encode nothing. */
function isLabel(label: string): boolean {
  return /^(?!-)[a-z0-9-]{1,63}(?<!-)$/.test(label) && (!label.startsWith('xn--') || domainToUnicode(label) !== label)
}

/** Scripts with confusable letters. Chinese, Japanese and Korean names usually mix several scripts. */
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

/** Converts typed text to the label to search for: `My shop!` → `myshop`. Empty if no letter or digit remains. */
export function toSearchLabel(query: string): string {
  const letters = query
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}-]+/gu, '')
    .replace(/^-+|-+$/g, '')
  const ascii = letters === '' ? '' : domainToASCII(letters)
  return isLabel(ascii) ? ascii : ''
}
