import { AppError } from '#shared/appError.ts'
import { createNonce } from '#shared/contract/auth.ts'
import { Intent, type IntentRecord, type Requester } from '#shared/contract/intents.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { SigningAccount } from '../wallet/walletKeys.ts'
import type { ServiceClient } from './serviceClient.ts'
import type { ServiceTarget } from './serviceTarget.ts'

/** Proves to the service that the user owns a wallet. The signature requires approval, like every signature. */
export type WalletSignIn = {
  /** @throws AppError `intent/denied` with the reason, and errors of approvals and the service */
  sign(account: SigningAccount, options: { why: string; signal: AbortSignal }): Promise<SignedMessage>
}
export type SignedMessage = { message: string; signature: string; chain_type: SigningAccount['chainType'] }

type Options = {
  client: Pick<ServiceClient, 'call'>
  target: () => ServiceTarget | undefined
  approvals: Pick<Approvals, 'submit' | 'waitUntilSettled' | 'cancel'>
}

const requester: Requester = { kind: 'agent', id: 'sign-in', name: 'Steward' }
/** Shorter than the lifetime of a nonce: the service would reject a signature that the user approves later. */
const decideWithinMs = 4.5 * 60_000

export function createWalletSignIn({ client, target, approvals }: Options): WalletSignIn {
  return {
    async sign(account, { why, signal }) {
      const to = target()
      if (!to) throw new AppError('service/unavailable', "The service isn't running.")
      const { nonce } = await client.call(createNonce, {}, { credential: null, signal })
      const record = await approvals.submit({ intent: signInIntent(account, to, nonce), requester, reason: why })
      const settled = await approvals.waitUntilSettled(record.id, { waitMs: decideWithinMs, signal })
      const { state, result, error } = settled
      if (state === 'waiting') approvals.cancel(record.id, requester)
      if (state !== 'signed' || !result || result.message === undefined) throw createUnsignedError(state, error)
      return { message: result.message, signature: result.signature, chain_type: account.chainType }
    },
  }
}

function signInIntent({ id, chainType }: SigningAccount, { url }: ServiceTarget, nonce: string): Intent {
  return Intent.parse({
    kind: chainType === 'evm' ? 'siwe' : 'siws',
    account_id: id,
    domain: new URL(url).host,
    uri: `${url}/v1/auth/verify`,
    nonce,
    statement: 'Sign in to Steward.',
  })
}

function createUnsignedError(state: IntentRecord['state'], error: string | null): AppError {
  const why = state === 'waiting' ? 'The request expired without approval.' : (error ?? 'The request was refused.')
  return new AppError('intent/denied', why)
}
