import { AppError } from '#shared/appError.ts'
import type { ChainType } from '#shared/contract/wallet.ts'
import { findNonces, parseSignInMessage, readChainType } from '#shared/signInMessage.ts'
import type { Nonces } from './nonces.ts'
import { isValidForService } from './signInRules.ts'
import { isSignedByAddress } from './signInSignature.ts'
import type { WalletName } from './walletRepository.ts'

export type SignedMessage = { message: string; signature: string; chainType: ChainType | undefined; host: string }

export type SignInChecks = {
  /**
   * Verifies that a wallet signed this message recently for this service. Consumes the nonces in the message, whatever
   * the result. Errors do not reveal which part was invalid.
   * @throws AppError `auth/nonce`, `auth/verification`
   */
  verify(signed: SignedMessage): Promise<WalletName>
}

export function createSignInChecks(options: {
  nonces: Pick<Nonces, 'spend'>
  /** Accepted domains besides the host of the request. */
  domains: () => readonly string[]
  now: () => number
}): SignInChecks {
  const { nonces, domains, now } = options
  return {
    async verify({ message: text, signature, chainType, host }) {
      const named = findNonces(text)
      const good = await nonces.spend(named)
      if (named.length > 0 && good.size === 0) throw new AppError('auth/nonce', 'Invalid or expired nonce')
      const message = parseSignInMessage(text, chainType ?? readChainType(text))
      const nonceExpiresAtMs = good.get(message?.fields.nonce ?? '')
      if (!message || nonceExpiresAtMs === undefined) throw createVerificationError()
      const fits = isValidForService(message, {
        audience: { host, domains: domains() },
        nonceExpiresAtMs,
        nowMs: now(),
      })
      if (!fits || !(await isSignedByAddress(message, { text, signature }))) throw createVerificationError()
      return { type: message.chainType, address: message.address }
    },
  }
}

function createVerificationError(): AppError {
  return new AppError('auth/verification', 'Verification failed')
}
