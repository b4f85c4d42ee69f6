import { base58 } from '@scure/base'

/** Replacement for a secret. */
export const redactedText = '[removed]'

/** Replaces the whole match, or what `replace` returns. */
export type SecretPattern = { pattern: RegExp; replace: string | ((...groups: string[]) => string) }

/** Single shell, JSON (also double-quoted) or header value, including its quotes. */
const valuePattern = String.raw`(?:\\?"(?:[^"\\]|\\[^"])*(?:\\?")?|'[^']*'?|\\.|[^\s"'&;<>|)}\]\\])+`
/** Name suffixes with any prefix: `OPENAI_API_KEY`, `dbPassword`. */
const secretNamePattern =
  '(?:pass(?:word|wd|phrase)|mnemonic|(?:seed|recovery)[_-]?phrase|secret(?:[_-]?access)?(?:[_-]?key)?|(?:api|access|private|auth|signing|encryption|account|master|shared)[_-]?key|token|credentials?|(?<![A-Za-z])(?:auth|pass|pwd))'

/** Keys with a recognizable prefix or format. */
const issuedKeys: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g,
  /sk_(?:steward|tools)_[A-Za-z0-9_-]{8,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(\.[A-Za-z0-9_-]*)?/g,
  // The digit excludes names such as `sk-learn-contrib`.
  /(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{16,}/g,
  /(?<![A-Za-z0-9])(?:AIza|AQ\.)[A-Za-z0-9_-]{20,}/g,
  /(?<![A-Za-z0-9])(?:xai|pplx|gsk|hf|r8|fw|npm|dckr_pat|glpat|pypi|whsec|tskey|lin_api|do[opr]_v1|shp(?:at|ss))[_-](?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{20,}/g,
  /(?<![A-Za-z0-9])[rsp]k_(?:live|test)_[A-Za-z0-9]{8,}/g,
  /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,})/g,
  /(?<![A-Za-z0-9])(?:xox[a-z](?:-[A-Za-z0-9]{3,}){2,}|xapp-[A-Za-z0-9-]{16,})/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g,
  /(?<![A-Za-z0-9])\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g,
  /AGE-SECRET-KEY-1[A-Z0-9]{16,}/gi,
  /(?<![A-Za-z0-9])[xyzt]prv[1-9A-HJ-NP-Za-km-z]{90,}/g,
]

