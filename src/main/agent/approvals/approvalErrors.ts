import { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'

export function createMissingIntentError(id: string): AppError {
  return new AppError('intent/not-found', `There is no request \`${id.slice(0, 64)}\`.`)
}

export function createAlreadyDecidedError({ state, error }: IntentRecord): AppError {
  if (state === 'expired') return new AppError('intent/decided', 'This request has expired.')
  return new AppError(
    'intent/decided',
    `This request was already decided: ${state === 'denied' && error !== null ? error : `it is ${state}.`}`,
  )
}

export function createWalletLockedError(wallet: Pick<WalletKeys, 'accounts'>): AppError {
  if (wallet.accounts().length === 0) return new AppError('wallet/absent', 'There is no wallet yet.')
  return new AppError('wallet/locked', 'The wallet is locked.')
}
