import { AppError } from '#shared/appError.ts'
import type { Route } from '#shared/contract/route.ts'
import type { Caller } from '../base/endpoint.ts'
import type { FailureLimiter } from './failureLimiter.ts'

export type Authentication = {
  /** @throws AppError `auth/required`, `auth/invalid`, `request/rate` */
  identify(credential: string | undefined, address: string): Promise<Caller>
  /** Identifies the caller that a credential belongs to, on public endpoints. */
  holder(credential: string | undefined): Promise<Caller | undefined>
}

type Options = {
  /** Lookups, one per kind of credential. Each returns undefined for other credentials. */
  finders: readonly ((credential: string) => Caller | undefined | Promise<Caller | undefined>)[]
  limiter: FailureLimiter
  /** Checks the rate of an authenticated caller. @throws AppError `request/rate` */
  admit?: (caller: Caller, address: string) => void
}

export function createAuthentication({ finders, limiter, admit }: Options): Authentication {
  const holder = async (credential: string): Promise<Caller | undefined> => {
    for (const find of finders) {
      const caller = await find(credential)
      if (caller) return caller
    }
    return undefined
  }
  return {
    holder: async (credential) => (credential === undefined ? undefined : holder(credential)),
    async identify(credential, address) {
      if (credential === undefined) throw new AppError('auth/required', 'An API key is required.')
      if (credential === '') throw new AppError('auth/required', 'The API key is empty.')
      const caller = await holder(credential)
      if (caller) {
        admit?.(caller, address)
        return caller
      }
      const waitSeconds = limiter.fail(address)
      if (waitSeconds === 0) throw new AppError('auth/invalid', 'The API key is not valid.')
      throw new AppError('request/rate', 'Too many invalid API keys from this address.', {
        retryAfterSeconds: waitSeconds,
      })
    },
  }
}

/** @throws AppError `auth/forbidden` if the caller may not use the guarded endpoint */
export function authorize(caller: Caller, guarded: { auth: Route['auth']; linkMayUse: boolean; id: unknown }): void {
  if (caller.onlySandbox !== undefined && !(guarded.linkMayUse && guarded.id === caller.onlySandbox)) {
    throw new AppError('auth/forbidden', 'A terminal link only gives access to the terminals of its sandbox.')
  }
  if (guarded.auth === 'account' && !caller.managesAccount) {
    throw new AppError('auth/forbidden', 'An API key cannot change access to this account. Sign in with a wallet.')
  }
  if (guarded.auth === 'person' && !caller.isPerson) {
    throw new AppError('auth/forbidden', 'Only the user of this computer can do this, in the Steward window.')
  }
  if (guarded.auth === 'owner' && !caller.owner) {
    throw new AppError('auth/forbidden', 'Only the owner of this service can do this.')
  }
}
