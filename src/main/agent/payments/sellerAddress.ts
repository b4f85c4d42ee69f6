import { strangerAddress } from '#platform/strangerAddress.ts'
import { AppError } from '#shared/appError.ts'

/**
 * Where a payment may go.
 * @throws AppError `payment/address`
 */
export function sellerAddress(address: string): URL {
  return strangerAddress(address, (message) => new AppError('payment/address', message))
}
