import type { ChainType } from '../../../shared/contract/wallet.ts'

/**
 * A sign-in message as it stands: times and addresses are the very text, so that it can be written again byte for byte.
 * @see https://eips.ethereum.org/EIPS/eip-4361
 * @see https://github.com/phantom/sign-in-with-solana
 */
export type SignInMessage = {
  chainType: ChainType
  /** `https` where the domain has a scheme before it. */
  scheme: string | undefined
  domain: string
  address: string
  statement: string | undefined
  /** A message without a statement: whether an empty line stands for it. EIP-4361 has one, Solana's library has none. */
  emptyStatement: boolean
  fields: Partial<Record<FieldName, string>>
  resources: readonly string[] | undefined
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
type FieldName = keyof typeof labels
const order = Object.keys(labels) as FieldName[] // in the order of the message

const chains = { evm: 'Ethereum', solana: 'Solana' } as const
const asks = ' wants you to sign in with your '
const resourcesLabel = 'Resources:'
const authority = /^[A-Za-z0-9.:[\]-]{1,255}$/
const printable = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const statementText = /^[^\p{Cc}\p{Cs}\u2028\u2029]+$/u

/** @returns undefined for whatever is not, byte for byte, what `formatSignInMessage` writes for what was understood of it. */
export function parseSignInMessage(text: string, chainType: ChainType): SignInMessage | undefined {
  const read = readMessage(text.split('\n'), chainType)
  return read && formatSignInMessage(read) === text ? read : undefined
}

export function formatSignInMessage(message: SignInMessage): string {
  const { chainType, scheme, domain, address, statement, fields, resources } = message
  const said = statement === undefined ? (message.emptyStatement ? [''] : []) : [statement, '']
  return [
    `${scheme === undefined ? '' : `${scheme}://`}${domain}${asks}${chains[chainType]} account:`,
    address,
    '',
    ...said,
    ...order.flatMap((name) => (fields[name] === undefined ? [] : [`${labels[name]}${fields[name]}`])),
    ...(resources === undefined ? [] : [resourcesLabel, ...resources.map((it) => `- ${it}`)]),
  ].join('\n')
}

/** Which chain a message is for, by its first line. */
export function chainTypeOf(text: string): ChainType {
  const [head = ''] = text.split('\n', 1)
  return head.endsWith(`${asks}${chains.solana} account:`) ? 'solana' : 'evm'
}

/** Every nonce that a text names, whatever else is wrong with it. */
export function namedNonces(text: string): string[] {
  return [...text.matchAll(/^Nonce: ([\x21-\x7e]{1,255})\s*$/gm)].flatMap(([, nonce]) => nonce ?? [])
}

function readMessage(lines: readonly string[], chainType: ChainType): SignInMessage | undefined {
  const [head = '', address = '', gap, first, second] = lines
  const end = `${asks}${chains[chainType]} account:`
  if (!head.endsWith(end) || gap !== '' || !printable.test(address)) return undefined
  const place = head.slice(0, -end.length)
  const scheme = /^(https?):\/\//.exec(place)?.[1]
  const domain = scheme === undefined ? place : place.slice(scheme.length + 3)
  if (!authority.test(domain)) return undefined

  const statement = first !== undefined && first !== '' && second === '' ? first : undefined
  if (statement !== undefined && !statementText.test(statement)) return undefined
  const emptyStatement = first === ''
  if (statement === undefined && !emptyStatement && chainType === 'evm') return undefined
  const rest = readFields(lines.slice(statement !== undefined ? 5 : emptyStatement ? 4 : 3))
  return rest && { chainType, scheme, domain, address, statement, emptyStatement, ...rest }
}

function readFields(lines: readonly string[]): Pick<SignInMessage, 'fields' | 'resources'> | undefined {
  const fields: SignInMessage['fields'] = {}
  let at = 0
  for (const name of order) {
    const line = lines[at]
    if (!line?.startsWith(labels[name])) continue
    fields[name] = line.slice(labels[name].length)
    at += 1
  }
  const resources = lines[at] === resourcesLabel ? lines.slice(at + 1) : undefined
  if (resources === undefined && at !== lines.length) return undefined
  if (resources?.some((line) => !line.startsWith('- ') || !printable.test(line.slice(2)))) return undefined
  if (Object.values(fields).some((value) => !printable.test(value))) return undefined
  return { fields, resources: resources?.map((line) => line.slice(2)) }
}