/** Secrets recognized by the preceding name. */
const namedSecretShapes: readonly SecretPattern[] = [
  { pattern: /\bBearer\s+([^\s"',;()\\]+)/gi, replace: (all, it = '') => (isWord(it) ? all : redactedText) },
  { pattern: /\bBasic\s+([A-Za-z0-9+/_-]{6,}={0,2})/gi, replace: (all, it = '') => (isBasic(it) ? redactedText : all) },
  {
    pattern: /(\bauthorization\\{0,7}["']?\s*[:=]\s*\\{0,7}["']?)(?:[A-Za-z0-9-]{2,20}\s+)?([^\s"'\\]+)/gi,
    replace: `$1${redactedText}`,
  },
  {
    pattern: /(\b(?:set-)?cookie\\{0,7}["']?\s*[:=]\s*\\{0,7}["']?)[^\s="'\\]+=[^"'\n\r\\]*/gi,
    replace: `$1${redactedText}`,
  },
  {
    pattern: /(\b(?:x-payment|payment-signature)\\{0,7}["']?\s*[:=]\s*\\{0,7}["']?)[\w+/=-]{16,}/gi,
    replace: `$1${redactedText}`,
  },
  {
    pattern: /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)([^\s/?#"'<>]+)@/gi,
    replace: (all, scheme = '', username = '') => (isWord(username) ? all : `${scheme}${redactedText}@`),
  },
  {
    pattern:
      /([?&#;](?:key|sig|signature|code_verifier|ticket|session|sid|x-amz-(?:signature|credential|security-token))=)([^\s&#"'<>\\]+)/gi,
    replace: (_, name = '') => `${name}${redactedText}`,
  },
  {
    pattern: /(hooks\.slack\.com\/(?:services|workflows)\/|discord(?:app)?\.com\/api\/webhooks\/)[\w/-]+/gi,
    replace: `$1${redactedText}`,
  },
  {
    pattern: new RegExp(
      String.raw`(--[a-z-]{0,40}?${secretNamePattern}\\{0,7}["']?(?:\s*,\s*|\s+|=))(${valuePattern})`,
      'gi',
    ),
    replace: (all, flag = '', it = '') => (isPlain(it) ? all : `${flag}${redactedText}`),
  },
  {
    pattern: /((?<=\s)(?:-u|--user|--proxy-user)[\s=]*["']?[^\s:"']+:)([^\s"']+)/g,
    replace: (all, flag = '', it = '') => (isPlain(it) ? all : `${flag}${redactedText}`),
  },
  { pattern: /(\bsshpass\s+-p\s*)\S+/g, replace: `$1${redactedText}` },
  {
    pattern: new RegExp(String.raw`(${secretNamePattern}\\{0,7}["']?(?:=|\s*(?::|=>?)\s*))(${valuePattern})`, 'gi'),
    replace: (all, name = '', value = '') => (isPlain(value) || isProse(name, value) ? all : `${name}${redactedText}`),
  },
  {
    pattern: new RegExp(`((?<=[A-Z0-9]_)(?:KEY|PAT|SEED|SALT|DSN|CREDS)=)(${valuePattern})`, 'g'),
    replace: (all, name = '', it = '') => (isPlain(it) ? all : `${name}${redactedText}`),
  },
]

/** Excludes values that follow a word for a hash. */
const hashContextPattern = String.raw`(?<!\b(?:tx|transaction|hash|sha-?256|digest|checksum|fingerprint|block|commit)(?:[/:=-]|:? ))`
/**
 * Private keys of Ethereum (32 bytes as hexadecimal) and of Solana (64 bytes as base58, usually 87 or 88 characters,
 * rarely a few less), which look like hashes. Then either of them as lists of bytes.
 */
const keyByteShapes: readonly SecretPattern[] = [
  {
    pattern: new RegExp(`(?<![0-9A-Za-z])${hashContextPattern}(?:0x)?[0-9a-f]{64}(?![0-9A-Za-z])`, 'gi'),
    replace: redactedText,
  },
  { pattern: /(?<![0-9A-Za-z])[1-9A-HJ-NP-Za-km-z]{84,88}(?![0-9A-Za-z=])/g, replace: redactedText },
  { pattern: /(?<![0-9A-Za-z])[5KL][1-9A-HJ-NP-Za-km-z]{50,51}(?![0-9A-Za-z])/g, replace: redactedText },
  {
    pattern: new RegExp(
      `(?<![0-9A-Za-z:])${hashContextPattern}(?:[0-9a-f]{2}[: ]){31,}[0-9a-f]{2}(?![0-9A-Za-z])`,
      'gi',
    ),
    replace: redactedText,
  },
  { pattern: /(?<![\d.])(?:\d{1,3}\s?,\s{0,4}){31,}\d{1,3}(?![\d.])/g, replace: redactedText },
  // Secrets that were truncated earlier.
  { pattern: /(?<![0-9A-Za-z])(?:0x)?[0-9a-f]{24,}…/gi, replace: `${redactedText}…` },
  {
    pattern: /(?<![\w+/=-])[\w+/-]{24,}(?:={1,2}(?!\w)|…|(?![\w+/-]))/g,
    replace: (all) => (isRandom(all) ? redactedText : all),
  },
]

const issuedKeyShapes = issuedKeys.map((pattern): SecretPattern => ({ pattern, replace: redactedText }))
/** Shapes for fields that contain a hash or a signature. */
export const keyPatterns: readonly SecretPattern[] = [...issuedKeyShapes, ...namedSecretShapes]
export const allPatterns: readonly SecretPattern[] = [...keyPatterns, ...keyByteShapes]
/**
 * Cheap test before the patterns: a text without a match contains no secret of those shapes. Most texts have no match.
 */
export const secretCandidatePattern =
  /[\w+/-]{16}|[=@:]|--|\s-u|\b(?:bearer|basic|sshpass)\b|(?:\d{1,3}\s?,\s{0,4}){8}|(?:\w\w[: ]){8}/i

/** Whether the text is a plain name or word and therefore not a key. */
function isWord(text: string): boolean {
  return /^(?:[a-z]{1,15}|[A-Z][a-z]{0,14})[.!?]?$/.test(text)
}

/** Whether the text is a reference, a placeholder, a number or an address: `$TOKEN`, `<token>`, `true`, `0x2222…`. */
function isPlain(text: string): boolean {
  const inner = text.replace(/^\\?["']|\\?["']$/g, '')
  return (
    inner.length < 2 ||
    /^(?:\$[({]?\w|<|\{\{|%\w+%|\*+$|…$|--?[a-z][a-z-]*$)/.test(inner) ||
    /^(?:\d{1,6}|true|false|null|none|undefined|0x[0-9a-f]{40}|\[removed\]?)$/i.test(inner)
  )
}

/** Whether the text is prose, such as `The token: USDC.`. A password may be any word. */
function isProse(name: string, text: string): boolean {
  return (
    !/^pass|^pwd|phrase/i.test(name) &&
    /[:=]\s+$/.test(name) &&
    (isWord(text.replace(/,$/, '')) || /^[A-Z]{2,8}[.,]?$/.test(text))
  )
}

function isBasic(text: string): boolean {
  return /^[\x20-\x7e\u00a0-\uffff]*:[\x20-\x7e\u00a0-\uffff]*$/.test(Buffer.from(text, 'base64').toString('utf8'))
}

/** Minimum length that distinguishes a secret from a name: 32 bytes in base64 have 43 characters. */
const minRandomLength = 40

/**
 * Whether the text mixes digits and letters of both cases irregularly, unlike names, paths and camelCase. Excludes
 * hexadecimal, the form of most identifiers, and Solana addresses, which are 32 bytes in base58.
 */
function isRandom(text: string): boolean {
  const characters = text.replace(/=+$|…$/g, '')
  const { length } = characters
  if (!text.endsWith('…') && length < minRandomLength) return false
  if (/^(?:0x)?[0-9a-f-]+$/i.test(characters) || /^sha(?:256|384|512)-/.test(characters)) return false
  if (!/[a-z]/.test(characters) || !/[A-Z]/.test(characters) || !/\d/.test(characters)) return false
  if (isPublicBase58(characters)) return false
  const others = characters.replace(/[A-Za-z0-9]/g, '').length
  const kinds = characters.replace(/[a-z]/g, 'a').replace(/[A-Z]/g, 'A').replace(/\d/g, '0')
  let changes = 0
  for (let index = 1; index < length; index += 1) if (kinds[index] !== kinds[index - 1]) changes += 1
  // Names such as `ThisIsTheOrderService2` change case often but have contiguous digits.
  const minZeroShare = (kinds.match(/0+/g) ?? []).length >= 4 ? 0.33 : 0.45
  // 43 random base64url characters contain up to 8 of `-` and `_`.
  return others <= length * 0.19 && changes >= length * minZeroShare
}

/** Whether the text is a Solana address or an IPFS file. */
function isPublicBase58(text: string): boolean {
  if (!/^[1-9A-HJ-NP-Za-km-z]{43,46}$/.test(text)) return false
  const bytes = base58.decode(text)
  return bytes.length === 32 || (bytes.length === 34 && text.startsWith('Qm'))
}
