import { parseUntrustedUrl } from '#platform/net/strangerAddress.ts'
import { AppError } from '#shared/appError.ts'

/** Parses the address of a payment. @throws AppError `purchase/address` */
export function parseSellerAddress(address: string): URL {
  return parseUntrustedUrl(address, (message) => new AppError('purchase/address', message))
}
