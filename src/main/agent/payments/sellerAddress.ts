import { strangerAddress } from '#platform/strangerAddress.ts'
import { AppError } from '#shared/appError.ts'

/**
 * Validates the address of a payment.
 * @throws AppError `payment/address`
 */
export function sellerAddress(address: string): URL {
  return strangerAddress(address, (message) => new AppError('payment/address', message))
}
