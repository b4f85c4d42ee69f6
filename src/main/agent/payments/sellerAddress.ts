import { parseStrangerAddress } from '#platform/strangerAddress.ts'
import { AppError } from '#shared/appError.ts'

/**
 * Validates the address of a payment.
 * @throws AppError `payment/address`
 */
export function parseSellerAddress(address: string): URL {
  return parseStrangerAddress(address, (message) => new AppError('payment/address', message))
}
