/** Of work that was paid for: nobody knows yet whether it was done. The payment stays with it until it is known. */
export class UnclearWork extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
    this.name = 'UnclearWork'
  }
}
