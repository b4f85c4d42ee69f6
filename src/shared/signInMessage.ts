import type { ChainType } from './contract/wallet.ts'
import { isPathCharacters, isUri } from './uri.ts'

/**
 * Parsed sign-in message. Times and addresses are unchanged text, so that the message can be formatted again byte for
 * byte.
 * @see https://eips.ethereum.org/EIPS/eip-4361
 * @see https://github.com/phantom/sign-in-with-solana
 */
export type SignInMessage = {
  chainType: ChainType
  /** Scheme before the domain, such as `https`. */
  scheme?: string | undefined
  domain: string
  address: string
  statement?: string | undefined
  fields: Partial<Record<SignInField, string>>
  resources?: readonly string[] | undefined
  /** Default: the layout of EIP-4361, or of Solana's library */
  layout?: SignInLayout
}

export type SignInLayout = {
  /** Whether an absent statement results in an empty line: true in EIP-4361, false in Solana's library. */
  emptyStatement: boolean
  /** EIP-4361 has a fixed order. Solana clients have several. */
  order: readonly SignInField[]
}

const labels = {
  uri: 'URI: ',
  version: 'Version: ',
  chainId: 'Chain ID: ',
  nonce: 'Nonce: ',
  issuedAt: 'Issued At: ',
  expirationTime: 'Expiration Time: ',
  notBefore: 'Not Before: ',
  requestId: 'Request ID: ',
} as const
export type SignInField = keyof typeof labels
const allFields = Object.keys(labels) as SignInField[] // in the order of EIP-4361
const requiredOfEvm: readonly SignInField[] = ['uri', 'version', 'chainId', 'nonce', 'issuedAt']

const chains = { evm: 'Ethereum', solana: 'Solana' } as const
const asks = ' wants you to sign in with your '
const resourcesLabel = 'Resources:'
/** RFC 3986 authority. User information is not allowed, because the name of a site never contains it. */
const authority = /^[A-Za-z0-9.:[\]-]{1,255}$/
const addresses = { evm: /^0x[0-9a-fA-F]{40}$/, solana: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/ } as const
const statementText = /^[A-Za-z0-9 :/?#[\]@!$&'()*+,;=\-._~]+$/
/** RFC 3339 timestamp. */
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/
const isTime = (text: string): boolean => time.test(text)

const isValue: Record<SignInField, (text: string, chainType: ChainType) => boolean> = {
  uri: isUri,
  version: (text) => text === '1',
  chainId: (text, chainType) => (chainType === 'evm' ? /^\d{1,78}$/ : /^[A-Za-z0-9:_-]{1,78}$/).test(text),
  nonce: (text) => /^[A-Za-z0-9]{8,}$/.test(text),
  issuedAt: isTime,
  expirationTime: isTime,
  notBefore: isTime,
  requestId: isPathCharacters,
}

/**
 * Whether the text contains only ASCII letters and digits, spaces, and punctuation of URLs, so that it cannot start
 * another line.
 */
export function isStatement(text: string): boolean {
  return statementText.test(text)
}

/** @returns undefined unless the text is byte-identical to the output of `formatSignInMessage` for its fields */
export function parseSignInMessage(text: string, chainType: ChainType): SignInMessage | undefined {
  const read = readMessage(text.split('\n'), chainType)
  return read && formatSignInMessage(read) === text ? read : undefined
}

export function formatSignInMessage(message: SignInMessage): string {
  const { chainType, scheme, domain, address, statement, fields, resources } = message
  const { emptyStatement, order } = message.layout ?? { emptyStatement: chainType === 'evm', order: allFields }
  const said = statement === undefined ? (emptyStatement ? [''] : []) : [statement, '']
  return [
    `${scheme === undefined ? '' : `${scheme}://`}${domain}${asks}${chains[chainType]} account:`,
    address,
    '',
    ...said,
    ...order.flatMap((name) => (fields[name] === undefined ? [] : [`${labels[name]}${fields[name]}`])),
    ...(resources === undefined ? [] : [resourcesLabel, ...resources.map((it) => `- ${it}`)]),
  ].join('\n')
}

/** Detects the chain of a message from its first line. */
export function readChainType(text: string): ChainType {
  const [head = ''] = text.split('\n', 1)
  return head.endsWith(`${asks}${chains.solana} account:`) ? 'solana' : 'evm'
}

/** Returns all nonces in a text, even if the text is not a valid message. */
export function findNonces(text: string): string[] {
  return [...text.matchAll(/^Nonce: ([\x21-\x7e]{1,255})\s*$/gm)].flatMap(([, nonce]) => nonce ?? [])
}

function readMessage(lines: readonly string[], chainType: ChainType): SignInMessage | undefined {
  const [head = '', address = '', gap, first, second] = lines
  const end = `${asks}${chains[chainType]} account:`
  if (!head.endsWith(end) || gap !== '' || !addresses[chainType].test(address)) return undefined
  const audience = head.slice(0, -end.length)
  const scheme = /^(https?):\/\//.exec(audience)?.[1]
  const domain = scheme === undefined ? audience : audience.slice(scheme.length + 3)
  if (!authority.test(domain)) return undefined

  const statement = first !== undefined && first !== '' && second === '' ? first : undefined
  if (statement !== undefined && !isStatement(statement)) return undefined
  const emptyStatement = first === ''
  if (statement === undefined && !emptyStatement && chainType === 'evm') return undefined
  const read = readFields(lines.slice(statement !== undefined ? 5 : emptyStatement ? 4 : 3), chainType)
  if (!read) return undefined
  const { fields, order, resources } = read
  if (chainType === 'evm' && requiredOfEvm.some((name) => fields[name] === undefined)) return undefined
  return { chainType, scheme, domain, address, statement, fields, resources, layout: { emptyStatement, order } }
}

type ReadFields = Pick<SignInMessage, 'fields' | 'resources'> & Pick<SignInLayout, 'order'>

function readFields(lines: readonly string[], chainType: ChainType): ReadFields | undefined {
  const fields: SignInMessage['fields'] = {}
  const matches: SignInField[] = []
  for (const line of lines) {
    const name = allFields.find((it) => line.startsWith(labels[it]))
    const value = name && line.slice(labels[name].length)
    // A repeated field remains in the rest, which then is not a valid list of resources.
    if (name === undefined || value === undefined || fields[name] !== undefined) break
    if (!isValue[name](value, chainType)) return undefined
    fields[name] = value
    matches.push(name)
  }
  const rest = lines.slice(matches.length)
  const order = chainType === 'evm' ? allFields : matches
  if (rest.length === 0) return { fields, order, resources: undefined }
  const resources = rest.slice(1).map((line) => line.slice(2))
  const isList = rest[0] === resourcesLabel && rest.slice(1).every((line) => line.startsWith('- '))
  return isList && resources.every(isUri) ? { fields, order, resources } : undefined
}
