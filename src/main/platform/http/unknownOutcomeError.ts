/** Paid work whose outcome is unknown. The payment remains bound to the work until the outcome is known. */
export class UnknownOutcomeError extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
    this.name = 'UnknownOutcomeError'
  }
}
