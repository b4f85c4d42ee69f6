import { AppError } from '#shared/appError.ts'
import { getMe, refreshTokens, signOut, type Tokens, verifySignIn } from '#shared/contract/auth.ts'
import type { SigningAccount } from '../wallet/walletKeys.ts'
import type { ServiceClient } from './serviceClient.ts'
import type { WalletSignIn } from './walletSignIn.ts'

export type SignInRequests = {
  /** Signs in with the account. @returns the tokens, and their account at the service */
  signIn(account: SigningAccount, why: string): Promise<{ tokens: Tokens; serviceAccount: string }>
  /** Exchanges the tokens for fresh ones. @returns undefined if the service rejected them */
  refresh(tokens: Tokens): Promise<Tokens | undefined>
  /** Whether the service still accepts this access token. @throws AppError if that cannot be determined */
  isAccepted(accessToken: string): Promise<boolean>
  /** Ends the sign-in, if the service responds in time. */
  revoke(tokens: Tokens): Promise<void>
}

type RequestOptions = {
  client: Pick<ServiceClient, 'call'>
  messages: WalletSignIn
  signal: AbortSignal
  revokeTimeoutMs: number
}

export function createSignInRequests({ client, messages, signal, revokeTimeoutMs }: RequestOptions): SignInRequests {
  return {
    async signIn(account, why) {
      const signed = await messages.sign(account, { why, signal })
      const tokens = await client.call(verifySignIn, signed, { credential: null, signal })
      const { id: serviceAccount } = await client.call(getMe, {}, { credential: tokens.access_token, signal })
      return { tokens, serviceAccount }
    },
    async refresh({ refresh_token }) {
      try {
        return await client.call(refreshTokens, { refresh_token }, { credential: null, signal })
      } catch (error) {
        if (isRefusal(error)) return undefined
        throw error
      }
    },
    async isAccepted(accessToken) {
      try {
        await client.call(getMe, {}, { credential: accessToken, signal })
        return true
      } catch (error) {
        if (isRefusal(error)) return false
        throw error
      }
    },
    async revoke({ refresh_token }) {
      const within = { credential: null, signal: AbortSignal.timeout(revokeTimeoutMs) }
      await client.call(signOut, { refresh_token }, within).catch(() => {}) // expires without this call
    },
  }
}

/** Whether the service rejected the credential, rather than being unavailable. */
function isRefusal(error: unknown): boolean {
  return error instanceof AppError && error.status === 401
}
