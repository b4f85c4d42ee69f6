/** Details of an error of a node. Excludes the node's own messages, which may contain its URL and thus an API key. */
export type ChainErrorDetails =
  | { kind: 'unreachable' | 'unreadable' | 'too-large' | 'crashed' | 'closed' }
  | { kind: 'late'; afterMs: number }
  | { kind: 'status'; status: number }
  | { kind: 'refused'; code: number }
  | { kind: 'other-network'; chainId: number | string }

/**
 * Error of a node. Its message is a sentence for users. It contains the host of the node, but no other part of its URL.
 */
export class ChainError extends Error {
  readonly kind: ChainErrorDetails['kind']

  constructor(host: string, facts: ChainErrorDetails) {
    super(toSentence(host, facts))
    this.name = 'ChainError'
    this.kind = facts.kind
  }
}

function toSentence(host: string, facts: ChainErrorDetails): string {
  switch (facts.kind) {
    case 'unreachable':
      return `${host} cannot be reached.`
    case 'late':
      return `${host} did not respond within ${Math.round(facts.afterMs / 100) / 10} s.`
    case 'status':
      return `${host} responded with status ${facts.status} instead of JSON-RPC.`
    case 'refused':
      return `${host} refused the request with code ${facts.code}.`
    case 'unreadable':
      return `${host} sent an unreadable response.`
    case 'too-large':
      return `${host} sent a response that is too large.`
    case 'other-network':
      return `${host} serves another network: its chain id is not ${facts.chainId}.`
    case 'crashed':
      return `Reading from ${host} failed inside Steward.`
    case 'closed':
      return 'Steward is stopping.'
  }
}
